// SPDX-License-Identifier: BSD-3-Clause
// A few operators for tests of the executor, and programs that use them.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/executor/test/program_builder.h>

namespace executorch::runtime::testing {

// Registers, once:
//   test::add.out(Tensor a, Tensor b, *, Tensor(a!) out)  floats of one shape; out is resized to it
//   test::copy_(Tensor(a!) self, Tensor source)           floats of one shape
//   test::split.out(Tensor a, *, Tensor(a!) x, Tensor(b!) y)  both are copies of a
//   test::scratch.out(Tensor a, *, Tensor(a!) out)        copies through scratch memory
//   test::select.out(Tensor a, int i, *, Tensor(a!) out)  row i of a
//   test::take(...)                                       accepts anything
//   test::fail.out(Tensor a, *, Tensor(a!) out)           fails with InvalidType
//   test::greater.out(Tensor a, Tensor b, *, Tensor(a!) out)  Bool of one element: first a > first
//   b
void register_test_kernels();

// forward(x: [2, 3]) = x + constant.
ProgramBuilder add_program();

// The same with the constant in the program data, as files before 2024-09 have it.
ProgramBuilder inline_constant_program();

// forward(x: up to [4, 3]) = x + x, with bounds.
ProgramBuilder dynamic_program();

// forward(x: [n, 3], y: [n, 3]) = x + y, n from 2 to 8, with a range for each dimension that
// varies.
ProgramBuilder ranged_program();

// forward(image: [n, 3], "state.hidden": [4]) = (scores: image + image, a number), n from 2 to 8,
// with names, ranges and metadata.
ProgramBuilder named_program();

// forward(x: [2]) adds x to a buffer that starts at {1, 2}, and returns its new content.
ProgramBuilder stateful_program();

// forward(p: Bool [1], x: [2]) = p ? x + x : x.
ProgramBuilder branching_program();

// forward(x: [n, 2]) = rows of x doubled, n up to 4; a loop with et_copy_index.
ProgramBuilder looping_program();

// Two methods, `one` and `two`, that share a constant.
ProgramBuilder two_method_program();

// forward(x: [2, 3]) = numel * 2, and a view of x; prim ops only.
ProgramBuilder symbolic_program();

// Values of every kind, which operator test::take receives.
ProgramBuilder every_value_program();

}  // namespace executorch::runtime::testing
