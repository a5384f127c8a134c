// SPDX-License-Identifier: BSD-3-Clause
// Resizing of images (batch, channels, height, width): nearest neighbour and bilinear. Any dim
// order.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/portable/resize/neighbours.h>
#include <executorch/kernels/portable/resize/resize_bytes.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// Columns go in blocks: what they are made from is found once for all rows of all planes.
constexpr int64_t kBlock = 128;
constexpr int64_t kSpan = 2 * kBlock;  // input columns of a block that are mixed together

struct Resize {
  StridedView in;
  StridedView out;
  double scale[2];  // input pixels per output pixel: height, width
};

// From a size or from factors; exactly one is given.
bool prepare(const OpCall& call, const Tensor& input, const OptionalArrayRef<int64_t>& output_size,
             const OptionalArrayRef<double>& scale_factors, Tensor& out, Resize& resize) {
  ET_KERNEL_CHECK_MSG(call.ctx,
                      output_size.has_value() != scale_factors.has_value() &&
                          (!output_size.has_value() || output_size->size() == 2) &&
                          (!scale_factors.has_value() || scale_factors->size() == 2),
                      InvalidArgument, false,
                      "%s: expected 2 entries of either output_size or scale_factors, found others",
                      call.op);
  if (!check_computable(call, "input", input) || !check_rank(call, "input", input, 4) ||
      !check_same_dtype(call, "out", out, "input", input)) {
    return false;
  }
  Shape shape(input);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t in_size = input.sizes()[2 + d];
    const ResizedAxis axis = resized_axis(in_size, output_size, scale_factors, d);
    ET_KERNEL_CHECK_MSG(call.ctx, in_size > 0 && axis.size >= 1 && axis.size <= INT32_MAX,
                        InvalidArgument, false,
                        "%s: expected a size in range, found %" PRId64 " resized to %g", call.op,
                        in_size, axis.size);
    shape.sizes[2 + d] = static_cast<int64_t>(axis.size);
    resize.scale[d] = axis.scale;
  }
  if (!resize_output(call, out, shape)) {
    return false;
  }
  resize.in = StridedView::of(input);
  resize.out = StridedView::of(out);
  return true;
}

// Calls body(offset of the input's plane, offset of the output's row, output row) for all rows, in
// parallel.
template <typename Body>
void for_each_row(const Resize& resize, const Body& body) {
  const int64_t* sizes = resize.out.sizes;
  const int64_t grain = std::max<int64_t>(1, (1 << 12) / sizes[3]);
  ::executorch::extension::parallel_for(
      0, sizes[0] * sizes[1] * sizes[2], grain, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t row = i % sizes[2];
          const int64_t c = i / sizes[2] % sizes[1];
          const int64_t n = i / sizes[2] / sizes[1];
          body(n * resize.in.strides[0] + c * resize.in.strides[1],
               n * resize.out.strides[0] + c * resize.out.strides[1] + row * resize.out.strides[2],
               row);
        }
      });
}

}  // namespace

Tensor& upsample_nearest2d_vec_out(KernelRuntimeContext& ctx, const Tensor& input,
                                   OptionalArrayRef<int64_t> output_size,
                                   OptionalArrayRef<double> scale_factors, Tensor& out) {
  const OpCall call{ctx, "upsample_nearest2d.vec_out"};
  Resize resize;
  if (!prepare(call, input, output_size, scale_factors, out, resize)) {
    return out;
  }
  const StridedView& in = resize.in;
  const StridedView& to = resize.out;
  const auto source = [&](int64_t position, int d) {
    // In float, as PyTorch has it: which neighbour is nearest depends on the rounding.
    const float at = std::floor(static_cast<float>(position) * static_cast<float>(resize.scale[d]));
    return std::min(static_cast<int64_t>(at), in.sizes[2 + d] - 1);
  };
  ::executorch::runtime::dispatch_by_element_size(input.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const from = reinterpret_cast<const T*>(in.data);
    T* const result = reinterpret_cast<T*>(to.data);
    for (int64_t begin = 0; begin < to.sizes[3]; begin += kBlock) {
      const int64_t count = std::min(kBlock, to.sizes[3] - begin);
      int64_t columns[kBlock];
      for (int64_t i = 0; i < count; ++i) {
        columns[i] = source(begin + i, 1) * in.strides[3];
      }
      for_each_row(resize, [&](int64_t in_plane, int64_t out_row, int64_t row) {
        const T* const in_row = from + in_plane + source(row, 0) * in.strides[2];
        T* const line = result + out_row + begin * to.strides[3];
        for (int64_t i = 0; i < count; ++i) {
          line[i * to.strides[3]] = in_row[columns[i]];
        }
      });
    }
  });
  return out;
}

