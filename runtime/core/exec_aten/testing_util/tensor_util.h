// SPDX-License-Identifier: BSD-3-Clause
// Comparison of tensors in tests: EXPECT_TENSOR_EQ, EXPECT_TENSOR_CLOSE and their kin. "Equal" and
// "close" tensors have the same type, sizes and dim order; the DATA macros compare type and
// elements only. NaN equals NaN.
#pragma once

#include <optional>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch {
namespace runtime {
namespace testing {

namespace internal {

constexpr double kDefaultRtol = 1e-5;
constexpr double kDefaultAtol = 1e-8;
// About a unit in the last place at 1.
constexpr double kDefaultHalfAtol = 1e-3;
constexpr double kDefaultBFloat16Atol = 1e-2;

}  // namespace internal

/// Whether each |a - b| <= atol + rtol * |b|. Without opt_atol the tolerance goes by the type.
bool tensors_are_close(const executorch::aten::Tensor& a, const executorch::aten::Tensor& b,
                       double rtol = internal::kDefaultRtol,
                       std::optional<double> opt_atol = std::nullopt);

/// The same for types and elements alone, in the order of memory.
bool tensor_data_is_close(const executorch::aten::Tensor& a, const executorch::aten::Tensor& b,
                          double rtol = internal::kDefaultRtol,
                          std::optional<double> opt_atol = std::nullopt);

/// The same for lists: as many tensors, each close.
bool tensor_lists_are_close(const executorch::aten::Tensor* tensors_a, size_t num_tensors_a,
                            const executorch::aten::Tensor* tensors_b, size_t num_tensors_b,
                            double rtol = internal::kDefaultRtol,
                            std::optional<double> opt_atol = std::nullopt);

MATCHER_P(IsEqualTo, other, "") {
  return tensors_are_close(arg, other, /*rtol=*/0, /*opt_atol=*/0);
}
MATCHER_P(IsCloseTo, other, "") {
  return tensors_are_close(arg, other);
}
MATCHER_P3(IsCloseTo, other, rtol, atol, "") {
  return tensors_are_close(arg, other, rtol, atol);
}
MATCHER_P3(IsCloseToWithTol, other, rtol, atol, "") {
  return tensors_are_close(arg, other, rtol, atol);
}
MATCHER_P(IsDataEqualTo, other, "") {
  return tensor_data_is_close(arg, other, /*rtol=*/0, /*opt_atol=*/0);
}
MATCHER_P(IsDataCloseTo, other, "") {
  return tensor_data_is_close(arg, other);
}
MATCHER_P3(IsDataCloseTo, other, rtol, atol, "") {
  return tensor_data_is_close(arg, other, rtol, atol);
}
MATCHER_P3(IsDataCloseToWithTol, other, rtol, atol, "") {
  return tensor_data_is_close(arg, other, rtol, atol);
}
MATCHER_P(IsListEqualTo, other, "") {
  return tensor_lists_are_close(arg.data(), arg.size(), other.data(), other.size(), /*rtol=*/0,
                                /*opt_atol=*/0);
}
MATCHER_P(IsListCloseTo, other, "") {
  return tensor_lists_are_close(arg.data(), arg.size(), other.data(), other.size());
}

}  // namespace testing

namespace etensor {

enum class ScalarType : int8_t;
class Tensor;

/// "Float"
std::ostream& operator<<(std::ostream& os, const ScalarType& t);
/// "ETensor(sizes={2, 2}, dtype=Float, data={1, 2, 3, 4})"
std::ostream& operator<<(std::ostream& os, const Tensor& t);

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch

#define EXPECT_TENSOR_EQ(t1, t2) EXPECT_THAT(t1, ::executorch::runtime::testing::IsEqualTo(t2))
#define EXPECT_TENSOR_NE(t1, t2) \
  EXPECT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsEqualTo(t2)))
#define EXPECT_TENSOR_CLOSE(t1, t2) EXPECT_THAT(t1, ::executorch::runtime::testing::IsCloseTo(t2))
#define EXPECT_TENSOR_NOT_CLOSE(t1, t2) \
  EXPECT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsCloseTo(t2)))
#define EXPECT_TENSOR_CLOSE_WITH_TOL(t1, t2, rtol, atol) \
  EXPECT_THAT(t1, ::executorch::runtime::testing::IsCloseTo(t2, rtol, atol))
#define EXPECT_TENSOR_NOT_CLOSE_WITH_TOL(t1, t2, rtol, atol) \
  EXPECT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsCloseTo(t2, rtol, atol)))
#define EXPECT_TENSOR_DATA_EQ(t1, t2) \
  EXPECT_THAT(t1, ::executorch::runtime::testing::IsDataEqualTo(t2))
#define EXPECT_TENSOR_DATA_NE(t1, t2) \
  EXPECT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsDataEqualTo(t2)))
