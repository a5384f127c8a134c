// SPDX-License-Identifier: BSD-3-Clause
// Prim ops: results, and every wrong call. Arguments come from files.
#include <executorch/kernels/prim_ops/prim_ops.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

using executorch::aten::ScalarType;
using executorch::aten::TensorShapeDynamism;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();

const Error kRegistered = register_prim_ops();

OpFunction find(const std::string& name) {
  for (const Kernel& kernel : get_registered_kernels()) {
    if (name == kernel.name_) {
      return kernel.op_;
    }
  }
  ADD_FAILURE() << "no operator " << name;
  return nullptr;
}

// Calls an operator; the error it fails with.
Error call(const std::string& name, std::vector<EValue>& args) {
  std::vector<EValue*> pointers;
  for (EValue& arg : args) {
    pointers.push_back(&arg);
  }
  KernelRuntimeContext context;
  find(name)(context, {pointers.data(), pointers.size()});
  return context.failure_state();
}

EValue integer(int64_t value) {
  return EValue(value);
}

// A result is equal in kind and value; NaN equals NaN.
bool same(const EValue& a, const EValue& b) {
  if (a.tag != b.tag) {
    return false;
  }
  if (a.isInt()) {
    return a.toInt() == b.toInt();
  }
  if (a.isBool()) {
    return a.toBool() == b.toBool();
  }
  return a.toDouble() == b.toDouble() || (std::isnan(a.toDouble()) && std::isnan(b.toDouble()));
}

struct Case {
  const char* op;
  std::vector<EValue> args;
  EValue expected;
};

class PrimOpsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    ASSERT_EQ(kRegistered, Error::Ok);
    ASSERT_EQ(register_prim_ops(), Error::Ok) << "again is no error";
  }
};

