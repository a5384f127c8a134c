// SPDX-License-Identifier: BSD-3-Clause
// Conversion of elements between the types that have arithmetic: integers, floating point with Half
// and BFloat16, Bool.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::extension::internal {

// Whether a value of `from` may become one of `to`: the same type, or an arithmetic type that keeps
// what the value is. No floating point to integer but UInt16, UInt32 and UInt64, which take all,
// and nothing to Bool.
bool can_cast_elements(executorch::aten::ScalarType from, executorch::aten::ScalarType to);

// Whether an element of `type` can be the scalar: an integer in range in integers, any number in
// range in floating point, an integer or bool in Bool.
bool can_hold(executorch::aten::ScalarType type, const executorch::aten::Scalar& value);

// Converts `count` elements. False, with nothing written, if a type has no arithmetic. Values that
// do not fit wrap, as in C++.
bool cast_elements(const void* source, executorch::aten::ScalarType from, void* target,
                   executorch::aten::ScalarType to, size_t count);

// Writes `count` numbers as elements of `type`. False if it has no arithmetic.
bool store_elements(const double* numbers, void* target, executorch::aten::ScalarType type,
                    size_t count);
bool store_elements(const int64_t* numbers, void* target, executorch::aten::ScalarType type,
                    size_t count);

}  // namespace executorch::extension::internal
