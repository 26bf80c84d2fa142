# One export set per component, so that a user of the core needs neither Kokkos nor MPI to be there.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/drx)

foreach(name IN LISTS DRX_LIBRARIES)
  set(target drx_${name})
  if(name STREQUAL "drx")
    set(target drx)
  endif()
  install(TARGETS ${target} EXPORT drx-${name} FILE_SET HEADERS)
  install(EXPORT drx-${name} NAMESPACE drx:: DESTINATION ${package_dir})
endforeach()

configure_package_config_file(cmake/drxConfig.cmake.in drxConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(drxConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file(cmake/drx.pc.in drx.pc @ONLY)
install(FILES cmake/DrxPrograms.cmake ${CMAKE_CURRENT_BINARY_DIR}/drxConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/drxConfigVersion.cmake DESTINATION ${package_dir})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/drx.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
