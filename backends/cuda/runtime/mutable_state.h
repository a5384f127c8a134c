// SPDX-License-Identifier: BSD-3-Clause
// The documents' name of sessions.
#pragma once

#include <executorch/backends/aoti/runtime/mutable_state.h>

namespace executorch::backends::cuda {

using aoti::MutableStateContextOwner;

}  // namespace executorch::backends::cuda
