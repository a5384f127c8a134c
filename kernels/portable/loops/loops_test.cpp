// SPDX-License-Identifier: BSD-3-Clause
// The loops under the kernels at their awkward points: strides, transposes, broadcasting,
// conversions, reductions.
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/kernels/portable/loops/reduction.h>
#include <executorch/kernels/portable/loops/strided.h>

#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace executorch {
namespace kernels {
namespace {

using executorch::aten::TensorImpl;
using executorch::runtime::KernelRuntimeContext;

class LoopsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { executorch::runtime::runtime_init(); }
};

// A dense float tensor with its memory.
struct FloatTensor {
  FloatTensor(std::vector<int32_t> tensor_sizes, std::vector<uint8_t> tensor_order = {})
      : sizes(std::move(tensor_sizes)), order(std::move(tensor_order)), strides(sizes.size()) {
    for (size_t d = order.size(); d < sizes.size(); ++d) {
      order.push_back(static_cast<uint8_t>(d));
    }
    int32_t stride = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      strides[order[i]] = stride;
      stride *= sizes[order[i]];
    }
    data.resize(static_cast<size_t>(stride));
    for (size_t i = 0; i < data.size(); ++i) {
      data[i] = static_cast<float>(i % 97);
    }
    impl.emplace(ScalarType::Float, static_cast<ssize_t>(sizes.size()), sizes.data(), data.data(),
                 order.data(), strides.data());
  }
  Tensor tensor() { return Tensor(&*impl); }

  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int32_t> strides;
  std::vector<float> data;
  std::optional<TensorImpl> impl;
};

int64_t offset_of(const StridedView& view, int64_t number) {
  int64_t offset = 0;
  for (int d = view.ndim - 1; d >= 0; --d) {
    offset += number % view.sizes[d] * view.strides[d];
    number /= view.sizes[d];
  }
  return offset;
}

// Copies random bytes between views whose dimensions lie in these orders, outermost first.
void check_copy(const std::vector<int64_t>& sizes, int64_t element_size, const int* from_order,
                const int* to_order, std::mt19937& random) {
  StridedView from{};
  from.ndim = static_cast<int>(sizes.size());
  from.element_size = element_size;
  std::copy(sizes.begin(), sizes.end(), from.sizes);
  StridedView to = from;
  int64_t count = 1;
  int64_t to_count = 1;
  for (int i = from.ndim - 1; i >= 0; --i) {
    from.strides[from_order[i]] = count;
    to.strides[to_order[i]] = to_count;
    count *= from.sizes[from_order[i]];
    to_count *= to.sizes[to_order[i]];
  }
  std::vector<char> source(static_cast<size_t>(count * element_size));
  std::vector<char> target(source.size());
  for (char& byte : source) {
    byte = static_cast<char>(random());
  }
  from.data = source.data();
  to.data = target.data();
  copy_view(from, to);
  for (int64_t i = 0; i < count; ++i) {
    const char* expected = from.data + offset_of(from, i) * element_size;
    const char* found = to.data + offset_of(to, i) * element_size;
    ASSERT_EQ(std::memcmp(expected, found, static_cast<size_t>(element_size)), 0) << i;
  }
}

TEST_F(LoopsTest, CopiesAnyPermutationOfAnyElementSize) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::vector<int64_t> sizes(static_cast<size_t>(1 + round % 4));
    int order[2][4] = {{0, 1, 2, 3}, {0, 1, 2, 3}};
    for (int k = 0; k < 2; ++k) {
      std::shuffle(order[k], order[k] + sizes.size(), random);
    }
    for (int64_t& size : sizes) {
      size = 1 + static_cast<int64_t>(random() % 20);
    }
    SCOPED_TRACE(round);
    check_copy(sizes, int64_t{1} << (round % 5), order[0], order[1], random);
  }
}

// Below, at and above what is turned at once and what threads share.
TEST_F(LoopsTest, TransposesMatricesOfManyBands) {
  std::mt19937 random(8);
  const int rows_first[3] = {0, 1, 2};
  const int columns_first[3] = {0, 2, 1};
  for (int64_t element_size = 1; element_size <= 16; element_size *= 2) {
    for (const int64_t cols : {3, 16, 50, 1023, 1024, 2100}) {
      for (const int64_t rows : {2, 15, 16, 33, 200}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " of " << element_size);
        check_copy({3, rows, cols}, element_size, rows_first, columns_first, random);
      }
    }
  }
}

TEST_F(LoopsTest, CopiesBackwardsAndFills) {
  float source[6] = {0, 1, 2, 3, 4, 5};
  float target[6] = {};
  StridedView from{};
  from.data = reinterpret_cast<char*>(source);
  from.ndim = 1;
  from.element_size = sizeof(float);
  from.sizes[0] = 6;
  from.strides[0] = 1;
  StridedView to = from;
  to.data = reinterpret_cast<char*>(target);
  copy_view(from.sliced(0, 5, 6, -1), to);
  EXPECT_EQ(target[0], 5);
  EXPECT_EQ(target[5], 0);
  const float seven = 7;
  fill_view(&seven, to.sliced(0, 1, 2, 3));
  EXPECT_EQ(target[1], 7);
  EXPECT_EQ(target[4], 7);
  EXPECT_EQ(target[0], 5);
  const int64_t huge = std::numeric_limits<int64_t>::max();
  fill_view(&seven, to.sliced(0, 0, 3, 2).sliced(0, 1, 1, huge));
  EXPECT_EQ(target[2], 7);
  EXPECT_EQ(target[3], 2);
  copy_view(from.sliced(0, 0, 0), to.sliced(0, 0, 0));  // nothing
}

