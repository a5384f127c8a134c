// SPDX-License-Identifier: BSD-3-Clause
// Operators that keep the shape and move or clear elements: rolling, the lower triangle, masks.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/portable/unary.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// Copies the two parts that each rolled dimension falls into, dimension after dimension.
void roll_view(const StridedView& from, const StridedView& to, const int64_t* shifts, int dim) {
  while (dim < from.ndim && shifts[dim] == 0) {
    ++dim;
  }
  if (dim == from.ndim) {
    copy_view(from, to);
    return;
  }
  const int64_t size = from.sizes[dim];
  const int64_t shift = shifts[dim];
  roll_view(from.sliced(dim, 0, size - shift), to.sliced(dim, shift, size - shift), shifts,
            dim + 1);
  roll_view(from.sliced(dim, size - shift, shift), to.sliced(dim, 0, shift), shifts, dim + 1);
}

// Element i goes to place i + shift, both counted in row-major order; any layout.
void roll_in_order(const StridedView& from, const StridedView& to, int64_t shift) {
  const int64_t numel = from.numel();
  Odometer<1> source(from.ndim, from.sizes);
  Odometer<1> target(to.ndim, to.sizes);
  source.set_strides(0, from.strides);
  target.set_strides(0, to.strides);
  target.seek(shift);
  for (int64_t i = 0; i < numel; ++i, source.next(), target.next()) {
    if (i == numel - shift) {
      target.seek(0);
    }
    std::memcpy(to.data + target.offset(0) * to.element_size,
                from.data + source.offset(0) * from.element_size, from.element_size);
  }
}

}  // namespace

Tensor& roll_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef shifts,
                 IntArrayRef dims, Tensor& out) {
  const OpCall call{ctx, "roll.out"};
  const bool flat = dims.empty();
  ET_KERNEL_CHECK_MSG(
      ctx, flat ? shifts.size() == 1 : shifts.size() == dims.size(), InvalidArgument, out,
      "roll.out: expected as many shifts as dims, found %zu and %zu", shifts.size(), dims.size());
  if (!check_same_dtype(call, "out", out, "self", self) || !resize_output(call, out, Shape(self)) ||
      self.numel() == 0) {
    return out;
  }
  StridedView from = StridedView::of(self);
  StridedView to = StridedView::of(out);
  int64_t amounts[Shape::kMaxDims] = {};
  const auto wrap = [](int64_t shift, int64_t size) {
    const int64_t rest = shift % size;
    return rest < 0 ? rest + size : rest;
  };
  if (flat) {
    if (!is_row_major(self) || !is_row_major(out)) {
      roll_in_order(from, to, wrap(shifts[0], self.numel()));
      return out;
    }
    from.ndim = to.ndim = 1;
    from.sizes[0] = to.sizes[0] = self.numel();
    from.strides[0] = to.strides[0] = 1;
    amounts[0] = wrap(shifts[0], self.numel());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t d = dims[i];
    if (!normalize_dim(call, "dims", self.dim(), d)) {
      return out;
    }
    if (self.dim() > 0) {
      amounts[d] = wrap(amounts[d] + wrap(shifts[i], from.sizes[d]), from.sizes[d]);
    }
  }
  roll_view(from, to, amounts, 0);
  return out;
}

Tensor& tril_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t diagonal, Tensor& out) {
  const OpCall call{ctx, "tril.out"};
  ET_KERNEL_CHECK_MSG(ctx, self.dim() >= 2, InvalidArgument, out,
                      "tril.out: expected at least 2 dims for self, found %d",
                      static_cast<int>(self.dim()));
  if (!check_same_dtype(call, "out", out, "self", self) || !resize_output(call, out, Shape(self))) {
    return out;
  }
  const StridedView from = StridedView::of(self);
  const StridedView to = StridedView::of(out);
  const char zero[16] = {};
  const int row_dim = from.ndim - 2;
  const int64_t cols = from.sizes[row_dim + 1];
  const auto kept_of = [&](int64_t row) {
    const int64_t bounded = std::min(std::max(diagonal, -row - 1), cols);
    return std::min(std::max<int64_t>(row + 1 + bounded, 0), cols);
  };
  if (from.strides[row_dim + 1] == 1 && to.strides[row_dim + 1] == 1) {
    Odometer<2> rows(row_dim + 1, to.sizes);
    rows.set_strides(0, from.strides);
    rows.set_strides(1, to.strides);
    for (int64_t i = to.numel() / std::max<int64_t>(1, cols); i > 0; --i, rows.next()) {
      const int64_t kept = kept_of(rows.index()[row_dim]) * to.element_size;
      char* const line = to.data + rows.offset(1) * to.element_size;
      std::memmove(line, from.data + rows.offset(0) * to.element_size, kept);
      std::memset(line + kept, 0, cols * to.element_size - kept);
    }
    return out;
  }
  for (int64_t row = 0; row < from.sizes[row_dim]; ++row) {
    const int64_t kept = kept_of(row);
    const StridedView in_row = from.selected(row_dim, row);
    const StridedView out_row = to.selected(row_dim, row);
    copy_view(in_row.sliced(row_dim, 0, kept), out_row.sliced(row_dim, 0, kept));
    fill_view(zero, out_row.sliced(row_dim, kept < cols ? kept : 0, cols - kept));
  }
  return out;
}

