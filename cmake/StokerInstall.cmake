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

# The Python package in the folder of its own that pip copies: nothing outside it is needed, and no headers. Zip files hold
# no links, so the library goes by the one name that the others ask for.
if(STOKER_HAS_PYTHON_PACKAGE)
  if(SKBUILD)
    set_target_properties(stoker PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
  endif()
  install(TARGETS stoker_python LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
  install(TARGETS stoker LIBRARY DESTINATION lib NAMELINK_SKIP COMPONENT python EXCLUDE_FROM_ALL)
  install(TARGETS stoker_program RUNTIME DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
  if(TARGET stoker_train)
    install(TARGETS stoker_train LIBRARY DESTINATION lib/stoker COMPONENT python EXCLUDE_FROM_ALL)
  endif()
endif()
