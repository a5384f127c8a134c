// SPDX-License-Identifier: BSD-3-Clause
// Methods: inputs, outputs, execution, control flow, limits.
// Experimental and former calls are used, too.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <executorch/runtime/executor/method.h>

#include <cmath>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

using executorch::aten::ScalarType;

std::vector<float> values_of(const EValue& value) {
  const auto tensor = value.toTensor();
  const float* data = tensor.const_data_ptr<float>();
  return {data, data + tensor.numel()};
}

class MethodTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    register_test_kernels();
  }
};

TEST_F(MethodTest, AddsAConstant) {
  RecordProperty("req", "RT-010 RT-011");
  for (const auto make : {add_program, inline_constant_program}) {
    LoadedProgram program(make().build());
    ASSERT_TRUE(program.ok());
    LoadedMethod method(program);
    ASSERT_TRUE(method.ok());
    auto x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
    ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
    EXPECT_EQ(values_of(method->get_output(0)), (std::vector<float>{11, 22, 33, 44, 55, 66}));
    EXPECT_EQ(method->inputs_size(), 1u);
    EXPECT_EQ(method->outputs_size(), 1u);
    EXPECT_STREQ(method->method_meta().name(), "forward");
  }
}

TEST_F(MethodTest, ConstantsAreNotCopied) {
  for (const auto make : {add_program, inline_constant_program}) {
    LoadedProgram program(make().build());
    LoadedMethod method(program);
    ASSERT_TRUE(method.ok());
    const auto weight = method->get_attribute("weight");
    ASSERT_TRUE(weight.ok());
    EXPECT_EQ(weight->const_data_ptr(), program->get_constant_buffer_data(1, 24).get());
    EXPECT_EQ(method->get_attribute("other").error(), Error::NotFound);
  }
}