Tensor& upsample_bilinear2d_vec_out(KernelRuntimeContext& ctx, const Tensor& input,
                                    OptionalArrayRef<int64_t> output_size, bool align_corners,
                                    OptionalArrayRef<double> scale_factors, Tensor& out) {
  const OpCall call{ctx, "upsample_bilinear2d.vec_out"};
  Resize resize;
  const bool is_bytes = input.scalar_type() == ScalarType::Byte;
  if (!(is_bytes || check_floating(call, "input", input)) ||
      !prepare(call, input, output_size, scale_factors, out, resize)) {
    return out;
  }
  const StridedView& in = resize.in;
  const StridedView& to = resize.out;
  if (is_bytes) {
    Axis axes[2];
    for (int d = 0; d < 2; ++d) {
      const int64_t from = in.sizes[2 + d], size = to.sizes[2 + d];
      const double steps = static_cast<double>(std::max<int64_t>(size - 1, 1));
      const double apart = size > 1 ? static_cast<double>(from - 1) / steps : 0.0;
      axes[d] = {from, size, align_corners ? apart : resize.scale[d], false, align_corners};
    }
    resize_bytes(call, input, axes[0], axes[1], out);
    return out;
  }
  with_float_compute_type(compute_type_of(input.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> reader(input);
    const StridedWriter<C> writer(out);
    for (int64_t begin = 0; begin < to.sizes[3]; begin += kBlock) {
      const int64_t count = std::min(kBlock, to.sizes[3] - begin);
      int64_t first[kBlock], second[kBlock];
      C right[kBlock];
      for (int64_t i = 0; i < count; ++i) {
        const Neighbours w =
            neighbours(begin + i, resize.scale[1], in.sizes[3], to.sizes[3], align_corners);
        first[i] = w.first * in.strides[3];
        second[i] = w.second * in.strides[3];
        right[i] = static_cast<C>(w.weight);
      }
      const int64_t span = second[count - 1] - first[0] + 1;
      const bool dense_span = in.strides[3] == 1 && span <= kSpan;
      for_each_row(resize, [&](int64_t in_plane, int64_t out_row, int64_t row) {
        const Neighbours h =
            neighbours(row, resize.scale[0], in.sizes[2], to.sizes[2], align_corners);
        const int64_t upper = in_plane + h.first * in.strides[2];
        const int64_t lower = in_plane + h.second * in.strides[2];
        const C down = static_cast<C>(h.weight);
        C line[kBlock];
        C mixed[kSpan];
        if (dense_span) {
          // Rows are mixed first, in vectors; then each output takes two of the mixed values.
          C buffers[2][kChunk];
          for (int64_t i = 0; i < span; i += kChunk) {
            const int64_t n = std::min(kChunk, span - i);
            const C* a = reader.read(upper + first[0] + i, 1, n, buffers[0]);
            const C* b = reader.read(lower + first[0] + i, 1, n, buffers[1]);
            for (int64_t k = 0; k < n; ++k) {
              mixed[i + k] = (1 - down) * a[k] + down * b[k];
            }
          }
          for (int64_t i = 0; i < count; ++i) {
            line[i] = (1 - right[i]) * mixed[first[i] - first[0]] +
                      right[i] * mixed[second[i] - first[0]];
          }
        } else {
          for (int64_t i = 0; i < count; ++i) {
            const C left = 1 - right[i];
            const C top =
                left * reader.at(upper + first[i]) + right[i] * reader.at(upper + second[i]);
            const C bottom =
                left * reader.at(lower + first[i]) + right[i] * reader.at(lower + second[i]);
            line[i] = (1 - down) * top + down * bottom;
          }
        }
        writer.write(out_row + begin * to.strides[3], to.strides[3], count, line);
      });
    }
  });
  return out;
}

}  // namespace torch::executor::native
