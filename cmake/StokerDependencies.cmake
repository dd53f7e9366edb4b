# Third-party parts: each is found once here and linked only by the folders that name it.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(sndfile REQUIRED IMPORTED_TARGET sndfile)
pkg_check_modules(soxr REQUIRED IMPORTED_TARGET soxr)
pkg_check_modules(icu REQUIRED IMPORTED_TARGET icu-uc icu-i18n)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(png REQUIRED IMPORTED_TARGET libpng)
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
# What libstoker.so and the program are linked with; an installed one looks for them where they were found.
set(STOKER_LIBRARIES fmt::fmt spdlog::spdlog yaml-cpp yaml-cpp::yaml-cpp PkgConfig::sndfile PkgConfig::soxr
    PkgConfig::icu PkgConfig::hwy PkgConfig::xxhash PkgConfig::zlib PkgConfig::png)

include(StokerRunPath)
include(StokerCuda)
include(StokerTorch)
