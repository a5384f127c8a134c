// SPDX-License-Identifier: BSD-3-Clause
// Copies that keep every element: clones, dtype and dim order conversions, reshapes.
#include <cinttypes>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/runtime/core/device_allocator.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;
using ::executorch::aten::MemoryFormat;

namespace {

// Whether `out`, which has its size, is laid out as asked: like self when nothing is asked for.
bool check_layout(const OpCall& call, const Tensor& self,
                  const std::optional<MemoryFormat>& memory_format, const Tensor& out) {
  constexpr auto kChannelsLast = static_cast<MemoryFormat>(2);
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  if (format == MemoryFormat::Preserve) {
    return check_same_order(call, self, out);
  }
  const bool laid_out = format == MemoryFormat::Contiguous ? is_row_major(out)
                        : format == kChannelsLast
                            ? ::executorch::runtime::tensor_is_channels_last_dim_order(out)
                            : false;
  ET_KERNEL_CHECK_MSG(call.ctx, laid_out, InvalidArgument, false,
                      "%s: expected out in memory format %d, found another", call.op,
                      static_cast<int>(format));
  return true;
}

Tensor& clone_tensor(const OpCall& call, const Tensor& self, Tensor& out) {
  if (check_same_dtype(call, "out", out, "self", self) && resize_output(call, out, Shape(self))) {
    copy_same_dtype(self, out);
  }
  return out;
}

Tensor& convert_tensor(const OpCall& call, const Tensor& self, Tensor& out) {
  if (resize_output(call, out, Shape(self))) {
    copy_converted(call, self, out);
  }
  return out;
}

// A copy is done when the call returns: nobody waits for one.
bool check_blocking(const OpCall& call, bool non_blocking) {
  ET_KERNEL_CHECK_MSG(call.ctx, !non_blocking, InvalidArgument, false,
                      "%s: expected non_blocking to be false, found true", call.op);
  return true;
}

// A given dim order must be out's own: memory planning has laid out out already.
bool check_dim_order(const OpCall& call, const OptionalArrayRef<int64_t>& dim_order,
                     const Tensor& out) {
  if (!dim_order.has_value()) {
    return true;
  }
  bool same = dim_order->size() == static_cast<size_t>(out.dim());
  for (size_t i = 0; same && i < dim_order->size(); ++i) {
    same = (*dim_order)[i] == out.dim_order()[i];
  }
  ET_KERNEL_CHECK_MSG(call.ctx, same, InvalidArgument, false,
                      "%s: expected dim_order to be that of out, found another", call.op);
  return true;
}

Tensor& reshape(const OpCall& call, const Tensor& self, const Shape& shape, Tensor& out) {
  if (check_same_dtype(call, "out", out, "self", self) && resize_output(call, out, shape)) {
    copy_in_order(self, out);
  }
  return out;
}

// Resolves one -1 among `size`, and checks the number of elements.
bool view_shape(const OpCall& call, IntArrayRef size, int64_t numel, Shape& shape) {
  ET_KERNEL_CHECK_MSG(call.ctx, size.size() <= static_cast<size_t>(Shape::kMaxDims),
                      InvalidArgument, false, "%s: expected at most %d sizes, found %zu", call.op,
                      Shape::kMaxDims, size.size());
  int inferred = -1;
  int64_t known = 1;
  for (size_t i = 0; i < size.size(); ++i) {
    const int64_t value = size[i];
    const bool infer = value == -1;
    ET_KERNEL_CHECK_MSG(
        call.ctx, (infer && inferred < 0) || (value >= 0 && value <= INT32_MAX), InvalidArgument,
        false, "%s: expected sizes >= 0 and at most one -1, found %" PRId64 " at dimension %zu",
        call.op, value, i);
    inferred = infer ? static_cast<int>(i) : inferred;
    ET_KERNEL_CHECK_MSG(
        call.ctx, infer || !__builtin_mul_overflow(known, value, &known), InvalidArgument, false,
        "%s: expected sizes with a product in range, found %" PRId64 " at dimension %zu", call.op,
        value, i);
    shape.push(value);
  }
  if (inferred >= 0) {
    ET_KERNEL_CHECK_MSG(call.ctx, known != 0 && numel % known == 0, InvalidArgument, false,
                        "%s: expected size to divide %" PRId64 " elements, found %" PRId64
                        " besides -1",
                        call.op, numel, known);
    shape.sizes[inferred] = numel / known;
    known = numel;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, known == numel, InvalidArgument, false,
                      "%s: expected sizes for %" PRId64 " elements, found sizes for %" PRId64,
                      call.op, numel, known);
  return true;
}

}  // namespace

#define CLONE(name)                                                                \
  Tensor& name##_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) { \
    return clone_tensor(OpCall{ctx, #name ".out"}, self, out);                     \
  }
CLONE(alias_copy)
CLONE(detach_copy)
CLONE(lift_fresh_copy)
#undef CLONE

namespace {

using CopyBytes = Error (::executorch::runtime::DeviceAllocator::*)(
    void* to, const void* from, size_t nbytes, ::executorch::aten::DeviceIndex index);

// Copies between the memory of the host and that of `device`, by what is registered for it. Between
// tensors that are on the CPU both, as any copy.
Tensor& copy_across(const OpCall& call, const Tensor& self, ::executorch::aten::Device device,
                    CopyBytes copy, Tensor& out) {
  if (device.is_cpu()) {
    return clone_tensor(call, self, out);
  }
  if (!check_same_dtype(call, "out", out, "self", self) || !resize_output(call, out, Shape(self)) ||
      !check_same_order(call, self, out)) {
    return out;
  }
  auto* const allocator = ::executorch::runtime::get_device_allocator(device.type());
  ET_KERNEL_CHECK_MSG(call.ctx, allocator != nullptr, NotFound, out,
                      "%s: no DeviceAllocator is registered for device type %d", call.op,
                      static_cast<int>(device.type()));
  const Error error = (allocator->*copy)(out.mutable_data_ptr(), self.const_data_ptr(),
                                         self.nbytes(), device.index());
  if (error != Error::Ok) {
    call.ctx.fail(error);
  }
  return out;
}

}  // namespace

Tensor& _h2d_copy_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return copy_across({ctx, "_h2d_copy.out"}, self, out.device(),
                     &::executorch::runtime::DeviceAllocator::copy_host_to_device, out);
}

