// SPDX-License-Identifier: BSD-3-Clause
// A method's tensors as inputs and outputs of a VGF file.
#pragma once

#include <executorch/backends/arm/runtime/vgf/payload.h>
#include <executorch/runtime/backend/tensor_arguments.h>

#include <vector>

namespace executorch::backends::arm::vgf {

/// All of one execution, checked: as many bytes as the file's, in elements of its format, dense in
/// memory in any order of dimensions, since the compiler has turned the port instead.
struct Arguments {
  std::vector<runtime::TensorView> inputs;
  std::vector<runtime::TensorView> outputs;

  /// InvalidArgument.
  static runtime::Result<Arguments> of(runtime::Span<runtime::EValue*> args,
                                       const std::vector<Resource>& resources,
                                       const std::vector<uint32_t>& inputs,
                                       const std::vector<uint32_t>& outputs);
};

}  // namespace executorch::backends::arm::vgf
