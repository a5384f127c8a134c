// SPDX-License-Identifier: BSD-3-Clause
// The matrix multiply against a double loop, over sizes around tiles and blocks, in all its
// layouts.
#include <executorch/kernels/optimized/gemm/every_target.h>
#include <executorch/kernels/optimized/gemm/gemm.h>

#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::kernels::optimized::dot_rows;
using executorch::kernels::optimized::DotRows;
using executorch::kernels::optimized::gemm;
using executorch::kernels::optimized::Gemm;
using executorch::kernels::optimized::num_packed;
using executorch::kernels::optimized::on_every_target;
using executorch::kernels::optimized::pack_columns;
using executorch::kernels::optimized::pack_matrix;
using executorch::kernels::optimized::pack_rows;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

std::vector<float> random_values(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(count);
  for (float& value : values) {
    value = uniform(generator);
  }
  return values;
}

struct Case {
  int64_t m, n, k;
};

// b is given as [k][n] when by_rows, else as [n][k].
std::vector<float> reference(const Case& c, const std::vector<float>& a,
                             const std::vector<float>& b, bool by_rows) {
  std::vector<float> out(static_cast<size_t>(c.m * c.n));
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < c.k; ++k) {
        const int64_t at = by_rows ? k * c.n + j : j * c.k + k;
        sum +=
            static_cast<double>(a[static_cast<size_t>(i * c.k + k)]) * b[static_cast<size_t>(at)];
      }
      out[static_cast<size_t>(i * c.n + j)] = static_cast<float>(sum);
    }
  }
  return out;
}

class GemmTest : public ::testing::TestWithParam<Case> {
 protected:
  GemmTest() : memory_(1 << 22), allocator_(1 << 22, memory_.data()), ctx_(nullptr, &allocator_) {}

  void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
    const float tolerance = 1e-6f * static_cast<float>(GetParam().k + 1);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], tolerance) << "element " << i;
    }
  }

  Gemm problem(const std::vector<float>& a, const std::vector<float>& b, bool by_rows,
               std::vector<float>& c) {
    const Case& p = GetParam();
    Gemm g;
    g.m = p.m;
    g.n = p.n;
    g.k = p.k;
    g.a = a.data();
    g.lda = p.k;
    g.b = b.data();
    g.ldb = by_rows ? p.n : p.k;
    g.pack = by_rows ? pack_rows : pack_columns;
    g.b_in_rows = by_rows;
    g.c = c.data();
    g.ldc = p.n;
    return g;
  }

  std::vector<uint8_t> memory_;
  MemoryAllocator allocator_;
  KernelRuntimeContext ctx_;
};

TEST_P(GemmTest, MultipliesRowsAndColumns) {
  RecordProperty("req", "KS-003");
  const Case& p = GetParam();
  const auto a = random_values(static_cast<size_t>(p.m * p.k), 1);
  const auto b = random_values(static_cast<size_t>(p.k * p.n), 2);
  for (bool by_rows : {true, false}) {
    const auto expected = reference(p, a, b, by_rows);
    on_every_target([&] {
      std::vector<float> c(static_cast<size_t>(p.m * p.n), NAN);
      ASSERT_EQ(gemm(ctx_, 1, [&](int64_t) { return problem(a, b, by_rows, c); }), Error::Ok);
      allocator_.reset();
      expect_near(c, expected);
    });
  }
}

TEST_P(GemmTest, PackedOnceGivesTheSameBits) {
  const Case& p = GetParam();
  const auto a = random_values(static_cast<size_t>(p.m * p.k), 1);
  const auto b = random_values(static_cast<size_t>(p.k * p.n), 2);
  for (bool by_rows : {true, false}) {
    on_every_target([&] {
      std::vector<float> expected(static_cast<size_t>(p.m * p.n), NAN);
      std::vector<float> found = expected;
      Gemm g = problem(a, b, by_rows, expected);
      ASSERT_EQ(gemm(ctx_, 1, [&](int64_t) { return g; }), Error::Ok);
      allocator_.reset();
      std::vector<float> packed(num_packed(p.n, p.k) + 1, NAN);
      packed.back() = 3;
      pack_matrix(g, packed.data());
      EXPECT_EQ(packed.back(), 3);
      g.packed = packed.data();
      g.b = nullptr;
      g.c = found.data();
      KernelRuntimeContext without_memory;
      ASSERT_EQ(gemm(without_memory, 1, [&](int64_t) { return g; }), Error::Ok);
      EXPECT_EQ(found, expected);
    });
  }
}

TEST_P(GemmTest, StoresTransposed) {
  const Case& p = GetParam();
  const auto a = random_values(static_cast<size_t>(p.m * p.k), 3);
  const auto b = random_values(static_cast<size_t>(p.k * p.n), 4);
  std::vector<float> c(static_cast<size_t>(p.m * p.n), NAN);
  ASSERT_EQ(gemm(ctx_, 1,
                 [&](int64_t) {
                   Gemm g = problem(a, b, /*by_rows=*/false, c);
                   g.c_transposed = true;
                   g.ldc = p.m;
                   return g;
                 }),
            Error::Ok);
  const auto expected = reference(p, a, b, /*by_rows=*/false);
  std::vector<float> back(c.size());
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      back[static_cast<size_t>(i * p.n + j)] = c[static_cast<size_t>(j * p.m + i)];
    }
  }
  expect_near(back, expected);
}

