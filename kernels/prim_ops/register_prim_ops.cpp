// SPDX-License-Identifier: BSD-3-Clause
// The table of prim ops: name and function, one row each.
//
// With ET_PRIM_OPS_SELECTIVE_BUILD only those are registered, and linked, that selected_prim_ops.h
// names: what the models of a build call (codegen/tools/gen_selected_prim_ops.py).
#include <executorch/kernels/prim_ops/prim_ops.h>

#include <array>
#include <initializer_list>
#include <string_view>

#include <executorch/kernels/prim_ops/scalar_ops.h>
#include <executorch/runtime/kernel/operator_registry.h>
#ifdef ET_PRIM_OPS_SELECTIVE_BUILD
#include <executorch/kernels/prim_ops/selected_prim_ops.h>
#endif

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

#ifdef ET_SELECTED_PRIM_OPS
constexpr bool is_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

// Whether INCLUDE_EXECUTORCH_PRIM_ADD_SCALAR is the macro of executorch_prim::add.Scalar: its words
// in capital letters, with one _ for whatever divides them.
constexpr bool is_macro_of(std::string_view op, std::string_view macro) {
  size_t at = std::string_view("INCLUDE_").size();
  for (size_t i = 0; i < op.size(); ++i) {
    const bool in_word = is_word(op[i]);
    if (!in_word && i > 0 && !is_word(op[i - 1])) {
      continue;
    }
    const bool is_small = op[i] >= 'a' && op[i] <= 'z';
    const char expected = !in_word ? '_' : is_small ? static_cast<char>(op[i] - 'a' + 'A') : op[i];
    if (at >= macro.size() || macro[at++] != expected) {
      return false;
    }
  }
  return at == macro.size();
}

constexpr bool is_selected(std::string_view op) {
  for (const std::string_view macro :
       std::initializer_list<std::string_view>{ET_SELECTED_PRIM_OPS}) {
    if (is_macro_of(op, macro)) {
      return true;
    }
  }
  return false;
}
#else
constexpr bool is_selected(std::string_view) {
  return true;
}
#endif

constexpr size_t count_selected() {
  size_t count = 0;
  for (const Row& row : kPrimOps) {
    count += is_selected(row.name) ? 1 : 0;
  }
  return count;
}

// Rows of their own, so that nothing refers to the functions of the others.
constexpr auto select() {
  std::array<Row, count_selected() + 1> found{};
  size_t count = 0;
  for (const Row& row : kPrimOps) {
    if (is_selected(row.name)) {
      found[count++] = row;
    }
  }
  return found;
}

constexpr auto kSelected = select();

}  // namespace

Error register_prim_ops() {
  for (size_t i = 0; i + 1 < kSelected.size(); ++i) {
    const Error error = register_kernel(Kernel(kSelected[i].name, kSelected[i].function));
    if (error != Error::Ok) {
      return error;
    }
  }
  return Error::Ok;
}

}  // namespace executorch::runtime
