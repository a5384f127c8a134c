// SPDX-License-Identifier: BSD-3-Clause
// Optimizers: their formulas step by step, groups, state, and steps that are refused.
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/extension/training/optimizer/adamw.h>
#include <executorch/extension/training/optimizer/sgd.h>

using namespace executorch::extension;
using namespace executorch::extension::training::optimizer;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;

namespace {

using Tensors = std::map<std::string_view, Tensor>;

std::vector<float> values(const Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), tensor.const_data_ptr<float>() + tensor.numel()};
}

void expect_near(const Tensor& tensor, const std::vector<double>& expected) {
  const std::vector<float> found = values(tensor);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-6 * std::abs(expected[i]) + 1e-7) << "element " << i;
  }
}

class OptimizerTest : public testing::Test {
 protected:
  OptimizerTest() : parameters{{"w", *w_}}, gradients{{"w", *g_}} {}

  TensorPtr w_ = make_tensor_ptr<float>({2}, {1.f, -2.f});
  TensorPtr g_ = make_tensor_ptr<float>({2}, {0.5f, 4.f});

 public:
  Tensors parameters;
  Tensors gradients;
};

}  // namespace

TEST_F(OptimizerTest, SgdWithoutMomentumKeepsCountsOnly) {
  RecordProperty("req", "EXT-031");
  SGD sgd(parameters, SGDOptions(0.1));
  EXPECT_EQ(sgd.step(gradients), Error::Ok);
  expect_near(*w_, {1 - 0.1 * 0.5, -2 - 0.1 * 4});
  const auto state = sgd.state_dict();
  ASSERT_EQ(state.size(), 1u);
  EXPECT_EQ(*state.at("state.w.step").const_data_ptr<int64_t>(), 1);
}

TEST_F(OptimizerTest, SgdStartsItsBufferWithTheGradient) {
  SGD sgd(parameters, SGDOptions(0.1, 0.9, 0.5, 0.01, true));
  double p = 1;
  double buffer = 0;
  for (int step = 0; step < 3; ++step) {
    const double g = 0.5 + 0.01 * p;
    buffer = step == 0 ? g : 0.9 * buffer + 0.5 * g;
    p -= 0.1 * (g + 0.9 * buffer);
    EXPECT_EQ(sgd.step(gradients), Error::Ok);
    EXPECT_NEAR(values(*w_)[0], p, 1e-6);
  }
  EXPECT_EQ(values(*g_), (std::vector<float>{0.5f, 4.f})) << "gradients are only read";
}

TEST_F(OptimizerTest, WithoutDecayAnInfiniteParameterIsNoNan) {
  w_->mutable_data_ptr<float>()[0] = std::numeric_limits<float>::infinity();
  SGD sgd(parameters, SGDOptions(0.1));
  EXPECT_EQ(sgd.step(gradients), Error::Ok);
  EXPECT_TRUE(std::isinf(values(*w_)[0]));
}

TEST_F(OptimizerTest, AdamWFollowsItsFormula) {
  const double lr = 0.1, b1 = 0.8, b2 = 0.9, eps = 1e-3, decay = 0.2;
  AdamW adamw(parameters, AdamWOptions(lr, b1, b2, eps, decay));
  double p = -2, m = 0, v = 0;
  for (int t = 1; t <= 4; ++t) {
    p *= 1 - lr * decay;
    m = b1 * m + (1 - b1) * 4;
    v = b2 * v + (1 - b2) * 16;
    p -= lr * (m / (1 - std::pow(b1, t))) / (std::sqrt(v / (1 - std::pow(b2, t))) + eps);
    EXPECT_EQ(adamw.step(gradients), Error::Ok);
    EXPECT_NEAR(values(*w_)[1], p, 1e-5) << "step " << t;
  }
}

TEST_F(OptimizerTest, GroupsHaveTheirOwnOptionsOrTheDefaults) {
  const TensorPtr other = make_tensor_ptr<float>({1}, {1.f});
  const TensorPtr gradient = make_tensor_ptr<float>({1}, {1.f});
  gradients.insert({"other", *gradient});
  SGDParamGroup slow(Tensors{{"other", *other}}, std::make_unique<SGDOptions>(0.01));
  const SGDParamGroup copy = slow;
  slow.set_options(std::make_unique<SGDOptions>(100.0));
  EXPECT_EQ(copy.options().lr(), 0.01) << "copies have options of their own";
  SGD sgd(std::vector<SGDParamGroup>{parameters, copy}, SGDOptions(0.1));
  EXPECT_EQ(sgd.step(gradients), Error::Ok);
  expect_near(*w_, {1 - 0.1 * 0.5, -2 - 0.1 * 4});
  expect_near(*other, {1 - 0.01});
}

TEST_F(OptimizerTest, ParametersWithoutGradientStay) {
  const TensorPtr other = make_tensor_ptr<float>({1}, {7.f});
  parameters.insert({"other", *other});
  gradients.insert({"nobody", *g_});
  AdamW adamw(parameters, AdamWOptions());
  EXPECT_EQ(adamw.step(gradients), Error::Ok);
  expect_near(*other, {7});
  EXPECT_EQ(*adamw.state_dict().at("state.other.step").const_data_ptr<int64_t>(), 0);
}

TEST_F(OptimizerTest, AStepThatDoesNotFitChangesNothing) {
  const TensorPtr z = make_tensor_ptr<float>({2, 1}, {3.f, 3.f});
  const TensorPtr wrong[] = {
      make_tensor_ptr<float>({1, 2}, {1.f, 1.f}),
      make_tensor_ptr<double>({2, 1}, {1., 1.}),
      make_tensor_ptr({2, 1}, nullptr, ScalarType::Float),
  };
  parameters.insert({"z", *z});  // after w, which fits
  for (const TensorPtr& gradient : wrong) {
    gradients.insert_or_assign("z", *gradient);
    SGD sgd(parameters, SGDOptions(0.1));
    EXPECT_EQ(sgd.step(gradients), Error::InvalidArgument);
    EXPECT_EQ(values(*w_), (std::vector<float>{1.f, -2.f}));
    EXPECT_EQ(*sgd.state_dict().at("state.w.step").const_data_ptr<int64_t>(), 0);
  }
}

TEST_F(OptimizerTest, ParametersInAnotherOrderOfDimensions) {
  const TensorPtr image = make_tensor_ptr<float>({1, 2, 1, 2}, {1.f, 2.f, 3.f, 4.f}, {0, 2, 3, 1});
  const TensorPtr same = make_tensor_ptr<float>({1, 2, 1, 2}, {1.f, 0.f, 0.f, 2.f}, {0, 2, 3, 1});
  const TensorPtr not_so = make_tensor_ptr<float>({1, 2, 1, 2}, {1.f, 0.f, 0.f, 2.f});
  SGD sgd(Tensors{{"image", *image}}, SGDOptions(1, 0.9));
  EXPECT_EQ(sgd.step({{"image", *not_so}}), Error::InvalidArgument);
  EXPECT_EQ(sgd.step({{"image", *same}}), Error::Ok);
  expect_near(*image, {0, 2, 3, 2});
  const auto state = sgd.state_dict();
  EXPECT_EQ(state.at("state.image.momentum_buffer").dim_order(), image->dim_order());
}
