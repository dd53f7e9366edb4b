# One target per folder of the house.

# stoker_folder(NAME SOURCES a.cc … [USES folder …] [LINKS library …])
# makes the object library stoker_NAME from src/stoker/NAME; USES are the folders it may include.
function(stoker_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;LINKS" ${ARGN})
  add_library(stoker_${name} OBJECT ${arg_SOURCES})
  target_include_directories(stoker_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
  target_link_libraries(stoker_${name} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:stoker_flags>)
  foreach(used IN LISTS arg_USES)
    target_link_libraries(stoker_${name} PUBLIC stoker_${used})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY STOKER_FOLDERS ${name})
endfunction()

# The GoogleTest program test_FOLDER from sources of tests/FOLDER; MAIN is the library with its main().
function(stoker_test_program folder main)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(test_${folder} ${arg_SOURCES})
  target_include_directories(test_${folder} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(test_${folder} PRIVATE stoker stoker_flags GTest::gmock ${main} ${arg_LINKS})
endfunction()

# stoker_test(FOLDER SOURCES a_test.cc … [LINKS …])
# makes one program for tests/FOLDER and registers each of its tests with ctest.
function(stoker_test folder)
  stoker_test_program(${folder} GTest::gtest_main ${ARGN})
  # TSan waits a second at exit for reports to come; `cache` leaves its SIGBUS handler by a jump on purpose.
  set(tsan_options "atexit_sleep_ms=0")
  if(folder STREQUAL "cache")
    string(APPEND tsan_options ":report_signal_unsafe=0")
  endif()
  gtest_discover_tests(test_${folder} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
                       PROPERTIES TIMEOUT 120 ENVIRONMENT "TSAN_OPTIONS=${tsan_options}" LABELS "${folder}")
endfunction()

# stoker_device_test(FOLDER SOURCES a_test.cc … [LINKS …] [LABELS …])
# makes a program whose tests use a GPU where there is one. It is one test of ctest: a process takes seconds to begin
# with CUDA. Where every case was skipped, so is the program.
function(stoker_device_test folder)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;LABELS" ${ARGN})
  stoker_test_program(${folder} stoker_device_main SOURCES ${arg_SOURCES} LINKS ${arg_LINKS})
  add_test(NAME test_${folder} COMMAND test_${folder})
  set_tests_properties(test_${folder} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu
                       ENVIRONMENT "TSAN_OPTIONS=atexit_sleep_ms=0" LABELS "${folder};cuda;${arg_LABELS}")
endfunction()
