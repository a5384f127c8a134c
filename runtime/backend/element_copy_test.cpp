// SPDX-License-Identifier: BSD-3-Clause
// Elements in other orders, with gaps and of other dtypes.
#include <executorch/runtime/backend/element_copy.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace {

using namespace executorch::runtime;
using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::runtime::testing::TensorFactory;

class ElementCopyTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime_init(); }

  template <typename From, typename To>
  Error copy(std::vector<From> from, std::vector<To>& to) {
    const std::vector<int64_t> sizes = {static_cast<int64_t>(from.size())};
    return copy_elements("test",
                         Elements::row_major(from.data(), CppTypeToScalarType<From>::value, sizes),
                         Elements::row_major(to.data(), CppTypeToScalarType<To>::value, sizes));
  }
};

/// Element (i, j, k) of sizes (2, 3, 4) is 100 i + 10 j + k, whatever the order in memory.
TEST_F(ElementCopyTest, AnyOrderOfDimensionsAndBack) {
  TensorFactory<ScalarType::Int> ints;
  for (const std::vector<uint8_t>& order :
       {std::vector<uint8_t>{0, 1, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}}) {
    const int32_t sizes[] = {2, 3, 4};
    std::vector<int32_t> in_memory;
    int32_t index[3];
    for (index[order[0]] = 0; index[order[0]] < sizes[order[0]]; ++index[order[0]]) {
      for (index[order[1]] = 0; index[order[1]] < sizes[order[1]]; ++index[order[1]]) {
        for (index[order[2]] = 0; index[order[2]] < sizes[order[2]]; ++index[order[2]]) {
          in_memory.push_back(100 * index[0] + 10 * index[1] + index[2]);
        }
      }
    }
    const auto tensor = ints.make_with_dimorder({2, 3, 4}, in_memory, order);
    const Elements elements = Elements::of(tensor);
    EXPECT_EQ(elements.is_row_major(), order == std::vector<uint8_t>({0, 1, 2}));
    std::vector<int64_t> found(24);
    const Elements plain = Elements::row_major(found.data(), ScalarType::Long, tensor.sizes());
    ASSERT_EQ(copy_elements("test", elements, plain), Error::Ok);
    for (int64_t i = 0; i < 24; ++i) {
      EXPECT_EQ(found[static_cast<size_t>(i)], 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4);
    }
    const auto back = ints.make_with_dimorder({2, 3, 4}, std::vector<int32_t>(24), order);
    ASSERT_EQ(copy_elements("test", plain, Elements::of(back)), Error::Ok);
    EXPECT_TRUE(std::equal(in_memory.begin(), in_memory.end(), back.const_data_ptr<int32_t>()));
  }
}

TEST_F(ElementCopyTest, DimensionsOfOneHaveNoOrder) {
  TensorFactory<ScalarType::Float> floats;
  const auto is_row_major = [&](const std::vector<int32_t>& sizes) {
    const std::vector<float> data(6);
    return Elements::of(floats.make_with_dimorder(sizes, data, {0, 2, 3, 1})).is_row_major();
  };
  EXPECT_TRUE(is_row_major({1, 1, 2, 3}));
  EXPECT_FALSE(is_row_major({1, 2, 1, 3}));
  EXPECT_TRUE(Elements::of(floats.zeros({})).is_row_major());
}

/// Rows of three in memory of four, as of libraries that align rows.
TEST_F(ElementCopyTest, GapsStayAsTheyAre) {
  std::vector<float> from = {1, 2, 3, 4, 5, 6};
  std::vector<float> to(8, -1);
  const std::vector<int64_t> sizes = {2, 3};
  Elements wide = Elements::row_major(to.data(), ScalarType::Float, sizes);
  wide.strides[0] = 4;
  EXPECT_FALSE(wide.is_row_major());
  ASSERT_EQ(copy_elements("test", Elements::row_major(from.data(), ScalarType::Float, sizes), wide),
            Error::Ok);
  EXPECT_EQ(to, (std::vector<float>{1, 2, 3, -1, 4, 5, 6, -1}));
}