TEST_P(GemmTest, AddsBiasesOrWhatIsThere) {
  const Case& p = GetParam();
  const auto a = random_values(static_cast<size_t>(p.m * p.k), 5);
  const auto b = random_values(static_cast<size_t>(p.k * p.n), 6);
  const auto rows = random_values(static_cast<size_t>(p.m), 7);
  const auto cols = random_values(static_cast<size_t>(p.n), 8);
  const auto product = reference(p, a, b, /*by_rows=*/true);
  for (int mode = 0; mode < 3; ++mode) {
    std::vector<float> c(static_cast<size_t>(p.m * p.n), mode == 2 ? 2.5f : NAN);
    ASSERT_EQ(gemm(ctx_, 1,
                   [&](int64_t) {
                     Gemm g = problem(a, b, /*by_rows=*/true, c);
                     g.row_bias = mode == 0 ? rows.data() : nullptr;
                     g.col_bias = mode == 1 ? cols.data() : nullptr;
                     g.accumulate = mode == 2;
                     return g;
                   }),
              Error::Ok);
    auto expected = product;
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        expected[static_cast<size_t>(i * p.n + j)] += mode == 0   ? rows[static_cast<size_t>(i)]
                                                      : mode == 1 ? cols[static_cast<size_t>(j)]
                                                                  : 2.5f;
      }
    }
    expect_near(c, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GemmTest,
                         ::testing::Values(Case{1, 1, 1}, Case{1, 7, 5}, Case{3, 49, 17},
                                           Case{8, 48, 256}, Case{9, 97, 257}, Case{17, 15, 33},
                                           Case{64, 130, 520}, Case{300, 33, 40}, Case{5, 3, 0},
                                           Case{260, 400, 300}));

TEST(Gemm, ComputesABatch) {
  const Case p{5, 20, 9};
  constexpr int64_t kBatch = 7;
  const auto a = random_values(static_cast<size_t>(kBatch * p.m * p.k), 9);
  const auto b = random_values(static_cast<size_t>(kBatch * p.k * p.n), 10);
  std::vector<float> c(static_cast<size_t>(kBatch * p.m * p.n), NAN);
  std::vector<uint8_t> memory(1 << 20);
  MemoryAllocator allocator(1 << 20, memory.data());
  KernelRuntimeContext ctx(nullptr, &allocator);
  const auto problem = [&](int64_t i) {
    Gemm g;
    g.m = p.m;
    g.n = p.n;
    g.k = p.k;
    g.a = a.data() + i * p.m * p.k;
    g.lda = p.k;
    g.b = b.data() + i * p.k * p.n;
    g.ldb = p.n;
    g.pack = pack_rows;
    g.b_in_rows = true;
    g.c = c.data() + i * p.m * p.n;
    g.ldc = p.n;
    return g;
  };
  ASSERT_EQ(gemm(ctx, kBatch, problem), Error::Ok);
  for (int64_t i = 0; i < kBatch; ++i) {
    const std::vector<float> one_a(a.begin() + i * p.m * p.k, a.begin() + (i + 1) * p.m * p.k);
    const std::vector<float> one_b(b.begin() + i * p.k * p.n, b.begin() + (i + 1) * p.k * p.n);
    const auto expected = reference(p, one_a, one_b, /*by_rows=*/true);
    for (size_t j = 0; j < expected.size(); ++j) {
      ASSERT_NEAR(c[static_cast<size_t>(i * p.m * p.n) + j], expected[j], 1e-5f);
    }
  }
}

TEST(Gemm, SaysWhenThereIsNoScratchMemory) {
  const auto a = random_values(100 * 100, 11);
  std::vector<float> c(100 * 100, 3.0f);
  uint8_t little[64];
  MemoryAllocator allocator(sizeof(little), little);
  KernelRuntimeContext ctx(nullptr, &allocator);
  const auto problem = [&](int64_t) {
    Gemm g;
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = 100;
    g.a = a.data();
    g.b = a.data();
    g.pack = pack_rows;
    g.c = c.data();
    return g;
  };
  EXPECT_EQ(gemm(ctx, 1, problem), Error::MemoryAllocationFailed);
  for (float value : c) {
    ASSERT_EQ(value, 3.0f);
  }
}

struct DotCase {
  int64_t rows, num_x, k;
};

// T are the rows' values; sums are of what they hold.
template <typename T>
void multiply_a_few_vectors(ScalarType type, const DotCase& c) {
  const auto values = random_values(static_cast<size_t>(c.rows * c.k), 12);
  const std::vector<T> w(values.begin(), values.end());
  const std::vector<float> held(w.begin(), w.end());
  const auto x = random_values(static_cast<size_t>(c.num_x * c.k), 13);
  const auto bias = random_values(static_cast<size_t>(c.rows), 14);
  std::vector<float> out(static_cast<size_t>(c.num_x * c.rows), NAN);
  DotRows p;
  p.num_rows = c.rows;
  p.num_x = c.num_x;
  p.k = c.k;
  p.rows = w.data();
  p.row_type = type;
  p.row_stride = c.k;
  p.x = x.data();
  p.x_stride = c.k;
  p.bias = bias.data();
  p.out = out.data();
  p.out_stride = c.rows;
  dot_rows(p);
  const auto expected = reference({c.num_x, c.rows, c.k}, x, held, /*by_rows=*/false);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(out[i], expected[i] + bias[i % static_cast<size_t>(c.rows)], 1e-5f);
  }
}

TEST(DotRows, MultipliesAFewVectors) {
  on_every_target([] {
    for (int64_t k : {1, 15, 16, 70}) {
      for (int64_t rows : {1, 3, 4, 9}) {
        for (int64_t num_x = 1; num_x <= 4; ++num_x) {
          const DotCase c{rows, num_x, k};
          multiply_a_few_vectors<float>(ScalarType::Float, c);
          multiply_a_few_vectors<Half>(ScalarType::Half, c);
          multiply_a_few_vectors<BFloat16>(ScalarType::BFloat16, c);
        }
      }
    }
  });
}

}  // namespace
