// SPDX-License-Identifier: BSD-3-Clause
// ATen mode: the vocabulary is PyTorch's, and programs run on PyTorch's operators.
#include <cctype>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/from_blob.h>

#include <gtest/gtest.h>

#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;

static_assert(std::is_same_v<Tensor, at::Tensor>);
static_assert(std::is_same_v<executorch::aten::TensorImpl, at::TensorImpl>);
static_assert(std::is_same_v<ScalarType, at::ScalarType>);
static_assert(std::is_same_v<executorch::aten::Scalar, at::Scalar>);
static_assert(std::is_same_v<executorch::aten::Device, at::Device>);
static_assert(std::is_same_v<executorch::aten::MemoryFormat, at::MemoryFormat>);
static_assert(std::is_same_v<executorch::aten::IntArrayRef, at::IntArrayRef>);
static_assert(std::is_same_v<executorch::aten::TensorList, at::TensorList>);
static_assert(std::is_same_v<executorch::aten::SizesType, int64_t>);
static_assert(std::is_same_v<executorch::runtime::Method, executorch::runtime::aten::Method>);

class AtenModeTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime_init(); }
};

TEST_F(AtenModeTest, TypesHaveTheNumbersOfTheFormat) {
  RecordProperty("req", "RT-018");
  for (const fb::ScalarType in_file : fb::EnumValuesScalarType()) {
    const auto type = static_cast<ScalarType>(in_file);
    std::string name;  // Float8_e5m2 is FLOAT8E5M2 there, and ComplexFloat COMPLEX64
    for (const char* c = toString(type); *c != '\0'; ++c) {
      name += *c == '_' ? "" : std::string(1, static_cast<char>(std::toupper(*c)));
    }
    if (isComplexType(type)) {
      name = "COMPLEX" + std::to_string(8 * elementSize(type));
    }
    EXPECT_EQ(name, fb::EnumNameScalarType(in_file));
    EXPECT_TRUE(isValid(type));
    EXPECT_EQ(elementSize(type),
              internal::kScalarTypeFacts[static_cast<size_t>(in_file)].element_size);
  }
  EXPECT_FALSE(isValid(static_cast<ScalarType>(static_cast<int>(fb::ScalarType::MAX) + 1)));
}

TEST_F(AtenModeTest, PyTorchHasEveryOperatorOfTheTable) {
  RecordProperty("req", "KS-005");
  size_t num_pytorch = 0;
  for (const Kernel& kernel : get_registered_kernels()) {
    const std::string name = kernel.name_;
    if (name.rfind("aten::", 0) != 0) {
      continue;
    }
    const size_t dot = name.find('.');
    const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
    ++num_pytorch;
    EXPECT_TRUE(
        c10::Dispatcher::singleton().findSchema({name.substr(0, dot), overload}).has_value())
        << name;
  }
  EXPECT_GT(num_pytorch, 1000u);
}

// One call of an operator, its outputs last.
Error call(const char* op, std::vector<EValue> args) {
  std::vector<EValue*> pointers;
  for (EValue& arg : args) {
    pointers.push_back(&arg);
  }
  pointers.push_back(pointers.back());
  KernelRuntimeContext context;
  const auto kernel = get_op_function_from_registry(op);
  EXPECT_TRUE(kernel.ok()) << op;
  (*kernel)(context, {pointers.data(), pointers.size()});
  return context.failure_state();
}

