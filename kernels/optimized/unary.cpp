// SPDX-License-Identifier: BSD-3-Clause
// Kernels of one tensor: each is a row of a table. f32 is computed as it is, 16-bit floats and
// integers that become Float in f32, other functions of integers in their own type; all other cases
// are the portable kernels'.
#include <executorch/kernels/optimized/unary.h>

#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

namespace torch::executor::native {

using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::parallel_for;
using executorch::kernels::ComputeType;
using executorch::kernels::fits;
using executorch::kernels::loader;
using executorch::kernels::storer;
using executorch::kernels::optimized::IntegerUnary;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::is_narrow_float;
using executorch::kernels::optimized::map_unary;
using executorch::kernels::optimized::map_unary_integer;
using executorch::kernels::optimized::same_layout;
using executorch::kernels::optimized::Unary;
using executorch::kernels::optimized::UnaryConstants;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

namespace {

constexpr int64_t kChunk = 1024;     // values that are converted at a time
constexpr int64_t kGrain = 1 << 15;  // elements worth a thread

// Converts to f32, computes, and converts to out's dtype, a chunk at a time.
void map_converted(Unary f, const UnaryConstants& constants, const Tensor& self, Tensor& out) {
  const auto load = loader(self.scalar_type(), ComputeType::kFloat);
  const auto store = storer(ComputeType::kFloat, out.scalar_type());
  const auto* in = static_cast<const char*>(self.const_data_ptr());
  auto* to = static_cast<char*>(out.mutable_data_ptr());
  const auto in_size = static_cast<int64_t>(self.element_size());
  const auto out_size = static_cast<int64_t>(out.element_size());
  parallel_for(0, self.numel(), kGrain, [&](int64_t first, int64_t last) {
    float values[kChunk];
    for (int64_t i = first; i < last; i += kChunk) {
      const int64_t n = std::min(kChunk, last - i);
      load(in + i * in_size, 1, n, values);
      map_unary(f, constants, values, values, n);
      store(values, n, to + i * out_size);
    }
  });
}

bool is_integer(const Tensor& t) {
  return executorch::runtime::isIntegralType(t.scalar_type(), /*includeBool=*/true);
}

bool resized_alike(const Tensor& self, Tensor& out) {
  return executorch::runtime::resize_tensor(out, self.sizes()) == Error::Ok &&
         same_layout(self, out);
}

// Computes and returns true when self and out have one of the float types below 64 bits and one
// layout.
bool run(Unary f, const UnaryConstants& constants, const Tensor& self, Tensor& out) {
  if ((!is_f32(self) && !is_narrow_float(self.scalar_type())) ||
      out.scalar_type() != self.scalar_type() || !resized_alike(self, out)) {
    return false;
  }
  if (is_f32(self)) {
    map_unary(f, constants, self.const_data_ptr<float>(), out.mutable_data_ptr<float>(),
              self.numel());
  } else {
    map_converted(f, constants, self, out);
  }
  return true;
}

// The same for functions that make Float of integers and Bool.
bool run_to_float(Unary f, const UnaryConstants& constants, const Tensor& self, Tensor& out) {
  if (!is_integer(self) || !is_f32(out)) {
    return run(f, constants, self, out);
  }
  if (!resized_alike(self, out)) {
    return false;
  }
  map_converted(f, constants, self, out);
  return true;
}

// Integers in their own type; Bool is the portable kernels'.
bool run_integer(IntegerUnary f, int64_t low, int64_t high, const Tensor& self, Tensor& out) {
  if (!is_integer(self) || self.scalar_type() == ScalarType::Bool ||
      out.scalar_type() != self.scalar_type() || !resized_alike(self, out)) {
    return false;
  }
  map_unary_integer(self.scalar_type(), f, low, high, self.const_data_ptr(), out.mutable_data_ptr(),
                    self.numel());
  return true;
}

constexpr int64_t kLowest = INT64_MIN, kHighest = INT64_MAX;

float as_float(const Scalar& s) {
  if (s.isFloatingPoint()) {
    return static_cast<float>(s.to<double>());
  }
  return s.isBoolean() ? static_cast<float>(s.to<bool>()) : static_cast<float>(s.to<int64_t>());
}

// Whether a number is a limit of integers as it is.
bool is_limit(const Scalar& number) {
  return number.isIntegral(/*includeBool=*/false);
}

}  // namespace

// Name of the kernel, name of the portable one, call.
#define ET_UNARY(name, portable, call)                                       \
  Tensor& name(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) { \
    return (call) ? out : portable(ctx, self, out);                          \
  }
#define ET_UNARY_KERNEL(name, portable, function) \
  ET_UNARY(name, portable, run_to_float(Unary::function, {}, self, out))
// Of whole numbers: what IntegerUnary says.
#define ET_UNARY_KERNEL_WHOLE(name, portable, function, whole, low, high) \
  ET_UNARY(name, portable,                                                \
           run_integer(IntegerUnary::whole, low, high, self, out) ||      \
               run(Unary::function, {}, self, out))
ET_UNARY_KERNEL_WHOLE(opt_abs_out, abs_out, kAbs, kAbs, kLowest, kHighest)
ET_UNARY_KERNEL(opt_acos_out, acos_out, kAcos)
ET_UNARY_KERNEL(opt_asin_out, asin_out, kAsin)
ET_UNARY_KERNEL(opt_atan_out, atan_out, kAtan)
ET_UNARY_KERNEL(opt_atanh_out, atanh_out, kAtanh)
ET_UNARY_KERNEL_WHOLE(opt_ceil_out, ceil_out, kCeil, kClamp, kLowest, kHighest)
ET_UNARY_KERNEL(opt_cos_out, cos_out, kCos)
ET_UNARY_KERNEL(opt_cosh_out, cosh_out, kCosh)
ET_UNARY_KERNEL(opt_erf_out, erf_out, kErf)
ET_UNARY_KERNEL(opt_erfc_out, erfc_out, kErfc)
ET_UNARY_KERNEL(opt_exp_out, exp_out, kExp)
ET_UNARY_KERNEL(opt_expm1_out, expm1_out, kExpm1)
ET_UNARY_KERNEL_WHOLE(opt_floor_out, floor_out, kFloor, kClamp, kLowest, kHighest)
ET_UNARY_KERNEL(opt_log10_out, log10_out, kLog10)
ET_UNARY_KERNEL(opt_log1p_out, log1p_out, kLog1p)
ET_UNARY_KERNEL(opt_log2_out, log2_out, kLog2)
ET_UNARY_KERNEL(opt_log_out, log_out, kLog)
ET_UNARY_KERNEL_WHOLE(opt_neg_out, neg_out, kNeg, kNeg, kLowest, kHighest)
ET_UNARY_KERNEL(opt_reciprocal_out, reciprocal_out, kReciprocal)
ET_UNARY_KERNEL_WHOLE(opt_relu_out, relu_out, kRelu, kClamp, 0, kHighest)
ET_UNARY_KERNEL_WHOLE(opt_round_out, round_out, kRound, kClamp, kLowest, kHighest)
ET_UNARY_KERNEL(opt_rsqrt_out, rsqrt_out, kRsqrt)
ET_UNARY_KERNEL(opt_sigmoid_out, sigmoid_out, kSigmoid)
ET_UNARY_KERNEL(opt_sin_out, sin_out, kSin)
ET_UNARY_KERNEL(opt_sinh_out, sinh_out, kSinh)
ET_UNARY_KERNEL(opt_sqrt_out, sqrt_out, kSqrt)
ET_UNARY_KERNEL(opt_tan_out, tan_out, kTan)
ET_UNARY_KERNEL(opt_tanh_out, tanh_out, kTanh)
ET_UNARY_KERNEL_WHOLE(opt_trunc_out, trunc_out, kTrunc, kClamp, kLowest, kHighest)
#undef ET_UNARY_KERNEL_WHOLE
#undef ET_UNARY_KERNEL
#undef ET_UNARY

Tensor& opt_gelu_out(KernelRuntimeContext& ctx, const Tensor& self, std::string_view approximate,
                     Tensor& out) {
  const bool known = approximate == "none" || approximate == "tanh";
  const Unary f = approximate == "tanh" ? Unary::kGeluTanh : Unary::kGelu;
  return known && run(f, {}, self, out) ? out : gelu_out(ctx, self, approximate, out);
}

namespace {

// A bound that is NaN makes NaN of every element: the portable kernel's.
bool are_bounds(const UnaryConstants& k) {
  return k.a == k.a && k.b == k.b;
}

// The portable kernel refuses others, and says why.
bool may_bound(const Scalar& bound, ScalarType type) {
  const bool wraps = type == ScalarType::Byte && bound.isIntegral(/*includeBool=*/false) &&
                     bound.to<int64_t>() < 0;
  return fits(bound, type) && !wraps;
}

}  // namespace

Tensor& opt_hardtanh_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& min_val,
                         const Scalar& max_val, Tensor& out) {
  const UnaryConstants k{as_float(min_val), as_float(max_val)};
  const bool fast = are_bounds(k) && may_bound(min_val, self.scalar_type()) &&
                    may_bound(max_val, self.scalar_type());
  if (fast && is_limit(min_val) && is_limit(max_val) &&
      run_integer(IntegerUnary::kClamp, min_val.to<int64_t>(), max_val.to<int64_t>(), self, out)) {
    return out;
  }
  return fast && run(Unary::kClamp, k, self, out) ? out
                                                  : hardtanh_out(ctx, self, min_val, max_val, out);
}

