// SPDX-License-Identifier: BSD-3-Clause
// Functions of one tensor, element by element.
#include <executorch/backends/vulkan/runtime/graph/ops/elementwise.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <cmath>
#include <limits>

namespace executorch::backends::vulkan {

using runtime::Error;

float to_float(double number) {
  constexpr double kMax = std::numeric_limits<float>::max();
  if (number > kMax || number < -kMax) {
    return number > 0 ? std::numeric_limits<float>::infinity()
                      : -std::numeric_limits<float>::infinity();
  }
  return static_cast<float>(number);
}

Error apply_unary(Call& call, int32_t code, const Tensor& in, const Tensor& out,
                  Iteration iteration, const UnaryParams& params) {
  iteration.merge();
  return call.dispatch("unary")
      .read(in)
      .write(out)
      .constant(code)
      .params(iteration)
      .param(params.p)
      .param(params.q)
      .param(params.i0)
      .param(params.i1)
      .param(params.zero_point)
      .elements(iteration.numel());
}

Error apply_unary(Call& call, int32_t code, const Tensor& in, const Tensor& out,
                  const UnaryParams& params) {
  const Shape flat = {out.numel()};
  return apply_unary(call, code, in, out, Iteration(flat).add(flat).add(flat), params);
}

Error copy_or_alias(Call& call, const Tensor& in, Tensor& out) {
  if (in.numel() != out.numel()) {
    return call.mismatch("expected as many elements in its input and output");
  }
  if (call.alias(out, in)) {
    return Error::Ok;
  }
  const bool to_bool = out.dtype == VkDataType::BOOL && in.dtype != VkDataType::BOOL;
  return apply_unary(call, to_bool ? kToBool : kIdentity, in, out);
}

namespace {

Error run(Call& call, const UnaryParams& params, int32_t code) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, x.shape));
  return apply_unary(call, code, x, out, params);
}

Error plain(Call& call) {
  return run(call, {}, call.code());
}

constexpr int64_t kIntMin = std::numeric_limits<int32_t>::min();
constexpr int64_t kIntMax = std::numeric_limits<int32_t>::max();

Error clamp(Call& call) {
  UnaryParams params;
  const double infinity = std::numeric_limits<double>::infinity();
  const double low = ET_UNWRAP(call.number_or(1, -infinity));
  const double high = ET_UNWRAP(call.number_or(2, infinity));
  params.p = to_float(low);
  params.q = to_float(high);
  params.i0 = low <= static_cast<double>(kIntMin) ? kIntMin : static_cast<int64_t>(std::ceil(low));
  params.i1 =
      high >= static_cast<double>(kIntMax) ? kIntMax : static_cast<int64_t>(std::floor(high));
  return run(call, params, kClamp);
}

Error relu6(Call& call) {
  return run(call, {0, 6, 0, 6}, kClamp);
}

Error gelu(Call& call) {
  const auto approximate = ET_UNWRAP(call.text(1));
  return run(call, {}, approximate == "tanh" ? kGeluTanh : kGelu);
}

/// With one number.
Error scalar(Call& call) {
  const double number = ET_UNWRAP(call.number(1));
  UnaryParams params;
  params.p = to_float(number);
  params.i0 = std::isfinite(number) ? static_cast<int64_t>(number) : 0;
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  if (!is_real(x.element) && number != std::floor(number)) {
    return call.refuse("expected a whole number beside integers");
  }
  return run(call, params, call.code());
}

constexpr Operator kRows[] = {
    {"aten.abs.default", plain, kAbs},
    {"aten.cos.default", plain, kCos},
    {"aten.exp.default", plain, kExp},
    {"aten.neg.default", plain, kNeg},
    {"aten.sigmoid.default", plain, kSigmoid},
    {"aten.sin.default", plain, kSin},
    {"aten.sqrt.default", plain, kSqrt},
    {"aten.rsqrt.default", plain, kRsqrt},
    {"aten.tanh.default", plain, kTanh},
    {"aten.tan.default", plain, kTan},
    {"aten.log.default", plain, kLog},
    {"aten.round.default", plain, kRound},
    {"aten.relu.default", plain, kRelu},
    {"aten.relu6.default", relu6},
    {"aten.hardswish.default", plain, kHardswish},
    {"aten.hardsigmoid.default", plain, kHardsigmoid},
    {"aten.bitwise_not.default", plain, kBoolNot},
    {"aten.logical_not.default", plain, kLogicalNot},
    {"aten.clamp.default", clamp},
    {"aten.hardtanh.default", clamp},
    {"aten.gelu.default", gelu},
    {"aten.hardshrink.default", scalar, kHardshrink},
    {"aten.leaky_relu.default", scalar, kLeakyRelu},
    {"aten.pow.Tensor_Scalar", scalar, kPowScalar},
    {"aten.eq.Scalar", scalar, kEqScalar},
    {"aten.ne.Scalar", scalar, kNeScalar},
    {"aten.lt.Scalar", scalar, kLtScalar},
    {"aten.le.Scalar", scalar, kLeScalar},
    {"aten.gt.Scalar", scalar, kGtScalar},
    {"aten.ge.Scalar", scalar, kGeScalar},
};

}  // namespace

Operators unary_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
