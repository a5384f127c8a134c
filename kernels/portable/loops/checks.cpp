// SPDX-License-Identifier: BSD-3-Clause
// Argument checks and their messages.
#include <executorch/kernels/portable/loops/checks.h>

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>

#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch {
namespace kernels {

using executorch::runtime::toString;

Shape::Shape(const Tensor& tensor) : ndim(static_cast<int>(tensor.dim())) {
  for (int d = 0; d < ndim; ++d) {
    sizes[d] = tensor.sizes()[d];
  }
}

int64_t Shape::numel() const {
  int64_t count = 1;
  for (int d = 0; d < ndim; ++d) {
    count *= sizes[d];
  }
  return count;
}

void Shape::erase(int dim) {
  --ndim;
  for (int d = dim; d < ndim; ++d) {
    sizes[d] = sizes[d + 1];
  }
}

void Shape::insert(int dim, int64_t size) {
  for (int d = ndim; d > dim; --d) {
    sizes[d] = sizes[d - 1];
  }
  sizes[dim] = size;
  ++ndim;
}

ShapeText::ShapeText(const Shape& shape) {
  int used = std::snprintf(text, sizeof(text), "[");
  for (int d = 0; d < shape.ndim && used < static_cast<int>(sizeof(text)); ++d) {
    used += std::snprintf(text + used, sizeof(text) - used, d == 0 ? "%" PRId64 : ", %" PRId64,
                          static_cast<int64_t>(shape[d]));
  }
  if (used < static_cast<int>(sizeof(text))) {
    std::snprintf(text + used, sizeof(text) - used, "]");
  }
}

bool resize_output(const OpCall& call, const Tensor& out, const Shape& shape) {
  executorch::aten::SizesType sizes[Shape::kMaxDims];
  for (int d = 0; d < shape.ndim; ++d) {
    ET_KERNEL_CHECK_MSG(
        call.ctx, shape.sizes[d] >= 0 && shape.sizes[d] <= INT32_MAX, InvalidArgument, false,
        "%s: expected a result whose sizes are in range, found %" PRId64 " at dimension %d",
        call.op, static_cast<int64_t>(shape.sizes[d]), d);
    sizes[d] = static_cast<executorch::aten::SizesType>(shape.sizes[d]);
  }
  const Error error =
      executorch::runtime::resize_tensor(out, {sizes, static_cast<size_t>(shape.ndim)});
  ET_KERNEL_CHECK_MSG(
      call.ctx, error == Error::Ok, InvalidArgument, false,
      "%s: expected out to take the result's shape %s, found %s of %s shape", call.op,
      ShapeText(shape).text, ShapeText(out).text,
      out.shape_dynamism() == executorch::aten::TensorShapeDynamism::STATIC ? "fixed" : "bounded");
  return true;
}

bool check_dtype(const OpCall& call, const char* name, const Tensor& tensor, ScalarType expected) {
  ET_KERNEL_CHECK_MSG(call.ctx, tensor.scalar_type() == expected, InvalidArgument, false,
                      "%s: expected %s to be %s, found %s", call.op, name, toString(expected),
                      toString(tensor.scalar_type()));
  return true;
}

bool check_same_dtype(const OpCall& call, const char* name, const Tensor& tensor,
                      const char* other_name, const Tensor& other) {
  ET_KERNEL_CHECK_MSG(call.ctx, tensor.scalar_type() == other.scalar_type(), InvalidArgument, false,
                      "%s: expected %s to have the dtype of %s (%s), found %s", call.op, name,
                      other_name, toString(other.scalar_type()), toString(tensor.scalar_type()));
  return true;
}

bool check_computable(const OpCall& call, const char* name, const Tensor& tensor) {
  ET_KERNEL_CHECK_MSG(call.ctx, is_computable(tensor.scalar_type()), InvalidArgument, false,
                      "%s: expected %s to be of a real number type or Bool, found %s", call.op,
                      name, toString(tensor.scalar_type()));
  return true;
}

bool check_floating(const OpCall& call, const char* name, const Tensor& tensor) {
  ET_KERNEL_CHECK_MSG(call.ctx,
                      is_computable(tensor.scalar_type()) &&
                          executorch::runtime::isFloatingType(tensor.scalar_type()),
                      InvalidArgument, false,
                      "%s: expected %s to be of a floating point type, found %s", call.op, name,
                      toString(tensor.scalar_type()));
  return true;
}

bool check_number(const OpCall& call, const char* name, const Tensor& tensor) {
  return is_complex(tensor.scalar_type()) || check_computable(call, name, tensor);
}

bool check_castable(const OpCall& call, ScalarType type, const Tensor& out) {
  ET_KERNEL_CHECK_MSG(call.ctx,
                      is_complex(type) ? is_complex(out.scalar_type())
                                       : is_computable(out.scalar_type()) &&
                                             executorch::runtime::canCast(type, out.scalar_type()),
                      InvalidArgument, false, "%s: expected out of a dtype that takes %s, found %s",
                      call.op, toString(type), toString(out.scalar_type()));
  return true;
}

bool check_same_order(const OpCall& call, const Tensor& self, const Tensor& out) {
  bool same = true;
  for (int64_t d = 0; d < self.dim() && self.numel() > 1; ++d) {
    same = same && (self.sizes()[d] == 1 || self.strides()[d] == out.strides()[d]);
  }
  ET_KERNEL_CHECK_MSG(call.ctx, same, InvalidArgument, false,
                      "%s: expected out in the dim order of self, found another", call.op);
  return true;
}

bool check_rank(const OpCall& call, const char* name, const Tensor& tensor, int64_t rank) {
  ET_KERNEL_CHECK_MSG(call.ctx, tensor.dim() == rank, InvalidArgument, false,
                      "%s: expected %d dims for %s, found %d", call.op, static_cast<int>(rank),
                      name, static_cast<int>(tensor.dim()));
  return true;
}

bool check_count(const OpCall& call, const char* name, int64_t found, int64_t expected) {
  ET_KERNEL_CHECK_MSG(call.ctx, found == expected, InvalidArgument, false,
                      "%s: expected %" PRId64 " entries of %s, found %" PRId64, call.op, expected,
                      name, found);
  return true;
}

bool normalize_dim(const OpCall& call, const char* name, int64_t rank, int64_t& dim) {
  const int64_t bound = rank == 0 ? 1 : rank;
  ET_KERNEL_CHECK_MSG(call.ctx, dim >= -bound && dim < bound, InvalidArgument, false,
                      "%s: expected %s in [%" PRId64 ", %" PRId64 "], found %" PRId64, call.op,
                      name, static_cast<int64_t>(-bound), static_cast<int64_t>(bound - 1), dim);
  dim = dim < 0 ? dim + bound : dim;
  return true;
}

bool broadcast_shapes(const OpCall& call, const Shape& a, const Shape& b, Shape& shape) {
  Shape result;
  result.ndim = a.ndim > b.ndim ? a.ndim : b.ndim;
  for (int i = 1; i <= result.ndim; ++i) {
    const int64_t size_a = i <= a.ndim ? a[a.ndim - i] : 1;
    const int64_t size_b = i <= b.ndim ? b[b.ndim - i] : 1;
    ET_KERNEL_CHECK_MSG(call.ctx, size_a == size_b || size_a == 1 || size_b == 1, InvalidArgument,
                        false,
                        "%s: expected shapes that broadcast, found sizes %" PRId64 " and %" PRId64
                        " at "
                        "dimension -%d of %s and %s",
                        call.op, size_a, size_b, i, ShapeText(a).text, ShapeText(b).text);
    result.sizes[result.ndim - i] = size_a == 1 ? size_b : size_a;
  }
  shape = result;
  return true;
}

bool broadcasts_to(const Shape& shape, const Shape& target) {
  if (shape.ndim > target.ndim) {
    return false;
  }
  for (int i = 1; i <= shape.ndim; ++i) {
    const int64_t size = shape[shape.ndim - i];
    if (size != 1 && size != target[target.ndim - i]) {
      return false;
    }
  }
  return true;
}

ScalarType promote_with_scalar(ScalarType tensor, const Scalar& scalar) {
  if (scalar.isBoolean() || !executorch::runtime::isIntegralType(tensor, /*includeBool=*/true)) {
    return tensor;
  }
  if (scalar.isFloatingPoint()) {
    return executorch::runtime::isIntegralType(tensor, /*includeBool=*/true) ? ScalarType::Float
                                                                             : tensor;
  }
  return tensor == ScalarType::Bool ? ScalarType::Long : tensor;
}

namespace {

// The largest value of an integer or float type; infinity for others.
double largest(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
      return UINT8_MAX;
    case ScalarType::Char:
      return INT8_MAX;
    case ScalarType::Short:
      return INT16_MAX;
    case ScalarType::Int:
      return INT32_MAX;
    case ScalarType::Long:
      return static_cast<double>(INT64_MAX);
    case ScalarType::Half:
    case ScalarType::ComplexHalf:
      return 65504.0;
    case ScalarType::BFloat16:
      return 3.3895313892515355e38;
    case ScalarType::Float:
    case ScalarType::ComplexFloat:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::infinity();
  }
}

double as_double(const Scalar& scalar) {
  return scalar.isFloatingPoint() ? scalar.to<double>() : static_cast<double>(scalar.to<int64_t>());
}

}  // namespace

