# Finds what Cyclecast links, for this build and, installed beside the package, for those who use it.
#
# Three of Debian 12's packages need care:
# - SystemC ships a pkg-config file only, and is built as C++17: a C++20 program links against it only with
#   SC_CPLUSPLUS=201703L, which selects the version symbol the library exports.
# - XGBoost's CMake package refers to the command line program, which need not be there: pkg-config is used.
# - ONNX's CMake package needs Protobuf to be found before, and in module mode.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(yaml-cpp 0.7 CONFIG REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS graph)
find_package(Protobuf REQUIRED)
find_package(ONNX CONFIG REQUIRED)

if(NOT TARGET PkgConfig::XGBOOST)
  pkg_check_modules(XGBOOST REQUIRED IMPORTED_TARGET GLOBAL xgboost)
endif()

if(NOT TARGET SystemC::systemc)
  pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET GLOBAL systemc)
  add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
  target_link_libraries(SystemC::systemc INTERFACE PkgConfig::SYSTEMC Threads::Threads)
  target_compile_definitions(SystemC::systemc INTERFACE SC_CPLUSPLUS=201703L)
endif()

# A SystemC of another language standard fails only when the first program is linked, with a symbol nobody
# recognises. Find out now.
include(CheckCXXSourceCompiles)
function(_cyclecast_check_systemc)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_REQUIRED_LIBRARIES SystemC::systemc)
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles(
    [[#include <systemc>
      extern "C" int sc_main(int, char**) { return 0; }
      int main() { return sc_core::sc_time(1, sc_core::SC_NS).value() == 0; }]]
    CYCLECAST_SYSTEMC_LINKS)
  if(NOT CYCLECAST_SYSTEMC_LINKS)
    message(
      FATAL_ERROR
        "A C++20 program does not link against the SystemC in ${SYSTEMC_LIBDIR} (version ${SYSTEMC_VERSION}). "
        "SC_CPLUSPLUS=201703L expects a library built as C++17, like Debian's libsystemc-dev: install that one, "
        "or change SC_CPLUSPLUS in cmake/Dependencies.cmake to the standard the library was built with "
        "(`nm -DC libsystemc.so | grep sc_api_version` shows it), and delete CMakeCache.txt.")
  endif()
endfunction()
_cyclecast_check_systemc()
