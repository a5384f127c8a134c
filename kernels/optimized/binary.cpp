// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic, comparison and selection of tensors of one dtype: each kernel is a row of a table;
// mixed dtypes and doubles are the portable kernels'.
#include <executorch/kernels/optimized/binary.h>

#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/through_f32.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace torch::executor::native {

using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::kernels::ComputeType;
using executorch::kernels::fits;
using executorch::kernels::promote_with_scalar;
using executorch::kernels::storer;
using executorch::kernels::wrapped_scalar;
using executorch::kernels::optimized::Binary;
using executorch::kernels::optimized::Broadcast;
using executorch::kernels::optimized::Compare;
using executorch::kernels::optimized::has_integer_loop;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::is_narrow_float;
using executorch::kernels::optimized::kMaxOperands;
using executorch::kernels::optimized::kMaxOuterDims;
using executorch::kernels::optimized::map_binary;
using executorch::kernels::optimized::map_binary_integer;
using executorch::kernels::optimized::map_binary_narrow;
using executorch::kernels::optimized::map_compare;
using executorch::kernels::optimized::map_compare_integer;
using executorch::kernels::optimized::map_shift;
using executorch::kernels::optimized::map_where;
using executorch::kernels::optimized::NarrowOperand;
using executorch::kernels::optimized::operand_of;
using executorch::kernels::optimized::plan_broadcast;
using executorch::kernels::optimized::run_through_f32;
using executorch::kernels::optimized::same_layout;
using executorch::kernels::optimized::Shift;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

