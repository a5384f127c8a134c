// SPDX-License-Identifier: BSD-3-Clause
// Re-exports torch/headeronly/util/Half.h.
#pragma once

#include <torch/headeronly/util/Half.h>
