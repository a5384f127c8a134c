// SPDX-License-Identifier: BSD-3-Clause
// As cases.cpp, of a network that takes float32.
#define FLOAT_INPUTS 1
#include <executorch/backends/cortex_m/test/cases.cpp>
