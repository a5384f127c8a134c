// SPDX-License-Identifier: BSD-3-Clause
// Registration of CudaBackend and of its memory. Linking the library registers them from a static
// constructor.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::backends::cuda {

/// Registers "CudaBackend". Calling it again has no effect.
ET_NODISCARD runtime::Error register_cuda_backend();

}  // namespace executorch::backends::cuda