TEST_F(PrimOpsTest, Results) {
  RecordProperty("req", "KS-006");
  const Case kCases[] = {
      {"executorch_prim::add.Scalar", {integer(2), integer(3)}, integer(5)},
      {"executorch_prim::add.Scalar", {integer(2), EValue(0.5)}, EValue(2.5)},
      {"executorch_prim::add.Scalar", {EValue(0.5), integer(2)}, EValue(2.5)},
      {"executorch_prim::add.Scalar", {integer(kMax), integer(1)}, integer(kMin)},
      {"executorch_prim::sub.Scalar", {integer(2), integer(3)}, integer(-1)},
      {"executorch_prim::sub.Scalar", {integer(kMin), integer(1)}, integer(kMax)},
      {"executorch_prim::sub.Scalar", {EValue(1.0), EValue(0.25)}, EValue(0.75)},
      {"executorch_prim::mul.Scalar", {integer(-4), integer(3)}, integer(-12)},
      {"executorch_prim::mul.Scalar", {integer(kMin), integer(-1)}, integer(kMin)},
      {"executorch_prim::mul.Scalar", {EValue(1.5), integer(2)}, EValue(3.0)},
      {"executorch_prim::floordiv.Scalar", {integer(7), integer(2)}, integer(3)},
      {"executorch_prim::floordiv.Scalar", {integer(-7), integer(2)}, integer(-4)},
      {"executorch_prim::floordiv.Scalar", {integer(7), integer(-2)}, integer(-4)},
      {"executorch_prim::floordiv.Scalar", {integer(-8), integer(2)}, integer(-4)},
      {"executorch_prim::floordiv.Scalar", {integer(kMin), integer(-1)}, integer(kMin)},
      {"executorch_prim::floordiv.Scalar", {EValue(-7.0), EValue(2.0)}, EValue(-4.0)},
      {"executorch_prim::floordiv.Scalar", {EValue(7.5), integer(2)}, EValue(3.0)},
      {"executorch_prim::floordiv.Scalar", {EValue(1.0), EValue(0.1)}, EValue(9.0)},
      {"executorch_prim::floordiv.Scalar", {EValue(1.0), EValue(0.0)}, EValue(kInf)},
      {"executorch_prim::truediv.Scalar", {integer(1), integer(2)}, EValue(0.5)},
      {"executorch_prim::truediv.Scalar", {EValue(1.0), integer(0)}, EValue(kInf)},
      {"executorch_prim::eq.Scalar", {integer(2), EValue(2.0)}, EValue(true)},
      {"executorch_prim::eq.Scalar", {integer(kMax), integer(kMax - 1)}, EValue(false)},
      {"executorch_prim::gt.Scalar", {integer(3), integer(2)}, EValue(true)},
      {"executorch_prim::gt.Scalar", {EValue(std::nan("")), integer(2)}, EValue(false)},
      {"executorch_prim::lt.Scalar", {integer(3), integer(2)}, EValue(false)},
      {"executorch_prim::ge.Scalar", {integer(2), integer(2)}, EValue(true)},
      {"executorch_prim::le.Scalar", {integer(2), EValue(1.5)}, EValue(false)},
      {"executorch_prim::sym_max.Scalar", {integer(-1), integer(4)}, integer(4)},
      {"executorch_prim::sym_min.Scalar", {integer(-1), integer(4)}, integer(-1)},
      {"executorch_prim::floordiv.int", {integer(-7), integer(2)}, integer(-3)},
      {"executorch_prim::floordiv.int", {integer(kMin), integer(-1)}, integer(kMin)},
      {"executorch_prim::mod.int", {integer(-7), integer(2)}, integer(-1)},
      {"executorch_prim::mod.Scalar", {integer(7), integer(-2)}, integer(1)},
      {"executorch_prim::mod.Scalar", {integer(kMin), integer(-1)}, integer(0)},
      {"executorch_prim::neg.Scalar", {integer(5)}, integer(-5)},
      {"executorch_prim::neg.Scalar", {integer(kMin)}, integer(kMin)},
      {"executorch_prim::neg.Scalar", {EValue(0.5)}, EValue(-0.5)},
      {"executorch_prim::sym_float.Scalar", {integer(5)}, EValue(5.0)},
      {"executorch_prim::sym_float.Scalar", {EValue(true)}, EValue(1.0)},
      {"executorch_prim::sym_int.Scalar", {EValue(-2.9)}, integer(-2)},
      {"executorch_prim::sym_int.Scalar", {integer(kMax)}, integer(kMax)},
      {"executorch_prim::sym_int.Scalar", {EValue(true)}, integer(1)},
      {"executorch_prim::sym_not.Scalar", {EValue(true)}, EValue(false)},
      {"executorch_prim::ceil.Scalar", {EValue(-1.5)}, integer(-1)},
      {"executorch_prim::trunc.Scalar", {EValue(-1.5)}, integer(-1)},
      {"executorch_prim::round.Scalar", {EValue(2.5)}, integer(2)},
      {"executorch_prim::round.Scalar", {EValue(3.5)}, integer(4)},
      {"executorch_prim::round.Scalar", {EValue(-0.5)}, integer(0)},
      {"executorch_prim::sym_ite.Scalar", {EValue(true), integer(1), EValue(2.0)}, integer(1)},
      {"executorch_prim::sym_ite.Scalar", {EValue(false), integer(1), EValue(2.0)}, EValue(2.0)},
  };
  for (const Case& c : kCases) {
    std::vector<EValue> args = c.args;
    args.push_back(integer(-99));
    EXPECT_EQ(call(c.op, args), Error::Ok) << c.op;
    EXPECT_TRUE(same(args.back(), c.expected)) << c.op << " row " << (&c - kCases);
  }
}

