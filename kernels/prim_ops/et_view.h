// SPDX-License-Identifier: BSD-3-Clause
// executorch_prim::et_view, as a function.
#pragma once

#include <executorch/kernels/prim_ops/prim_ops.h>
