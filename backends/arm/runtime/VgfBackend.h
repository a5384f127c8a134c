// SPDX-License-Identifier: BSD-3-Clause
// Registration of VgfBackend: VGF files on a GPU or NPU with Vulkan's data graphs (VK_ARM_tensors,
// VK_ARM_data_graph). It shares the process's Vulkan device with VulkanBackend.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::backends::arm {

/// Registers "VgfBackend"; linking the library does it from a static constructor. Calling it again
/// has no effect.
///
/// init(): Internal for a payload that is no VGF file; NotSupported, with the names of what the
/// device lacks in the log, where data graphs do not run. execute(): InvalidArgument.
ET_NODISCARD runtime::Error register_vgf_backend();

}  // namespace executorch::backends::arm
