# SPDX-License-Identifier: BSD-3-Clause
# The backend's options. The delegate is compiled against the driver's published interface alone; firmware links the driver.
define_backend_option(EXECUTORCH_BUILD_ARM_BAREMETAL "Ethos-U's delegate, for Arm processors without an operating system"
  PRESETS arm_baremetal)
