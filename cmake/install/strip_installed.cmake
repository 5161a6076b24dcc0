# Run when something is installed, with `built`, `folder`, `objcopy`: strips the file that was just laid into `folder`, and gives
# it the name and the checksum of its debug file, by which debuggers find that.
get_filename_component(name "${built}" NAME)
if(name MATCHES "\\.a$")
  execute_process(COMMAND "${objcopy}" --strip-debug "${folder}/${name}" COMMAND_ERROR_IS_FATAL ANY)
else()
  set(apart "${folder}/.apart")  # the debug file's name must be its last one
  file(MAKE_DIRECTORY "${apart}")
  execute_process(COMMAND "${objcopy}" --only-keep-debug "${built}" "${apart}/${name}.debug" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${objcopy}" --strip-all --remove-section=.gnu_debuglink "${folder}/${name}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${objcopy}" "--add-gnu-debuglink=${apart}/${name}.debug" "${folder}/${name}" COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE "${apart}")
endif()
