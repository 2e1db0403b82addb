# The targets of Cyclecast:
#
#   cyclecast_library(core SOURCES op.cc ... HEADERS op.h ... [DEPS timing fmt::fmt ...] [PRIVATE_DEPS yaml-cpp ...])
#       static library cyclecast_core, alias cyclecast::core; HEADERS are those other folders include, as "core/op.h"
#   cyclecast_shared_library(c OUTPUT_NAME cyclecast SOURCES cyclecast.cc DEPS api)
#       libcyclecast.so, alias cyclecast::c
#   cyclecast_executable(cyclecast SOURCES main.cc ... DEPS io sim ...)
#       installed program; knows where the shipped configurations are (see below)
#   cyclecast_test(units_test SOURCES units_test.cc ... [DEPS core ...] [LABELS unit] [TIMEOUT 300])
#       GoogleTest program with its own main; every TEST is one ctest test and one process, named <folder>/<suite>.<test>
#   cyclecast_benchmark(estimate_bench SOURCES estimate_bench.cc ... [DEPS sim ...])
#       Google Benchmark program
#
# A name in DEPS and PRIVATE_DEPS is a folder's library (core, io, sim, ...) or any other target (fmt::fmt, onnx).
# DEPS are part of the library's headers, PRIVATE_DEPS only of its sources.
set(CYCLECAST_LABELS unit agreement golden accuracy cli)

# Flags of everything compiled here; they do not reach those who link an installed library.
add_library(cyclecast_flags INTERFACE)
target_compile_options(
  cyclecast_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wshadow
            -Wnon-virtual-dtor
            -Wold-style-cast
            -Wcast-align
            -Woverloaded-virtual
            -Wextra-semi
            -Wimplicit-fallthrough
            -Wformat=2
            -Wundef
            $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
            $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
            $<$<CXX_COMPILER_ID:GNU>:-Wsuggest-override>
            # g++ 12 reports overlapping copies in std::string's own operator+ (GCC bug 105651).
            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
            # and reads of uninitialised memory in moved-from std::string and std::variant (GCC bug 105562).
            $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
            $<$<BOOL:${CYCLECAST_WARNINGS_AS_ERRORS}>:-Werror>)
if(CYCLECAST_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(CYCLECAST_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread -fno-omit-frame-pointer)
elseif(CYCLECAST_SANITIZE)
  message(FATAL_ERROR "CYCLECAST_SANITIZE is '${CYCLECAST_SANITIZE}': leave it empty, or say address or thread")
else()
  set(sanitizers "")
endif()
target_compile_options(cyclecast_flags INTERFACE ${sanitizers})
target_link_options(cyclecast_flags INTERFACE ${sanitizers})

# Environment of every test. XGBoost's threads otherwise burn a core each while they wait; SystemC prints a banner.
# SystemC's coroutines crash under detect_stack_use_after_return.
set(CYCLECAST_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1)
if(CYCLECAST_SANITIZE STREQUAL "address")
  list(APPEND CYCLECAST_TEST_ENVIRONMENT ASAN_OPTIONS=detect_stack_use_after_return=0)
elseif(CYCLECAST_SANITIZE STREQUAL "thread")
  list(APPEND CYCLECAST_TEST_ENVIRONMENT "TSAN_OPTIONS=suppressions=${cyclecast_SOURCE_DIR}/cmake/tsan.supp")
endif()

# libsystemc.so refers to sc_main, so every program that links it must define it, also one with its own main().
# `-u` lets the linker take it from this archive, and a program that has its own sc_main keeps that.
add_library(cyclecast_systemc_main STATIC "${CMAKE_CURRENT_LIST_DIR}/systemc_main.cc")
add_library(cyclecast::systemc_main ALIAS cyclecast_systemc_main)
target_compile_features(cyclecast_systemc_main PUBLIC cxx_std_20)
target_link_libraries(cyclecast_systemc_main PRIVATE $<BUILD_INTERFACE:cyclecast_flags>)
target_link_options(cyclecast_systemc_main INTERFACE "LINKER:-u,sc_main")
set_target_properties(cyclecast_systemc_main PROPERTIES EXPORT_NAME systemc_main)
set_property(GLOBAL APPEND PROPERTY CYCLECAST_INSTALLED cyclecast_systemc_main)

# The targets the names in ARGN stand for.
function(_cyclecast_resolve out)
  set(folders core timing io mapping analytical sim learned traces api)
  set(targets "")
  foreach(name IN LISTS ARGN)
    if(TARGET cyclecast_${name} OR name IN_LIST folders)
      list(APPEND targets cyclecast_${name})
    elseif(TARGET ${name})
      list(APPEND targets ${name})
    else()
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}: '${name}' is neither a library of Cyclecast nor a known target")
    endif()
  endforeach()
  if("SystemC::systemc" IN_LIST targets)
    list(APPEND targets cyclecast_systemc_main)
  endif()
  set(${out} "${targets}" PARENT_SCOPE)