bool fits(const Scalar& scalar, ScalarType type) {
  if (scalar.isBoolean() || type == ScalarType::Bool) {
    return true;
  }
  const double value = as_double(scalar);
  const double most = largest(type);
  if (!executorch::runtime::isIntegralType(type, /*includeBool=*/false)) {
    return !std::isfinite(value) || std::fabs(value) <= most;
  }
  // An unsigned type takes the negative of an integer, as C++ does, but not of a float.
  const bool is_unsigned = type == ScalarType::Byte;
  const double least = !is_unsigned ? -most - 1.0 : scalar.isFloatingPoint() ? 0.0 : -most;
  return value >= least && value <= most;
}

bool check_fits(const OpCall& call, const char* name, const Scalar& scalar, ScalarType type) {
  const bool held = fits(scalar, type);  // NaN does not fit an integer
  ET_KERNEL_CHECK_MSG(call.ctx, held, InvalidArgument, false,
                      "%s: expected %s to be a number that %s can hold, found %g", call.op, name,
                      toString(type), as_double(scalar));
  return true;
}

Scalar wrapped_scalar(const Scalar& scalar, ScalarType type) {
  if (type == ScalarType::Half || type == ScalarType::BFloat16) {
    const float given = scalar_to<float>(scalar);
    return Scalar(static_cast<double>(type == ScalarType::Half
                                          ? static_cast<float>(executorch::aten::Half(given))
                                          : static_cast<float>(executorch::aten::BFloat16(given))));
  }
  if (!scalar.isIntegral(/*includeBool=*/false)) {
    return scalar;
  }
  const int64_t value = scalar.to<int64_t>();
  switch (type) {
    case ScalarType::Byte:
      return Scalar(static_cast<int64_t>(static_cast<uint8_t>(value)));
    case ScalarType::Char:
      return Scalar(static_cast<int64_t>(static_cast<int8_t>(value)));
    case ScalarType::Short:
      return Scalar(static_cast<int64_t>(static_cast<int16_t>(value)));
    case ScalarType::Int:
      return Scalar(static_cast<int64_t>(static_cast<int32_t>(value)));
    default:
      return scalar;
  }
}

