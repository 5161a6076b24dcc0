# contrafact_embed(OUTPUT.cc NAMESPACE name=path ...): a source file that defines, in NAMESPACE, one std::string_view of each
# file's bytes.
function(contrafact_embed output namespace)
  set(inputs)
  foreach(pair ${ARGN})
    string(REGEX REPLACE "^[^=]*=" "" path "${pair}")
    list(APPEND inputs "${path}")
  endforeach()
  string(REPLACE ";" "|" pairs "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${namespace} "-DPAIRS=${pairs}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    DEPENDS ${inputs} ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
