# What `cmake --install` lays into a folder, in three components:
#   runtime      the tool, its agents, manual pages, completions, documents
#   development  C headers, the library of deferred methods, the runtime library of programs compiled with -fsanitize=thread
#   debug        what was stripped off the first two; only when it is asked for (`cmake --install BUILD --component debug`)
# The installed folder may be moved: everything in it finds the rest from where it lies itself.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Nothing but the target `product` has to be built before.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# contrafact_install(TARGET FOLDER COMPONENT): the target's file, stripped.
function(contrafact_install target folder component)
  install(TARGETS ${target} DESTINATION ${folder} COMPONENT ${component})
  set(settings "
    set(built \"$<TARGET_FILE:${target}>\")
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
    set(objcopy \"${CMAKE_OBJCOPY}\")
    set(readelf \"${CMAKE_READELF}\")")
  install(CODE "${settings}\n    include(\"${CMAKE_SOURCE_DIR}/cmake/install/strip_installed.cmake\")" COMPONENT ${component})
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL STATIC_LIBRARY)
    target_link_options(${target} PRIVATE LINKER:--build-id)
    install(CODE "${settings}\n    include(\"${CMAKE_SOURCE_DIR}/cmake/install/debug_file.cmake\")" COMPONENT debug EXCLUDE_FROM_ALL)
  endif()
endfunction()
