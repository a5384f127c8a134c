// SPDX-License-Identifier: BSD-3-Clause
// LLVM's integer arithmetic, c10::llvm, under the path of the optimized kernels.
#pragma once

#include <c10/util/llvmMathExtras.h>