TEST_F(MethodTest, RefusesInputsThatDisagree) {
  LoadedProgram program(add_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto good = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto transposed = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  auto flat = floats({6}, {1, 2, 3, 4, 5, 6});
  TensorOf<int32_t> ints(ScalarType::Int, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(method->execute(), Error::InvalidArgument) << "input not set";
  EXPECT_EQ(method->set_input(good.tensor(), 1), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(transposed.tensor(), 0), Error::NotSupported);
  EXPECT_EQ(method->set_input(flat.tensor(), 0), Error::NotSupported);
  EXPECT_EQ(method->set_input(ints.tensor(), 0), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(EValue(int64_t{1}), 0), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(EValue(), 0), Error::InvalidArgument);
  internal::BorrowedTensor no_data(ScalarType::Float, 2, good.sizes.data(), nullptr,
                                   good.dim_order.data(), good.strides.data());
  EXPECT_EQ(method->set_input(no_data.get(), 0), Error::InvalidArgument);
  EXPECT_EQ(method->execute(), Error::InvalidArgument);
  const std::vector<EValue> none;
  EXPECT_EQ(method->set_inputs(executorch::aten::ArrayRef<EValue>(none.data(), none.size())),
            Error::InvalidArgument);
  const std::vector<EValue> inputs = {good.value()};
  EXPECT_EQ(method->set_inputs(executorch::aten::ArrayRef<EValue>(inputs.data(), inputs.size())),
            Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
}

TEST_F(MethodTest, InputsWithoutDataServeProgramsThatReadSizes) {
  for (const bool reads_data : {false, true}) {
    ProgramBuilder builder;
    MethodBuilder& m = builder.add_method("forward");
    TensorSpec spec{{2, 3}};
    spec.planned = false;
    const int32_t x = m.add_tensor(spec);
    const int32_t numel = m.add_int(0);
    const int32_t y = m.add_tensor({{2, 3}});
    m.inputs({x}).outputs({numel});
    m.call("aten::sym_numel", "", {x, numel});
    if (reads_data) {
      m.call("test::add", "out", {x, x, y, y});
    }
    LoadedProgram program(builder);
    LoadedMethod method(program);
    ASSERT_TRUE(method.ok());
    auto x_like = floats({2, 3}, {});
    internal::BorrowedTensor no_data(ScalarType::Float, 2, x_like.sizes.data(), nullptr,
                                     x_like.dim_order.data(), x_like.strides.data());
    EXPECT_EQ(method->set_input(no_data.get(), 0), Error::Ok);
    EXPECT_EQ(method->execute(), reads_data ? Error::InvalidState : Error::Ok);
    EXPECT_EQ(method->get_output(0).toInt(), 6);
  }
}

TEST_F(MethodTest, RefusesInputsOfAnotherLayout) {
  LoadedProgram program(add_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto set_with = [&](std::vector<uint8_t> dim_order,
                            std::vector<executorch::aten::StridesType> strides) {
    internal::BorrowedTensor tensor(ScalarType::Float, 2, x.sizes.data(), x.data.data(),
                                    dim_order.data(), strides.data());
    return method->set_input(tensor.get(), 0);
  };
  EXPECT_EQ(set_with({1, 0}, {1, 2}), Error::InvalidArgument);
  EXPECT_EQ(set_with({0, 1}, {6, 1}), Error::InvalidArgument) << "gaps";
  EXPECT_EQ(set_with({0, 1}, {3, 1}), Error::Ok);
}

// What another device holds is not copied by the host, nor taken for its own.
TEST_F(MethodTest, InputsAreOfTheDeviceThatThePlanHas) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t x_value = m.add_tensor({{2, 3}});
  m.inputs({x_value}).outputs({x_value});
  auto& info = m.tensor(x_value).extra_tensor_info;
  info = std::make_unique<executorch_flatbuffer::ExtraTensorInfoT>();
  info->device_type = executorch_flatbuffer::DeviceType::CUDA;
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(method->set_input(x.tensor(), 0), Error::InvalidArgument);
  executorch::aten::TensorImpl there(
      ScalarType::Float, 2, x.sizes.data(), reinterpret_cast<void*>(uintptr_t{64}),
      x.dim_order.data(), x.strides.data(), executorch::aten::TensorShapeDynamism::STATIC,
      executorch::runtime::etensor::DeviceType::CUDA);
  EXPECT_EQ(method->set_input(executorch::aten::Tensor(&there), 0), Error::Ok);
  EXPECT_EQ(method->get_input(0).toTensor().const_data_ptr(),
            reinterpret_cast<void*>(uintptr_t{64}));
}

TEST_F(MethodTest, InputsThatAreNoTensorsMustEqualTheTracedOnes) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  m.inputs({m.add_none(), m.add_int(5), m.add_bool(true), m.add_double(2.5), m.add_string("text"),
            m.add_double(NAN), m.add_double(INFINITY), m.add_int_list({})});
  LoadedProgram program(builder);
  ASSERT_TRUE(program.ok());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  executorch::aten::ArrayRef<char> text("text", 4);
  executorch::aten::ArrayRef<char> other("texts", 5);
  struct {
    EValue value;
    size_t index;
    Error expected;
  } const kCases[] = {
      {EValue(), 0, Error::Ok},
      {EValue(int64_t{5}), 0, Error::InvalidArgument},
      {EValue(int64_t{5}), 1, Error::Ok},
      {EValue(int64_t{6}), 1, Error::InvalidArgument},
      {EValue(5.0), 1, Error::InvalidArgument},
      {EValue(true), 2, Error::Ok},
      {EValue(false), 2, Error::InvalidArgument},
      {EValue(2.5), 3, Error::Ok},
      {EValue(2.50009), 3, Error::Ok},
      {EValue(2.51), 3, Error::InvalidArgument},
      {EValue(static_cast<double>(NAN)), 3, Error::InvalidArgument},
      {EValue(&text), 4, Error::Ok},
      {EValue(&other), 4, Error::InvalidArgument},
      {EValue(static_cast<double>(NAN)), 5, Error::Ok},
      {EValue(1.0), 5, Error::InvalidArgument},
      {EValue(static_cast<double>(INFINITY)), 6, Error::Ok},
      {EValue(static_cast<double>(-INFINITY)), 6, Error::InvalidArgument},
      {EValue(int64_t{1}), 7, Error::InvalidArgument},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(method->set_input(c.value, c.index), c.expected) << c.index;
  }
}

TEST_F(MethodTest, DynamicInputsMayHaveAnySizeWithinTheirBounds) {
  RecordProperty("req", "RT-024");
  LoadedProgram program(dynamic_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  for (const int32_t rows : {1, 4, 2, 0, 3}) {
    std::vector<float> data(static_cast<size_t>(rows) * 3, 1.5f);
    auto x = floats({rows, 3}, data);
    ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok) << rows;
    ASSERT_EQ(method->execute(), Error::Ok) << rows;
    EXPECT_EQ(method->get_output(0).toTensor().size(0), rows);
    EXPECT_EQ(values_of(method->get_output(0)), std::vector<float>(data.size(), 3.0f));
  }
  auto large = floats({5, 3}, std::vector<float>(15));
  EXPECT_EQ(method->set_input(large.tensor(), 0), Error::NotSupported);
  EXPECT_EQ(method->execute(), Error::InvalidArgument) << "the refused input is not set";
  EXPECT_EQ(static_cast<uint32_t>(Error::NotSupported), 0x10u);
}

TEST_F(MethodTest, UnplannedInputsAreNotCopied) {
  LoadedProgram program(dynamic_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto x = floats({1, 3}, {1, 2, 3});
  ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
  x.data[0] = 100;
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(values_of(method->get_output(0))[0], 200);
}

// A kernel that resizes an input it was lent must not get past the memory behind it.
TEST_F(MethodTest, LentInputsDoNotGrow) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  TensorSpec spec{{4, 3}};
  spec.dynamic = true;
  const int32_t big = m.add_tensor(spec);
  spec.planned = false;
  const int32_t x = m.add_tensor(spec);
  m.inputs({x}).outputs({x});
  m.call("test::add", "out", {big, big, x, x});
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto small = floats({1, 3}, {1, 2, 3});
  ASSERT_EQ(method->set_input(small.tensor(), 0), Error::Ok);
  EXPECT_EQ(method->execute(), Error::NotSupported);
  auto whole = floats({4, 3}, std::vector<float>(12, 1));
  ASSERT_EQ(method->set_input(whole.tensor(), 0), Error::Ok) << "bounds are back";
  EXPECT_EQ(method->execute(), Error::Ok);
}

TEST_F(MethodTest, OutputsThatAreNotPlannedGetTheirMemoryFromTheUser) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t x = m.add_tensor({{2}});
  TensorSpec spec{{2}};
  spec.planned = false;
  const int32_t out = m.add_tensor(spec);
  const int32_t number = m.add_int(1);
  m.inputs({x}).outputs({out, x, number});
  m.call("test::add", "out", {x, x, out, out});
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto in = floats({2}, {1, 2});
  ASSERT_EQ(method->set_input(in.tensor(), 0), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidState) << "no memory yet";
  float memory[2] = {};
  EXPECT_EQ(method->set_output_data_ptr(memory, 7, 0), Error::InvalidArgument);
  EXPECT_EQ(method->set_output_data_ptr(nullptr, 7, 0), Error::InvalidArgument);
  EXPECT_EQ(method->set_output_data_ptr(memory, 8, 3), Error::InvalidArgument);
  EXPECT_EQ(method->set_output_data_ptr(memory, 8, 1), Error::InvalidState);
  EXPECT_EQ(static_cast<uint32_t>(Error::InvalidState), 2u);
  EXPECT_EQ(method->set_output_data_ptr(memory, 8, 2), Error::InvalidArgument);
  EXPECT_EQ(method->set_output_data_ptr(memory, 8, 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(memory[1], 4);
  EXPECT_EQ(method->set_output_data_ptr(nullptr, 8, 0), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidState) << "its memory was taken away";
  EValue outputs[4] = {EValue(true), EValue(true), EValue(true), EValue(true)};
  EXPECT_EQ(method->get_outputs(outputs, 2), Error::InvalidArgument);
  EXPECT_EQ(method->get_outputs(outputs, 4), Error::Ok);
  EXPECT_TRUE(outputs[0].isTensor() && outputs[2].isInt() && outputs[3].isNone());
}

TEST_F(MethodTest, BuffersKeepTheirStateAndStartAsWritten) {
  LoadedProgram program(stateful_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto x = floats({2}, {10, 20});
  for (const std::vector<float>& expected :
       {std::vector<float>{11, 22}, std::vector<float>{21, 42}, std::vector<float>{31, 62}}) {
    ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
    EXPECT_EQ(values_of(method->get_output(0)), expected);
  }
  LoadedMethod second(program);
  ASSERT_EQ(second->set_input(x.tensor(), 0), Error::Ok);
  ASSERT_EQ(second->execute(), Error::Ok);
  EXPECT_EQ(values_of(second->get_output(0))[0], 11);
}

TEST_F(MethodTest, ArenasStartAtZero) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  m.outputs({m.add_tensor({{64}})});
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(values_of(method->get_output(0)), std::vector<float>(64, 0.0f));
}

TEST_F(MethodTest, ConditionsChooseABranch) {
  RecordProperty("req", "RT-025");
  LoadedProgram program(branching_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto x = floats({2}, {1, 2});
  for (const uint8_t condition : {1, 0, 1}) {
    TensorOf<uint8_t> p(ScalarType::Bool, {1}, {condition});
    ASSERT_EQ(method->set_input(p.tensor(), 0), Error::Ok);
    ASSERT_EQ(method->set_input(x.tensor(), 1), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
    EXPECT_EQ(values_of(method->get_output(0))[1], condition ? 4 : 2);
  }
}

TEST_F(MethodTest, ConditionsOfOtherKindsAreRefused) {
  for (const fb::ScalarType type : {fb::ScalarType::FLOAT, fb::ScalarType::BOOL}) {
    ProgramBuilder builder;
    MethodBuilder& m = builder.add_method("forward");
    TensorSpec spec{{1}};
    spec.scalar_type = type;
    spec.planned = false;
    m.jump_false(m.add_tensor(spec), 1);
    m.begin_chain();
    LoadedProgram program(builder);
    LoadedMethod method(program);
    ASSERT_TRUE(method.ok());
    EXPECT_EQ(method->execute(),
              type == fb::ScalarType::BOOL ? Error::InvalidState : Error::InvalidProgram);
  }
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  m.jump_false(m.add_int(1), 1);
  LoadedProgram program(builder);
  EXPECT_EQ(LoadedMethod(program)->execute(), Error::InvalidProgram);
}

TEST_F(MethodTest, LoopsCollectTheirResults) {
  LoadedProgram program(looping_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  for (const int32_t rows : {3, 1, 4}) {
    std::vector<float> data(static_cast<size_t>(rows) * 2);
    for (size_t i = 0; i < data.size(); ++i) {
      data[i] = static_cast<float>(i);
    }
    auto x = floats({rows, 2}, data);
    ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
    const std::vector<float> result = values_of(method->get_output(0));
    ASSERT_EQ(result.size(), data.size());
    EXPECT_EQ(result.back(), 2 * data.back());
  }
}

// A loop over a condition that never becomes true.
ProgramBuilder endless_program() {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t one = m.add_int(1);
  const int32_t two = m.add_int(2);
  const int32_t done = m.add_bool(false);
  m.call("executorch_prim::eq", "Scalar", {one, two, done});
  m.jump_false(done, 0);
  return builder;
}

TEST_F(MethodTest, EndlessLoopsReachTheStepLimit) {
  LoadedProgram program(endless_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->execute(), Error::InvalidProgram);
  EXPECT_EQ(method->execute(), Error::InvalidProgram) << "the count starts again";
  EXPECT_FALSE(method->in_progress());
}

TEST_F(MethodTest, TheStepLimitCanBeSet) {
  LoadedProgram program(looping_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto x = floats({4, 2}, std::vector<float>(8));
  ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
  // 1 + 4 * 6 + 1 instructions, 3 jumps back.
  method->set_step_limit(26, 3);
  EXPECT_EQ(method->execute(), Error::Ok);
  method->set_step_limit(25, 3);
  EXPECT_EQ(method->execute(), Error::InvalidProgram);
  method->set_step_limit(26, 2);
  EXPECT_EQ(method->execute(), Error::InvalidProgram);
  method->set_step_limit(SIZE_MAX, SIZE_MAX);
  EXPECT_EQ(method->execute(), Error::Ok);
}

TEST_F(MethodTest, StepsRunOneInstructionEach) {
  ProgramBuilder builder = stateful_program();
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto x = floats({2}, {1, 1});
  EXPECT_EQ(method->step(), Error::InvalidArgument) << "input not set";
  ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
  EXPECT_EQ(method->step(), Error::Ok);
  EXPECT_TRUE(method->in_progress());
  EXPECT_EQ(method->execute(), Error::InvalidState);
  EXPECT_EQ(method->set_input(x.tensor(), 0), Error::InvalidState);
  EXPECT_EQ(method->reset_execution(), Error::InvalidState);
  EXPECT_EQ(method->step(), Error::Ok);
  EXPECT_EQ(method->step(), Error::EndOfMethod);
  EXPECT_EQ(method->step(), Error::EndOfMethod);
  EXPECT_EQ(method->reset_execution(), Error::Ok);
  EXPECT_FALSE(method->in_progress());
  EXPECT_EQ(method->execute(), Error::Ok);
}

TEST_F(MethodTest, EmptyChainsAreSteps) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  m.begin_chain();
  const int32_t x = m.add_int(1);
  m.move(x, x);
  m.begin_chain();
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->execute(), Error::Ok);
  for (int chain = 0; chain < 3; ++chain) {
    EXPECT_EQ(method->step(), Error::Ok) << chain;
  }
  EXPECT_EQ(method->step(), Error::EndOfMethod);
}

// Inputs that a caller writes in place: asking for one is setting it.
TEST_F(MethodTest, InputsWrittenInPlaceCountAsSet) {
  LoadedProgram program(add_program().build());
  const auto expect_sum = [](LoadedMethod& method) {
    ASSERT_EQ(method->execute(), Error::Ok);
    EXPECT_EQ(values_of(method->get_output(0)).size(), 6u);
  };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  LoadedMethod first(program);
  EXPECT_EQ(first->execute(), Error::InvalidArgument);
  first->mutable_input(0).toTensor().mutable_data_ptr<float>()[0] = 41;
  expect_sum(first);
  LoadedMethod second(program);
  EXPECT_TRUE(second->get_input(0).isTensor());
  expect_sum(second);
  LoadedMethod third(program);
  EValue inputs[2] = {EValue(true), EValue(true)};
  EXPECT_EQ(third->get_inputs(inputs, 0), Error::InvalidArgument);
  EXPECT_EQ(third->execute(), Error::InvalidArgument);
  EXPECT_EQ(third->get_inputs(inputs, 2), Error::Ok);
  EXPECT_TRUE(inputs[0].isTensor() && inputs[1].isNone());
  expect_sum(third);
#pragma GCC diagnostic pop
}

TEST_F(MethodTest, KernelErrorsEndTheExecution) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t x = m.add_tensor({{2}});
  m.outputs({x});
  const int32_t y = m.add_tensor({{2}});
  m.call("test::fail", "out", {x, y, y});
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->execute(), Error::InvalidType);
  EXPECT_FALSE(method->in_progress());
  EXPECT_EQ(method->step(), Error::InvalidType);
  EXPECT_FALSE(method->in_progress());
}

TEST_F(MethodTest, ScratchMemoryIsGivenBackAfterEachInstruction) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t x = m.add_tensor({{4000}});
  const int32_t y = m.add_tensor({{4000}});
  m.outputs({y});
  for (int i = 0; i < 100; ++i) {
    m.call("test::scratch", "out", {x, y, y});
  }
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method.temp_allocator.used_size(), 0u);
  // Once for each kernel and once for the execution.
  struct Counting : MemoryAllocator {
    using MemoryAllocator::MemoryAllocator;
    void reset() override {
      ++resets;
      MemoryAllocator::reset();
    }
    int resets = 0;
  } counting(static_cast<uint32_t>(method.temp_pool.size()), method.temp_pool.data());
  {
    ProgramBuilder one;
    MethodBuilder& forward = one.add_method("forward");
    const int32_t in = forward.add_tensor({{4}});
    const int32_t out = forward.add_tensor({{4}});
    const int32_t number = forward.add_int(1);
    forward.outputs({out});
    forward.call("test::scratch", "out", {in, out, out});
    forward.move(number, number);
    LoadedProgram of_one(one);
    LoadedMethod owner(of_one);
    MemoryManager counted(&owner.method_allocator, &owner.planned_memory, &counting);
    Result<Method> loaded = of_one->load_method("forward", &counted);
    ASSERT_TRUE(loaded.ok());
    counting.resets = 0;
    EXPECT_EQ(loaded->execute(), Error::Ok);
    EXPECT_EQ(counting.resets, 2);
  }
  // Without a temporary allocator, the platform's heap serves.
  MemoryManager manager(&method.method_allocator, &method.planned_memory);
  Result<Method> on_heap = program->load_method("forward", &manager);
  ASSERT_TRUE(on_heap.ok());
  EXPECT_EQ(on_heap->execute(), Error::Ok);
  EXPECT_DEATH(
      MemoryManager(&method.method_allocator, &method.planned_memory, &method.method_allocator),
      "");
}

TEST_F(MethodTest, SeveralOutputsAreWritten) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t a = m.add_tensor({{2}});
  const int32_t x = m.add_tensor({{2}});
  const int32_t y = m.add_tensor({{2}});
  const int32_t both = m.add_tensor_list({x, y});
  m.inputs({a}).outputs({x, y});
  m.call("test::split", "out", {a, x, y, both});
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto in = floats({2}, {7, 8});
  ASSERT_EQ(method->set_input(in.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(values_of(method->get_output(1)), in.data);
}

TEST_F(MethodTest, TooLittleMemoryIsAnError) {
  RecordProperty("req", "RT-015");
  LoadedProgram program(add_program().build());
  // Portable tensors are in the pool, too.
  const bool is_portable = std::is_trivially_copyable_v<executorch::aten::Tensor>;
  for (const size_t size : {0, 1, 100, is_portable ? 300 : 150}) {
    LoadedMethod::Options options;
    options.pool_size = size;
    EXPECT_EQ(LoadedMethod(program.program.get(), "forward", options).error(),
              Error::MemoryAllocationFailed);
  }
  EXPECT_EQ(static_cast<uint32_t>(Error::MemoryAllocationFailed), 0x21u);
  std::vector<uint8_t> pool(10000);
  MemoryAllocator allocator(10000, pool.data());
  MemoryManager no_arena(&allocator);
  EXPECT_EQ(program->load_method("forward", &no_arena).error(), Error::InvalidState);
  std::vector<uint8_t> arena(63);
  Span<uint8_t> spans[] = {{arena.data(), arena.size()}};
  HierarchicalAllocator small({spans, 1});
  MemoryManager small_arena(&allocator, &small);
  EXPECT_EQ(program->load_method("forward", &small_arena).error(), Error::MemoryAllocationFailed);
  HierarchicalAllocator none(Span<Span<uint8_t>>(spans, size_t{0}));
  MemoryManager missing(&allocator, &none);
  EXPECT_EQ(program->load_method("forward", &missing).error(), Error::MemoryAllocationFailed);
}

TEST_F(MethodTest, ClearsPlannedMemoryUnlessItIsZeroAsItComes) {
  LoadedProgram program(add_program().build());
  for (const bool is_zeroed : {false, true}) {
    std::vector<uint8_t> pool(10000), arena(10000, 0xAB);
    Span<uint8_t> spans[] = {{arena.data(), arena.size()}};
    HierarchicalAllocator planned({spans, 1});
    if (is_zeroed) {
      planned.mark_zeroed();
    }
    MemoryAllocator allocator(10000, pool.data());
    MemoryManager manager(&allocator, &planned);
    ASSERT_TRUE(program->load_method("forward", &manager).ok());
    EXPECT_EQ(arena[0], is_zeroed ? 0xAB : 0);
  }
}

TEST_F(MethodTest, MovedMethodsGoOn) {
  LoadedProgram program(add_program().build());
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  Method moved = std::move(method.method.get());
  auto x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_EQ(moved.set_input(x.tensor(), 0), Error::Ok);
  EXPECT_EQ(moved.execute(), Error::Ok);
  EXPECT_EQ(method->execute(), Error::NotSupported);
  EXPECT_EQ(method->step(), Error::InvalidState);
  EXPECT_EQ(method->set_input(x.tensor(), 0), Error::InvalidState);
}

TEST_F(MethodTest, ValuesOfEveryKindReachKernels) {
  static int num_calls = 0;
  const Kernel kernel("test::take", [](KernelRuntimeContext&, Span<EValue*> args) {
    ++num_calls;
    ASSERT_EQ(args.size(), 11u);
    EXPECT_TRUE(args[0]->isNone());
    EXPECT_EQ(args[1]->toInt(), 7);
    EXPECT_TRUE(args[2]->toBool());
    EXPECT_EQ(args[3]->toDouble(), 0.5);
    EXPECT_EQ(args[4]->toTensor().size(0), 2);
    EXPECT_EQ(args[5]->toString(), "text");
    EXPECT_EQ(args[6]->toIntList()[1], 8);
    EXPECT_EQ(args[7]->toDoubleList()[1], 2.5);
    EXPECT_FALSE(args[8]->toBoolList()[1]);
    EXPECT_EQ(args[9]->toTensorList().size(), 2u);
    const auto optional = args[10]->toListOptionalTensor();
    EXPECT_TRUE(optional[0].has_value());
    EXPECT_FALSE(optional[1].has_value());
    EXPECT_FALSE(optional[2].has_value());
  });
  LoadedProgram program(every_value_program().build());
  ASSERT_TRUE(program.ok());
  LoadedMethod::Options options;
  options.kernels = {&kernel, 1};
  LoadedMethod method(program.program.get(), "forward", options);
  ASSERT_TRUE(method.ok());
  auto t = floats({2}, {1, 2});
  ASSERT_EQ(method->set_input(t.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->set_input(EValue(), 1), Error::Ok);
  ASSERT_EQ(method->set_input(EValue(int64_t{7}), 2), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(num_calls, 1);
}

}  // namespace
}  // namespace executorch::runtime::testing
