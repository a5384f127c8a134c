// SPDX-License-Identifier: BSD-3-Clause
// TrainingModule on a program made by hand: forward(x) = x + w, and the sum stands for w's
// gradient.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/training/module/training_module.h>
#include <executorch/extension/training/optimizer/sgd.h>
#include <executorch/runtime/executor/test/program_builder.h>
#include <executorch/runtime/executor/test/test_kernels.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // training is experimental

using namespace executorch::extension;
using executorch::aten::Tensor;
using executorch::extension::training::TrainingModule;
using executorch::extension::training::optimizer::SGD;
using executorch::extension::training::optimizer::SGDOptions;
using executorch::runtime::Error;
using executorch::runtime::testing::AlignedFile;
using executorch::runtime::testing::ProgramBuilder;
using executorch::runtime::testing::TensorSpec;

namespace {

std::vector<float> values(const Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), tensor.const_data_ptr<float>() + tensor.numel()};
}

void add_index(ProgramBuilder& builder, const std::string& of, int64_t index) {
  auto& method = builder.add_method("__et_training_" + of + "_index_forward");
  const int32_t value = method.add_int(index);
  method.outputs({value});
}

std::vector<uint8_t> program(int64_t gradients, int64_t parameters) {
  ProgramBuilder builder;
  const uint32_t start = builder.add_initial_data(std::vector<float>{1, 2});
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  TensorSpec spec{{2}};
  spec.data_buffer_idx = start;
  spec.name = "layer.w";
  const int32_t w = method.add_tensor(spec);
  const int32_t loss = method.add_tensor({{2}});
  const int32_t gradient = method.add_tensor({{2}});
  method.call("test::add", "out", {x, w, loss, loss});
  method.call("test::add", "out", {x, w, gradient, gradient});
  method.inputs({x}).outputs({loss, gradient, w});
  add_index(builder, "gradients", gradients);
  auto& names = builder.add_method("__et_training_fqn_forward");
  const int32_t name = names.add_string("layer.w");
  names.outputs({name});
  add_index(builder, "parameters", parameters);
  return builder.build();
}

class TrainingModuleTest : public testing::Test {
 protected:
  void SetUp() override { executorch::runtime::testing::register_test_kernels(); }

  std::unique_ptr<TrainingModule> open(int64_t gradients = 1, int64_t parameters = 2) {
    file_ = std::make_unique<AlignedFile>(program(gradients, parameters));
    return std::make_unique<TrainingModule>(
        std::make_unique<BufferDataLoader>(file_->data(), file_->size()));
  }

  std::unique_ptr<AlignedFile> file_;
  const TensorPtr x_ = make_tensor_ptr<float>({2}, {10.f, 20.f});
};

}  // namespace

TEST_F(TrainingModuleTest, GivesOutputsGradientsAndParameters) {
  RecordProperty("req", "EXT-031");
  const auto module = open();
  const auto parameters = module->named_parameters("forward");
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(values(parameters->at("layer.w")), (std::vector<float>{1, 2})) << "before any run";
  EXPECT_EQ(module->named_gradients("forward").error(), Error::InvalidArgument);
  const auto outputs = module->execute_forward_backward("forward", {*x_});
  ASSERT_TRUE(outputs.ok());
  ASSERT_EQ(outputs->size(), 1u);
  const auto gradients = module->named_gradients("forward");
  ASSERT_TRUE(gradients.ok());
  EXPECT_EQ(values(gradients->at("layer.w")), (std::vector<float>{11, 22}));
}

TEST_F(TrainingModuleTest, AStepChangesWhatTheNextRunSees) {
  const auto module = open();
  SGD sgd(*module->named_parameters("forward"), SGDOptions(1));
  ASSERT_TRUE(module->execute_forward_backward("forward", {*x_}).ok());
  const auto gradients = module->named_gradients("forward");
  EXPECT_EQ(sgd.step(*gradients), Error::Ok);
  const auto outputs = module->execute_forward_backward("forward", {*x_});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(values(outputs->at(0).toTensor()), (std::vector<float>{0, 0}));
  EXPECT_EQ(values(gradients->at("layer.w")), (std::vector<float>{0, 0})) << "the same tensor";
}

TEST_F(TrainingModuleTest, AttributesAreNamedTensorsOfTheMethod) {
  const auto module = open();
  const auto attributes = module->named_attributes("forward");
  ASSERT_TRUE(attributes.ok());
  ASSERT_EQ(attributes->size(), 1u);
  EXPECT_EQ(attributes->at("layer.w").const_data_ptr(),
            module->named_parameters("forward")->at("layer.w").const_data_ptr());
}

TEST_F(TrainingModuleTest, UnloadingStartsAgain) {
  const auto module = open();
  module->named_parameters("forward")->at("layer.w").mutable_data_ptr<float>()[0] = 5;
  ASSERT_TRUE(module->execute_forward_backward("forward", {*x_}).ok());
  EXPECT_TRUE(module->unload_method("forward"));
  EXPECT_FALSE(module->unload_method("forward"));
  EXPECT_EQ(module->named_gradients("forward").error(), Error::InvalidArgument);
  EXPECT_EQ(values(module->named_parameters("forward")->at("layer.w")), (std::vector<float>{1, 2}));
}

TEST_F(TrainingModuleTest, WhatIsNotThereIsNamed) {
  const auto module = open();
  EXPECT_EQ(module->execute_forward_backward("backward", {*x_}).error(), Error::InvalidArgument);
  EXPECT_EQ(module->named_parameters("__et_training_fqn_forward").error(), Error::InvalidArgument);
  EXPECT_EQ(module->named_attributes("backward").error(), Error::InvalidArgument);
  EXPECT_EQ(module->execute_forward_backward("forward", {*x_, *x_}).error(),
            Error::InvalidArgument);
  EXPECT_EQ(module->named_gradients("forward").error(), Error::InvalidArgument) << "the run failed";
}

TEST_F(TrainingModuleTest, IndicesThatDoNotFitAreRefused) {
  EXPECT_EQ(open(3, 2)->named_parameters("forward").error(), Error::InvalidProgram);
  EXPECT_EQ(open(-1, 2)->named_parameters("forward").error(), Error::InvalidProgram);
  EXPECT_EQ(open(1, int64_t{1} << 62)->named_parameters("forward").error(), Error::InvalidProgram);
}
