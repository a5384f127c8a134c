// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of floats that are computed in ways that XNNPACK does not have: operators of its
// type, whose packed weights and steps are ours. A way is a row: OwnConvolution.
#pragma once

#include <executorch/backends/xnnpack/library/convolution/filter_rows.h>

#include "xnnpack.h"
#include "xnnpack/operator.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace executorch::backends::xnnpack {

struct OwnConvolution {
  uint32_t seed;  // of weights packed so, in a cache
  /// Whether a convolution is computed so, here.
  bool (*suits)(const Filter& filter, float min, float max, uint32_t flags);
  size_t (*packed_floats)(const Filter& filter);
  /// The filters as they are given, and a bias, or none; false without memory.
  bool (*pack)(const Filter& filter, const float* filters, const float* bias, float* packed);
  /// Puts into the operator, which knows the sizes of its images, an OwnCall and more, and its
  /// step; gives the floats of workspace.
  size_t (*plan)(xnn_operator& op, size_t num_threads);
  /// The elements that a part of the step writes: how many from which on, in the order of memory.
  void (*for_each_run)(const xnn_operator& op, size_t part,
                       const std::function<void(size_t first, size_t elements)>& use);
};

/// What the operator's context begins with.
struct OwnCall {
  const float* input;
  float* output;
  float* scratch;
};

/// Few channels a group.
extern const OwnConvolution kGroupedConvolution;

/// The way that suits a convolution, or none.
const OwnConvolution* own_convolution_for(const Filter& filter, float min, float max,
                                          uint32_t flags);
xnn_status create_own(const OwnConvolution& own, const Filter& filter, const float* filters,
                      const float* bias, float min, float max, uint32_t flags,
                      xnn_weights_cache_t weights_cache, xnn_operator_t* out);

/// The way of an operator; none for one of XNNPACK's.
const OwnConvolution* own_convolution_of(const xnn_operator& op);

}  // namespace executorch::backends::xnnpack
