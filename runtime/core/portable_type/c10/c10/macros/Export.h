// SPDX-License-Identifier: BSD-3-Clause
// Re-exports torch/headeronly/macros/Export.h.
#pragma once

#include <torch/headeronly/macros/Export.h>
