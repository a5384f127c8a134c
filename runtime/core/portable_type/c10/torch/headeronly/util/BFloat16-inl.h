// SPDX-License-Identifier: BSD-3-Clause
// The operators of BFloat16, which stand beside the type here.
#pragma once

#include <torch/headeronly/util/BFloat16.h>
