// SPDX-License-Identifier: BSD-3-Clause
// Shims that a library for CUDA imports besides those of tensors: guards of devices and streams,
// and kernels.
#pragma once

#include <executorch/backends/aoti/runtime/shims.h>

namespace executorch::backends::cuda {

runtime::Span<const aoti::Shim> cuda_shims();
runtime::Span<const aoti::Shim> kernel_shims();

}  // namespace executorch::backends::cuda