Tensor& _d2h_copy_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return copy_across({ctx, "_d2h_copy.out"}, self, self.device(),
                     &::executorch::runtime::DeviceAllocator::copy_device_to_host, out);
}

Tensor& clone_out(KernelRuntimeContext& ctx, const Tensor& self,
                  std::optional<MemoryFormat> memory_format, Tensor& out) {
  const OpCall call{ctx, "clone.out"};
  if (check_same_dtype(call, "out", out, "self", self) && resize_output(call, out, Shape(self)) &&
      check_layout(call, self, memory_format, out)) {
    copy_same_dtype(self, out);
  }
  return out;
}

Tensor& _clone_dim_order_out(KernelRuntimeContext& ctx, const Tensor& self, bool non_blocking,
                             OptionalArrayRef<int64_t> dim_order, Tensor& out) {
  const OpCall call{ctx, "_clone_dim_order.out"};
  return check_blocking(call, non_blocking) && check_dim_order(call, dim_order, out)
             ? clone_tensor(call, self, out)
             : out;
}

Tensor& _to_dim_order_copy_out(KernelRuntimeContext& ctx, const Tensor& self, bool non_blocking,
                               OptionalArrayRef<int64_t> dim_order, Tensor& out) {
  const OpCall call{ctx, "_to_dim_order_copy.out"};
  return check_blocking(call, non_blocking) && check_dim_order(call, dim_order, out)
             ? convert_tensor(call, self, out)
             : out;
}

Tensor& to_copy_out(KernelRuntimeContext& ctx, const Tensor& self, bool non_blocking,
                    std::optional<MemoryFormat> memory_format, Tensor& out) {
  const OpCall call{ctx, "_to_copy.out"};
  if (check_blocking(call, non_blocking) && resize_output(call, out, Shape(self)) &&
      check_layout(call, self, memory_format, out)) {
    copy_converted(call, self, out);
  }
  return out;
}

Tensor& copy_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& src,
                 bool non_blocking, Tensor& out) {
  const OpCall call{ctx, "copy.out"};
  if (!check_blocking(call, non_blocking)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, broadcasts_to(Shape(src), Shape(self)), InvalidArgument, out,
                      "copy.out: expected src to broadcast to self %s, found %s",
                      ShapeText(self).text, ShapeText(src).text);
  if (check_same_dtype(call, "out", out, "self", self) && resize_output(call, out, Shape(self)) &&
      check_same_order(call, self, out)) {
    copy_converted(call, src, out);
  }
  return out;
}

Tensor& copy_(KernelRuntimeContext& ctx, Tensor& self, const Tensor& src, bool non_blocking) {
  const OpCall call{ctx, "copy_"};
  if (!check_blocking(call, non_blocking)) {
    return self;
  }
  ET_KERNEL_CHECK_MSG(ctx, broadcasts_to(Shape(src), Shape(self)), InvalidArgument, self,
                      "copy_: expected src to broadcast to self %s, found %s", ShapeText(self).text,
                      ShapeText(src).text);
  copy_converted(call, src, self);
  return self;
}

Tensor& view_copy_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef size,
                      Tensor& out) {
  const OpCall call{ctx, "view_copy.out"};
  Shape shape;
  return view_shape(call, size, self.numel(), shape) ? reshape(call, self, shape, out) : out;
}

Tensor& unsqueeze_copy_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                           Tensor& out) {
  const OpCall call{ctx, "unsqueeze_copy.out"};
  Shape shape(self);
  ET_KERNEL_CHECK_MSG(ctx, shape.ndim < Shape::kMaxDims, InvalidArgument, out,
                      "unsqueeze_copy.out: expected self of fewer dims, found %d", shape.ndim);
  if (normalize_dim(call, "dim", shape.ndim + 1, dim)) {
    shape.insert(static_cast<int>(dim), 1);
    reshape(call, self, shape, out);
  }
  return out;
}

namespace {

Tensor& squeeze(const OpCall& call, const Tensor& self, IntArrayRef dim, Tensor& out) {
  bool dropped[Shape::kMaxDims] = {};
  bool named[Shape::kMaxDims] = {};
  for (int64_t d : dim) {
    if (!normalize_dim(call, "dim", self.dim(), d)) {
      return out;
    }
    ET_KERNEL_CHECK_MSG(call.ctx, !named[d], InvalidArgument, out,
                        "%s: expected different dims, found %d twice", call.op,
                        static_cast<int>(d));
    named[d] = true;
    dropped[d] = d < self.dim() && self.sizes()[d] == 1;
  }
  Shape shape;
  for (int d = 0; d < self.dim(); ++d) {
    if (!dropped[d]) {
      shape.push(self.sizes()[d]);
    }
  }
  return reshape(call, self, shape, out);
}

}  // namespace

Tensor& squeeze_copy_dims_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim,
                              Tensor& out) {
  return squeeze({ctx, "squeeze_copy.dims_out"}, self, dim, out);
}

Tensor& squeeze_copy_dim_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                             Tensor& out) {
  return squeeze({ctx, "squeeze_copy.dim_out"}, self, {&dim, 1}, out);
}

}  // namespace torch::executor::native
