// SPDX-License-Identifier: BSD-3-Clause
// Pooling of one to three spatial dimensions as one thing: spatial dimensions that an operator does
// not have are added in front with size 1 and a window of 1.
#pragma once

#include <algorithm>
#include <cstdint>

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch {
namespace kernels {

constexpr int kSpatial = 3;

struct Window {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
};

struct PoolArgs {
  executorch::aten::IntArrayRef kernel_size;
  executorch::aten::IntArrayRef stride;
  executorch::aten::IntArrayRef padding;
  executorch::aten::IntArrayRef dilation;
  bool ceil_mode;
};

// Sizes before and after pooling, outermost spatial dimension first.
struct Pooling {
  Window windows[kSpatial];
  int64_t in[kSpatial] = {1, 1, 1};
  int64_t out[kSpatial] = {1, 1, 1};

  // About how many positions go into one output.
  int64_t window_size() const {
    int64_t size = 1;
    for (int d = 0; d < kSpatial; ++d) {
      size *= std::max(windows[d].kernel, in[d] / std::max<int64_t>(1, out[d]));
    }
    return size;
  }
};

// Input positions first, first + step, ... below last.
struct Steps {
  int64_t first;
  int64_t last;
  int64_t step;
};

// The pooling of `self`, which has `rank` spatial dimensions; fails when arguments are wrong or the
// result would be empty.
bool make_pooling(const OpCall& call, const Tensor& self, int rank, const PoolArgs& args,
                  Pooling& pooling);
// The same for pooling to a given size (0 allowed).
bool make_adaptive(const OpCall& call, const Tensor& self, int rank,
                   executorch::aten::IntArrayRef output_size, Pooling& pooling);

// The shape of `self` with the pooled sizes.
Shape pooled_shape(const Tensor& self, int rank, const Pooling& pooling);

// A tensor with `rank` spatial dimensions as (batch, channel, depth, height, width).
StridedView volume_of(const Tensor& tensor, int rank);

// The part of a window inside the input, at output position `at` of dimension `d`.
inline Steps window_span(const Pooling& pooling, int d, int64_t at) {
  const Window& w = pooling.windows[d];
  const int64_t start = at * w.stride - w.padding;
  const int64_t skipped = start < 0 ? (-start + w.dilation - 1) / w.dilation : 0;
  const int64_t end = start + w.dilation * (w.kernel - 1) + 1;
  return {start + skipped * w.dilation, std::min(end, pooling.in[d]), w.dilation};
}

// Output positions [first, last) of a row whose windows lie inside the input.
struct Interior {
  int64_t first;
  int64_t last;
};
inline Interior interior_of(const Pooling& pooling) {
  constexpr int d = kSpatial - 1;
  const Window& w = pooling.windows[d];
  const int64_t room = pooling.in[d] + w.padding - w.dilation * (w.kernel - 1) - 1;
  const int64_t first = std::min((w.padding + w.stride - 1) / w.stride, pooling.out[d]);
  const int64_t last = room < 0 ? 0 : std::min(room / w.stride + 1, pooling.out[d]);
  return {first, std::max(first, last)};
}

// The positions and the divisor of one average.
struct Average {
  Steps spans[kSpatial];
  int64_t divisor;  // 0: no position at all

  int64_t count() const {
    int64_t inside = 1;
    for (const Steps& span : spans) {
      inside *= std::max<int64_t>(0, span.last - span.first);
    }
    return inside;
  }
};

// Averages of windows; a divisor_override of 0 stands for none. Positions are set dimension by
// dimension, so that what a row of outputs has in common is found once.
class WindowAverages {
 public:
  WindowAverages(const Pooling& pooling, bool count_include_pad, int64_t divisor_override)
      : pooling_(pooling),
        count_include_pad_(count_include_pad),
        divisor_override_(divisor_override) {}

  void set(int d, int64_t at) {
    const Window& w = pooling_.windows[d];
    const int64_t start = at * w.stride - w.padding;
    padded_[d] = std::min(start + w.kernel, pooling_.in[d] + w.padding) - start;
    average_.spans[d] = window_span(pooling_, d, at);
  }
  Interior interior() const { return interior_of(pooling_); }
  const Average& average() {
    const int64_t inside = average_.count();
    const int64_t padded = padded_[0] * padded_[1] * padded_[2];
    average_.divisor = inside == 0              ? 0
                       : divisor_override_ != 0 ? divisor_override_
                       : count_include_pad_     ? padded
                                                : inside;
    return average_;
  }

 private:
  const Pooling& pooling_;
  bool count_include_pad_;
  int64_t divisor_override_;
  int64_t padded_[kSpatial] = {};
  Average average_ = {};
};

// Averages of the parts that split the input evenly.
class AdaptiveAverages {
 public:
  explicit AdaptiveAverages(const Pooling& pooling) : pooling_(pooling) {}

  void set(int d, int64_t at) {
    const int64_t in = pooling_.in[d];
    const int64_t out = pooling_.out[d];
    average_.spans[d] = {at * in / out, ((at + 1) * in + out - 1) / out, 1};
  }
  Interior interior() const { return {0, 0}; }  // neighbours differ in size
  const Average& average() {
    average_.divisor = average_.count();
    return average_;
  }

 private:
  const Pooling& pooling_;
  Average average_ = {};
};

// Whether the rows of a plane may be shared by threads: not where windows are written to.
enum class PoolShare { kRows, kPlanes };

// Calls body(offset of the plane in `in`, offset of the row in `out`, depth, height) for every row
// of `out`, in parallel. `in` has the sizes before pooling, `out` those after it.
template <typename Body>
void for_each_pooled_row(const StridedView& in, const StridedView& out, int64_t window,
                         PoolShare share, const Body& body) {
  const int64_t* sizes = out.sizes;
  const int64_t rows = sizes[2] * sizes[3];
  const int64_t together = share == PoolShare::kRows ? 1 : rows;
  const int64_t work = together * sizes[4] * window;
  const int64_t grain = std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(1, work));
  const int64_t shares = together == 0 ? 0 : sizes[0] * sizes[1] * rows / together;
  executorch::extension::parallel_for(0, shares, grain, [&](int64_t first, int64_t last) {
    for (int64_t row = first * together; row < last * together; ++row) {
      const int64_t plane = row / rows;
      const int64_t n = plane / sizes[1];
      const int64_t c = plane % sizes[1];
      const int64_t d = row % rows / sizes[3];
      const int64_t h = row % sizes[3];
      body(n * in.strides[0] + c * in.strides[1],
           n * out.strides[0] + c * out.strides[1] + d * out.strides[2] + h * out.strides[3], d, h);
    }
  });
}

// Calls visit(offset in the plane, position[kSpatial]) for every position of the spans.
template <typename Visit>
void for_each_in_window(const Steps* spans, const int64_t* strides, const Visit& visit) {
  for (int64_t d = spans[0].first; d < spans[0].last; d += spans[0].step) {
    for (int64_t h = spans[1].first; h < spans[1].last; h += spans[1].step) {
      const int64_t row = d * strides[0] + h * strides[1];
      for (int64_t w = spans[2].first; w < spans[2].last; w += spans[2].step) {
        visit(row + w * strides[2], d, h, w);
      }
    }
  }
}

}  // namespace kernels
}  // namespace executorch
