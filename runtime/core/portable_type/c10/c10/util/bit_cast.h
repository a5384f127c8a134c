// SPDX-License-Identifier: BSD-3-Clause
// Re-exports torch/headeronly/util/bit_cast.h.
#pragma once

#include <torch/headeronly/util/bit_cast.h>