TEST_F(AtenModeTest, ArgumentsOfEveryKindReachPyTorch) {
  auto x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto out = floats({2, 3}, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(call("aten::add.out", {x.value(), x.value(), int64_t{2}, out.value()}), Error::Ok);
  EXPECT_EQ(out.data, (std::vector<float>{3, 6, 9, 12, 15, 18}));
  // A number for a float, none for what is left out.
  EXPECT_EQ(call("aten::leaky_relu.out", {x.value(), int64_t{0}, out.value()}), Error::Ok);
  EXPECT_EQ(out.data, x.data);
  EXPECT_EQ(call("aten::clamp.out", {x.value(), 2.5, EValue(), out.value()}), Error::Ok);
  EXPECT_EQ(out.data, (std::vector<float>{2.5, 2.5, 3, 4, 5, 6}));
  // Lists of integers, of tensors, and text.
  EValue one = int64_t{1};
  EValue* dims[] = {&one};
  int64_t dim_values[1];
  BoxedEvalueList<int64_t> list(dims, dim_values, 1);
  auto sums = floats({2}, {0, 0});
  EXPECT_EQ(call("aten::sum.IntList_out", {x.value(), &list, false, EValue(), sums.value()}),
            Error::Ok);
  EXPECT_EQ(sums.data, (std::vector<float>{6, 15}));
  EValue first = x.value();
  EValue* parts[] = {&first, &first};
  Tensor part_values[2];
  BoxedEvalueList<Tensor> tensors(parts, part_values, 2);
  auto joined = floats({4, 3}, std::vector<float>(12));
  EXPECT_EQ(call("aten::cat.out", {&tensors, int64_t{0}, joined.value()}), Error::Ok);
  EXPECT_EQ(joined.data[11], 6);
  executorch::aten::ArrayRef<char> approximate("tanh", 4);
  EXPECT_EQ(call("aten::gelu.out", {x.value(), &approximate, out.value()}), Error::Ok);
  EXPECT_NEAR(out.data[0], 0.8412f, 1e-4);
  EValue rows = TensorOf<int64_t>(ScalarType::Long, {1}, {0}).value();
  TensorOf<int64_t> index(ScalarType::Long, {1}, {1});
  EValue chosen = index.value();
  EValue* indices[] = {&chosen};
  std::optional<Tensor> index_values[1];
  BoxedEvalueList<std::optional<Tensor>> optional_tensors(indices, index_values, 1);
  auto row = floats({1, 3}, {0, 0, 0});
  EXPECT_EQ(call("aten::index.Tensor_out", {x.value(), &optional_tensors, row.value()}), Error::Ok);
  EXPECT_EQ(row.data, (std::vector<float>{4, 5, 6}));
}

TEST_F(AtenModeTest, WhatPyTorchRefusesIsAnError) {
  auto x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto y = floats({2, 2}, {1, 2, 3, 4});
  auto out = floats({2, 3}, std::vector<float>(6, -1));
  EXPECT_EQ(call("aten::add.out", {x.value(), y.value(), int64_t{1}, out.value()}),
            Error::InvalidArgument);
  // An output of 6 elements cannot hold 18, and no memory but its own is taken.
  auto wide = floats({3, 2, 3}, std::vector<float>(18, 1));
  EXPECT_EQ(call("aten::abs.out", {wide.value(), out.value()}), Error::InvalidArgument);
  EXPECT_EQ(out.data, std::vector<float>(6, -1));
  EXPECT_EQ(out.tensor().sizes(), x.tensor().sizes()) << "as it was";
  EXPECT_EQ(call("aten::add.out", {x.value(), out.value()}), Error::InvalidArgument);
}

// Sizes that change between calls, within what the plan has room for.
TEST_F(AtenModeTest, DynamicSizesStayInThePlannedMemory) {
  RecordProperty("req", "RT-019");
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  TensorSpec spec{{4, 3}};
  spec.dynamic = true;
  const int32_t in = m.add_tensor(spec);
  const int32_t middle = m.add_tensor(spec);
  const int32_t out = m.add_tensor(spec);
  m.inputs({in}).outputs({out});
  m.call("aten::neg", "out", {in, middle, middle});
  m.call("aten::exp", "out", {middle, out, out});
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  const void* memory = method->get_output(0).toTensor().const_data_ptr();
  for (const int32_t rows : {4, 1, 3, 2, 4}) {
    auto x = floats({rows, 3}, std::vector<float>(static_cast<size_t>(rows) * 3, 1));
    ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
    const Tensor result = method->get_output(0).toTensor();
    EXPECT_EQ(result.size(0), rows);
    EXPECT_EQ(result.const_data_ptr(), memory);
    EXPECT_FLOAT_EQ(result.const_data_ptr<float>()[rows * 3 - 1], std::exp(-1.0f));
  }
  auto too_long = floats({5, 3}, std::vector<float>(15));
  EXPECT_EQ(method->set_input(too_long.tensor(), 0), Error::NotSupported);
}

// A kernel written for the runtime's tensors, compiled against PyTorch's.
Tensor& twice_out(KernelRuntimeContext& context, const Tensor& in, Tensor& out) {
  ET_KERNEL_CHECK(context, resize_tensor(out, in.sizes()) == Error::Ok, InvalidArgument, out);
  for (ssize_t i = 0; i < in.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = 2 * in.const_data_ptr<float>()[i];
  }
  return out;
}
EXECUTORCH_LIBRARY(test, "twice.out", twice_out);

TEST_F(AtenModeTest, KernelsForPortableTensorsCompileAndRun) {
  auto x = floats({2}, {1, 2});
  auto out = floats({2}, {0, 0});
  EXPECT_EQ(call("test::twice.out", {x.value(), out.value()}), Error::Ok);
  EXPECT_EQ(out.data, (std::vector<float>{2, 4}));
}

TEST_F(AtenModeTest, OrdersOfDimensionsAreCopied) {
  auto x = floats({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  auto y = floats({1, 2, 1, 3}, std::vector<float>(6));
  std::vector<uint8_t> channels_last = {0, 2, 3, 1};
  std::vector<int64_t> strides(4);
  dim_order_to_stride_nocheck(y.sizes.data(), channels_last.data(), 4, strides.data());
  internal::BorrowedTensor out(ScalarType::Float, 4, y.sizes.data(), y.data.data(),
                               channels_last.data(), strides.data());
  EXPECT_EQ(call("dim_order_ops::_to_dim_order_copy.out",
                 {x.value(), false, EValue(), EValue(out.get())}),
            Error::Ok);
  EXPECT_EQ(y.data, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

// What goes in may own its memory; what comes out is the method's.
TEST_F(AtenModeTest, TensorsOfPyTorchGoInAndOut) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t in = m.add_tensor({{2, 2}});
  const int32_t out = m.add_tensor({{2, 2}});
  m.inputs({in}).outputs({out});
  m.call("aten::mm", "out", {in, in, out, out});
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  float numbers[] = {1, 1, 0, 1};
  ASSERT_EQ(method->set_input(at::from_blob(numbers, {2, 2}), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  const at::Tensor result = method->get_output(0).toTensor().clone();
  EXPECT_EQ(result.const_data_ptr<float>()[1], 2);
}

}  // namespace
}  // namespace executorch::runtime::testing
