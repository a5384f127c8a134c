// SPDX-License-Identifier: BSD-3-Clause
// The table of prim ops: name and function, one row each.
#include <executorch/kernels/prim_ops/prim_ops.h>
#include <executorch/kernels/prim_ops/scalar_ops.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace executorch::runtime {
namespace {

using namespace executorch::kernels::prim_ops;
using torch::executor::function::et_copy_index;
using torch::executor::function::et_view;

struct Row {
  const char* name;
  OpFunction function;
};

constexpr Row kPrimOps[] = {
    {"aten::sym_size.int", sym_size},
    {"aten::sym_numel", sym_numel},
    {"aten::_local_scalar_dense", local_scalar_dense},
    {"executorch_prim::add.Scalar", binary<Binary::kAdd>},
    {"executorch_prim::sub.Scalar", binary<Binary::kSub>},
    {"executorch_prim::mul.Scalar", binary<Binary::kMul>},
    {"executorch_prim::floordiv.Scalar", binary<Binary::kFloorDiv>},
    {"executorch_prim::truediv.Scalar", binary<Binary::kTrueDiv>},
    {"executorch_prim::eq.Scalar", binary<Binary::kEq>},
    {"executorch_prim::gt.Scalar", binary<Binary::kGt>},
    {"executorch_prim::lt.Scalar", binary<Binary::kLt>},
    {"executorch_prim::ge.Scalar", binary<Binary::kGe>},
    {"executorch_prim::le.Scalar", binary<Binary::kLe>},
    {"executorch_prim::sym_max.Scalar", binary<Binary::kMax>},
    {"executorch_prim::sym_min.Scalar", binary<Binary::kMin>},
    {"executorch_prim::floordiv.int", binary<Binary::kTruncDiv>},
    {"executorch_prim::mod.int", binary<Binary::kRemainder>},
    {"executorch_prim::mod.Scalar", binary<Binary::kRemainder>},
    {"executorch_prim::neg.Scalar", unary<Unary::kNeg>},
    {"executorch_prim::sym_float.Scalar", unary<Unary::kToDouble>},
    {"executorch_prim::sym_int.Scalar", unary<Unary::kToInt>},
    {"executorch_prim::sym_not.Scalar", unary<Unary::kNot>},
    {"executorch_prim::ceil.Scalar", unary<Unary::kCeil>},
    {"executorch_prim::trunc.Scalar", unary<Unary::kTrunc>},
    {"executorch_prim::round.Scalar", unary<Unary::kRound>},
    {"executorch_prim::sym_ite.Scalar", sym_ite},
    {"executorch_prim::et_copy_index.tensor", et_copy_index},
    {"executorch_prim::et_view.default", et_view},
};

}  // namespace

Error register_prim_ops() {
  for (const Row& row : kPrimOps) {
    const Error error = register_kernel(Kernel(row.name, row.function));
    if (error != Error::Ok) {
      return error;
    }
  }
  return Error::Ok;
}

}  // namespace executorch::runtime