namespace {

template <int kOperands>
using Operands = const Tensor* (&)[kOperands];

// The shape that all operands broadcast to; false when there is none.
template <int kOperands>
bool broadcast_sizes(Operands<kOperands> in, int64_t (&sizes)[kMaxOuterDims], int& dims) {
  dims = 0;
  for (const Tensor* t : in) {
    dims = std::max(dims, static_cast<int>(t->dim()));
  }
  std::fill(sizes, sizes + kMaxOuterDims, 1);
  for (const Tensor* t : in) {
    const int lead = dims - static_cast<int>(t->dim());
    for (int d = lead; d < dims; ++d) {
      const int64_t size = t->size(d - lead);
      if (size != sizes[d] && size != 1 && sizes[d] != 1) {
        return false;
      }
      sizes[d] = size == 1 ? sizes[d] : size;
    }
  }
  return dims <= kMaxOuterDims;
}

bool resized(Tensor& out, const int64_t* sizes, int dims) {
  SizesType shape[kMaxOuterDims];
  std::copy(sizes, sizes + dims, shape);
  return executorch::runtime::resize_tensor(out, {shape, static_cast<size_t>(dims)}) == Error::Ok;
}

// Plans the walk over contiguous operands, or over any that all have the output's layout; false for
// other layouts.
template <int kOperands>
bool plan(Operands<kOperands> in, Tensor& out, Broadcast& walk) {
  int64_t sizes[kMaxOuterDims];
  int dims = 0;
  if (!broadcast_sizes<kOperands>(in, sizes, dims) || !resized(out, sizes, dims)) {
    return false;
  }
  const auto all = [&](auto&& test) { return std::all_of(in, in + kOperands, test); };
  if (all([&](const Tensor* t) { return t->numel() == 1 || same_layout(*t, out); })) {
    walk = Broadcast();
    walk.row = out.numel();
    for (int i = 0; i < kOperands; ++i) {
      walk.inner[i] = in[i]->numel() == 1 && out.numel() != 1 ? 0 : 1;
    }
    return true;
  }
  if (!is_contiguous(out) || !all([](const Tensor* t) { return is_contiguous(*t); })) {
    return false;
  }
  int64_t strides[kMaxOperands][kMaxOuterDims] = {};
  for (int i = 0; i < kOperands; ++i) {
    const int lead = dims - static_cast<int>(in[i]->dim());
    int64_t stride = 1;
    for (int d = dims - 1; d >= lead; --d) {
      const int64_t size = in[i]->size(d - lead);
      strides[i][d] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }
  walk = plan_broadcast(dims, sizes, kOperands, strides);
  return true;
}

float as_float(const Scalar& s) {
  if (s.isFloatingPoint()) {
    return static_cast<float>(s.to<double>());
  }
  return s.isBoolean() ? static_cast<float>(s.to<bool>()) : static_cast<float>(s.to<int64_t>());
}

// Whether `alpha` is a factor that self's dtype has; the portable kernel refuses others.
bool is_factor(const Scalar& alpha, const Tensor& self) {
  const bool whole = executorch::runtime::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  return !alpha.isBoolean() && !(whole && alpha.isFloatingPoint()) &&
         fits(alpha, self.scalar_type());
}

// A number as elements of a 16-bit type have it; what takes_exact_number_v is in the portable
// kernels.
float rounded(const Scalar& number, ScalarType type) {
  return as_float(wrapped_scalar(number, type));
}
bool takes_exact_number(Binary f) {
  return f == Binary::kMul || f == Binary::kDiv || f == Binary::kFloorDiv || f == Binary::kTruncDiv;
}

// 16-bit floats: the light functions, and the others when broadcasting leaves one row.
bool run_narrow(Binary f, float alpha, const Broadcast& walk, const Tensor& self,
                const Tensor& other, Tensor& out) {
  if (map_binary_narrow(out.scalar_type(), f, alpha, walk,
                        static_cast<const uint16_t*>(self.const_data_ptr()),
                        static_cast<const uint16_t*>(other.const_data_ptr()),
                        static_cast<uint16_t*>(out.mutable_data_ptr()))) {
    return true;
  }
  if (walk.rows != 1) {
    return false;
  }
  run_through_f32(f, alpha, operand_of(self, walk.inner[0] != 0),
                  operand_of(other, walk.inner[1] != 0), out);
  return true;
}

bool is_integer(ScalarType type) {
  return executorch::runtime::isIntegralType(type, /*includeBool=*/true);
}

// Whether elements of the type are computed here at all.
bool has_loop(ScalarType type, Binary f) {
  return is_integer(type)
             ? has_integer_loop(type, f)
             : f < Binary::kAnd && (type == ScalarType::Float || is_narrow_float(type));
}

// alpha as integers multiply by it; 1 for other dtypes, where as_float() is read.
int64_t as_integer(const Scalar& alpha) {
  return alpha.isIntegral(/*includeBool=*/true) ? alpha.to<int64_t>() : 1;
}

bool run(Binary f, const Scalar& alpha, const Tensor& self, const Tensor& other, Tensor& out) {
  const Tensor* in[2] = {&self, &other};
  Broadcast walk;
  const ScalarType type = self.scalar_type();
  if (!has_loop(type, f) || other.scalar_type() != type || out.scalar_type() != type ||
      !plan<2>(in, out, walk)) {
    return false;
  }
  if (is_narrow_float(type)) {
    return run_narrow(f, rounded(alpha, type), walk, self, other, out);
  }
  if (is_integer(type)) {
    map_binary_integer(type, f, as_integer(alpha), walk, self.const_data_ptr(),
                       other.const_data_ptr(), out.mutable_data_ptr());
    return true;
  }
  map_binary(f, as_float(alpha), walk, self.const_data_ptr<float>(), other.const_data_ptr<float>(),
             out.mutable_data_ptr<float>());
  return true;
}

// A walk over self and one value.
bool plan_scalar(const Tensor& self, Tensor& out, Broadcast& walk) {
  if (executorch::runtime::resize_tensor(out, self.sizes()) != Error::Ok ||
      !same_layout(self, out)) {
    return false;
  }
  walk = Broadcast();
  walk.row = out.numel();
  walk.inner[0] = 1;
  return true;
}

// A number as one element of the dtype that it is computed with.
struct Element {
  alignas(8) char bytes[8];

  Element(const Scalar& number, ScalarType type) {
    if (is_integer(type)) {
      const auto whole = executorch::kernels::scalar_to<int64_t>(wrapped_scalar(number, type));
      storer(ComputeType::kInt64, type)(&whole, 1, bytes);
    } else {
      const float value = as_float(number);
      storer(ComputeType::kFloat, type)(&value, 1, bytes);
    }
  }
};

// f(self, number), or f(number, self). Where the number does not change the dtype.
bool run_scalar(Binary f, const Scalar& alpha, const Tensor& self, const Scalar& number,
                Tensor& out, bool number_first = false) {
  Broadcast walk;
  const ScalarType type = self.scalar_type();
  if (!has_loop(type, f) || out.scalar_type() != type ||
      promote_with_scalar(type, number) != type || !plan_scalar(self, out, walk)) {
    return false;
  }
  if (is_narrow_float(type)) {
    const NarrowOperand elements = operand_of(self, /*array=*/true);
    const NarrowOperand value{nullptr,
                              takes_exact_number(f) ? as_float(number) : rounded(number, type),
                              /*array=*/false};
    run_through_f32(f, rounded(alpha, type), number_first ? value : elements,
                    number_first ? elements : value, out);
    return true;
  }
  const Element element(number, type);
  const void* x = self.const_data_ptr();
  const void* y = element.bytes;
  if (number_first) {
    std::swap(x, y);
    std::swap(walk.inner[0], walk.inner[1]);
  }
  if (is_integer(type)) {
    map_binary_integer(type, f, as_integer(alpha), walk, x, y, out.mutable_data_ptr());
    return true;
  }
  map_binary(f, as_float(alpha), walk, static_cast<const float*>(x), static_cast<const float*>(y),
             out.mutable_data_ptr<float>());
  return true;
}

// f(number, self).
bool run_reversed(Binary f, const Scalar& alpha, const Scalar& number, const Tensor& self,
                  Tensor& out) {
  return run_scalar(f, alpha, self, number, out, /*number_first=*/true);
}

const Scalar kOne = Scalar(static_cast<int64_t>(1));

// The division that a rounding mode names; false for a mode that the portable kernel has to refuse.
bool division(std::optional<std::string_view> rounding_mode, Binary& f) {
  const std::string_view mode = rounding_mode.value_or("");
  f = mode == "trunc" ? Binary::kTruncDiv : mode == "floor" ? Binary::kFloorDiv : Binary::kDiv;
  return !rounding_mode.has_value() || f != Binary::kDiv;
}

bool is_bool(const Tensor& t) {
  return t.scalar_type() == ScalarType::Bool;
}

bool is_compared(ScalarType type) {
  return is_integer(type) || type == ScalarType::Float || is_narrow_float(type);
}

void compare(ScalarType type, Compare f, const Broadcast& walk, const void* x, const void* y,
             Tensor& out) {
  const auto map = is_integer(type) ? map_compare_integer : map_compare;
  map(type, f, walk, x, y, out.mutable_data_ptr<bool>());
}

bool run_compare(Compare f, const Tensor& self, const Tensor& other, Tensor& out) {
  const Tensor* in[2] = {&self, &other};
  Broadcast walk;
  const ScalarType type = self.scalar_type();
  if (!is_compared(type) || other.scalar_type() != type || !is_bool(out) ||
      !plan<2>(in, out, walk)) {
    return false;
  }
  compare(type, f, walk, self.const_data_ptr(), other.const_data_ptr(), out);
  return true;
}

// The number is compared as the tensor's dtype has it, rounded.
bool run_compare_scalar(Compare f, const Tensor& self, const Scalar& other, Tensor& out) {
  Broadcast walk;
  const ScalarType type = self.scalar_type();
  if (!is_compared(type) || promote_with_scalar(type, other) != type || !is_bool(out) ||
      !plan_scalar(self, out, walk)) {
    return false;
  }
  compare(type, f, walk, self.const_data_ptr(), Element(other, type).bytes, out);
  return true;
}

bool run_shift(Shift f, const Tensor& self, const Tensor& other, Tensor& out) {
  const Tensor* in[2] = {&self, &other};
  const auto is_long = [](const Tensor& t) { return t.scalar_type() == ScalarType::Long; };
  Broadcast walk;
  if (!is_long(self) || !is_long(other) || !is_long(out) || !plan<2>(in, out, walk)) {
    return false;
  }
  map_shift(f, walk, self.const_data_ptr<int64_t>(), other.const_data_ptr<int64_t>(),
            out.mutable_data_ptr<int64_t>());
  return true;
}

}  // namespace

// Name of the kernel, name of the portable one, function.
#define ET_ADDITION(name, portable, function)                                       \
  Tensor& name(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& other,  \
               const Scalar& alpha, Tensor& out) {                                  \
    return is_factor(alpha, self) && run(Binary::function, alpha, self, other, out) \
               ? out                                                                \
               : portable(ctx, self, other, alpha, out);                            \
  }
ET_ADDITION(opt_add_out, add_out, kAdd)
ET_ADDITION(opt_sub_out, sub_out, kSub)
#undef ET_ADDITION

#define ET_ADDITION_SCALAR(name, portable, function)                               \
  Tensor& name(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& other, \
               const Scalar& alpha, Tensor& out) {                                 \
    return is_factor(alpha, self) && fits(other, self.scalar_type()) &&            \
                   run_scalar(Binary::function, alpha, self, other, out)           \
               ? out                                                               \
               : portable(ctx, self, other, alpha, out);                           \
  }
ET_ADDITION_SCALAR(opt_add_scalar_out, add_scalar_out, kAdd)
ET_ADDITION_SCALAR(opt_sub_scalar_out, sub_scalar_out, kSub)
#undef ET_ADDITION_SCALAR

Tensor& opt_rsub_scalar_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& other,
                            const Scalar& alpha, Tensor& out) {
  return is_factor(alpha, self) && run_reversed(Binary::kSub, alpha, other, self, out)
             ? out
             : rsub_scalar_out(ctx, self, other, alpha, out);
}

