# SPDX-License-Identifier: BSD-3-Clause
# The runtime and portable kernels alone, for an application of Zephyr that brings its compiler and flags.
set_preset_option(EXECUTORCH_BUILD_PORTABLE_OPS ON)
set_preset_option(EXECUTORCH_BAREMETAL_SKIP_INSTALL ON)
set_preset_option(EXECUTORCH_DESKTOP_DEFAULTS OFF)
set_preset_option(EXECUTORCH_BUILD_EXTENSION_DATA_LOADER OFF)
set_preset_option(EXECUTORCH_BUILD_EXTENSION_FLAT_TENSOR OFF)
set_preset_option(EXECUTORCH_BUILD_PTHREADPOOL OFF)
set_preset_option(EXECUTORCH_BUILD_CPUINFO OFF)
set_preset_option(EXECUTORCH_USE_DL OFF)
set_preset_option(EXECUTORCH_PAL_DEFAULT minimal)