TEST_F(ElementCopyTest, DtypesBecomeOthers) {
  std::vector<float> floats(3);
  ASSERT_EQ(copy(std::vector<int64_t>{-3, 0, 1 << 20}, floats), Error::Ok);
  EXPECT_EQ(floats, (std::vector<float>{-3, 0, 1048576}));
  std::vector<Half> halves(3);
  ASSERT_EQ(copy(std::vector<double>{0.5, -2, 65536}, halves), Error::Ok);
  EXPECT_EQ(static_cast<float>(halves[0]), 0.5f);
  EXPECT_EQ(static_cast<float>(halves[2]), std::numeric_limits<float>::infinity());
  ASSERT_EQ(copy(halves, floats), Error::Ok);
  EXPECT_EQ(floats[1], -2.0f);
  uint8_t flags[3] = {};
  const std::vector<int64_t> three = {3};
  std::vector<float> given = {0, -0.25f, std::numeric_limits<float>::quiet_NaN()};
  ASSERT_EQ(copy_elements("test", Elements::row_major(given.data(), ScalarType::Float, three),
                          Elements::row_major(flags, ScalarType::Bool, three)),
            Error::Ok);
  EXPECT_EQ(std::vector<uint8_t>(flags, flags + 3), (std::vector<uint8_t>{0, 1, 1}));
}

/// As of a tensor that a caller made of bytes.
TEST_F(ElementCopyTest, AnyByteThatIsNotZeroIsTrue) {
  uint8_t flags[3] = {0, 1, 9};
  std::vector<float> floats(3);
  const std::vector<int64_t> three = {3};
  ASSERT_EQ(copy_elements("test", Elements::row_major(flags, ScalarType::Bool, three),
                          Elements::row_major(floats.data(), ScalarType::Float, three)),
            Error::Ok);
  EXPECT_EQ(floats, (std::vector<float>{0, 1, 1}));
}

TEST_F(ElementCopyTest, NoNumberIsCut) {
  std::vector<int32_t> ints(2);
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(copy(std::vector<int64_t>{kMax, -kMax - 1}, ints), Error::Ok);
  EXPECT_EQ(copy(std::vector<int64_t>{0, kMax + 1}, ints), Error::InvalidArgument);
  EXPECT_EQ(copy(std::vector<int64_t>{-kMax - 2, 0}, ints), Error::InvalidArgument);
  std::vector<uint8_t> bytes(1);
  EXPECT_EQ(copy(std::vector<int16_t>{-1}, bytes), Error::InvalidArgument);
  EXPECT_TRUE(can_convert(ScalarType::Int, ScalarType::Half));
  EXPECT_FALSE(can_convert(ScalarType::ComplexFloat, ScalarType::Float));
}

/// As libraries give them that have no other numbers.
TEST_F(ElementCopyTest, WholeNumbersOfFloatingPointAreIntegers) {
  std::vector<int32_t> ints(2);
  ASSERT_EQ(copy(std::vector<float>{-2147483648.0f, 2147483520.0f}, ints), Error::Ok);
  EXPECT_EQ(ints, (std::vector<int32_t>{-2147483647 - 1, 2147483520}));
  for (const float wrong :
       {2147483648.0f, -2147483904.0f, 0.5f, -1e30f, std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(copy(std::vector<float>{0, wrong}, ints), Error::InvalidArgument) << wrong;
  }
  std::vector<uint8_t> bytes(1);
  EXPECT_EQ(copy(std::vector<double>{255}, bytes), Error::Ok);
  EXPECT_EQ(copy(std::vector<double>{256}, bytes), Error::InvalidArgument);
  EXPECT_EQ(copy(std::vector<double>{-1}, bytes), Error::InvalidArgument);
  std::vector<int64_t> wide(1);
  EXPECT_EQ(copy(std::vector<double>{-9223372036854775808.0}, wide), Error::Ok);
  EXPECT_EQ(copy(std::vector<double>{9223372036854775808.0}, wide), Error::InvalidArgument);
  EXPECT_EQ(copy(std::vector<Half>{Half(3.0f)}, wide), Error::Ok);
  EXPECT_EQ(wide[0], 3);
}

TEST_F(ElementCopyTest, SizesAreChecked) {
  TensorFactory<ScalarType::Float> floats;
  const auto of = [&](const std::vector<int32_t>& sizes) {
    return Elements::of(floats.zeros(sizes));
  };
  EXPECT_EQ(copy_elements("test", of({2, 3}), of({3, 2})), Error::InvalidArgument);
  EXPECT_EQ(copy_elements("test", of({1}), of({})), Error::InvalidArgument);
  EXPECT_EQ(copy_elements("test", of({}), of({})), Error::Ok);
  EXPECT_EQ(copy_elements("test", of({0, 3}), of({0, 3})), Error::Ok);
}

}  // namespace