TEST_F(PrimOpsTest, ValuesWithoutAResult) {
  const Case kCases[] = {
      {"executorch_prim::floordiv.Scalar", {integer(1), integer(0)}, EValue()},
      {"executorch_prim::floordiv.int", {integer(1), integer(0)}, EValue()},
      {"executorch_prim::mod.int", {integer(1), integer(0)}, EValue()},
      {"executorch_prim::mod.Scalar", {integer(1), integer(0)}, EValue()},
      {"executorch_prim::sym_int.Scalar", {EValue(std::nan(""))}, EValue()},
      {"executorch_prim::sym_int.Scalar", {EValue(kInf)}, EValue()},
      {"executorch_prim::trunc.Scalar", {EValue(1e30)}, EValue()},
      {"executorch_prim::ceil.Scalar", {EValue(9223372036854775808.0)}, EValue()},
      {"executorch_prim::round.Scalar", {EValue(-kInf)}, EValue()},
  };
  for (const Case& c : kCases) {
    std::vector<EValue> args = c.args;
    args.push_back(integer(-99));
    EXPECT_EQ(call(c.op, args), Error::InvalidArgument) << c.op;
    EXPECT_EQ(args.back().toInt(), -99) << "the result stays as it was";
  }
}

// CVE-2025-54950: every operator with 0 to 6 arguments, and with each argument of every kind.
TEST_F(PrimOpsTest, WrongCallsAreErrors) {
  auto floats_of_two = floats({2}, {1, 2});
  executorch::aten::ArrayRef<char> text("text", 4);
  executorch::aten::ArrayRef<double> doubles;
  executorch::aten::ArrayRef<bool> bools;
  EValue one = integer(1);
  EValue tensor = floats_of_two.value();
  EValue* int_items[] = {&one};
  int64_t int_flat[1];
  BoxedEvalueList<int64_t> ints(int_items, int_flat, 1);
  EValue* wrong_items[] = {&tensor};
  BoxedEvalueList<int64_t> wrong_ints(wrong_items, int_flat, 1);
  const std::vector<EValue> kinds = {
      EValue(),      integer(1),       EValue(true),   EValue(1.0),   tensor,
      EValue(&text), EValue(&doubles), EValue(&bools), EValue(&ints), EValue(&wrong_ints)};

  size_t num_ops = 0;
  size_t num_ok = 0;
  for (const Kernel& kernel : get_registered_kernels()) {
    const std::string name = kernel.name_;
    if (name.find("executorch_prim::") != 0 && name.find("aten::") != 0) {
      continue;
    }
    ++num_ops;
    size_t arity = 0;
    for (size_t count = 0; count <= 6; ++count) {
      std::vector<EValue> args(count, integer(1));
      if (call(name, args) != Error::InvalidProgram) {
        EXPECT_EQ(arity, 0u) << name << " takes " << arity << " and " << count << " arguments";
        arity = count;
      }
    }
    ASSERT_GE(arity, 2u) << name;
    std::vector<size_t> choice(arity, 0);
    for (size_t i = 0; i < arity;) {
      std::vector<EValue> args;
      for (const size_t kind : choice) {
        args.push_back(kinds[kind]);
      }
      const Error error = call(name, args);
      num_ok += error == Error::Ok;
      EXPECT_TRUE(error == Error::Ok || error == Error::InvalidType ||
                  error == Error::InvalidArgument || error == Error::NotSupported)
          << name;
      for (i = 0; i < arity && ++choice[i] == kinds.size(); ++i) {
        choice[i] = 0;
      }
    }
  }
  EXPECT_EQ(num_ops, 28u);
  EXPECT_GT(num_ok, 100u);
}

TEST_F(PrimOpsTest, ResultsReplaceScalarsOnly) {
  auto x = floats({2}, {1, 2});
  std::vector<EValue> args = {integer(1), integer(2), x.value()};
  EXPECT_EQ(call("executorch_prim::add.Scalar", args), Error::InvalidType);
  EXPECT_TRUE(args[2].isTensor());
  args[2] = EValue();
  EXPECT_EQ(call("executorch_prim::add.Scalar", args), Error::Ok);
}

