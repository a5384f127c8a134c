// SPDX-License-Identifier: BSD-3-Clause
// bfloat16 and int8 matmuls against a double loop, on every instruction set of this machine and on
// AMX tiles (a model of them, and the real ones if there are any), over sizes around words, tiles
// and blocks.
#include <executorch/kernels/optimized/gemm/amx_model.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_amx.h>
#include <executorch/kernels/optimized/gemm/gemm_narrow_simd.h>
#include <executorch/kernels/optimized/int8_dots/every_dots.h>

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
using executorch::kernels::optimized::amx_config;
using executorch::kernels::optimized::amx_kernels;
using executorch::kernels::optimized::amx_kernels_over;
using executorch::kernels::optimized::gemm_narrow;
using executorch::kernels::optimized::gemm_narrow_with;
using executorch::kernels::optimized::has_amx;
using executorch::kernels::optimized::ModelTiles;
using executorch::kernels::optimized::narrow_kernels;
using executorch::kernels::optimized::NarrowGemm;
using executorch::kernels::optimized::NarrowKernels;
using executorch::kernels::optimized::NarrowType;
using executorch::kernels::optimized::on_every_dots;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

struct Case {
  int64_t m, n, k;
};

const Case kCases[] = {
    {1, 1, 1},      {3, 5, 2},      {8, 48, 4},    {9, 49, 7},     {5, 17, 0},     {17, 100, 33},
    {64, 130, 129}, {2, 193, 1027}, {257, 51, 66}, {300, 210, 70}, {31, 40, 2050}, {16, 16, 64},
    {32, 32, 128},  {48, 300, 65},  {1, 520, 31},  {3, 333, 6},    {4, 129, 64}};

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

  void run(const NarrowKernels& kernels, const NarrowGemm& g) {
    ASSERT_EQ(gemm_narrow_with(kernels, ctx_, 1, [&](int64_t) { return g; }), Error::Ok);
    allocator_.reset();
  }

  std::vector<uint8_t> memory_;
  MemoryAllocator allocator_;
  KernelRuntimeContext ctx_;
};

// Runs body(kernels) with the vectors of every instruction set and kind of dot products, then with
// tiles.
template <typename Body>
void on_all_kernels(const Body& body) {
  on_every_dots([&] { body(narrow_kernels()); });
  {
    SCOPED_TRACE("model of AMX");
    const int before = ModelTiles::faults;
    body(amx_kernels_over<ModelTiles>(narrow_kernels()));
    EXPECT_EQ(ModelTiles::faults, before);
    EXPECT_FALSE(ModelTiles::own().configured);
  }
  if (has_amx()) {
    SCOPED_TRACE("AMX");
    body(amx_kernels());
  }
}

template <typename Body>
void on_bfloat16_kernels(const Body& body) {
  on_all_kernels([&](const NarrowKernels& kernels) {
    if (kernels.bfloat16.tile != nullptr) {
      body(kernels);
    }
  });
}

// Rounded once: half a step of bfloat16, and the error of the f32 sum.
void expect_near(BFloat16 found, double expected, int64_t k) {
  ASSERT_NEAR(static_cast<float>(found), expected,
              std::abs(expected) / 256 + 1e-6 * static_cast<double>(k + 1));
}

TEST_F(GemmNarrow, MultipliesInt8Exactly) {
  on_all_kernels([&](const NarrowKernels& kernels) {
    for (const Case& c : kCases) {
      const auto a = random_values<int8_t>(c.m * c.k, 1);
      const auto b = random_values<int8_t>(c.k * c.n, 2);
      for (bool in_columns : {false, true}) {
        std::vector<int32_t> out(static_cast<size_t>(c.m * c.n), -7);
        run(kernels, problem(c, NarrowType::kInt8, a.data(), b.data(), out.data(), in_columns));
        ASSERT_EQ(out, (reference<int8_t, int32_t>(c, a, b, in_columns)))
            << c.m << "x" << c.k << "x" << c.n << " columns " << in_columns;
      }
    }
  });
}

TEST_F(GemmNarrow, KeepsExtremeInt8Sums) {
  on_all_kernels([&](const NarrowKernels& kernels) {
    for (const Case& c : {Case{9, 50, 1025}, Case{2, 150, 1025}}) {
      for (int x : {-128, 127}) {
        for (int y : {-128, 127}) {
          const std::vector<int8_t> a(static_cast<size_t>(c.m * c.k), static_cast<int8_t>(x));
          const std::vector<int8_t> b(static_cast<size_t>(c.k * c.n), static_cast<int8_t>(y));
          for (bool in_columns : {false, true}) {
            std::vector<int32_t> out(static_cast<size_t>(c.m * c.n), 100);
            NarrowGemm g =
                problem(c, NarrowType::kInt8, a.data(), b.data(), out.data(), in_columns);
            g.accumulate = true;
            run(kernels, g);
            for (int32_t value : out) {
              ASSERT_EQ(value, x * y * c.k + 100);
            }
          }
        }
      }
    }
  });
}

