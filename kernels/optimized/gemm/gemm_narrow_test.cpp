// SPDX-License-Identifier: BSD-3-Clause
// bfloat16 and int8 products against a double loop, on every instruction set of this machine, over
// sizes around words, tiles and blocks.
#include <executorch/kernels/optimized/gemm/every_target.h>
#include <executorch/kernels/optimized/gemm/gemm.h>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using executorch::aten::BFloat16;
using executorch::kernels::optimized::gemm_narrow;
using executorch::kernels::optimized::has_bfloat16_products;
using executorch::kernels::optimized::NarrowGemm;
using executorch::kernels::optimized::NarrowType;
using executorch::kernels::optimized::on_every_target;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

struct Case {
  int64_t m, n, k;
};

const Case kCases[] = {{1, 1, 1},     {3, 5, 2},      {8, 48, 4},     {9, 49, 7},
                       {5, 17, 0},    {17, 100, 33},  {64, 130, 129}, {2, 193, 1027},
                       {257, 51, 66}, {300, 210, 70}, {31, 40, 2050}};

template <typename T>
std::vector<T> random_values(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    if constexpr (sizeof(T) == 1) {
      value = static_cast<T>(static_cast<int>(generator() % 256) - 128);
    } else {
      value = static_cast<T>(static_cast<float>(generator() % 2001) / 1000.0f - 1.0f);
    }
  }
  return values;
}

// b is [k][n], or [n][k] in columns; the sum type is exact for int8.
template <typename T, typename Sum>
std::vector<Sum> reference(const Case& c, const std::vector<T>& a, const std::vector<T>& b,
                           bool in_columns) {
  std::vector<Sum> out(static_cast<size_t>(c.m * c.n));
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      Sum sum = 0;
      for (int64_t k = 0; k < c.k; ++k) {
        const int64_t at = in_columns ? j * c.k + k : k * c.n + j;
        sum += static_cast<Sum>(static_cast<float>(a[static_cast<size_t>(i * c.k + k)])) *
               static_cast<Sum>(static_cast<float>(b[static_cast<size_t>(at)]));
      }
      out[static_cast<size_t>(i * c.n + j)] = sum;
    }
  }
  return out;
}

NarrowGemm problem(const Case& c, NarrowType type, const void* a, const void* b, void* out,
                   bool in_columns) {
  NarrowGemm g;
  g.type = type;
  g.m = c.m;
  g.n = c.n;
  g.k = c.k;
  g.a = a;
  g.lda = c.k;
  g.b = b;
  g.ldb = in_columns ? c.k : c.n;
  g.b_in_columns = in_columns;
  g.c = out;
  g.ldc = c.n;
  return g;
}

class GemmNarrow : public ::testing::Test {
 protected:
  GemmNarrow()
      : memory_(1 << 23), allocator_(1 << 23, memory_.data()), ctx_(nullptr, &allocator_) {}

  void run(const NarrowGemm& g) {
    ASSERT_EQ(gemm_narrow(ctx_, 1, [&](int64_t) { return g; }), Error::Ok);
    allocator_.reset();
  }

  std::vector<uint8_t> memory_;
  MemoryAllocator allocator_;
  KernelRuntimeContext ctx_;
};

// Rounded once: half a step of bfloat16, and the error of the f32 sum.
void expect_near(BFloat16 found, double expected, int64_t k) {
  ASSERT_NEAR(static_cast<float>(found), expected,
              std::abs(expected) / 256 + 1e-6 * static_cast<double>(k + 1));
}

TEST_F(GemmNarrow, MultipliesInt8Exactly) {
  on_every_target([&] {
    for (const Case& c : kCases) {
      const auto a = random_values<int8_t>(c.m * c.k, 1);
      const auto b = random_values<int8_t>(c.k * c.n, 2);
      for (bool in_columns : {false, true}) {
        std::vector<int32_t> out(static_cast<size_t>(c.m * c.n), -7);
        run(problem(c, NarrowType::kInt8, a.data(), b.data(), out.data(), in_columns));
        ASSERT_EQ(out, (reference<int8_t, int32_t>(c, a, b, in_columns)))
            << c.m << "x" << c.k << "x" << c.n << " columns " << in_columns;
      }
    }
  });
}

