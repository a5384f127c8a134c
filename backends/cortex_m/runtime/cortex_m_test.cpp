// SPDX-License-Identifier: BSD-3-Clause
// Tensors that kernels refuse. What they compute is tested from Python, beside the formulas.
#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

namespace executorch::backends::cortex_m {
namespace {

using aten::ScalarType;
using extension::full;
using extension::TensorPtr;
using runtime::Error;

TensorPtr filled(std::vector<aten::SizesType> sizes, ScalarType dtype = ScalarType::Char) {
  return full(std::move(sizes), 3, dtype);
}

// What `call(context)` leaves in the context.
template <typename Call>
Error state_of(Call call) {
  runtime::runtime_init();
  runtime::KernelRuntimeContext context;
  call(context);
  return context.failure_state();
}

Error add(const TensorPtr& x, const TensorPtr& y, const TensorPtr& out, int64_t shift = 0) {
  return state_of([&](auto& context) {
    ::cortex_m::native::quantized_add_out(context, *x, 0, 1 << 30, shift, *y, 0, 1 << 30, 0, 0,
                                          1 << 30, -19, -128, 127, *out);
  });
}

TEST(CortexMTest, EqualTensorsAreTaken) {
  EXPECT_EQ(add(filled({2, 3}), filled({2, 3}), filled({2, 3})), Error::Ok);
}

TEST(CortexMTest, SumsOfOtherTensorsAreRefused) {
  EXPECT_EQ(add(filled({2}, ScalarType::Float), filled({2}), filled({2})), Error::InvalidArgument);
  EXPECT_EQ(add(filled({2}), filled({3}), filled({3})), Error::InvalidArgument);
  EXPECT_EQ(add(filled({2, 3}), filled({2, 3}), filled({6})), Error::InvalidArgument);
  EXPECT_EQ(add(filled({2}), filled({2}), filled({2}), 32), Error::InvalidArgument);
}

TEST(CortexMTest, QuantizeRefusesWhatDoesNotFit) {
  const auto quantize = [](ScalarType dtype, int64_t largest, ScalarType to) {
    const TensorPtr x = filled({2}, ScalarType::Float), out = filled({2}, to);
    return state_of([&](auto& context) {
      ::cortex_m::native::quantize_per_tensor_out(context, *x, 0.5, 0, -128, largest, dtype, *out);
    });
  };
  EXPECT_EQ(quantize(ScalarType::Char, 127, ScalarType::Char), Error::Ok);
  EXPECT_EQ(quantize(ScalarType::Char, 128, ScalarType::Char), Error::InvalidArgument);
  EXPECT_EQ(quantize(ScalarType::Short, 127, ScalarType::Char), Error::InvalidArgument);
  EXPECT_EQ(quantize(ScalarType::Int, 127, ScalarType::Int), Error::InvalidArgument);
}

TEST(CortexMTest, ImagesWithChannelsFirstAreRefused) {
  const TensorPtr x = filled({1, 2, 3, 3}), out = filled({1, 2, 3, 3});
  EXPECT_EQ(state_of([&](auto& context) {
              const int64_t pair[] = {1, 1}, none[] = {0, 0};
              ::cortex_m::native::quantized_max_pool2d_out(context, *x, {pair, 2}, {pair, 2},
                                                           {none, 2}, {pair, 2}, false, 0, 0, -128,
                                                           127, *out);
            }),
            Error::InvalidArgument);
}

TEST(CortexMTest, LinearRefusesOtherColumns) {
  const TensorPtr x = filled({2, 4}), w = filled({3, 5}), out = filled({2, 3});
  EXPECT_EQ(state_of([&](auto& context) {
              const int64_t one[] = {1 << 30}, zero[] = {0};
              ::cortex_m::native::quantized_linear_out(context, *x, *w, std::nullopt, std::nullopt,
                                                       0, 0, 0, {one, 1}, {zero, 1}, 127, -128,
                                                       *out);
            }),
            Error::InvalidArgument);
}

}  // namespace
}  // namespace executorch::backends::cortex_m
