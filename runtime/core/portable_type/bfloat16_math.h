// SPDX-License-Identifier: BSD-3-Clause
// <cmath> for Half and BFloat16.
#pragma once

#include <c10/util/BFloat16-math.h>
