# SPDX-License-Identifier: BSD-3-Clause
# The backend's options. Ethos-U's delegate is compiled against the driver's published interface alone; firmware links the driver.
define_backend_option(EXECUTORCH_BUILD_ARM_BAREMETAL "Ethos-U's delegate, for Arm processors without an operating system"
  PRESETS arm_baremetal)
define_backend_option(EXECUTORCH_BUILD_VGF
  "VGF's delegate; needs Vulkan's headers and ai_ml_sdk_vgf_library to build, a device with VK_ARM_data_graph to run")
