// SPDX-License-Identifier: BSD-3-Clause
// One of XNNPACK's elementwise operators, computed for any run of its elements. XNNPACK cuts each
// operator as it likes; here several of them, and what writes their input, are cut alike.
#pragma once

#include "xnnpack/operator.h"

#include <cstddef>

namespace executorch::backends::xnnpack {

/// A view of an operator: unary, binary, a table of bytes, or a copy. Elements are counted in the
/// order in which the output lies in memory.
class Elementwise {
 public:
  /// Whether an operator that has its sizes is one.
  static bool is(const xnn_operator& op);
  /// Of one that is.
  explicit Elementwise(const xnn_operator& op) : op_(op) {}

  size_t elements() const;
  /// Whether element i of the output is made of element i of input `input`, whichever i: of a
  /// binary operator one may repeat.
  bool reads_in_step(size_t input) const;
  /// After the operator was given its pointers.
  void compute(size_t first, size_t count) const;

 private:
  const xnn_operator& op_;
};

}  // namespace executorch::backends::xnnpack
