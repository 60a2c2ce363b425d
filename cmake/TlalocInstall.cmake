# Install rules: the headers, the library, and what find_package(tlaloc) and pkg-config need to find them. Nothing that
# is installed contains an absolute path, so an installed tree may be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tlaloc)

install(TARGETS tlaloc_rt EXPORT tlaloc)
install(DIRECTORY include/tlaloc TYPE INCLUDE FILES_MATCHING PATTERN *.hpp)
install(EXPORT tlaloc NAMESPACE tlaloc:: FILE tlalocTargets.cmake DESTINATION ${package_dir})

# A shared library brings what it needs; with a static one the program has to link OpenBLAS and SLEEF itself.
if(BUILD_SHARED_LIBS)
  set(static_package OFF)
  set(pc_requires "")
  set(pc_libs "")
else()
  set(static_package ON)
  set(pc_requires "openblas, sleef")
  set(pc_libs "${CMAKE_THREAD_LIBS_INIT}")
endif()

configure_package_config_file(cmake/tlalocConfig.cmake.in tlalocConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(tlalocConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tlalocConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/tlalocConfigVersion.cmake
  DESTINATION ${package_dir})

# The path from the .pc file's folder back to the prefix, whatever the depth of the library folder.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
           OUTPUT_VARIABLE pc_prefix)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pc_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
           OUTPUT_VARIABLE pc_includedir)
configure_file(cmake/tlaloc.pc.in tlaloc.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tlaloc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