TEST_F(PrimOpsTest, SizesAndElements) {
  auto x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const auto& [dim, expected] : std::vector<std::pair<int64_t, std::optional<int64_t>>>{
           {0, 2}, {1, 3}, {-1, 3}, {-2, 2}, {2, {}}, {-3, {}}, {kMin, {}}, {kMax, {}}}) {
    std::vector<EValue> args = {x.value(), integer(dim), integer(0)};
    EXPECT_EQ(call("aten::sym_size.int", args),
              expected.has_value() ? Error::Ok : Error::InvalidArgument);
    EXPECT_EQ(args[2].toInt(), expected.value_or(0));
  }
  std::vector<EValue> args = {x.value(), integer(0)};
  EXPECT_EQ(call("aten::sym_numel", args), Error::Ok);
  EXPECT_EQ(args[1].toInt(), 6);
  EXPECT_EQ(call("aten::_local_scalar_dense", args), Error::InvalidArgument) << "six elements";
  auto element = floats({1, 1}, {2.5});
  args = {element.value(), integer(0)};
  EXPECT_EQ(call("aten::_local_scalar_dense", args), Error::Ok);
  EXPECT_EQ(args[1].toDouble(), 2.5);
  TensorOf<int8_t> small(ScalarType::Char, {}, {-3});
  args = {small.value(), integer(0)};
  EXPECT_EQ(call("aten::_local_scalar_dense", args), Error::Ok);
  EXPECT_EQ(args[1].toInt(), -3);
  TensorOf<uint8_t> flag(ScalarType::Bool, {1}, {7});
  args = {flag.value(), integer(0)};
  EXPECT_EQ(call("aten::_local_scalar_dense", args), Error::Ok);
  EXPECT_TRUE(args[1].toBool());
  TensorOf<uint8_t> quantized(ScalarType::QUInt8, {1}, {7});
  args = {quantized.value(), integer(0)};
  EXPECT_EQ(call("aten::_local_scalar_dense", args), Error::InvalidType);
}

// A dynamic tensor of up to the given sizes.
struct Dynamic {
  explicit Dynamic(std::vector<int32_t> bounds,
                   TensorShapeDynamism dynamism = TensorShapeDynamism::DYNAMIC_BOUND)
      : tensor(floats(bounds, std::vector<float>(64, -1))),
        borrowed(ScalarType::Float, bounds.size(), tensor.sizes.data(), tensor.data.data(),
                 tensor.dim_order.data(), tensor.strides.data(), dynamism) {}

  EValue value() { return EValue(borrowed.get()); }

  TensorOf<float> tensor;
  internal::BorrowedTensor borrowed;
};

// CVE-2025-54949.
TEST_F(PrimOpsTest, CopyIndexStaysInItsTensor) {
  Dynamic target({3, 2});
  auto row = floats({2}, {5, 6});
  auto wide = floats({3}, {5, 6, 7});
  TensorOf<int32_t> ints(ScalarType::Int, {2}, {5, 6});
  const char* op = "executorch_prim::et_copy_index.tensor";
  for (const int64_t index : {0, 1, 2}) {
    std::vector<EValue> args = {target.value(), row.value(), integer(index)};
    ASSERT_EQ(call(op, args), Error::Ok);
    EXPECT_EQ(target.borrowed.get().size(0), index + 1);
    EXPECT_EQ(target.tensor.data[static_cast<size_t>(index) * 2 + 1], 6);
    EXPECT_EQ(target.borrowed.get().const_data_ptr(), target.tensor.data.data())
        << "it does not move";
  }
  for (const int64_t index : {int64_t{-1}, int64_t{3}, int64_t{1} << 31, int64_t{1} << 32,
                              (int64_t{1} << 32) + 1, kMin, kMax}) {
    std::vector<EValue> args = {target.value(), row.value(), integer(index)};
    EXPECT_NE(call(op, args), Error::Ok) << index;
  }
  EXPECT_EQ(target.tensor.data[6], -1) << "nothing behind it was written";
  std::vector<EValue> wrong_size = {target.value(), wide.value(), integer(0)};
  EXPECT_EQ(call(op, wrong_size), Error::InvalidArgument);
  std::vector<EValue> wrong_type = {target.value(), ints.value(), integer(0)};
  EXPECT_EQ(call(op, wrong_type), Error::InvalidArgument);
  std::vector<EValue> wrong_rank = {row.value(), row.value(), integer(0)};
  EXPECT_EQ(call(op, wrong_rank), Error::InvalidArgument);
  std::vector<EValue> itself = {target.value(), target.value(), integer(0)};
  EXPECT_EQ(call(op, itself), Error::InvalidArgument);
  Dynamic fixed({3, 2}, TensorShapeDynamism::STATIC);
  if (internal::shape_dynamism_of(fixed.borrowed.get()) == TensorShapeDynamism::STATIC) {
    std::vector<EValue> growing = {fixed.value(), row.value(), integer(0)};
    EXPECT_EQ(call(op, growing), Error::NotSupported);
  }
  internal::reset_data_ptr(target.borrowed.get());
  std::vector<EValue> no_memory = {target.value(), row.value(), integer(2)};
  EXPECT_EQ(call(op, no_memory), Error::InvalidState);
}

