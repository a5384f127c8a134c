// SPDX-License-Identifier: BSD-3-Clause
// Tensors in any order of dimensions as OpenVINO has them, and back.
#include <executorch/backends/openvino/runtime/tensors.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <numeric>

namespace executorch::backends::openvino {
namespace {

using executorch::aten::ScalarType;
using extension::make_tensor_ptr;

template <typename T>
class TensorsTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime::runtime_init(); }
};

using Elements = ::testing::Types<uint8_t, int16_t, int32_t, int64_t, float>;
TYPED_TEST_SUITE(TensorsTest, Elements);

// Element (i, j, k) of sizes (2, 3, 4) is 100 i + 10 j + k.
TYPED_TEST(TensorsTest, AnyOrderOfDimensionsAndBack) {
  for (const std::vector<uint8_t>& order :
       {std::vector<uint8_t>{0, 1, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}}) {
    const size_t sizes[] = {2, 3, 4};
    std::vector<TypeParam> data;
    size_t index[3];
    for (index[order[0]] = 0; index[order[0]] < sizes[order[0]]; ++index[order[0]]) {
      for (index[order[1]] = 0; index[order[1]] < sizes[order[1]]; ++index[order[1]]) {
        for (index[order[2]] = 0; index[order[2]] < sizes[order[2]]; ++index[order[2]]) {
          data.push_back(static_cast<TypeParam>(100 * index[0] + 10 * index[1] + index[2]));
        }
      }
    }
    const auto tensor = make_tensor_ptr({2, 3, 4}, data.data(), order, {},
                                        runtime::CppTypeToScalarType<TypeParam>::value);
    EXPECT_EQ(is_row_major(*tensor), order == std::vector<uint8_t>({0, 1, 2}));
    std::vector<TypeParam> found(24);
    ASSERT_EQ(to_row_major(*tensor, found.data()), runtime::Error::Ok);
    for (size_t i = 0; i < 24; ++i) {
      EXPECT_EQ(found[i], static_cast<TypeParam>(100 * (i / 12) + 10 * (i / 4 % 3) + i % 4));
    }
    const std::vector<TypeParam> before = data;
    std::fill(data.begin(), data.end(), TypeParam{});
    ASSERT_EQ(from_row_major(found.data(), *tensor), runtime::Error::Ok);
    EXPECT_EQ(data, before);
  }
}

TEST(SizesOfOneTest, HaveNoOrder) {
  runtime::runtime_init();
  float data[6] = {};
  EXPECT_TRUE(
      is_row_major(*make_tensor_ptr({1, 1, 2, 3}, data, {0, 2, 3, 1}, {}, ScalarType::Float)));
  EXPECT_FALSE(
      is_row_major(*make_tensor_ptr({1, 2, 1, 3}, data, {0, 2, 3, 1}, {}, ScalarType::Float)));
  EXPECT_TRUE(is_row_major(*make_tensor_ptr({}, data, {}, {}, ScalarType::Float)));
}

}  // namespace
}  // namespace executorch::backends::openvino