#define EXPECT_TENSOR_DATA_CLOSE(t1, t2) \
  EXPECT_THAT(t1, ::executorch::runtime::testing::IsDataCloseTo(t2))
#define EXPECT_TENSOR_DATA_NOT_CLOSE(t1, t2) \
  EXPECT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsDataCloseTo(t2)))
#define EXPECT_TENSOR_DATA_CLOSE_WITH_TOL(t1, t2, rtol, atol) \
  EXPECT_THAT(t1, ::executorch::runtime::testing::IsDataCloseTo(t2, rtol, atol))
#define EXPECT_TENSOR_DATA_NOT_CLOSE_WITH_TOL(t1, t2, rtol, atol) \
  EXPECT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsDataCloseTo(t2, rtol, atol)))
#define EXPECT_TENSOR_LISTS_EQ(t1, t2) \
  EXPECT_THAT(t1, ::executorch::runtime::testing::IsListEqualTo(t2))
#define EXPECT_TENSOR_LISTS_NE(t1, t2) \
  EXPECT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsListEqualTo(t2)))
#define EXPECT_TENSOR_LISTS_CLOSE(t1, t2) \
  EXPECT_THAT(t1, ::executorch::runtime::testing::IsListCloseTo(t2))
#define EXPECT_TENSOR_LISTS_NOT_CLOSE(t1, t2) \
  EXPECT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsListCloseTo(t2)))

#define ASSERT_TENSOR_EQ(t1, t2) ASSERT_THAT(t1, ::executorch::runtime::testing::IsEqualTo(t2))
#define ASSERT_TENSOR_NE(t1, t2) \
  ASSERT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsEqualTo(t2)))
#define ASSERT_TENSOR_CLOSE(t1, t2) ASSERT_THAT(t1, ::executorch::runtime::testing::IsCloseTo(t2))
#define ASSERT_TENSOR_NOT_CLOSE(t1, t2) \
  ASSERT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsCloseTo(t2)))
#define ASSERT_TENSOR_CLOSE_WITH_TOL(t1, t2, rtol, atol) \
  ASSERT_THAT(t1, ::executorch::runtime::testing::IsCloseTo(t2, rtol, atol))
#define ASSERT_TENSOR_NOT_CLOSE_WITH_TOL(t1, t2, rtol, atol) \
  ASSERT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsCloseTo(t2, rtol, atol)))
#define ASSERT_TENSOR_DATA_EQ(t1, t2) \
  ASSERT_THAT(t1, ::executorch::runtime::testing::IsDataEqualTo(t2))
#define ASSERT_TENSOR_DATA_NE(t1, t2) \
  ASSERT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsDataEqualTo(t2)))
#define ASSERT_TENSOR_DATA_CLOSE(t1, t2) \
  ASSERT_THAT(t1, ::executorch::runtime::testing::IsDataCloseTo(t2))
#define ASSERT_TENSOR_DATA_NOT_CLOSE(t1, t2) \
  ASSERT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsDataCloseTo(t2)))
#define ASSERT_TENSOR_DATA_CLOSE_WITH_TOL(t1, t2, rtol, atol) \
  ASSERT_THAT(t1, ::executorch::runtime::testing::IsDataCloseTo(t2, rtol, atol))
#define ASSERT_TENSOR_DATA_NOT_CLOSE_WITH_TOL(t1, t2, rtol, atol) \
  ASSERT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsDataCloseTo(t2, rtol, atol)))
#define ASSERT_TENSOR_LISTS_EQ(t1, t2) \
  ASSERT_THAT(t1, ::executorch::runtime::testing::IsListEqualTo(t2))
#define ASSERT_TENSOR_LISTS_NE(t1, t2) \
  ASSERT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsListEqualTo(t2)))
#define ASSERT_TENSOR_LISTS_CLOSE(t1, t2) \
  ASSERT_THAT(t1, ::executorch::runtime::testing::IsListCloseTo(t2))
#define ASSERT_TENSOR_LISTS_NOT_CLOSE(t1, t2) \
  ASSERT_THAT(t1, ::testing::Not(::executorch::runtime::testing::IsListCloseTo(t2)))

// The historic spellings.
namespace torch::executor::testing {
using ::executorch::runtime::testing::IsCloseTo;
using ::executorch::runtime::testing::IsCloseToWithTol;
using ::executorch::runtime::testing::IsDataCloseTo;
using ::executorch::runtime::testing::IsDataCloseToWithTol;
using ::executorch::runtime::testing::IsDataEqualTo;
using ::executorch::runtime::testing::IsEqualTo;
using ::executorch::runtime::testing::IsListCloseTo;
using ::executorch::runtime::testing::IsListEqualTo;
using ::executorch::runtime::testing::tensor_data_is_close;
using ::executorch::runtime::testing::tensor_lists_are_close;
using ::executorch::runtime::testing::tensors_are_close;
}  // namespace torch::executor::testing
