# The two kinds of targets of this project, and the settings that all of them share.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # most libraries end up in the JVM agent, a shared object
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

option(CONTRAFACT_FUZZ "build the fuzzers (needs clang)" OFF)
option(CONTRAFACT_BATCHES "compile several sources of a folder as one: a first build takes less time, that after a change more" OFF)
set(CONTRAFACT_SANITIZE "" CACHE STRING "value for -fsanitize=, empty for none")

add_library(contrafact_options INTERFACE)
target_include_directories(contrafact_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_options(contrafact_options INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers)
# Functions and lines, for backtraces and profilers: all of it is a quarter of the time that compiling takes. A debugger
# that is to show variables finds them in the preset debug.
target_compile_options(contrafact_options INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)
if(CONTRAFACT_SANITIZE)
  target_compile_options(contrafact_options INTERFACE -fsanitize=${CONTRAFACT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(contrafact_options INTERFACE -fsanitize=${CONTRAFACT_SANITIZE})
  if(CONTRAFACT_SANITIZE MATCHES undefined)
    # What only prints goes unseen in a test that passes.
    target_compile_options(contrafact_options INTERFACE -fno-sanitize-recover=all)
  endif()
endif()

if(CONTRAFACT_FUZZ)
  # The libraries report their coverage to the fuzzer; contrafact_fuzzer() links its main program.
  # libstdc++ 12's own stable_sort calls what it calls deprecated, and this compiler says so.
  # Comparisons go unreported: they take a third of an input's time, and help only who guesses bytes. Our fuzzers know the formats.
  target_compile_options(contrafact_options INTERFACE -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp
    -Wno-deprecated-declarations)
endif()

find_package(PkgConfig REQUIRED)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
enable_testing()
include(GoogleTest)

# What is installed. `./dev demo` needs no more of it, and the example.
add_custom_target(product)
# What `./dev bench` runs beside the product; not part of "all".
add_custom_target(benchmarks)
# What the tests labelled "unit" or "golden" run; a sanitizer's build needs no more.
add_custom_target(quick_tests)

# bench_program(NAME source.cc LIBRARIES...)
function(bench_program name source)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE ${ARGN})
  add_dependencies(benchmarks ${name})
endfunction()

# Reading the standard library's headers, and making what their templates make, is most of the time that a source takes to
# compile; those of a batch do it once. Each source must still compile by itself: so do the presets debug, asan, tsan and fuzz.
# contrafact_batches(TARGET SOURCES a.cc ... [APART b.cc ...]): no two of those apart are in one batch, for they
# use the same names for different things. They go first, then the sources: each into the next of the n batches.
# No two sources of a batch may have a name of their own in common. tools/check_batches.py, a test, finds those also where
# nothing is compiled in batches: build/PRESET/batches.txt lists them always.
file(WRITE ${CMAKE_BINARY_DIR}/batches.txt "")
function(contrafact_batches target)
  cmake_parse_arguments(ARG "" "" "SOURCES;APART" ${ARGN})
  set(sources_max 8)
  set(sources ${ARG_APART} ${ARG_SOURCES})
  list(LENGTH sources count)
  list(LENGTH ARG_APART apart)
  math(EXPR batches "(${count} + ${sources_max} - 1) / ${sources_max}")
  if(apart GREATER batches)
    set(batches ${apart})
  endif()
  set(number 0)
  foreach(source ${sources})
    math(EXPR batch "${number} % ${batches}")
    math(EXPR number "${number} + 1")
    get_source_file_property(by_itself ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(NOT by_itself)
      cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
      list(APPEND batch_${batch} ${path})
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${batch})
    endif()
  endforeach()
  math(EXPR last "${batches} - 1")
  foreach(batch RANGE ${last})
    list(JOIN batch_${batch} " " line)
    file(APPEND ${CMAKE_BINARY_DIR}/batches.txt "${target} ${line}\n")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CONTRAFACT_BATCHES} UNITY_BUILD_MODE GROUP)
  if(CONTRAFACT_BATCHES)
    # What a source keeps to itself, in an unnamed namespace, looks like a header's to the compiler.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# contrafact_library(NAME [ALONE] SOURCES a.cc ... [APART b.cc ...] [DEPS b c ...] [TESTS a_test.cc ...] [TESTS_APART b_test.cc ...])
# A static library contrafact_NAME of the folder src/NAME, and NAME_test with the unit tests beside its sources.
# All tests of a folder are one ctest entry with label "unit". APART are sources, and TESTS_APART tests, too
# (contrafact_batches). ALONE: each source is compiled by itself, its tests are not.
function(contrafact_library name)
  cmake_parse_arguments(ARG "ALONE" "" "SOURCES;APART;DEPS;TESTS;TESTS_APART" ${ARGN})
  if(ARG_SOURCES)
    add_library(contrafact_${name} STATIC ${ARG_SOURCES} ${ARG_APART})
    if(NOT ARG_ALONE)
      contrafact_batches(contrafact_${name} SOURCES ${ARG_SOURCES} APART ${ARG_APART})
    endif()
    target_link_libraries(contrafact_${name} PUBLIC contrafact_options ${ARG_DEPS})
  else()
    add_library(contrafact_${name} INTERFACE)
    target_link_libraries(contrafact_${name} INTERFACE contrafact_options ${ARG_DEPS})
  endif()
  if(ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS} ${ARG_TESTS_APART})
    contrafact_batches(${name}_test SOURCES ${ARG_TESTS} APART ${ARG_TESTS_APART})
    # A quarter of the time that tests take to compile would be the optimiser's. What they test is compiled as always.
    target_compile_options(${name}_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
    target_link_libraries(${name}_test PRIVATE contrafact_${name} GTest::gmock GTest::gtest_main)
    add_test(NAME unit.${name} COMMAND ${name}_test)
    add_dependencies(quick_tests ${name}_test)
    set_tests_properties(unit.${name} PROPERTIES LABELS unit)
  endif()
endfunction()
