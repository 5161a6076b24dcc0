# Compiles Java programs that the tests, examples and benchmarks run: never part of the product.

find_program(JAVAC_EXECUTABLE javac REQUIRED)
find_program(JAR_EXECUTABLE jar REQUIRED)

# java_classes(TARGET OUTPUT dir SOURCES a.java ... [RELEASE 17] [CLASSPATH x.jar ...] [JAVAC path])
# A target, part of "all", that compiles the sources into a folder of classes.
function(java_classes target)
  cmake_parse_arguments(ARG "" "OUTPUT;RELEASE;JAVAC" "CLASSPATH;SOURCES" ${ARGN})
  if(NOT ARG_RELEASE)
    set(ARG_RELEASE 17)
  endif()
  if(NOT ARG_JAVAC)
    set(ARG_JAVAC ${JAVAC_EXECUTABLE})
  endif()
  set(classpath)
  if(ARG_CLASSPATH)
    list(JOIN ARG_CLASSPATH ":" classpath)
    set(classpath -cp ${classpath})
  endif()
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${target}.stamp)
  # The folder is emptied first: a class that lost its source must not live on.
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${ARG_OUTPUT}
    COMMAND ${ARG_JAVAC} --release ${ARG_RELEASE} -g -Xlint:all,-path -Werror ${classpath} -d ${ARG_OUTPUT} ${ARG_SOURCES}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${ARG_SOURCES} ${ARG_CLASSPATH}
    COMMENT "javac ${target}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${stamp})
endfunction()

# java_jar(TARGET OUTPUT file.jar MAIN class SOURCES a.java ... [CLASSPATH x.jar ...])
# A target, part of "all", that makes a jar which `java -jar` runs.
function(java_jar target)
  cmake_parse_arguments(ARG "" "OUTPUT;MAIN" "CLASSPATH;SOURCES" ${ARGN})
  set(classes ${CMAKE_CURRENT_BINARY_DIR}/${target}-classes)
  java_classes(${target}-classes OUTPUT ${classes} CLASSPATH ${ARG_CLASSPATH} SOURCES ${ARG_SOURCES})
  set(manifest ${CMAKE_CURRENT_BINARY_DIR}/${target}.manifest)
  list(TRANSFORM ARG_CLASSPATH PREPEND "file://" OUTPUT_VARIABLE jars)
  list(JOIN jars " " jars)
  file(CONFIGURE OUTPUT ${manifest} CONTENT "Class-Path: ${jars}\n")
  add_custom_command(
    OUTPUT ${ARG_OUTPUT}
    COMMAND ${JAR_EXECUTABLE} --create --file ${ARG_OUTPUT} --manifest ${manifest} --main-class ${ARG_MAIN} -C ${classes} .
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${target}-classes.stamp ${manifest}
    COMMENT "jar ${target}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${ARG_OUTPUT})
  add_dependencies(${target} ${target}-classes)
endfunction()

# find_newer_javac(RESULT release): the first installed javac that knows the release, or empty.
function(find_newer_javac result release)
  file(GLOB candidates /usr/lib/jvm/*/bin/javac)
  set(${result} "" PARENT_SCOPE)
  foreach(candidate ${candidates})
    execute_process(COMMAND ${candidate} -version OUTPUT_VARIABLE version ERROR_VARIABLE version)
    if(version MATCHES "javac ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL ${release})
      set(${result} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
