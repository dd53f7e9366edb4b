# Where an installed library looks for the libraries it was linked with.

# CMAKE_INSTALL_RPATH_USE_LINK_PATH leaves out every folder inside the source tree, and that is where a prefix of
# tools/sysroot is unpacked. So the folders are named here.

# stoker_library_folders(OUT TARGET …) sets OUT to the folders of the shared libraries behind imported targets, as far as
# the system's loader does not look there by itself.
function(stoker_library_folders out)
  set(files "")
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      continue()
    endif()
    foreach(property INTERFACE_LINK_LIBRARIES IMPORTED_LOCATION IMPORTED_LOCATION_RELEASE IMPORTED_LOCATION_NONE
                     IMPORTED_LOCATION_RELWITHDEBINFO)
      get_target_property(value ${target} ${property})
      if(value)
        list(APPEND files ${value})
      endif()
    endforeach()
  endforeach()
  set(folders "")
  foreach(file IN LISTS files)
    if(IS_ABSOLUTE "${file}" AND file MATCHES "\\.so")
      get_filename_component(folder "${file}" DIRECTORY)
      file(REAL_PATH "${folder}" folder)
      list(APPEND folders "${folder}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES CMAKE_PLATFORM_IMPLICIT_LINK_DIRECTORIES)
    file(REAL_PATH "${folder}" folder)
    list(REMOVE_ITEM folders "${folder}")
  endforeach()
  set(${out} "${folders}" PARENT_SCOPE)
endfunction()
