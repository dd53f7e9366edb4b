# Says in one sentence that there is no C++ compiler; CMake's own message takes eight lines and names no package.

if(NOT CMAKE_CXX_COMPILER AND NOT CMAKE_TOOLCHAIN_FILE AND "$ENV{CXX}" STREQUAL "")
  find_program(STOKER_ANY_COMPILER NAMES c++ g++ clang++ g++-12 g++-13 g++-14 clang++-15)
  if(NOT STOKER_ANY_COMPILER)
    message(FATAL_ERROR "stoker needs a C++ compiler; run tools/bootstrap --program, or: apt-get install g++")
  endif()
endif()