Tensor& glu_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, Tensor& out) {
  const OpCall call{ctx, "glu.out"};
  if (!check_floating(call, "self", self) || !check_floating(call, "out", out) ||
      !normalize_dim(call, "dim", self.dim(), dim)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, self.dim() > 0 && self.sizes()[dim] % 2 == 0, InvalidArgument, out,
                      "glu.out: expected an even size at dimension %" PRId64 ", found shape %s",
                      dim, ShapeText(self).text);
  Shape shape(self);
  const int64_t half = shape[static_cast<int>(dim)] / 2;
  shape.sizes[dim] = half;
  if (!resize_output(call, out, shape)) {
    return out;
  }
  const StridedView first = StridedView::of(self).sliced(static_cast<int>(dim), 0, half);
  const StridedView to = StridedView::of(out);
  const int64_t distance = half * first.strides[dim];
  const int inner = to.ndim - 1;
  const int64_t length = to.sizes[inner];
  if (to.numel() == 0) {
    return out;
  }
  with_float_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> reader(self);
    const StridedWriter<C> writer(out);
    const int64_t grain = std::max<int64_t>(1, (1 << 13) / length);
    ::executorch::extension::parallel_for(
        0, to.numel() / length, grain, [&](int64_t begin, int64_t end) {
          Odometer<2> odometer(inner, to.sizes);
          odometer.set_strides(0, first.strides);
          odometer.set_strides(1, to.strides);
          odometer.seek(begin);
          C buffers[3][kChunk];
          for (int64_t line = begin; line < end; ++line, odometer.next()) {
            for (int64_t i = 0; i < length; i += kChunk) {
              const int64_t n = std::min(kChunk, length - i);
              const int64_t at = odometer.offset(0) + i * first.strides[inner];
              const C* x = reader.read(at, first.strides[inner], n, buffers[0]);
              const C* gate = reader.read(at + distance, first.strides[inner], n, buffers[1]);
              for (int64_t k = 0; k < n; ++k) {
                buffers[2][k] = x[k] * Sigmoid()(gate[k]);
              }
              writer.write(odometer.offset(1) + i * to.strides[inner], to.strides[inner], n,
                           buffers[2]);
            }
          }
        });
  });
  return out;
}

namespace {

// One spatial dimension of the blocks that col2im adds up.
struct Block {
  int64_t size;  // of the image
  int64_t kernel;
  int64_t dilation;
  int64_t padding;
  int64_t stride;
  int64_t count = 0;

