# Third-party parts: each is found once here and linked only by the folders that name it.

# All are looked for before anything is said, so that one message names every package that is missing.
set(stoker_missing "")
foreach(part Threads=libc6-dev PkgConfig=pkg-config fmt=libfmt-dev spdlog=libspdlog-dev yaml-cpp=libyaml-cpp-dev
             nlohmann_json=nlohmann-json3-dev CLI11=libcli11-dev)
  string(REPLACE "=" ";" part ${part})
  list(POP_FRONT part name)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    list(APPEND stoker_missing ${part})
  endif()
endforeach()
foreach(part sndfile=libsndfile1-dev=sndfile soxr=libsoxr-dev=soxr icu=libicu-dev=icu-uc=icu-i18n hwy=libhwy-dev=libhwy
             xxhash=libxxhash-dev=libxxhash zlib=zlib1g-dev=zlib png=libpng-dev=libpng)
  string(REPLACE "=" ";" part ${part})
  list(POP_FRONT part name package)
  if(PkgConfig_FOUND)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${part})
  endif()
  if(NOT ${name}_FOUND)
    list(APPEND stoker_missing ${package})
  endif()
endforeach()
if(stoker_missing)
  list(JOIN stoker_missing " " stoker_missing)
  message(FATAL_ERROR "libraries were not found; run tools/bootstrap --program, or: apt-get install ${stoker_missing}")
endif()
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
# What libstoker.so and the program are linked with; an installed one looks for them where they were found.
set(STOKER_LIBRARIES fmt::fmt spdlog::spdlog yaml-cpp yaml-cpp::yaml-cpp PkgConfig::sndfile PkgConfig::soxr
    PkgConfig::icu PkgConfig::hwy PkgConfig::xxhash PkgConfig::zlib PkgConfig::png)

include(StokerRunPath)
include(StokerCuda)
include(StokerTorch)
