// SPDX-License-Identifier: BSD-3-Clause
// ExecuTorch's tensors as OpenVINO's: element types, and memory in another order of dimensions.
#pragma once

#include <executorch/backends/openvino/runtime/OpenvinoApi.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>

#include <vector>

namespace executorch::backends::openvino {

/// NotSupported for a dtype that OpenVINO does not have.
runtime::Result<ov_element_type_e> element_type_of(executorch::aten::ScalarType dtype);

/// Whether the first dimension is the outermost in memory, and so on, as OpenVINO's tensors are. An
/// order of dimensions of size 1 makes no difference.
bool is_row_major(const executorch::aten::Tensor& tensor);

/// The tensor's elements in row-major order; and back.
runtime::Error to_row_major(const executorch::aten::Tensor& tensor, void* out);
runtime::Error from_row_major(const void* elements, const executorch::aten::Tensor& out);

}  // namespace executorch::backends::openvino
