# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` lays down besides the libraries: headers and the CMake package.
foreach(folder runtime schema kernels extension)
  if(EXISTS "${EXECUTORCH_ROOT}/${folder}")
    install(DIRECTORY "${EXECUTORCH_ROOT}/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/executorch"
      FILES_MATCHING PATTERN "*.h" PATTERN "test" EXCLUDE)
  endif()
endforeach()
install(DIRECTORY "${EXECUTORCH_GENERATED_DIR}/executorch" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")
