// SPDX-License-Identifier: BSD-3-Clause
// The loops of reductions: which dimensions go, the shape that stays, and visits of the elements
// that fall together.
#pragma once

#include <algorithm>
#include <cstdint>

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch {
namespace kernels {

// The reduced dimensions of a call, checked, and the shape of its result.
struct Reduction {
  bool reduced[Shape::kMaxDims] = {};
  bool keepdim = false;
  Shape shape;
  int64_t count = 1;  // elements per result
};

// `dims` none or empty: all dimensions.
bool make_reduction(const OpCall& call, const Tensor& in,
                    const executorch::aten::OptionalArrayRef<int64_t>& dims, bool keepdim,
                    Reduction& reduction);

// Some dimensions of a tensor with their strides in it (and in the output), merged where possible.
struct DimGroup {
  int ndim = 0;
  int64_t sizes[Shape::kMaxDims];
  int64_t in[Shape::kMaxDims];
  int64_t out[Shape::kMaxDims];

  int64_t numel() const;
};

// The loop nest of a reduction. With `ordered`, reduced elements are visited in row-major order of
// the tensor, else in the order of memory.
class ReductionLoops {
 public:
  ReductionLoops(const Tensor& in, const Tensor& out, const Reduction& reduction, bool ordered);

  // True when neighbours in memory belong to different results, so that results are best computed
  // many at a time.
  bool prefers_lanes() const { return lane_ >= 0; }

  // Calls body(out_offset, in_offset) for each result, in parallel pieces.
  template <typename Body>
  void for_each_result(const Body& body) const {
    const int64_t grain = std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, reduced_.numel()));
    executorch::extension::parallel_for(0, kept_.numel(), grain, [&](int64_t first, int64_t last) {
      Odometer<2> odometer(kept_.ndim, kept_.sizes);
      odometer.set_strides(0, kept_.in);
      odometer.set_strides(1, kept_.out);
      odometer.seek(first);
      for (int64_t i = first; i < last; ++i, odometer.next()) {
        body(odometer.offset(1), odometer.offset(0));
      }
    });
  }

  // Calls body(values, n, first) over the elements of one result as values of C, `first` counting
  // from 0.
  template <typename C, typename Body>
  void for_each_run(int64_t in_offset, const Body& body) const {
    const int inner = reduced_.ndim - 1;
    const LoadRun load = loader(type_, compute_type_v<C>);
    const bool direct = is_stored_as(type_, compute_type_v<C>) && reduced_.in[inner] == 1;
    Odometer<1> odometer(inner, reduced_.sizes);
    odometer.set_strides(0, reduced_.in);
    C buffer[kChunk];
    const int64_t length = reduced_.sizes[inner];
    const int64_t runs = length == 0 ? 0 : reduced_.numel() / length;
    int64_t position = 0;
    for (int64_t i = 0; i < runs; ++i, odometer.next()) {
      for (int64_t begin = 0; begin < length; begin += kChunk) {
        const int64_t n = std::min(kChunk, length - begin);
        const char* from =
            data_ + (in_offset + odometer.offset(0) + begin * reduced_.in[inner]) * element_size_;
        const C* values = reinterpret_cast<const C*>(from);
        if (!direct) {
          load(from, reduced_.in[inner], n, buffer);
          values = buffer;
        }
        body(values, n, position);
        position += n;
      }
    }
  }

  // For prefers_lanes(): calls begin(n), then row(values, n) for each reduced index, then
  // end(out_offset, stride, n) for blocks of up to kChunk neighbouring results. `make()` gives each
  // piece of work its own object with these three.
  template <typename C, typename Make>
  void for_each_lane_block(const Make& make) const {
    const LoadRun load = loader(type_, compute_type_v<C>);
    const bool direct = is_stored_as(type_, compute_type_v<C>);
    const int64_t width = kept_.sizes[lane_];
    const int64_t blocks = (width + kChunk - 1) / kChunk;
    DimGroup others = kept_;
    for (int d = lane_; d + 1 < kept_.ndim; ++d) {
      others.sizes[d] = kept_.sizes[d + 1];
      others.in[d] = kept_.in[d + 1];
      others.out[d] = kept_.out[d + 1];
    }
    --others.ndim;
    executorch::extension::parallel_for(
        0, others.numel() * blocks, 1, [&](int64_t first, int64_t last) {
          Odometer<2> kept(others.ndim, others.sizes);
          kept.set_strides(0, others.in);
          kept.set_strides(1, others.out);
          C buffer[kChunk];
          auto lanes = make();
          for (int64_t i = first; i < last; ++i) {
            kept.seek(i / blocks);
            const int64_t begin = i % blocks * kChunk;
            const int64_t n = std::min(kChunk, width - begin);
            lanes.begin(n);
            Odometer<1> rows(reduced_.ndim, reduced_.sizes);
            rows.set_strides(0, reduced_.in);
            const int64_t count = reduced_.numel();
            for (int64_t r = 0; r < count; ++r, rows.next()) {
              const char* from = data_ + (kept.offset(0) + rows.offset(0) + begin) * element_size_;
              if (!direct) {
                load(from, 1, n, buffer);
              }
              lanes.row(direct ? reinterpret_cast<const C*>(from) : buffer, n);
            }
            lanes.end(kept.offset(1) + begin * kept_.out[lane_], kept_.out[lane_], n);
          }
        });
  }

 private:
  const char* data_;
  int64_t element_size_;
  ScalarType type_;
  DimGroup kept_;
  DimGroup reduced_;
  int lane_ = -1;  // the kept dimension that is dense in memory
};

}  // namespace kernels
}  // namespace executorch