TEST_F(PrimOpsTest, CopyIndexAliasesOfOneMemory) {
  Dynamic target({3, 2});
  auto row = floats({2}, {});
  internal::BorrowedTensor overlapping(ScalarType::Float, 1, row.sizes.data(),
                                       target.tensor.data.data() + 1, row.dim_order.data(),
                                       row.strides.data());
  target.tensor.data[1] = 7;
  target.tensor.data[2] = 8;
  std::vector<EValue> args = {target.value(), EValue(overlapping.get()), integer(0)};
  ASSERT_EQ(call("executorch_prim::et_copy_index.tensor", args), Error::Ok);
  EXPECT_EQ(target.tensor.data[0], 7);
  EXPECT_EQ(target.tensor.data[1], 8);
}

struct ViewCase {
  std::vector<int64_t> size;
  std::vector<int32_t> expected;
};

TEST_F(PrimOpsTest, ViewsShareDataAndFit) {
  auto self = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const ViewCase kCases[] = {
      {{3, 2}, {3, 2}},   {{-1, 2}, {3, 2}},
      {{6, -1}, {6, 1}},  {{1, 6}, {1, 6}},
      {{-1, -1}, {}},     {{-2, 3}, {}},
      {{4, 2}, {}},       {{5, -1}, {}},
      {{0, -1}, {}},      {{0, 6}, {}},
      {{6}, {}},          {{1, 2, 3}, {}},
      {{kMax, kMax}, {}}, {{int64_t{1} << 32, 6}, {}},
      {{kMin, 1}, {}},
  };
  for (const ViewCase& c : kCases) {
    Dynamic out({8, 8});
    std::vector<EValue> items;
    for (const int64_t item : c.size) {
      items.push_back(integer(item));
    }
    std::vector<EValue*> pointers;
    for (EValue& item : items) {
      pointers.push_back(&item);
    }
    std::vector<int64_t> flat(items.size());
    BoxedEvalueList<int64_t> list(pointers.data(), flat.data(), static_cast<int>(items.size()));
    std::vector<EValue> args = {self.value(), EValue(&list), out.value()};
    const Error error = call("executorch_prim::et_view.default", args);
    EXPECT_EQ(error == Error::Ok, !c.expected.empty()) << "row " << (&c - kCases);
    if (error == Error::Ok) {
      EXPECT_EQ(out.borrowed.get().const_data_ptr(), self.data.data());
      EXPECT_EQ(out.borrowed.get().size(0), c.expected[0]);
      EXPECT_EQ(out.borrowed.get().size(1), c.expected[1]);
    }
  }
}

}  // namespace
}  // namespace executorch::runtime::testing