TEST_F(GemmNarrow, MultipliesBFloat16) {
  on_bfloat16_kernels([&](const NarrowKernels& kernels) {
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
          run(kernels, g);
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
  on_bfloat16_kernels([&](const NarrowKernels& kernels) {
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
          run(kernels, g);
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
  // Rows of 3 values in rows of 4: the fourth is NaN and must not reach a sum.
  const Case c{2, 2, 3};
  std::vector<BFloat16> a(8, static_cast<BFloat16>(1.0f)), b(8, static_cast<BFloat16>(2.0f));
  a[3] = a[7] = b[3] = b[7] = static_cast<BFloat16>(NAN);
  on_bfloat16_kernels([&](const NarrowKernels& kernels) {
    std::vector<BFloat16> out(4);
    NarrowGemm g = problem(c, NarrowType::kBFloat16, a.data(), b.data(), out.data(), true);
    g.lda = g.ldb = 4;
    run(kernels, g);
    for (BFloat16 value : out) {
      ASSERT_EQ(static_cast<float>(value), 6.0f);
    }
  });
}

TEST_F(GemmNarrow, LeavesWhatLiesBesideTheOutputAlone) {
  const Case c{37, 45, 70};
  const int64_t ldc = 64;
  const auto a = random_values<int8_t>(c.m * c.k, 7);
  const auto b = random_values<int8_t>(c.k * c.n, 8);
  const auto expected = reference<int8_t, int32_t>(c, a, b, false);
  on_all_kernels([&](const NarrowKernels& kernels) {
    std::vector<int32_t> out(static_cast<size_t>((c.m + 1) * ldc), 9);
    NarrowGemm g = problem(c, NarrowType::kInt8, a.data(), b.data(), out.data(), false);
    g.ldc = ldc;
    run(kernels, g);
    for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
      const bool inside = i / ldc < c.m && i % ldc < c.n;
      ASSERT_EQ(out[static_cast<size_t>(i)],
                inside ? expected[static_cast<size_t>(i / ldc * c.n + i % ldc)] : 9);
    }
  });
}

// The tiles of the processor round as the model does, to the last bit.
TEST_F(GemmNarrow, ModelsTheTilesOfTheProcessor) {
  if (!has_amx()) {
    GTEST_SKIP() << "this processor has no AMX";
  }
  for (const Case& c : kCases) {
    const auto a = random_values<BFloat16>(c.m * c.k, 9);
    const auto b = random_values<BFloat16>(c.k * c.n, 10);
    std::vector<BFloat16> found(static_cast<size_t>(c.m * c.n)), modelled(found.size());
    run(amx_kernels(), problem(c, NarrowType::kBFloat16, a.data(), b.data(), found.data(), false));
    run(amx_kernels_over<ModelTiles>(narrow_kernels()),
        problem(c, NarrowType::kBFloat16, a.data(), b.data(), modelled.data(), false));
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].x, modelled[i].x) << c.m << "x" << c.k << "x" << c.n << " at " << i;
    }
  }
}

// What the model itself does, on one word: tile 0 += tile 4 * tile 6.
float modelled_word(float sum, uint16_t a0, uint16_t a1, uint16_t b0, uint16_t b1) {
  ModelTiles::configure(amx_config(16));
  float sums[16][16] = {{sum}};
  uint16_t a[16][32] = {{a0, a1}}, b[16][32] = {{b0, b1}};
  ModelTiles::load<0>(sums, 64);
  ModelTiles::load<4>(a, 64);
  ModelTiles::load<6>(b, 64);
  ModelTiles::dot_bfloat16<0, 4, 6>();
  ModelTiles::store<0>(sums, 64);
  ModelTiles::release();
  return sums[0][0];
}

TEST(AmxModel, FlushesSubnormals) {
  constexpr uint16_t kOne = 0x3F80, kSubnormal = 0x0001, kSmallest = 0x0080, kHalf = 0x3F00;
  EXPECT_EQ(modelled_word(0.5f, kOne, kOne, kOne, kOne), 2.5f);
  EXPECT_EQ(modelled_word(0.0f, kSubnormal, 0, kOne, 0), 0.0f);
  EXPECT_EQ(modelled_word(0.0f, kSmallest, 0, kHalf, 0), 0.0f);
  EXPECT_EQ(modelled_word(0.0f, kSmallest, 0, kOne, 0), std::numeric_limits<float>::min());
  EXPECT_EQ(modelled_word(std::numeric_limits<float>::denorm_min(), 0, 0, 0, 0), 0.0f);
}

TEST(AmxModel, AddsTheSumsOfAWordBeforeWhatWasThere) {
  // 2^24 + (1 + 1) is exact; (2^24 + 1) + 1 would stay 2^24.
  EXPECT_EQ(modelled_word(16777216.0f, 0x3F80, 0x3F80, 0x3F80, 0x3F80), 16777218.0f);
}

TEST(AmxModel, CountsWhatTheProcessorRefuses) {
  const int before = ModelTiles::faults;
  ModelTiles::release();
  ModelTiles::zero<0>();
  EXPECT_EQ(ModelTiles::faults, before + 1);
  ModelTiles::configure(amx_config(20));  // tile 2 has 4 rows, tile 4 has 16
  ModelTiles::dot_int8<2, 4, 6>();
  EXPECT_EQ(ModelTiles::faults, before + 2);
  ModelTiles::release();
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
