# What a builder may choose, and the flags that every target of ours is compiled with.

set(STOKER_CUDA auto CACHE STRING "CUDA back ends: auto (when nvcc is found), on, off")
set(STOKER_TRAIN auto CACHE STRING "The trainer: auto (when libtorch >= 2.11 is found), on, off")
set_property(CACHE STOKER_CUDA PROPERTY STRINGS auto on off)
set_property(CACHE STOKER_TRAIN PROPERTY STRINGS auto on off)
option(STOKER_TESTS "Build the tests" ON)
option(STOKER_FUZZ "Build libFuzzer targets (clang only); their corpora are replayed by ctest in any build" OFF)
set(STOKER_SANITIZE "" CACHE STRING "Value for -fsanitize=, e.g. address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# An installed library finds the libraries of a prefix outside the system, too (one inside the source tree:
# StokerRunPath.cmake).
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
# Assertions of ours stay on in release (base/invariant.h); only <cassert> of third parties goes.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1")

find_program(STOKER_CCACHE ccache)
if(STOKER_CCACHE)
  # Paths are hashed relative to the source folder, so that every clone on a machine shares the cache.
  set(stoker_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                      CCACHE_SLOPPINESS=pch_defines,time_macros
                      "${STOKER_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${stoker_launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${stoker_launcher})
endif()

add_library(stoker_flags INTERFACE)
target_compile_options(stoker_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wthread-safety>
  # g++ 12 sees overlaps in std::string that are not there (GCC bug 105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition -fvisibility-inlines-hidden -ffp-contract=off>)
if(STOKER_FUZZ)
  target_compile_options(stoker_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                         -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(stoker_flags INTERFACE -fsanitize=address,undefined)
elseif(STOKER_SANITIZE)
  target_compile_options(stoker_flags INTERFACE -fsanitize=${STOKER_SANITIZE} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer -g1
    # Under a sanitizer g++ 12 takes parts of std::regex for uninitialised (GCC bug 105562).
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
  target_link_options(stoker_flags INTERFACE -fsanitize=${STOKER_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(stoker_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection -fcf-protection>)
  target_link_options(stoker_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

set(STOKER_COMMIT unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
                  OUTPUT_VARIABLE stoker_head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE stoker_no_git)
  if(stoker_no_git EQUAL 0)
    set(STOKER_COMMIT ${stoker_head})
  endif()
endif()
