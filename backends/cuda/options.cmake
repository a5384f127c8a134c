# SPDX-License-Identifier: BSD-3-Clause
# Options of CudaBackend. Nothing of CUDA is needed to build: its runtime library is found at run time.
define_backend_option(EXECUTORCH_BUILD_CUDA "The backend that runs what AOTInductor compiled for NVIDIA's GPUs, on Linux; the CUDA runtime is found at run time"
  DEFAULT ${EXECUTORCH_BUILD_TESTS})
if(EXECUTORCH_BUILD_CUDA AND NOT CMAKE_SYSTEM_NAME MATCHES "^(Linux|Android)$")
  set(EXECUTORCH_BUILD_CUDA OFF)
endif()
check_required_options_on(IF_ON EXECUTORCH_BUILD_CUDA REQUIRES EXECUTORCH_BUILD_AOTI_CPU EXECUTORCH_BUILD_EXTENSION_TENSOR)
