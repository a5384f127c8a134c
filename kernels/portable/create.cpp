// SPDX-License-Identifier: BSD-3-Clause
// Operators whose result does not depend on the elements of a tensor: filled tensors, ranges,
// random numbers.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/elementwise.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;
using ::executorch::aten::MemoryFormat;
using ::executorch::extension::parallel_for;

namespace {

constexpr int64_t kGrainBytes = 1 << 17;

bool shape_of(const OpCall& call, IntArrayRef size, Shape& shape) {
  ET_KERNEL_CHECK_MSG(call.ctx, size.size() <= static_cast<size_t>(Shape::kMaxDims),
                      InvalidArgument, false, "%s: expected at most %d sizes, found %zu", call.op,
                      Shape::kMaxDims, size.size());
  for (int64_t value : size) {
    shape.push(value);
  }
  return true;
}

Tensor& fill(const OpCall& call, const Shape& shape, const Scalar& value, Tensor& out) {
  alignas(16) char element[16];
  if (resize_output(call, out, shape) && scalar_element(call, value, out.scalar_type(), element)) {
    fill_view(element, StridedView::of(out));
  }
  return out;
}

Tensor& fill_sized(const OpCall& call, IntArrayRef size, const Scalar& value, Tensor& out) {
  Shape shape;
  return shape_of(call, size, shape) ? fill(call, shape, value, out) : out;
}

}  // namespace

Tensor& full_out(KernelRuntimeContext& ctx, IntArrayRef size, const Scalar& fill_value,
                 Tensor& out) {
  return fill_sized({ctx, "full.out"}, size, fill_value, out);
}

Tensor& full_like_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& fill_value,
                      std::optional<MemoryFormat> memory_format, Tensor& out) {
  (void)memory_format;  // out is laid out already
  return fill({ctx, "full_like.out"}, Shape(self), fill_value, out);
}

Tensor& ones_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  return fill_sized({ctx, "ones.out"}, size, Scalar(static_cast<int64_t>(1)), out);
}

Tensor& zeros_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  Shape shape;
  const OpCall call{ctx, "zeros.out"};
  if (shape_of(call, size, shape) && resize_output(call, out, shape)) {
    char* const data = static_cast<char*>(out.mutable_data_ptr());
    parallel_for(0, static_cast<int64_t>(out.nbytes()), kGrainBytes,
                 [data](int64_t first, int64_t last) {
                   std::memset(data + first, 0, static_cast<size_t>(last - first));
                 });
  }
  return out;
}

Tensor& empty_out(KernelRuntimeContext& ctx, IntArrayRef size,
                  std::optional<MemoryFormat> memory_format, Tensor& out) {
  (void)memory_format;  // out is laid out already
  Shape shape;
  const OpCall call{ctx, "empty.out"};
  if (shape_of(call, size, shape)) {
    resize_output(call, out, shape);
  }
  return out;
}

Tensor& _empty_dim_order_out(KernelRuntimeContext& ctx, IntArrayRef size,
                             OptionalArrayRef<int64_t> dim_order, Tensor& out) {
  const OpCall call{ctx, "_empty_dim_order.out"};
  ET_KERNEL_CHECK_MSG(ctx, !dim_order.has_value() || dim_order->size() == size.size(),
                      InvalidArgument, out,
                      "_empty_dim_order.out: expected %zu entries of dim_order, found %zu",
                      size.size(), dim_order.has_value() ? dim_order->size() : 0);
  Shape shape;
  if (shape_of(call, size, shape)) {
    resize_output(call, out, shape);
  }
  return out;
}

Tensor& scalar_tensor_out(KernelRuntimeContext& ctx, const Scalar& s, Tensor& out) {
  return fill({ctx, "scalar_tensor.out"}, Shape(), s, out);
}

Tensor& fill_scalar_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& value,
                        Tensor& out) {
  const OpCall call{ctx, "fill.Scalar_out"};
  return check_same_dtype(call, "out", out, "self", self) ? fill(call, Shape(self), value, out)
                                                          : out;
}

Tensor& fill_tensor_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& value,
                        Tensor& out) {
  const OpCall call{ctx, "fill.Tensor_out"};
  ET_KERNEL_CHECK_MSG(ctx, value.dim() == 0, InvalidArgument, out,
                      "fill.Tensor_out: expected 0 dims for value, found %d",
                      static_cast<int>(value.dim()));
  if (check_same_dtype(call, "out", out, "self", self) && resize_output(call, out, Shape(self))) {
    copy_converted(call, value, out);
  }
  return out;
}

namespace {

template <typename C>
void write_range(C start, C step, const Tensor& out) {
  const StoreRun store = storer(compute_type_v<C>, out.scalar_type());
  char* to = static_cast<char*>(out.mutable_data_ptr());
  const int64_t element_size = out.element_size();
  parallel_for(0, out.numel(), kGrainBytes / 8, [=](int64_t first, int64_t last) {
    C values[kChunk];
    for (int64_t begin = first; begin < last; begin += kChunk) {
      const auto n = static_cast<int32_t>(std::min<int64_t>(kChunk, last - begin));
      const C base = static_cast<C>(begin);
      for (int32_t i = 0; i < n; ++i) {  // 32 bits: conversion to double is a vector instruction
        values[i] = start + (base + static_cast<C>(i)) * step;
      }
      store(values, n, to + begin * element_size);
    }
  });
}

Tensor& arange(const OpCall& call, const Scalar& start, const Scalar& end, const Scalar& step,
               Tensor& out) {
  if (!check_computable(call, "out", out)) {
    return out;
  }
  // As eager: integers count from whole numbers, and Long also takes its end and size from them.
  const bool is_long = out.scalar_type() == ScalarType::Long;
  const auto number = [is_long](const Scalar& value) {
    return is_long ? std::trunc(scalar_to<double>(value)) : scalar_to<double>(value);
  };
  const double first = number(start);
  const double last = number(end);
  const double by = number(step);
  const double count = std::ceil((last - first) / by);
  const bool is_integer = compute_type_of(out.scalar_type()) == ComputeType::kInt64;
  const bool fits = !is_integer || (std::abs(first) < 0x1p63 && std::abs(by) < 0x1p63);
  ET_KERNEL_CHECK_MSG(call.ctx, by != 0 && count >= 0 && count <= INT32_MAX && fits,
                      InvalidArgument, out,
                      "%s: expected a step from start to end, found start %g, end %g, step %g",
                      call.op, first, last, by);
  Shape shape;
  shape.push(static_cast<int64_t>(count));
  if (!resize_output(call, out, shape)) {
    return out;
  }
  if (is_integer) {
    write_range<int64_t>(scalar_to<int64_t>(start), scalar_to<int64_t>(step), out);
  } else {
    write_range<double>(first, by, out);
  }
  return out;
}

}  // namespace

Tensor& arange_out(KernelRuntimeContext& ctx, const Scalar& end, Tensor& out) {
  return arange({ctx, "arange.out"}, Scalar(static_cast<int64_t>(0)), end,
                Scalar(static_cast<int64_t>(1)), out);
}

Tensor& arange_start_out(KernelRuntimeContext& ctx, const Scalar& start, const Scalar& end,
                         const Scalar& step, Tensor& out) {
  return arange({ctx, "arange.start_out"}, start, end, step, out);
}

}  // namespace torch::executor::native
