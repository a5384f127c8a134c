// SPDX-License-Identifier: BSD-3-Clause
// complex<T> with its functions.
#pragma once

#include <c10/util/complex_math.h>
#include <c10/util/complex_utils.h>
#include <torch/headeronly/util/complex.h>
