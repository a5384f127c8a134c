# SPDX-License-Identifier: BSD-3-Clause
# Arm processors without an operating system. tools/cmake/toolchains/arm-none-eabi.cmake chooses the compiler, TARGET_CPU the
# processor.
set_preset_option(EXECUTORCH_BUILD_ARM_BAREMETAL ON)
set_preset_option(EXECUTORCH_BUILD_CORTEX_M ON)
set_preset_option(EXECUTORCH_BUILD_KERNELS_QUANTIZED ON)
set_preset_option(EXECUTORCH_BUILD_EXTENSION_RUNNER_UTIL ON)
set_preset_option(EXECUTORCH_ENABLE_LOGGING ON)
set_preset_option(EXECUTORCH_DESKTOP_DEFAULTS OFF)
set_preset_option(EXECUTORCH_BUILD_EXECUTOR_RUNNER OFF)
set_preset_option(EXECUTORCH_BUILD_EXTENSION_DATA_LOADER OFF)
set_preset_option(EXECUTORCH_BUILD_EXTENSION_FLAT_TENSOR OFF)
set_preset_option(EXECUTORCH_BUILD_PTHREADPOOL OFF)
set_preset_option(EXECUTORCH_BUILD_CPUINFO OFF)
set_preset_option(EXECUTORCH_USE_DL OFF)
set_preset_option(EXECUTORCH_PAL_DEFAULT minimal)