bool scalar_element(const OpCall& call, const Scalar& scalar, ScalarType type, void* bytes) {
  if (is_complex(type)) {
    if (!check_fits(call, "value", scalar, type)) {
      return false;
    }
    const Complex value = scalar_to<Complex>(scalar);
    storer(ComputeType::kComplex, type)(&value, 1, bytes);
    return true;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, is_computable(type), InvalidArgument, false,
                      "%s: expected a real number type or Bool, found %s", call.op, toString(type));
  if (scalar.isBoolean()) {
    const uint8_t value = scalar.to<bool>() ? 1 : 0;
    storer(ComputeType::kBool, type)(&value, 1, bytes);
    return true;
  }
  if (!check_fits(call, "value", scalar, type)) {
    return false;
  }
  if (scalar.isFloatingPoint()) {
    const double value = scalar.to<double>();
    storer(ComputeType::kDouble, type)(&value, 1, bytes);
  } else {
    const int64_t value = scalar.to<int64_t>();
    storer(ComputeType::kInt64, type)(&value, 1, bytes);
  }
  return true;
}

bool is_row_major(const Tensor& tensor) {
  int64_t expected = 1;
  for (int64_t d = tensor.dim() - 1; d >= 0; --d) {
    const int64_t size = tensor.sizes()[d];
    if (size != 1 && tensor.strides()[d] != expected) {
      return tensor.numel() == 0;
    }
    expected *= size;
  }
  return true;
}

}  // namespace kernels
}  // namespace executorch