#define ET_DIVISION(name, portable, Other, run_division)                          \
  Tensor& name(KernelRuntimeContext& ctx, const Tensor& self, const Other& other, \
               std::optional<std::string_view> rounding_mode, Tensor& out) {      \
    Binary f = Binary::kDiv;                                                      \
    return division(rounding_mode, f) && run_division(f, kOne, self, other, out)  \
               ? out                                                              \
               : portable(ctx, self, other, rounding_mode, out);                  \
  }
ET_DIVISION(opt_div_out_mode, div_out_mode, Tensor, run)
ET_DIVISION(opt_div_scalar_mode_out, div_scalar_mode_out, Scalar, run_scalar)
#undef ET_DIVISION

#define ET_BINARY(name, portable, Other, call)                                                   \
  Tensor& name(KernelRuntimeContext& ctx, const Tensor& self, const Other& other, Tensor& out) { \
    return call ? out : portable(ctx, self, other, out);                                         \
  }
#define ET_ARITHMETIC(name, portable, function) \
  ET_BINARY(name, portable, Tensor, run(Binary::function, kOne, self, other, out))
ET_ARITHMETIC(opt_mul_out, mul_out, kMul)
ET_ARITHMETIC(opt_div_out, div_out, kDiv)
ET_ARITHMETIC(opt_maximum_out, maximum_out, kMax)
ET_ARITHMETIC(opt_minimum_out, minimum_out, kMin)
ET_ARITHMETIC(opt_atan2_out, atan2_out, kAtan2)
ET_ARITHMETIC(opt_fmod_Tensor_out, fmod_Tensor_out, kFmod)
ET_ARITHMETIC(opt_remainder_Tensor_out, remainder_Tensor_out, kRemainder)
ET_ARITHMETIC(opt_floor_divide_out, floor_divide_out, kFloorDiv)
ET_ARITHMETIC(opt_pow_Tensor_Tensor_out, pow_Tensor_Tensor_out, kPow)
#undef ET_ARITHMETIC

