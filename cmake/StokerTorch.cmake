# Decides STOKER_HAS_TORCH: libtorch from a Python wheel (>= 2.11), found without importing it.
#
# pip builds a package with the interpreter it installs into, and hides that one's packages by PYTHONPATH. Isolated (-I) it
# shows them again, so the torch that the package will be beside is found. Where a tool builds in an environment of its
# own (uv, python -m build), STOKER_PYTHON names the interpreter.

set(STOKER_HAS_TORCH OFF)
set(STOKER_TORCH_VERSION none)
set(STOKER_PYTHON "" CACHE FILEPATH "The Python whose torch is used; default .venv's, then python3")

function(stoker_find_torch python)
  execute_process(
    COMMAND "${python}" -I -c "import importlib.util as u, importlib.metadata as m
print(u.find_spec('torch').submodule_search_locations[0] + ';' + m.version('torch'))"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0)
    list(GET found 0 folder)
    list(GET found 1 version)
    if(version VERSION_GREATER_EQUAL 2.11 AND EXISTS "${folder}/lib/libtorch_cpu.so")
      set(STOKER_TORCH_FOLDER "${folder}" PARENT_SCOPE)
      set(STOKER_TORCH_VERSION "${version}" PARENT_SCOPE)
      set(STOKER_HAS_TORCH ON PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(NOT STOKER_TRAIN STREQUAL "off")
  set(torch_pythons "${PROJECT_SOURCE_DIR}/.venv/bin/python" python3)
  if(SKBUILD)
    set(torch_pythons "${Python_EXECUTABLE}")
  endif()
  foreach(python "${STOKER_PYTHON}" ${torch_pythons})
    if(python AND NOT STOKER_HAS_TORCH)
      stoker_find_torch("${python}")
    endif()
  endforeach()
  if(STOKER_HAS_TORCH)
    add_library(stoker_torch INTERFACE)
    target_include_directories(stoker_torch SYSTEM INTERFACE
      "${STOKER_TORCH_FOLDER}/include" "${STOKER_TORCH_FOLDER}/include/torch/csrc/api/include")
    target_link_directories(stoker_torch INTERFACE "${STOKER_TORCH_FOLDER}/lib")
    target_link_libraries(stoker_torch INTERFACE torch_cpu c10)
    # A torch for GPUs registers its kernels when it is loaded; nothing of ours names a symbol of it.
    set(STOKER_TORCH_HAS_CUDA OFF)
    if(STOKER_HAS_CUDA AND EXISTS "${STOKER_TORCH_FOLDER}/lib/libtorch_cuda.so")
      set(STOKER_TORCH_HAS_CUDA ON)
      target_link_options(stoker_torch INTERFACE "LINKER:--no-as-needed")
      target_link_libraries(stoker_torch INTERFACE torch_cuda c10_cuda)
    endif()
  elseif(STOKER_TRAIN STREQUAL "on")
    message(FATAL_ERROR "STOKER_TRAIN=on, but no Python here has torch >= 2.11; run tools/bootstrap or set STOKER_PYTHON")
  endif()
endif()
message(STATUS "libtorch for the trainer: ${STOKER_TORCH_VERSION}")
