# make install, and find_package(Stoker) for programs that use the library.

include(CMakePackageConfigHelpers)
install(TARGETS stoker EXPORT StokerTargets)
install(DIRECTORY src/stoker/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stoker
        FILES_MATCHING PATTERN "*.h" PATTERN "cli" EXCLUDE PATTERN "train" EXCLUDE)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/stoker/examples)
install(EXPORT StokerTargets NAMESPACE Stoker:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Stoker)
configure_package_config_file(cmake/StokerConfig.cmake.in "${PROJECT_BINARY_DIR}/StokerConfig.cmake"
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Stoker)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/StokerConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/StokerConfig.cmake" "${PROJECT_BINARY_DIR}/StokerConfigVersion.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Stoker)
