// SPDX-License-Identifier: BSD-3-Clause
// Registers the prim ops before main(). In a library of its own, so that programs that register
// explicitly can leave it out.
#include <executorch/kernels/prim_ops/prim_ops.h>

namespace {

[[maybe_unused]] const executorch::runtime::Error kRegistered =
    executorch::runtime::register_prim_ops();

}  // namespace
