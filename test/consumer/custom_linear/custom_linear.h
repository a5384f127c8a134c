// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

using executorch::aten::Tensor;

/// out = input @ weight + bias, of float matrices.
Tensor& custom_linear_out(const Tensor& weight, const Tensor& input,
                          const std::optional<Tensor>& bias, Tensor& out);