Tensor& opt_clamp_out(KernelRuntimeContext& ctx, const Tensor& self,
                      const std::optional<Scalar>& min, const std::optional<Scalar>& max,
                      Tensor& out) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const UnaryConstants k{min.has_value() ? as_float(*min) : -kInfinity,
                         max.has_value() ? as_float(*max) : kInfinity};
  const ScalarType type = self.scalar_type();
  const bool fast = (min.has_value() || max.has_value()) && are_bounds(k) &&
                    (!min.has_value() || may_bound(*min, type)) &&
                    (!max.has_value() || may_bound(*max, type));
  if (fast && (!min.has_value() || is_limit(*min)) && (!max.has_value() || is_limit(*max)) &&
      run_integer(IntegerUnary::kClamp, min.has_value() ? min->to<int64_t>() : kLowest,
                  max.has_value() ? max->to<int64_t>() : kHighest, self, out)) {
    return out;
  }
  return fast && run(Unary::kClamp, k, self, out) ? out : clamp_out(ctx, self, min, max, out);
}

Tensor& opt_logit_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<double> eps,
                      Tensor& out) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool bounded = eps.has_value() && *eps >= 0;
  const UnaryConstants k{bounded ? static_cast<float>(*eps) : -kInfinity,
                         bounded ? static_cast<float>(1.0 - *eps) : kInfinity};
  return k.a <= k.b && run(Unary::kLogit, k, self, out) ? out : logit_out(ctx, self, eps, out);
}