#define ET_ARITHMETIC_SCALAR(name, portable, function) \
  ET_BINARY(name, portable, Scalar, run_scalar(Binary::function, kOne, self, other, out))
ET_ARITHMETIC_SCALAR(opt_mul_scalar_out, mul_scalar_out, kMul)
ET_ARITHMETIC_SCALAR(opt_div_scalar_out, div_scalar_out, kDiv)
ET_ARITHMETIC_SCALAR(opt_fmod_Scalar_out, fmod_Scalar_out, kFmod)
ET_ARITHMETIC_SCALAR(opt_remainder_Scalar_out, remainder_Scalar_out, kRemainder)
#undef ET_ARITHMETIC_SCALAR

Tensor& opt_pow_Scalar_out(KernelRuntimeContext& ctx, const Scalar& self, const Tensor& exponent,
                           Tensor& out) {
  return run_reversed(Binary::kPow, kOne, self, exponent, out)
             ? out
             : pow_Scalar_out(ctx, self, exponent, out);
}

#define ET_COMPARISON(name, function)                           \
  ET_BINARY(opt_##name##_tensor_out, name##_tensor_out, Tensor, \
            run_compare(Compare::function, self, other, out))   \
  ET_BINARY(opt_##name##_scalar_out, name##_scalar_out, Scalar, \
            run_compare_scalar(Compare::function, self, other, out))
