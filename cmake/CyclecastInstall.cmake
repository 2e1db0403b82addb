# `cmake --install`: libraries, headers, configurations and the package for find_package(cyclecast).
include(CMakePackageConfigHelpers)
get_property(targets GLOBAL PROPERTY CYCLECAST_INSTALLED)
install(
  TARGETS ${targets}
  EXPORT cyclecastTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cyclecast")
set(include_dir "${CMAKE_INSTALL_INCLUDEDIR}/cyclecast")
set(data_dir "${CMAKE_INSTALL_DATADIR}/cyclecast")
foreach(folder IN ITEMS core timing io mapping analytical sim learned traces api)
  install(DIRECTORY ${folder} DESTINATION "${include_dir}" FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY configs DESTINATION "${data_dir}")
install(DIRECTORY learned/models DESTINATION "${data_dir}")

install(EXPORT cyclecastTargets NAMESPACE cyclecast:: DESTINATION "${package_dir}")
configure_package_config_file(
  cmake/cyclecastConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/cyclecastConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS data_dir)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/cyclecastConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(
  FILES "${CMAKE_CURRENT_BINARY_DIR}/cyclecastConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/cyclecastConfigVersion.cmake"
        cmake/Dependencies.cmake
  DESTINATION "${package_dir}")