Tensor& opt_leaky_relu_out(KernelRuntimeContext& ctx, const Tensor& self,
                           const Scalar& negative_slope, Tensor& out) {
  const UnaryConstants k{as_float(negative_slope)};
  return fits(negative_slope, ScalarType::Float) && run(Unary::kLeakyRelu, k, self, out)
             ? out
             : leaky_relu_out(ctx, self, negative_slope, out);
}

Tensor& opt_elu_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& alpha,
                    const Scalar& scale, const Scalar& input_scale, Tensor& out) {
  const UnaryConstants k{as_float(alpha) * as_float(scale), as_float(scale), as_float(input_scale)};
  const bool fast = fits(alpha, ScalarType::Float) && fits(scale, ScalarType::Float) &&
                    fits(input_scale, ScalarType::Float);
  return fast && run(Unary::kElu, k, self, out)
             ? out
             : elu_out(ctx, self, alpha, scale, input_scale, out);
}

Tensor& opt_pow_Tensor_Scalar_out(KernelRuntimeContext& ctx, const Tensor& self,
                                  const Scalar& exponent, Tensor& out) {
  struct Row {
    float exponent;
    Unary function;
  };
  constexpr Row kRows[] = {{2.0f, Unary::kSquare},
                           {3.0f, Unary::kCube},
                           {0.5f, Unary::kSqrt},
                           {-0.5f, Unary::kRsqrt},
                           {-1.0f, Unary::kReciprocal}};
  for (const Row& row : kRows) {
    if (as_float(exponent) == row.exponent && run(row.function, {}, self, out)) {
      return out;
    }
  }
  const UnaryConstants k{
      as_float(executorch::kernels::wrapped_scalar(exponent, self.scalar_type()))};
  const bool finite = k.a - k.a == 0.0f && fits(exponent, self.scalar_type());
  return finite && run(Unary::kPow, k, self, out) ? out
                                                  : pow_Tensor_Scalar_out(ctx, self, exponent, out);
}

}  // namespace torch::executor::native
