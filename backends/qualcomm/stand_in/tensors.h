// SPDX-License-Identifier: BSD-3-Clause
// QNN's tensors and operators as the stand-in keeps them, and back.
#pragma once

#include <executorch/backends/qualcomm/stand_in/values.h>

#include <memory>

namespace executorch::backends::qualcomm::stand_in {

/// Without data.
std::unique_ptr<TensorSpec> spec_of(const Qnn_Tensor_t& tensor);

/// Refers to the spec.
Qnn_Tensor_t tensor_of(TensorSpec& spec, uint32_t id);

}  // namespace executorch::backends::qualcomm::stand_in
