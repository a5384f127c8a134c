// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the quantized library, under the name that every library's header has.
#pragma once

#include <executorch/kernels/quantized/CustomOpsNativeFunctions.h>
