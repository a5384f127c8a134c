# SPDX-License-Identifier: BSD-3-Clause
# Browsers and Node: the JavaScript interface with all kernels that models without language need.
set_preset_option(EXECUTORCH_BUILD_WASM ON)
set_preset_option(EXECUTORCH_BUILD_KERNELS_QUANTIZED ON)
set_preset_option(EXECUTORCH_BUILD_XNNPACK ON)
