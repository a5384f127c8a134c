// SPDX-License-Identifier: BSD-3-Clause
// Registration of the portable kernels by a call, for programs whose linker drops static
// constructors. Linking portable_ops_lib registers them anyway; doing both has no further effect.
#pragma once

#include <executorch/runtime/core/error.h>

namespace executorch {
namespace kernels {

executorch::runtime::Error register_portable_kernels();

}  // namespace kernels
}  // namespace executorch
