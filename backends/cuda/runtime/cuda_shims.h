// SPDX-License-Identifier: BSD-3-Clause
// Shims that a library for CUDA imports besides those of tensors: guards of devices and streams.
#pragma once

#include <executorch/backends/aoti/runtime/shims.h>

namespace executorch::backends::cuda {

runtime::Span<const aoti::Shim> cuda_shims();

}  // namespace executorch::backends::cuda
