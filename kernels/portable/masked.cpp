// SPDX-License-Identifier: BSD-3-Clause
// Operators of masks: filling, scattering and selecting where a mask is true, and the positions of
// elements that are not zero.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/portable/unary.h>

#include <algorithm>
#include <cinttypes>

#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

bool check_mask(const OpCall& call, const Tensor& mask) {
  return check_dtype(call, "mask", mask, ScalarType::Bool);
}

// A tensor and a mask, both broadcast to one shape, by lines of the last dimension.
struct MaskedLines {
  MaskedLines(const Shape& shape_, const Tensor& tensor, const Tensor& mask)
      : shape(shape_), flags(static_cast<const uint8_t*>(mask.const_data_ptr())) {
    const Tensor* operands[2] = {&tensor, &mask};
    for (int k = 0; k < 2; ++k) {
      const int64_t lead = shape.ndim - operands[k]->dim();
      for (int d = 0; d < shape.ndim; ++d) {
        strides[k][d] = broadcast_stride(operands[k]->sizes(), operands[k]->strides(), d - lead);
      }
    }
  }

  int64_t length() const { return shape.ndim > 0 ? shape[shape.ndim - 1] : 1; }
  int64_t step() const { return shape.ndim > 0 ? strides[0][shape.ndim - 1] : 0; }
  int64_t mask_step() const { return shape.ndim > 0 ? strides[1][shape.ndim - 1] : 0; }

  // Calls body(offset in the tensor, flags of the mask) for each line. Any byte but 0 is true:
  // tensors that someone else filled may hold others than 0 and 1.
  template <typename Body>
  void for_each(const Body& body) const {
    Odometer<2> line(std::max(shape.ndim - 1, 0), shape.sizes);
    line.set_strides(0, strides[0]);
    line.set_strides(1, strides[1]);
    for (int64_t i = length() == 0 ? 0 : shape.numel() / length(); i > 0; --i, line.next()) {
      body(line.offset(0), flags + line.offset(1));
    }
  }

  int64_t num_true() const {
    const int64_t n = length(), by = mask_step();
    int64_t count = 0;
    for_each([&](int64_t, const uint8_t* line) {
      for (int64_t i = 0; i < n; ++i) {
        count += line[i * by] != 0;
      }
    });
    return count;
  }

  Shape shape;
  const uint8_t* flags;
  int64_t strides[2][Shape::kMaxDims];
};

// Writes the elements of `source`, in row-major order, where the mask is true: `count` of them.
template <typename T>
void scatter_masked(const MaskedLines& lines, const Tensor& source, int64_t count, T* out) {
  const int64_t length = lines.length(), step = lines.step(), mask_step = lines.mask_step();
  const T* const elements = reinterpret_cast<const T*>(source.const_data_ptr());
  if (is_row_major(source)) {
    int64_t used = 0;
    lines.for_each([&](int64_t offset, const uint8_t* flags) {
      T* const target = out + offset;
      // Masks are hard to predict: an element is chosen without a branch.
      for (int64_t i = 0; i < length; ++i) {
        const T next = elements[std::min(used, count - 1)];
        const bool flag = flags[i * mask_step] != 0;
        target[i * step] = flag ? next : target[i * step];
        used += flag ? 1 : 0;
      }
    });
    return;
  }
  const StridedView from = StridedView::of(source);
  Odometer<1> taken(from.ndim, from.sizes);
  taken.set_strides(0, from.strides);
  lines.for_each([&](int64_t offset, const uint8_t* flags) {
    for (int64_t i = 0; i < length; ++i) {
      if (flags[i * mask_step] != 0) {
        out[offset + i * step] = elements[taken.offset(0)];
        taken.next();
      }
    }
  });
}

// Writes the elements at which the mask is true: `count` of them.
template <typename T>
void select_masked(const MaskedLines& lines, const Tensor& self, int64_t count, T* to) {
  const int64_t length = lines.length(), step = lines.step(), mask_step = lines.mask_step();
  const T* const elements = reinterpret_cast<const T*>(self.const_data_ptr());
  T* const end = to + count;
  lines.for_each([&](int64_t offset, const uint8_t* flags) {
    const T* const line = elements + offset;
    for (int64_t i = 0; i < length && to != end; ++i) {
      *to = line[i * step];  // kept when the flag is set, else overwritten
      to += flags[i * mask_step] != 0;
    }
  });
}

}  // namespace