  // The block that has element `k` of its window at image position `at`, or -1.
  int64_t block_at(int64_t at, int64_t k) const {
    const int64_t start = at + padding - k * dilation;
    return start >= 0 && start % stride == 0 && start / stride < count ? start / stride : -1;
  }
};

bool make_block(const OpCall& call, const IntArrayRef* lists, int d, Block& block) {
  bool valid = true;
  for (int i = 0; i < 5; ++i) {
    valid = valid && lists[i].size() == 2 && lists[i][d] <= INT32_MAX &&
            lists[i][d] >= (i == 3 ? 0 : 1);
  }
  ET_KERNEL_CHECK_MSG(
      call.ctx, valid, InvalidArgument, false,
      "%s: expected 2 positive entries of each list, and padding of at least 0, found others",
      call.op);
  block = {lists[0][d], lists[1][d], lists[2][d], lists[3][d], lists[4][d]};
  const int64_t room = block.size + 2 * block.padding - block.dilation * (block.kernel - 1) - 1;
  block.count = room < 0 ? 0 : room / block.stride + 1;
  return true;
}

// One plane of the image, row by row: `in_strides` are those of window elements and of blocks.
template <typename C>
void sum_blocks(const Block& rows, const Block& cols, const StridedReader<C>& in, int64_t start,
                const int64_t* in_strides, const StridedWriter<C>& out, int64_t to,
                const int64_t* out_strides) {
  constexpr int64_t kColumns = kChunk;
  for (int64_t y = 0; y < rows.size; ++y) {
    for (int64_t begin = 0; begin < cols.size; begin += kColumns) {
      const int64_t end = std::min(begin + kColumns, cols.size);
      C sums[kColumns] = {};
      for (int64_t k = 0; k < rows.kernel; ++k) {
        const int64_t row = rows.block_at(y, k);
        for (int64_t j = 0; row >= 0 && j < cols.kernel; ++j) {
          // The first block whose element j falls at `begin` or later.
          const int64_t shift = j * cols.dilation - cols.padding;
          const int64_t skipped =
              begin > shift ? (begin - shift + cols.stride - 1) / cols.stride : 0;
          const int64_t line =
              start + (k * cols.kernel + j) * in_strides[0] + row * cols.count * in_strides[1];
          for (int64_t block = skipped; block < cols.count; ++block) {
            const int64_t x = block * cols.stride + shift;
            if (x >= end) {
              break;
            }
            sums[x - begin] += in.at(line + block * in_strides[1]);
          }
        }
      }
      out.write(to + y * out_strides[0] + begin * out_strides[1], out_strides[1], end - begin,
                sums);
    }
  }
}

}  // namespace

Tensor& col2im_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef output_size,
                   IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                   IntArrayRef stride, Tensor& out) {
  const OpCall call{ctx, "col2im.out"};
  const IntArrayRef lists[] = {output_size, kernel_size, dilation, padding, stride};
  Block rows;
  Block cols;
  if (!check_floating(call, "self", self) || !check_same_dtype(call, "out", out, "self", self) ||
      !make_block(call, lists, 0, rows) || !make_block(call, lists, 1, cols)) {
    return out;
  }
  const int64_t window = rows.kernel * cols.kernel;
  const int64_t rank = self.dim();
  ET_KERNEL_CHECK_MSG(ctx,
                      (rank == 2 || rank == 3) && self.sizes()[rank - 2] % window == 0 &&
                          self.sizes()[rank - 2] > 0 && self.sizes()[rank - 1] > 0 &&
                          cols.count > 0 && self.sizes()[rank - 1] / cols.count == rows.count &&
                          self.sizes()[rank - 1] % cols.count == 0,
                      InvalidArgument, out,
                      "col2im.out: expected self to have a column for each of %" PRId64
                      " x %" PRId64 " blocks, found shape %s",
                      static_cast<int64_t>(rows.count), static_cast<int64_t>(cols.count),
                      ShapeText(self).text);
  Shape shape(self);
  const int64_t channels = self.sizes()[rank - 2] / window;
  shape.sizes[rank - 2] = channels;
  shape.sizes[rank - 1] = rows.size;
  shape.push(cols.size);
  if (!resize_output(call, out, shape)) {
    return out;
  }
  StridedView from = StridedView::of(self);
  StridedView to = StridedView::of(out);
  from = rank == 2 ? from.inserted(0, 1, 0) : from;
  to = rank == 2 ? to.inserted(0, 1, 0) : to;
  with_float_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> reader(self);
    const StridedWriter<C> writer(out);
    ::executorch::extension::parallel_for(
        0, to.sizes[0] * channels, 1, [&](int64_t first, int64_t last) {
          for (int64_t plane = first; plane < last; ++plane) {
            const int64_t n = plane / channels;
            const int64_t c = plane % channels;
            sum_blocks(rows, cols, reader, n * from.strides[0] + c * window * from.strides[1],
                       from.strides + 1, writer, n * to.strides[0] + c * to.strides[1],
                       to.strides + 2);
          }
        });
  });
  return out;
}

}  // namespace torch::executor::native
