// SPDX-License-Identifier: BSD-3-Clause
// Re-exports torch/headeronly/macros/Macros.h.
#pragma once

#include <torch/headeronly/macros/Macros.h>
