// SPDX-License-Identifier: BSD-3-Clause
// What declarations of operators are marked with; nothing unless they are PyTorch's.
#pragma once

#if !defined(USE_ATEN_LIB) && !defined(TORCH_API)
#define TORCH_API
#endif
