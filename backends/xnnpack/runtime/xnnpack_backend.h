// SPDX-License-Identifier: BSD-3-Clause
// Registration of the backend. Linking the library registers it from a static constructor; the call
// is for programs that want no such thing to be needed.
#pragma once

#include <executorch/backends/xnnpack/runtime/XNNPACKBackend.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/error.h>

namespace executorch::backends::xnnpack {

/// Registers "XnnpackBackend". Calling it again has no effect.
ET_NODISCARD runtime::Error register_xnnpack_backend();

}  // namespace executorch::backends::xnnpack
