# SPDX-License-Identifier: BSD-3-Clause
# The backend's options.
define_backend_option(EXECUTORCH_BUILD_CORTEX_M "int8 kernels for Arm Cortex-M"
  PRESETS linux pybind arm_baremetal)
