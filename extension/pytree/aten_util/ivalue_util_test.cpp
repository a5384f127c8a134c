// SPDX-License-Identifier: BSD-3-Clause
// Trees of PyTorch's tensors, there and back.
#include <executorch/extension/pytree/aten_util/ivalue_util.h>

#include <ATen/core/Dict.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>

#include <gtest/gtest.h>

using executorch::extension::flatten;
using executorch::extension::is_same;
using executorch::extension::unflatten;
namespace pytree = executorch::extension::pytree;

namespace {

TEST(IValueTreeTest, ComesBackAsItWas) {
  RecordProperty("req", "EXT-028");
  const at::Tensor a = at::ones({1});
  const at::Tensor b = at::ones({2});
  const at::Tensor c = at::ones({3});
  c10::Dict<std::string, at::Tensor> by_name;
  by_name.insert("x", b);
  by_name.insert("y", c);
  c10::Dict<int64_t, at::Tensor> by_number;
  by_number.insert(7, a);
  const c10::IValue tree(std::make_tuple(a, std::vector<at::Tensor>{b, c}, by_name, by_number));

  const auto [tensors, spec] = flatten(tree);
  EXPECT_TRUE(is_same(tensors, {a, b, c, b, c, a}));
  EXPECT_EQ(pytree::to_str(*spec), "T4#1#2#2#1($,L2#1#1($,$),D2#1#1('x':$,'y':$),D1#1(7:$))");
  const c10::IValue again = unflatten(tensors, spec);
  EXPECT_TRUE(is_same(tree, again));
  EXPECT_TRUE(again.toTuple()->elements()[0].toTensor().is_same(a));
  EXPECT_TRUE(again.toTuple()->elements()[1].toTensorVector()[1].is_same(c));
  EXPECT_TRUE(again.toTuple()->elements()[2].toGenericDict().at("y").toTensor().is_same(c));
}

TEST(IValueTreeTest, TensorsOfTheSameValueAreNotTheSame) {
  const at::Tensor a = at::ones({1});
  EXPECT_TRUE(is_same(c10::IValue(a), c10::IValue(a)));
  EXPECT_FALSE(is_same(c10::IValue(a), c10::IValue(at::ones({1}))));
  EXPECT_FALSE(is_same({a}, {a, a}));
  EXPECT_FALSE(is_same(c10::IValue(std::make_tuple(a)), c10::IValue(std::vector<at::Tensor>{a})));
}

TEST(IValueTreeTest, OtherLeavesAndCountsAreRefused) {
  const at::Tensor a = at::ones({1});
  EXPECT_THROW(flatten(c10::IValue(int64_t{3})), c10::Error);
  EXPECT_THROW(flatten(c10::IValue(std::make_tuple(a, 2.5))), c10::Error);
  const auto [tensors, spec] = flatten(c10::IValue(std::make_tuple(a, a)));
  EXPECT_THROW(unflatten({a}, spec), std::runtime_error);
  EXPECT_THROW(unflatten({a}, nullptr), std::runtime_error);
}

}  // namespace
