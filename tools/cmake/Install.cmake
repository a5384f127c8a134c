# SPDX-License-Identifier: BSD-3-Clause
# What is installed besides the libraries: headers and the CMake package (component headers; the libraries are of the
# component development). A prefix of `cmake --install` gets bin, include,
# lib and share; the wheel has the same include, lib and share inside the package executorch.
include(CMakePackageConfigHelpers)

# Backends whose kernels `executorch c` writes programs for (codegen/c/libraries.py), built here or not.
set(_kernel_backends backends/cortex_m)

foreach(folder runtime schema kernels extension devtools codegen ${_kernel_backends})
  if(EXISTS "${EXECUTORCH_ROOT}/${folder}")
    install(DIRECTORY "${EXECUTORCH_ROOT}/${folder}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/executorch/${folder}" COMPONENT headers
      FILES_MATCHING PATTERN "*.h" PATTERN "test" EXCLUDE PATTERN "_native" EXCLUDE PATTERN "tokenizers" EXCLUDE
      PATTERN "jni" EXCLUDE
      REGEX "/extension/c$" EXCLUDE)  # executorch/c/executorch.h is all of it that others include
  endif()
endforeach()
install(DIRECTORY "${EXECUTORCH_GENERATED_DIR}/executorch" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT headers
  FILES_MATCHING PATTERN "*.h")

# Sources of kernels and of what they need of the runtime: `executorch c --project` copies those that a model calls.
foreach(folder kernels/portable kernels/quantized ${_kernel_backends} runtime/core runtime/kernel runtime/platform)
  if(EXISTS "${EXECUTORCH_ROOT}/${folder}")
    install(DIRECTORY "${EXECUTORCH_ROOT}/${folder}/" DESTINATION "share/executorch/${folder}" COMPONENT headers
      FILES_MATCHING PATTERN "*.cpp" REGEX "_(test|bench)\\.cpp$" EXCLUDE REGEX "/test(ing_util)?$" EXCLUDE)
  endif()
endforeach()
install(FILES "${EXECUTORCH_ROOT}/LICENSE" DESTINATION share/executorch COMPONENT headers)

# The wheel's Python besides the folders that pyproject.toml names.
if(ET_FLATC)
  et_install_python(PROGRAMS "${ET_FLATC}" DESTINATION data/bin)
endif()

get_property(EXECUTORCH_INSTALLED_LIBRARIES GLOBAL PROPERTY ET_INSTALLED_LIBRARIES)
if(NOT EXECUTORCH_INSTALLED_LIBRARIES)
  return()
endif()
set(_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ExecuTorch")
install(EXPORT ExecuTorchTargets FILE ExecuTorchTargets.cmake DESTINATION "${_package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/executorch-config.cmake.in"
  "${CMAKE_BINARY_DIR}/executorch-config.cmake" INSTALL_DESTINATION "${_package_dir}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/executorch-config-version.cmake"
  VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMajorVersion)
install(FILES "${CMAKE_BINARY_DIR}/executorch-config.cmake" "${CMAKE_BINARY_DIR}/executorch-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/LinkOptions.cmake" "${CMAKE_CURRENT_LIST_DIR}/Codegen.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/PythonExecutable.cmake" DESTINATION "${_package_dir}" COMPONENT headers)

# What Codegen.cmake runs and reads; the wheel has these folders as Python packages.
if(NOT SKBUILD)
  foreach(folder codegen schema kernels ${_kernel_backends})
    install(DIRECTORY "${EXECUTORCH_ROOT}/${folder}/" DESTINATION "share/executorch/${folder}"
      FILES_MATCHING PATTERN "*.yaml" PATTERN "*.fbs" PATTERN "aten_schemas.txt" PATTERN "register_prim_ops.cpp"
      REGEX "/codegen/.*\\.py$" REGEX "_test\\.py$" EXCLUDE REGEX "/(test|__pycache__)$" EXCLUDE)
  endforeach()
  if(ET_FLATC)
    install(PROGRAMS "${ET_FLATC}" DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endif()

# Also where projects that were written for a wheel look: executorch_DIR=<site-packages>/executorch/share/cmake.
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/share/executorch-config.cmake" @ONLY CONTENT
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/../../@_package_dir@/executorch-config.cmake\")\n")
install(FILES "${CMAKE_BINARY_DIR}/share/executorch-config.cmake" DESTINATION share/cmake COMPONENT headers)
