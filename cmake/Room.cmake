# The compiler settings every room shares.
add_library(steplens_options INTERFACE)
target_compile_features(steplens_options INTERFACE cxx_std_20)
target_compile_options(steplens_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(steplens_options INTERFACE -Wno-restrict)  # GCC 12 warns falsely about std::string
endif()
target_include_directories(steplens_options INTERFACE ${CMAKE_SOURCE_DIR}/src)

# A build from nothing spends more than half of its time on parsing the same headers for every file: with this, several files are
# compiled as one. So names that are local to a file are unique in their room; recipes, which share a shape and its names, stay single.
# The debug preset compiles each file by itself: small changes are built fast, and an include that is missing or a name that hides one of the
# file is found. A local name that hides another local one is an error of gcc's everywhere. gcc inlines less in large files unless it is
# told what is large, which cost the readers of traces 7 %.
option(STEPLENS_JOIN_FILES "Compile several files of a room at once" OFF)
if(STEPLENS_JOIN_FILES)  # joined files see each other's names
  target_compile_options(steplens_options INTERFACE -Wno-shadow
    $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local> $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
    $<$<CXX_COMPILER_ID:GNU>:--param=large-unit-insns=1000000>)
endif()

if(STEPLENS_SANITIZE)
  target_compile_options(steplens_options INTERFACE
    -fsanitize=${STEPLENS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(steplens_options INTERFACE -fsanitize=${STEPLENS_SANITIZE})
endif()

# Sanitizer builds are compiled once and run once: what every file includes is parsed beforehand, the store among it for the rooms
# that build on it (clang gains more than a half, gcc little).
option(STEPLENS_PRECOMPILE "Precompile common headers" OFF)
set(STEPLENS_COMMON_HEADERS <algorithm> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <variant> <vector>
                            <fmt/format.h>)
set(STEPLENS_ROOMS_BELOW_STORE base format store table record)
function(steplens_precompile TARGET ROOM)
  if(STEPLENS_PRECOMPILE)
    target_precompile_headers(${TARGET} PRIVATE ${STEPLENS_COMMON_HEADERS} ${ARGN})
    target_compile_options(${TARGET} PRIVATE -fpch-instantiate-templates)
    if(NOT ROOM IN_LIST STEPLENS_ROOMS_BELOW_STORE)
      target_precompile_headers(${TARGET} PRIVATE <store/trace_store.h>)
    endif()
  endif()
endfunction()

set(STEPLENS_SINGLE_FILES "/recipes/")
function(steplens_join_files TARGET)
  if(STEPLENS_JOIN_FILES)
    set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set(single ${ARGN})
    list(FILTER single INCLUDE REGEX "${STEPLENS_SINGLE_FILES}")
    set_source_files_properties(${single} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# Where tests find the shared data. Not by the path of a source file, which compiler caches may shorten.
set(STEPLENS_SHARED ${CMAKE_SOURCE_DIR}/../shared)
if(DEFINED ENV{STEPLENS_SHARED})
  set(STEPLENS_SHARED $ENV{STEPLENS_SHARED})
endif()

# What the fuzzers look into: their inputs are steered by the branches taken here. Other rooms are spared the cost.
set(STEPLENS_FUZZED_ROOMS base format store readers server)

# steplens_room(NAME LINK public... PRIVATE libraries...)
#
# Makes the library steplens_NAME of all *.cc below src/NAME, and, when tests are built, the program
# NAME_test of all *_test.cc there. main.cc, *_test.cc, *_bench.cc and *_fuzz.cc are not part of the library.
function(steplens_room NAME)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  if(sources)
    add_library(steplens_${NAME} STATIC ${sources})
    target_link_libraries(steplens_${NAME} PUBLIC steplens_options ${ARG_LINK} PRIVATE ${ARG_PRIVATE})
    steplens_precompile(steplens_${NAME} ${NAME})
    steplens_join_files(steplens_${NAME} ${sources})
    if(STEPLENS_BUILD_FUZZ AND NAME IN_LIST STEPLENS_FUZZED_ROOMS)
      target_compile_options(steplens_${NAME} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  else()
    add_library(steplens_${NAME} INTERFACE)
    target_link_libraries(steplens_${NAME} INTERFACE steplens_options ${ARG_LINK})
  endif()

  if(STEPLENS_BUILD_TESTS AND STEPLENS_BUILD_UNIT_TESTS AND tests)
    add_executable(${NAME}_test ${tests})
    add_dependencies(unit_tests ${NAME}_test)
    target_link_libraries(${NAME}_test PRIVATE steplens_${NAME} ${ARG_PRIVATE} GTest::gtest_main GTest::gmock)
    steplens_precompile(${NAME}_test ${NAME} <gtest/gtest.h> <gmock/gmock.h>)
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      target_compile_options(${NAME}_test PRIVATE -O1)  # tests are run once
    endif()
    set_target_properties(${NAME}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${NAME} COMMAND ${NAME}_test)
    set_tests_properties(${NAME} PROPERTIES LABELS fast ENVIRONMENT STEPLENS_SHARED=${STEPLENS_SHARED})
  endif()
endfunction()