Tensor& masked_fill_scalar_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mask,
                               const Scalar& value, Tensor& out) {
  const OpCall call{ctx, "masked_fill.Scalar_out"};
  Shape shape;
  alignas(16) char element[16];
  if (!check_number(call, "self", self) || !check_mask(call, mask) ||
      !check_same_dtype(call, "out", out, "self", self) ||
      !scalar_element(call, value, self.scalar_type(), element) ||
      !broadcast_shapes(call, Shape(self), Shape(mask), shape) ||
      !resize_output(call, out, shape)) {
    return out;
  }
  with_number_type<true>(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    C fill;  // the value as self's dtype has it
    loader(self.scalar_type(), compute_type_v<C>)(element, 1, 1, &fill);
    map_elements<C, C, uint8_t>(
        [fill](C x, uint8_t masked) { return masked ? fill : x; }, out,
        {RangeReader(self, out, compute_type_v<C>), RangeReader(mask, out, ComputeType::kBool)});
  });
  return out;
}

Tensor& masked_scatter_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mask,
                           const Tensor& source, Tensor& out) {
  const OpCall call{ctx, "masked_scatter.out"};
  Shape shape;
  if (!check_mask(call, mask) || !check_same_dtype(call, "out", out, "self", self) ||
      !check_same_dtype(call, "source", source, "self", self) ||
      !broadcast_shapes(call, Shape(self), Shape(mask), shape) ||
      !resize_output(call, out, shape) || !copy_converted(call, self, out)) {
    return out;
  }
  const MaskedLines lines(shape, out, mask);
  const int64_t count = lines.num_true();
  ET_KERNEL_CHECK_MSG(ctx, count <= source.numel(), InvalidArgument, out,
                      "masked_scatter.out: expected %" PRId64
                      " elements in source, one for each true of mask, found %" PRId64,
                      count, static_cast<int64_t>(source.numel()));
  if (count > 0) {
    ::executorch::runtime::dispatch_by_element_size(out.scalar_type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      scatter_masked(lines, source, count, reinterpret_cast<T*>(out.mutable_data_ptr()));
    });
  }
  return out;
}

Tensor& masked_select_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mask,
                          Tensor& out) {
  const OpCall call{ctx, "masked_select.out"};
  Shape shape;
  if (!check_mask(call, mask) || !check_same_dtype(call, "out", out, "self", self) ||
      !broadcast_shapes(call, Shape(self), Shape(mask), shape)) {
    return out;
  }
  const MaskedLines lines(shape, self, mask);
  const int64_t count = lines.num_true();
  Shape result;
  result.push(count);
  if (resize_output(call, out, result)) {
    ::executorch::runtime::dispatch_by_element_size(out.scalar_type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      select_masked(lines, self, count, reinterpret_cast<T*>(out.mutable_data_ptr()));
    });
  }
  return out;
}

Tensor& nonzero_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  const OpCall call{ctx, "nonzero.out"};
  if (!check_computable(call, "self", self) || !check_dtype(call, "out", out, ScalarType::Long)) {
    return out;
  }
  const StridedView from = StridedView::of(self);
  const StridedReader<uint8_t> reader(self);
  // Visits lines of the last dimension, read as flags.
  const auto for_each_line = [&](const auto& body) {
    const int inner = from.ndim > 0 ? from.ndim - 1 : 0;
    const int64_t length = from.ndim > 0 ? from.sizes[inner] : 1;
    const int64_t stride = from.ndim > 0 ? from.strides[inner] : 1;
    const int64_t lines = length == 0 ? 0 : self.numel() / length;
    Odometer<1> odometer(inner, from.sizes);
    odometer.set_strides(0, from.strides);
    uint8_t flags[kChunk];
    for (int64_t line = 0; line < lines; ++line, odometer.next()) {
      for (int64_t begin = 0; begin < length; begin += kChunk) {
        const int64_t n = std::min(kChunk, length - begin);
        body(odometer.index(), reader.read(odometer.offset(0) + begin * stride, stride, n, flags),
             begin, n);
      }
    }
  };
  Shape shape;
  int64_t count = 0;
  for_each_line([&](const int64_t*, const uint8_t* flags, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      count += flags[i];
    }
  });
  shape.push(count);
  shape.push(from.ndim);
  if (!resize_output(call, out, shape)) {
    return out;
  }
  const StridedView to = StridedView::of(out);
  int64_t* rows = out.mutable_data_ptr<int64_t>();
  int64_t row = 0;
  for_each_line([&](const int64_t* index, const uint8_t* flags, int64_t begin, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if (flags[i] == 0) {
        continue;
      }
      for (int d = 0; d + 1 < from.ndim; ++d) {
        rows[row * to.strides[0] + d * to.strides[1]] = index[d];
      }
      if (from.ndim > 0) {
        rows[row * to.strides[0] + (from.ndim - 1) * to.strides[1]] = begin + i;
      }
      ++row;
    }
  });
  return out;
}

}  // namespace torch::executor::native
