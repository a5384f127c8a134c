// SPDX-License-Identifier: BSD-3-Clause
// Re-exports torch/headeronly/util/floating_point_utils.h.
#pragma once

#include <torch/headeronly/util/floating_point_utils.h>
