// SPDX-License-Identifier: BSD-3-Clause
// Scalar types: facts, casts and promotion, sets, switches.
#pragma once

#include <cinttypes>

#include <executorch/runtime/core/exec_aten/util/scalar_type_facts.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_promotion.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_sets.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_switch.h>