TEST_F(LoopsTest, BroadcastsOverChunksAndDimOrders) {
  FloatTensor a({2, 3, 1, 70});
  FloatTensor b({3, 40, 1}, {1, 0, 2});
  FloatTensor out({2, 3, 40, 70}, {0, 2, 3, 1});
  const Tensor result = out.tensor();
  map_elements<float, float, float>([](float x, float y) { return x * 100 + y; }, result,
                                    {RangeReader(a.tensor(), result, ComputeType::kFloat),
                                     RangeReader(b.tensor(), result, ComputeType::kFloat)});
  const StridedView view = StridedView::of(result);
  for (int64_t i = 0; i < view.numel(); ++i) {
    const int64_t w = i % 70;
    const int64_t h = i / 70 % 40;
    const int64_t c = i / 2800 % 3;
    const int64_t n = i / 8400;
    const float x = a.data[static_cast<size_t>(n * 210 + c * 70 + w)];
    const float y = b.data[static_cast<size_t>(h * 3 + c)];
    ASSERT_EQ(out.data[static_cast<size_t>(offset_of(view, i))], x * 100 + y) << i;
  }
}

TEST_F(LoopsTest, ConvertsFloatsOutOfRangeWithoutUndefinedBehaviour) {
  const double values[] = {1e30, -1e30, std::numeric_limits<double>::quiet_NaN(), 300.7, -1.5};
  int64_t longs[5];
  int8_t chars[5];
  storer(ComputeType::kDouble, ScalarType::Long)(values, 5, longs);
  storer(ComputeType::kDouble, ScalarType::Char)(values, 5, chars);
  EXPECT_EQ(longs[3], 300);
  EXPECT_EQ(longs[4], -1);
  EXPECT_EQ(chars[3], static_cast<int8_t>(300));
  EXPECT_EQ(chars[4], -1);
}

TEST_F(LoopsTest, KnowsNoLoaderForOtherTypes) {
  EXPECT_EQ(loader(ScalarType::ComplexFloat, ComputeType::kFloat), nullptr);
  EXPECT_EQ(storer(ComputeType::kFloat, ScalarType::ComplexFloat), nullptr);
  EXPECT_FALSE(is_computable(ScalarType::ComplexFloat));
  EXPECT_FALSE(is_complex(ScalarType::QInt8));
  EXPECT_EQ(storer(ComputeType::kFloat, ScalarType::QInt8), nullptr);
  EXPECT_FALSE(is_computable(ScalarType::Undefined));
}

TEST_F(LoopsTest, ReductionsVisitEveryElementOnce) {
  for (const bool ordered : {false, true}) {
    for (int mask = 1; mask < 8; ++mask) {
      FloatTensor in({5, 3, 11}, {1, 2, 0});
      KernelRuntimeContext context;
      std::vector<int64_t> dims;
      for (int d = 0; d < 3; ++d) {
        if (mask >> d & 1) {
          dims.push_back(d);
        }
      }
      Reduction reduction;
      ASSERT_TRUE(make_reduction({context, "test"}, in.tensor(),
                                 executorch::aten::ArrayRef<int64_t>(dims.data(), dims.size()),
                                 false, reduction));
      std::vector<int32_t> sizes(reduction.shape.sizes,
                                 reduction.shape.sizes + reduction.shape.ndim);
      FloatTensor out(sizes);
      const ReductionLoops loops(in.tensor(), out.tensor(), reduction, ordered);
      double total = 0;
      int64_t count = 0;
      loops.for_each_result([&](int64_t, int64_t in_offset) {
        loops.for_each_run<float>(in_offset, [&](const float* values, int64_t n, int64_t) {
          for (int64_t i = 0; i < n; ++i) {
            total += values[i];
          }
          count += n;
        });
      });
      double expected = 0;
      for (const float value : in.data) {
        expected += value;
      }
      EXPECT_EQ(count, 165);
      EXPECT_EQ(total, expected) << mask;
    }
  }
}

TEST_F(LoopsTest, ChecksSayNoWithoutEndingTheProgram) {
  KernelRuntimeContext context;
  const OpCall call{context, "test"};
  int64_t dim = 3;
  EXPECT_FALSE(normalize_dim(call, "dim", 3, dim));
  dim = std::numeric_limits<int64_t>::min();
  EXPECT_FALSE(normalize_dim(call, "dim", 3, dim));
  dim = -1;
  EXPECT_TRUE(normalize_dim(call, "dim", 0, dim));
  EXPECT_EQ(dim, 0);
  char bytes[16];
  EXPECT_FALSE(scalar_element(call, Scalar(int64_t{128}), ScalarType::Char, bytes));
  EXPECT_FALSE(scalar_element(call, Scalar(1e30), ScalarType::Int, bytes));
  EXPECT_TRUE(scalar_element(call, Scalar(-INFINITY), ScalarType::Half, bytes));
  EXPECT_FALSE(scalar_element(call, Scalar(1.0), ScalarType::QInt8, bytes));
  EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
}

TEST_F(LoopsTest, ScalarsPromoteByKind) {
  EXPECT_EQ(promote_with_scalar(ScalarType::Int, Scalar(1.5)), ScalarType::Float);
  EXPECT_EQ(promote_with_scalar(ScalarType::Half, Scalar(1.5)), ScalarType::Half);
  EXPECT_EQ(promote_with_scalar(ScalarType::Bool, Scalar(int64_t{2})), ScalarType::Long);
  EXPECT_EQ(promote_with_scalar(ScalarType::Byte, Scalar(true)), ScalarType::Byte);
}

}  // namespace
}  // namespace kernels
}  // namespace executorch
