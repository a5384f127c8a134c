// SPDX-License-Identifier: BSD-3-Clause
// The operators of Half, which stand beside the type here.
#pragma once

#include <torch/headeronly/util/Half-inl.h>
