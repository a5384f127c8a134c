// SPDX-License-Identifier: BSD-3-Clause
// Module: inputs and outputs by name.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/module/module.h>
#include <executorch/extension/module/test/program_files.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/executor/test/program_builder.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension;
using executorch::aten::Tensor;
using executorch::extension::program_files::floats;
using executorch::extension::program_files::write_file;
using executorch::extension::program_files::write_program;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::testing::ProgramBuilder;

namespace {

// forward(image: [2], mask: [2]) -> {"sum": image + mask}
ProgramBuilder add_two(bool has_names) {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t image = method.add_tensor({{2}});
  const int32_t mask = method.add_tensor({{2}});
  const int32_t out = method.add_tensor({{2}});
  method.call("test::add", "out", {image, mask, out, out});
  method.inputs({image, mask}).outputs({out});
  if (has_names) {
    method.names({"image", "mask"}, {"sum"});
  }
  return builder;
}

class ModuleNames : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    executorch::runtime::testing::register_test_kernels();
  }

  TensorPtr image_ = make_tensor_ptr({2}, std::vector<float>{1, 2});
  TensorPtr mask_ = make_tensor_ptr({2}, std::vector<float>{10, 20});
};

TEST_F(ModuleNames, InputsInAnyOrder) {
  Module module(write_program("module_names_test_any_order.pte", add_two(true)));
  const auto result = module.forward({{"mask", mask_}, {"image", image_}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(floats(result->at(0)), (std::vector<float>{11, 22}));
  EXPECT_EQ(floats(*module.get_named_output("sum")), (std::vector<float>{11, 22}));
  EXPECT_EQ(*module.input_names(), (std::vector<std::string>{"image", "mask"}));
  EXPECT_EQ(*module.output_names("forward"), (std::vector<std::string>{"sum"}));
  EXPECT_TRUE(module.user_metadata()->empty());
  // The calls without names mean what they meant.
  EXPECT_EQ(floats(module.forward({image_, mask_})->at(0)), (std::vector<float>{11, 22}));
  EXPECT_EQ(floats(module.execute("forward", {image_, mask_})->at(0)),
            (std::vector<float>{11, 22}));
}

TEST_F(ModuleNames, OthersAreThoseThatWereSet) {
  Module module(write_program("module_names_test_set.pte", add_two(true)));
  ASSERT_EQ(module.set_input(mask_, 1), Error::Ok);
  EXPECT_EQ(floats(module.forward({{"image", image_}})->at(0)), (std::vector<float>{11, 22}));
  const std::vector<NamedValue> named = {{"image", mask_}};
  EXPECT_EQ(floats(module.forward(named)->at(0)), (std::vector<float>{20, 40}));
  EXPECT_EQ(floats(module.execute("forward", {{"image", mask_}})->at(0)),
            (std::vector<float>{20, 40}));
}

TEST_F(ModuleNames, WhatIsWrong) {
  Module module(write_program("module_names_test_wrong.pte", add_two(true)));
  const auto log_of = [](const auto& call) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(call(), Error::InvalidArgument);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(log_of([&] {
              return module.forward({{"img", image_}}).error();
            }).find("Method forward: expected an input of image, mask, found img"),
            std::string::npos);
  EXPECT_NE(log_of([&] {
              return module.forward({{"image", image_}}).error();
            }).find("input mask is missing"),
            std::string::npos);
  EXPECT_NE(log_of([&] {
              return module.forward({{"image", image_}, {"image", image_}}).error();
            }).find("input image is given twice"),
            std::string::npos);
  EXPECT_NE(log_of([&] {
              return module.get_named_output("total").error();
            }).find("expected an output of sum, found total"),
            std::string::npos);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(module.forward({{"image", ones({3})}, {"mask", mask_}}).ok());
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "Input image of method forward, dimension 0: expected 2, found 3"),
            std::string::npos);
}

TEST_F(ModuleNames, ProgramsWithoutNames) {
  Module module(write_program("module_names_test_none.pte", add_two(false)));
  EXPECT_EQ(*module.input_names(), (std::vector<std::string>{"", ""}));
  testing::internal::CaptureStderr();
  EXPECT_EQ(module.forward({{"image", image_}}).error(), Error::InvalidArgument);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("the program has no names of its inputs"),
            std::string::npos);
  EXPECT_EQ(module.forward({{"", image_}}).error(), Error::InvalidArgument);
  EXPECT_EQ(module.input_names("nothing").error(), Error::InvalidArgument);
}

// Names whose bytes are corrupted: the program is refused, or names are text as before.
TEST_F(ModuleNames, DamagedOnesAreRefused) {
  const std::vector<uint8_t> sound = add_two(true).build();
  const std::string text(sound.begin(), sound.end());
  const size_t image = text.find("image\nmask");
  ASSERT_NE(image, std::string::npos);
  std::vector<uint8_t> corrupted = sound;
  corrupted[image - 1] = 0x7f;  // the string's length, in four bytes before it
  Module module(write_file("module_names_test_corrupted.pte", corrupted));
  EXPECT_EQ(module.load(), Error::InvalidProgram);
  EXPECT_EQ(module.forward({{"image", image_}}).error(), Error::InvalidProgram);
}

}  // namespace
