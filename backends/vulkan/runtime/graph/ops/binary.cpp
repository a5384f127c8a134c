// SPDX-License-Identifier: BSD-3-Clause
// Functions of two tensors whose sizes are repeated to each other's; and where.
#include <executorch/backends/vulkan/runtime/graph/ops/elementwise.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

// binary.glsl's.
enum BinaryCode : int32_t {
  kAdd = 0,
  kSub,
  kMul,
  kDiv,
  kDivFloor,
  kDivTrunc,
  kMinimum,
  kMaximum,
  kPow,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kLogicalAnd,
  kLogicalOr,
};

Error run(Call& call, int32_t code, double alpha) {
  const Tensor& a = *ET_UNWRAP(call.tensor(0));
  const Tensor& b = *ET_UNWRAP(call.tensor(1));
  Tensor& out = *ET_UNWRAP(call.output());
  Shape shape;
  if (!broadcast(a.shape, b.shape, shape)) {
    return call.mismatch("sizes of its inputs do not go together");
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  if (call.is_loading() && (a.shape.rank > out.shape.rank || b.shape.rank > out.shape.rank)) {
    return call.mismatch("expected an output of as many dimensions as its inputs");
  }
  Iteration iteration(out.shape);
  iteration.add(a.shape).add(b.shape).add(out.shape).merge();
  const bool as_real = is_real(a.element) || is_real(b.element) || code == kDiv;
  return call.dispatch("binary")
      .read(a)
      .read(b)
      .write(out)
      .constant(code)
      .constant(as_real ? 1 : 0)
      .params(iteration)
      .param(to_float(alpha))
      .param(static_cast<int64_t>(alpha))
      .elements(iteration.numel());
}

Error plain(Call& call) {
  return run(call, call.code(), 1);
}

Error with_alpha(Call& call) {
  return run(call, call.code(), ET_UNWRAP(call.number_or(2, 1)));
}

Error div_mode(Call& call) {
  const auto mode = ET_UNWRAP(call.text(2));
  return run(call, mode == "floor" ? kDivFloor : mode == "trunc" ? kDivTrunc : kDiv, 1);
}

Error where(Call& call) {
  const Tensor& condition = *ET_UNWRAP(call.tensor(0));
  const Tensor& a = *ET_UNWRAP(call.tensor(1));
  const Tensor& b = *ET_UNWRAP(call.tensor(2));
  Tensor& out = *ET_UNWRAP(call.output());
  Shape shape;
  if (!broadcast(a.shape, b.shape, shape) || !broadcast(condition.shape, shape, shape)) {
    return call.mismatch("sizes of its inputs do not go together");
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  if (shape.rank > out.shape.rank) {
    return call.mismatch("expected an output of as many dimensions as its inputs");
  }
  Iteration iteration(out.shape);
  iteration.add(condition.shape).add(a.shape).add(b.shape).add(out.shape).merge();
  return call.dispatch("select")
      .read(condition)
      .read(a)
      .read(b)
      .write(out)
      .params(iteration)
      .elements(iteration.numel());
}

constexpr Operator kRows[] = {
    {"aten.add.Tensor", with_alpha, kAdd},
    {"aten.sub.Tensor", with_alpha, kSub},
    {"aten.mul.Tensor", plain, kMul},
    {"aten.div.Tensor", plain, kDiv},
    {"aten.div.Tensor_mode", div_mode},
    {"aten.minimum.default", plain, kMinimum},
    {"aten.maximum.default", plain, kMaximum},
    {"aten.pow.Tensor_Tensor", plain, kPow},
    {"aten.eq.Tensor", plain, kEq},
    {"aten.ne.Tensor", plain, kNe},
    {"aten.lt.Tensor", plain, kLt},
    {"aten.le.Tensor", plain, kLe},
    {"aten.gt.Tensor", plain, kGt},
    {"aten.ge.Tensor", plain, kGe},
    {"aten.bitwise_and.Tensor", plain, kAnd},
    {"aten.bitwise_or.Tensor", plain, kOr},
    {"aten.logical_and.default", plain, kLogicalAnd},
    {"aten.logical_or.default", plain, kLogicalOr},
    {"aten.where.self", where},
};

}  // namespace

Operators binary_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
