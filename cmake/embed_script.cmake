# Run by contrafact_embed().
string(REPLACE "|" ";" PAIRS "${PAIRS}")
set(text "// Written by cmake/embed_script.cmake.\n#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
foreach(pair ${PAIRS})
  string(REGEX MATCH "^([^=]*)=(.*)$" _ "${pair}")
  set(name ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "static const unsigned char ${name}_bytes[] = {${bytes}0};\n")
  string(APPEND text "extern const std::string_view ${name};\n")
  string(APPEND text
    "const std::string_view ${name}(reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes - 1);\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}}  // namespace ${NAMESPACE}\n")
