// SPDX-License-Identifier: BSD-3-Clause
// Re-exports torch/headeronly/util/BFloat16.h.
#pragma once

#include <torch/headeronly/util/BFloat16.h>