ET_COMPARISON(eq, kEq)
ET_COMPARISON(ne, kNe)
ET_COMPARISON(lt, kLt)
ET_COMPARISON(le, kLe)
ET_COMPARISON(gt, kGt)
ET_COMPARISON(ge, kGe)
#undef ET_COMPARISON

#define ET_BITWISE(name, function)                                                \
  ET_BINARY(opt_bitwise_##name##_Tensor_out, bitwise_##name##_Tensor_out, Tensor, \
            run(Binary::function, kOne, self, other, out))                        \
  ET_BINARY(opt_bitwise_##name##_Scalar_out, bitwise_##name##_Scalar_out, Scalar, \
            run_scalar(Binary::function, kOne, self, other, out))
ET_BITWISE(and, kAnd)
ET_BITWISE(or, kOr)
ET_BITWISE(xor, kXor)
#undef ET_BITWISE

ET_BINARY(opt_bitwise_left_shift_Tensor_out, bitwise_left_shift_Tensor_out, Tensor,
          run_shift(Shift::kLeft, self, other, out))
ET_BINARY(opt_bitwise_right_shift_Tensor_out, bitwise_right_shift_Tensor_out, Tensor,
          run_shift(Shift::kRight, self, other, out))
#undef ET_BINARY

// Both halves of a dimension are one operand each: rows of the output are half as far apart.
Tensor& opt_glu_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, Tensor& out) {
  const int64_t rank = self.dim();
  const int64_t at = dim < 0 ? dim + rank : dim;
  if (!is_f32(self) || !is_f32(out) || !is_contiguous(self) || rank > kMaxOuterDims || at < 0 ||
      at >= rank || self.size(at) % 2 != 0 || self.numel() == 0) {
    return glu_out(ctx, self, dim, out);
  }
  int64_t shape[kMaxOuterDims];
  int64_t sizes[2] = {1, 1};  // rows, and elements of one
  for (int64_t d = 0; d < rank; ++d) {
    shape[d] = d == at ? self.size(d) / 2 : self.size(d);
    sizes[d < at ? 0 : 1] *= shape[d];
  }
  if (!resized(out, shape, static_cast<int>(rank)) || !is_contiguous(out)) {
    return glu_out(ctx, self, dim, out);
  }
  const int64_t strides[kMaxOperands][kMaxOuterDims] = {{2 * sizes[1], 1}, {2 * sizes[1], 1}};
  const float* in = self.const_data_ptr<float>();
  map_binary(Binary::kGlu, 1.0f, plan_broadcast(2, sizes, 2, strides), in, in + sizes[1],
             out.mutable_data_ptr<float>());
  return out;
}

Tensor& opt_where_out(KernelRuntimeContext& ctx, const Tensor& condition, const Tensor& self,
                      const Tensor& other, Tensor& out) {
  const Tensor* in[3] = {&condition, &self, &other};
  Broadcast walk;
  const ScalarType type = out.scalar_type();
  if (!is_bool(condition) || self.scalar_type() != type || other.scalar_type() != type ||
      out.element_size() > 8 || !plan<3>(in, out, walk)) {
    return where_out(ctx, condition, self, other, out);
  }
  map_where(out.element_size(), walk, condition.const_data_ptr<bool>(), self.const_data_ptr(),
            other.const_data_ptr(), out.mutable_data_ptr());
  return out;
}

}  // namespace torch::executor::native
