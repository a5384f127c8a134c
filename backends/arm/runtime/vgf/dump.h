// SPDX-License-Identifier: BSD-3-Clause
// Inputs of executions as files, to run them elsewhere.
#pragma once

#include <executorch/backends/arm/runtime/vgf/arguments.h>

namespace executorch::backends::arm::vgf {

/// Writes FOLDER/call_000000/input_000_io_0.bin and so on, and metadata.json, which says what they
/// are; calls are numbered in the process. AccessFailed.
ET_NODISCARD runtime::Error dump_inputs(const char* folder, const Arguments& arguments,
                                        const std::vector<Resource>& resources,
                                        const std::vector<uint32_t>& inputs);

}  // namespace executorch::backends::arm::vgf