TEST_F(GemmNarrow, KeepsExtremeInt8Sums) {
  const Case c{9, 50, 1025};
  on_every_target([&] {
    for (int x : {-128, 127}) {
      for (int y : {-128, 127}) {
        const std::vector<int8_t> a(static_cast<size_t>(c.m * c.k), static_cast<int8_t>(x));
        const std::vector<int8_t> b(static_cast<size_t>(c.k * c.n), static_cast<int8_t>(y));
        std::vector<int32_t> out(static_cast<size_t>(c.m * c.n), 100);
        NarrowGemm g = problem(c, NarrowType::kInt8, a.data(), b.data(), out.data(), true);
        g.accumulate = true;
        run(g);
        for (int32_t value : out) {
          ASSERT_EQ(value, x * y * c.k + 100);
        }
      }
    }
  });
}

TEST_F(GemmNarrow, MultipliesBFloat16) {
  on_every_target([&] {
    if (!has_bfloat16_products()) {
      return;
    }
    for (const Case& c : kCases) {
      const auto a = random_values<BFloat16>(c.m * c.k, 3);
      const auto b = random_values<BFloat16>(c.k * c.n, 4);
      for (bool in_columns : {false, true}) {
        const auto expected = reference<BFloat16, double>(c, a, b, in_columns);
        for (bool turned : {false, true}) {
          std::vector<BFloat16> out(expected.size(), static_cast<BFloat16>(NAN));
          NarrowGemm g =
              problem(c, NarrowType::kBFloat16, a.data(), b.data(), out.data(), in_columns);
          g.c_transposed = turned;
          g.ldc = turned ? c.m : c.n;
          run(g);
          for (int64_t i = 0; i < c.m * c.n; ++i) {
            const int64_t at = turned ? i % c.n * c.m + i / c.n : i;
            expect_near(out[static_cast<size_t>(at)], expected[static_cast<size_t>(i)], c.k);
          }
        }
      }
    }
  });
}

TEST_F(GemmNarrow, AddsBiasesOrWhatIsThere) {
  on_every_target([&] {
    if (!has_bfloat16_products()) {
      return;
    }
    for (const Case& c : kCases) {
      const auto a = random_values<BFloat16>(c.m * c.k, 5);
      const auto b = random_values<BFloat16>(c.k * c.n, 6);
      const auto product = reference<BFloat16, double>(c, a, b, false);
      const std::vector<float> rows(static_cast<size_t>(c.m), 0.5f);
      const std::vector<float> cols(static_cast<size_t>(c.n), -0.25f);
      for (bool turned : {false, true}) {
        for (bool accumulate : {false, true}) {
          std::vector<BFloat16> out(product.size(), static_cast<BFloat16>(2.0f));
          NarrowGemm g = problem(c, NarrowType::kBFloat16, a.data(), b.data(), out.data(), false);
          g.c_transposed = turned;
          g.ldc = turned ? c.m : c.n;
          g.accumulate = accumulate;
          g.row_bias = rows.data();
          g.col_bias = cols.data();
          run(g);
          for (int64_t i = 0; i < c.m * c.n; ++i) {
            const int64_t at = turned ? i % c.n * c.m + i / c.n : i;
            expect_near(out[static_cast<size_t>(at)],
                        product[static_cast<size_t>(i)] + (accumulate ? 2.0 : 0.25), c.k);
          }
        }
      }
    }
  });
}

TEST_F(GemmNarrow, LeavesNeighboursOfTheLastWordUnread) {
  if (!has_bfloat16_products()) {
    GTEST_SKIP() << "this processor has no bfloat16 products";
  }
  // Rows of 3 values in rows of 4: the fourth is NaN and must not reach a sum.
  const Case c{2, 2, 3};
  std::vector<BFloat16> a(8, static_cast<BFloat16>(1.0f)), b(8, static_cast<BFloat16>(2.0f));
  a[3] = a[7] = b[3] = b[7] = static_cast<BFloat16>(NAN);
  std::vector<BFloat16> out(4);
  NarrowGemm g = problem(c, NarrowType::kBFloat16, a.data(), b.data(), out.data(), true);
  g.lda = g.ldb = 4;
  run(g);
  for (BFloat16 value : out) {
    ASSERT_EQ(static_cast<float>(value), 6.0f);
  }
}

TEST_F(GemmNarrow, SaysWhenThereIsNoScratchMemory) {
  const std::vector<int8_t> a(100 * 100, 1);
  std::vector<int32_t> out(100 * 100, 3);
  uint8_t little[64];
  MemoryAllocator allocator(sizeof(little), little);
  KernelRuntimeContext ctx(nullptr, &allocator);
  const NarrowGemm g =
      problem({100, 100, 100}, NarrowType::kInt8, a.data(), a.data(), out.data(), false);
  EXPECT_EQ(gemm_narrow(ctx, 1, [&](int64_t) { return g; }), Error::MemoryAllocationFailed);
  for (int32_t value : out) {
    ASSERT_EQ(value, 3);
  }
}

}  // namespace
