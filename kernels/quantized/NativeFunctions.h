// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the quantized library, under the name that every library's header has; each with a
// context and without.
#pragma once

#include <executorch/kernels/quantized/CustomOpsNativeFunctions.h>
#include <executorch/kernels/quantized/without_context.h>
