# SPDX-License-Identifier: BSD-3-Clause
# PyTorch's C++ library, from the package of the Python that builds (PYTHON_EXECUTABLE).

# get_torch_base_path(variable): the folder of the package; an empty string without one.
function(get_torch_base_path variable)
  execute_process(COMMAND "${PYTHON_EXECUTABLE}" -c
    "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# add_torch_to_cmake_prefix_path(): find_package(Torch) finds that package.
macro(add_torch_to_cmake_prefix_path)
  get_torch_base_path(_et_torch)
  list(APPEND CMAKE_PREFIX_PATH "${_et_torch}")
endmacro()

# find_package_torch(): the target `torch`, or an error that says what to install.
macro(find_package_torch)
  if(NOT TARGET torch)
    add_torch_to_cmake_prefix_path()
    if(NOT _et_torch)
      message(FATAL_ERROR "PyTorch is needed and ${PYTHON_EXECUTABLE} has none: pip install torch, or set PYTHON_EXECUTABLE")
    endif()
    find_package(Torch REQUIRED)
  endif()
endmacro()

# find_package_torch_headers(): TORCH_INCLUDE_DIRS alone, for libraries that link nothing of PyTorch.
macro(find_package_torch_headers)
  get_torch_base_path(_et_torch)
  if(NOT _et_torch)
    message(FATAL_ERROR "PyTorch's headers are needed and ${PYTHON_EXECUTABLE} has none: pip install torch, or set PYTHON_EXECUTABLE")
  endif()
  set(TORCH_INCLUDE_DIRS "${_et_torch}/include" "${_et_torch}/include/torch/csrc/api/include")
endmacro()
