// SPDX-License-Identifier: BSD-3-Clause
// Re-exports torch/headeronly/util/TypeSafeSignMath.h.
#pragma once

#include <torch/headeronly/util/TypeSafeSignMath.h>
