// SPDX-License-Identifier: BSD-3-Clause
// Whole-tensor copies on top of the strided copy and the elementwise loop.
#include <executorch/kernels/portable/loops/convert.h>

#include <cstring>

#include <executorch/kernels/portable/loops/elementwise.h>

namespace executorch {
namespace kernels {
namespace {

template <typename C>
void convert_as(const Tensor& in, const Tensor& out) {
  map_elements<C, C>([](C value) { return value; }, out, {RangeReader(in, out, compute_type_v<C>)});
}

}  // namespace

ComputeType conversion_type(ScalarType from, ScalarType to) {
  if (is_complex(to)) {
    return ComputeType::kComplex;
  }
  if (is_complex(from)) {
    return to == ScalarType::Bool ? ComputeType::kBool : ComputeType::kDouble;
  }
  return compute_type_of(from);
}

void copy_same_dtype(const Tensor& in, const Tensor& out) {
  StridedView from = StridedView::of(in);
  const StridedView to = StridedView::of(out);
  while (from.ndim < to.ndim) {
    from = from.inserted(0, 1, 0);
  }
  for (int d = 0; d < to.ndim; ++d) {
    from.strides[d] = from.sizes[d] == to.sizes[d] ? from.strides[d] : 0;
    from.sizes[d] = to.sizes[d];
  }
  if (from.data != to.data) {
    copy_view(from, to);
  }
}

bool copy_converted(const OpCall& call, const Tensor& in, const Tensor& out) {
  if (in.scalar_type() == out.scalar_type()) {
    copy_same_dtype(in, out);
    return true;
  }
  if (!check_number(call, "self", in) || !check_number(call, "out", out)) {
    return false;
  }
  switch (conversion_type(in.scalar_type(), out.scalar_type())) {
    case ComputeType::kBool:
      convert_as<uint8_t>(in, out);
      break;
    case ComputeType::kInt64:
      convert_as<int64_t>(in, out);
      break;
    case ComputeType::kFloat:
      convert_as<float>(in, out);
      break;
    case ComputeType::kDouble:
      convert_as<double>(in, out);
      break;
    case ComputeType::kComplex:
      convert_as<Complex>(in, out);
      break;
  }
  return true;
}

bool copy_to_output(const OpCall& call, const StridedView& from, const Tensor& in,
                    const Tensor& out) {
  Shape shape;
  ET_KERNEL_CHECK_MSG(call.ctx, from.ndim <= Shape::kMaxDims, InvalidArgument, false,
                      "%s: expected a result of fewer dims, found %d of at most %d", call.op,
                      from.ndim, Shape::kMaxDims);
  for (int d = 0; d < from.ndim; ++d) {
    shape.push(from.sizes[d]);
  }
  if (!check_same_dtype(call, "out", out, "self", in) || !resize_output(call, out, shape)) {
    return false;
  }
  copy_view(from, StridedView::of(out));
  return true;
}

void copy_in_order(const Tensor& in, const Tensor& out) {
  const int64_t numel = in.numel();
  if (numel == 0 || in.const_data_ptr() == out.const_data_ptr()) {
    return;
  }
  const StridedView from = StridedView::of(in);
  const StridedView to = StridedView::of(out);
  if (is_row_major(in) && is_row_major(out)) {
    return copy_view(StridedView::line(from.data, from.element_size, numel),
                     StridedView::line(to.data, to.element_size, numel));
  }
  Odometer<1> in_odometer(from.ndim, from.sizes);
  Odometer<1> out_odometer(to.ndim, to.sizes);
  in_odometer.set_strides(0, from.strides);
  out_odometer.set_strides(0, to.strides);
  for (int64_t i = 0; i < numel; ++i, in_odometer.next(), out_odometer.next()) {
    std::memcpy(to.data + out_odometer.offset(0) * to.element_size,
                from.data + in_odometer.offset(0) * to.element_size, to.element_size);
  }
}

}  // namespace kernels
}  // namespace executorch