endfunction()

# Sets `out` if one of the targets in ARGN links SystemC, itself or through what it links.
function(_cyclecast_links_systemc out)
  set(pending ${ARGN})
  set(seen "")
  set(found FALSE)
  while(pending AND NOT found)
    list(POP_FRONT pending name)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" name "${name}")
    if(name STREQUAL "SystemC::systemc")
      set(found TRUE)
    elseif(TARGET ${name} AND NOT name IN_LIST seen)
      list(APPEND seen ${name})
      get_target_property(linked ${name} INTERFACE_LINK_LIBRARIES)
      if(linked)
        list(APPEND pending ${linked})
      endif()
    endif()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# What every target compiled here has in common. `scope` is PRIVATE for programs, PUBLIC for libraries.
function(_cyclecast_common target scope)
  target_compile_features(${target} ${scope} cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${cyclecast_SOURCE_DIR}>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:cyclecast_flags>)
  _cyclecast_links_systemc(systemc ${target} ${ARGN})
  if(systemc AND CYCLECAST_SANITIZE STREQUAL "address")
    # SystemC 2.3.4 tells AddressSanitizer only part of its stack switches: checks of stack variables report errors
    # that are none. Checks of the heap stay.
    target_compile_options(
      ${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:--param=asan-stack=0>
                        "$<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -asan-stack=0>")
  endif()
endfunction()

function(cyclecast_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;DEPS;PRIVATE_DEPS")
  _cyclecast_check_arguments("${arg_UNPARSED_ARGUMENTS}" "${arg_SOURCES}")
  set(target cyclecast_${name})
  _cyclecast_resolve(public ${arg_DEPS})
  _cyclecast_resolve(private ${arg_PRIVATE_DEPS})
  add_library(${target} STATIC ${arg_SOURCES} ${arg_HEADERS})
  add_library(cyclecast::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PUBLIC ${public} PRIVATE ${private})
  _cyclecast_common(${target} PUBLIC)
  target_include_directories(${target} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/cyclecast>)
  set_property(GLOBAL APPEND PROPERTY CYCLECAST_INSTALLED ${target})
endfunction()

# A library for programs in any language: what it is made of is inside, and no target has to be linked beside it.
function(cyclecast_shared_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_NAME" "SOURCES;DEPS")
  _cyclecast_check_arguments("${arg_UNPARSED_ARGUMENTS}" "${arg_SOURCES}")
  set(target cyclecast_${name})
  _cyclecast_resolve(libraries ${arg_DEPS})
  add_library(${target} SHARED ${arg_SOURCES})
  add_library(cyclecast::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME ${arg_OUTPUT_NAME}
                                             VERSION ${cyclecast_VERSION} SOVERSION 0)
  target_link_libraries(${target} PRIVATE ${libraries})
  _cyclecast_common(${target} PRIVATE ${libraries})
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${cyclecast_SOURCE_DIR}>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/cyclecast>)
  set_property(GLOBAL APPEND PROPERTY CYCLECAST_INSTALLED ${target})
endfunction()

# The program finds the shipped configurations, in this order, in: the folder that the environment variable
# CYCLECAST_CONFIG_DIR names; CYCLECAST_RELATIVE_CONFIG_DIR, relative to the program's own folder (an installed
# program, wherever it was moved); CYCLECAST_SOURCE_CONFIG_DIR (a program in the build tree).
function(cyclecast_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  _cyclecast_check_arguments("${arg_UNPARSED_ARGUMENTS}" "${arg_SOURCES}")
  _cyclecast_resolve(libraries ${arg_DEPS})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${libraries})
  _cyclecast_common(${name} PRIVATE ${libraries})
  file(RELATIVE_PATH relative "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_DATADIR}/cyclecast/configs")
  target_compile_definitions(
    ${name}
    PRIVATE CYCLECAST_VERSION="${cyclecast_VERSION}" CYCLECAST_RELATIVE_CONFIG_DIR="${relative}"
            CYCLECAST_SOURCE_CONFIG_DIR="${cyclecast_SOURCE_DIR}/configs")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${cyclecast_BINARY_DIR}/bin")
  if(CYCLECAST_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

function(cyclecast_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;DEPS;LABELS")
  _cyclecast_check_arguments("${arg_UNPARSED_ARGUMENTS}" "${arg_SOURCES}")
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  foreach(label IN LISTS arg_LABELS)
    if(NOT label IN_LIST CYCLECAST_LABELS)
      message(FATAL_ERROR "${name}: label '${label}' is none of: ${CYCLECAST_LABELS}")
    endif()
  endforeach()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  _cyclecast_resolve(libraries ${arg_DEPS})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${libraries} cyclecast_test_support GTest::gmock GTest::gtest_main)
  _cyclecast_common(${name} PRIVATE ${libraries})
  # Tests are compiled more often than they run: a third of the time goes into optimising them.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  if("cli" IN_LIST arg_LABELS AND TARGET cyclecast)
    target_compile_definitions(${name} PRIVATE CYCLECAST_BINARY="$<TARGET_FILE:cyclecast>")
    add_dependencies(${name} cyclecast)
  endif()
  file(RELATIVE_PATH folder "${cyclecast_SOURCE_DIR}/tests" "${CMAKE_CURRENT_SOURCE_DIR}")
  gtest_discover_tests(
    ${name}
    TEST_PREFIX "${folder}/"
    TEST_LIST ${name}_TESTS
    DISCOVERY_TIMEOUT 120
    PROPERTIES TIMEOUT ${arg_TIMEOUT})
  # PROPERTIES cannot carry a list through all the levels of quoting; ctest reads this file after the discovered names.
  set(properties_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake")
  file(
    CONFIGURE
    OUTPUT "${properties_file}"
    CONTENT [[
if(@name@_TESTS)
  set_tests_properties(${@name@_TESTS} PROPERTIES LABELS "@arg_LABELS@" ENVIRONMENT "@CYCLECAST_TEST_ENVIRONMENT@")
endif()
]]
    @ONLY)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${properties_file}")
endfunction()

function(cyclecast_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  _cyclecast_check_arguments("${arg_UNPARSED_ARGUMENTS}" "${arg_SOURCES}")
  _cyclecast_resolve(libraries ${arg_DEPS})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${libraries} benchmark::benchmark benchmark::benchmark_main)
  target_compile_definitions(${name} PRIVATE CYCLECAST_SOURCE_DIR="${cyclecast_SOURCE_DIR}")
  _cyclecast_common(${name} PRIVATE ${libraries})
endfunction()

function(_cyclecast_check_arguments unparsed sources)
  if(unparsed)
    message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}: unknown arguments: ${unparsed}")
  endif()
  if(NOT sources)
    message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}: SOURCES is missing or empty")
  endif()
endfunction()
