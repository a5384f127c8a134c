// SPDX-License-Identifier: BSD-3-Clause
// Padding: with a constant (negative amounts crop), by reflection, by replication.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// Amounts before and after each dimension; `pad` lists the last dimension first.
struct Padding {
  int64_t before[Shape::kMaxDims] = {};
  int64_t after[Shape::kMaxDims] = {};
};

bool padded_shape(const OpCall& call, const Tensor& self, IntArrayRef pad, Padding& padding,
                  Shape& shape) {
  shape = Shape(self);
  ET_KERNEL_CHECK_MSG(
      call.ctx, pad.size() % 2 == 0 && pad.size() / 2 <= static_cast<size_t>(self.dim()),
      InvalidArgument, false, "%s: expected an even number of at most %d amounts, found %zu",
      call.op, 2 * static_cast<int>(self.dim()), pad.size());
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int d = shape.ndim - 1 - static_cast<int>(i);
    padding.before[d] = pad[2 * i];
    padding.after[d] = pad[2 * i + 1];
    const bool in_range = std::max(pad[2 * i], pad[2 * i + 1]) <= INT32_MAX &&
                          std::min(pad[2 * i], pad[2 * i + 1]) >= -INT32_MAX;
    shape.sizes[d] += in_range ? padding.before[d] + padding.after[d] : 0;
    ET_KERNEL_CHECK_MSG(call.ctx, in_range && shape.sizes[d] >= 0, InvalidArgument, false,
                        "%s: expected amounts that leave a size in range, found %" PRId64
                        " and %" PRId64 " at dimension %d",
                        call.op, static_cast<int64_t>(pad[2 * i]),
                        static_cast<int64_t>(pad[2 * i + 1]), d);
  }
  return true;
}

// The input position for output position `i` of a dimension that was padded by `before`.
struct Reflect {
  int64_t operator()(int64_t i, int64_t before, int64_t size) const {
    const int64_t at = i - before;
    return at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
  }
};
struct Replicate {
  int64_t operator()(int64_t i, int64_t before, int64_t size) const {
    return std::min(std::max<int64_t>(i - before, 0), size - 1);
  }
};

// One row of the innermost dimension: what lies inside the input is one run, the rest goes element
// by element. A negative amount crops.
template <typename T, typename Source>
void pad_row(const T* in, int64_t in_stride, int64_t in_size, T* out, int64_t out_stride,
             int64_t out_size, int64_t before, const Source& source) {
  const int64_t begin = std::min(std::max<int64_t>(before, 0), out_size);
  const int64_t end = std::max(begin, std::min(before + in_size, out_size));
  for (int64_t i = 0; i < begin; ++i) {
    out[i * out_stride] = in[source(i, before, in_size) * in_stride];
  }
  if (in_stride == 1 && out_stride == 1 && end > begin) {
    std::memmove(out + begin, in + (begin - before), static_cast<size_t>(end - begin) * sizeof(T));
  } else {
    for (int64_t i = begin; i < end; ++i) {
      out[i * out_stride] = in[(i - before) * in_stride];
    }
  }
  for (int64_t i = end; i < out_size; ++i) {
    out[i * out_stride] = in[source(i, before, in_size) * in_stride];
  }
}

// All rows, shared by threads; `to` has elements.
template <typename T, typename Source>
void pad_rows(const StridedView& from, const StridedView& to, const Padding& padding,
              const Source& source) {
  const int inner = to.ndim - 1;
  const int64_t length = to.sizes[inner];
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / length);
  ::executorch::extension::parallel_for(
      0, to.numel() / length, grain, [&](int64_t first, int64_t last) {
        Odometer<1> rows(inner, to.sizes);
        rows.set_strides(0, to.strides);
        rows.seek(first);
        for (int64_t row = first; row < last; ++row, rows.next()) {
          int64_t offset = 0;
          for (int d = 0; d < inner; ++d) {
            offset += source(rows.index()[d], padding.before[d], from.sizes[d]) * from.strides[d];
          }
          pad_row(reinterpret_cast<const T*>(from.data) + offset, from.strides[inner],
                  from.sizes[inner], reinterpret_cast<T*>(to.data) + rows.offset(0),
                  to.strides[inner], length, padding.before[inner], source);
        }
      });
}

template <typename Source>
Tensor& pad_by(const OpCall& call, const Tensor& self, IntArrayRef amounts, int spatial,
               int64_t margin, const Source& source, Tensor& out) {
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      amounts.size() == static_cast<size_t>(2 * spatial) &&
          (self.dim() == spatial + 1 || self.dim() == spatial + 2),
      InvalidArgument, out, "%s: expected %d or %d dims for self and %d amounts, found %d and %zu",
      call.op, spatial + 1, spatial + 2, 2 * spatial, static_cast<int>(self.dim()), amounts.size());
  Padding padding;
  Shape shape;
  if (!padded_shape(call, self, amounts, padding, shape)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, self.sizes()[self.dim() - spatial - 1] > 0, InvalidArgument, out,
                      "%s: expected self with channels, found shape %s", call.op,
                      ShapeText(self).text);
  int64_t longest = 0;
  for (int64_t d = self.dim() - spatial; d < self.dim(); ++d) {
    longest = std::max(longest, shape[static_cast<int>(d)]);
    const int64_t size = self.sizes()[d];
    const int64_t most = margin < 0 ? INT32_MAX : size - margin;
    ET_KERNEL_CHECK_MSG(call.ctx, size > 0 && padding.before[d] <= most && padding.after[d] <= most,
                        InvalidArgument, out,
                        "%s: at dimension %" PRId64 " expected amounts of at most %" PRId64
                        ", found %" PRId64 " and %" PRId64,
                        call.op, d, most, static_cast<int64_t>(padding.before[d]),
                        static_cast<int64_t>(padding.after[d]));
  }
  ET_KERNEL_CHECK_MSG(call.ctx, longest > 0, InvalidArgument, out,
                      "%s: expected amounts that leave elements of self, found none left of %s",
                      call.op, ShapeText(self).text);
  if (check_same_dtype(call, "out", out, "self", self) && resize_output(call, out, shape) &&
      out.numel() > 0) {
    ::executorch::runtime::dispatch_by_element_size(out.scalar_type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      pad_rows<T>(StridedView::of(self), StridedView::of(out), padding, source);
    });
  }
  return out;
}

}  // namespace

Tensor& constant_pad_nd_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef pad,
                            const Scalar& value, Tensor& out) {
  const OpCall call{ctx, "constant_pad_nd.out"};
  Padding padding;
  Shape shape;
  alignas(16) char element[16];
  if (!check_same_dtype(call, "out", out, "self", self) ||
      !padded_shape(call, self, pad, padding, shape) || !resize_output(call, out, shape) ||
      !scalar_element(call, value, out.scalar_type(), element)) {
    return out;
  }
  StridedView from = StridedView::of(self);
  StridedView to = StridedView::of(out);
  fill_view(element, to);
  // What is left of the input between the padding.
  for (int d = 0; d < from.ndim; ++d) {
    const int64_t skip = std::max<int64_t>(0, -padding.before[d]);
    const int64_t crop = std::max<int64_t>(0, -padding.after[d]);
    const int64_t size = std::max<int64_t>(0, from.sizes[d] - skip - crop);
    from = from.sliced(d, size > 0 ? skip : 0, size);
    to = to.sliced(d, size > 0 ? std::max<int64_t>(0, padding.before[d]) : 0, size);
  }
  copy_view(from, to);
  return out;
}

#define PAD(mode, source, margin, spatial)                                                    \
  Tensor& mode##_pad##spatial##d_out(KernelRuntimeContext& ctx, const Tensor& self,           \
                                     IntArrayRef padding, Tensor& out) {                      \
    return pad_by(OpCall{ctx, #mode "_pad" #spatial "d.out"}, self, padding, spatial, margin, \
                  source(), out);                                                             \
  }
PAD(reflection, Reflect, 1, 1)
PAD(reflection, Reflect, 1, 2)
PAD(reflection, Reflect, 1, 3)
PAD(replication, Replicate, -1, 1)
PAD(replication, Replicate, -1, 2)
PAD(replication, Replicate, -1, 3)
#undef PAD

}  // namespace torch::executor::native
