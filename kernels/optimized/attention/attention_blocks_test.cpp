// SPDX-License-Identifier: BSD-3-Clause
// On every instruction set: attention beside its definition, of rows wherever they lie.
#include <executorch/kernels/optimized/attention/attention_blocks.h>
#include <executorch/kernels/optimized/gemm/every_target.h>
#include <executorch/runtime/core/memory_allocator.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using executorch::kernels::optimized::attend;
using executorch::kernels::optimized::attend_side_by_side;
using executorch::kernels::optimized::AttentionProblem;
using executorch::kernels::optimized::AttentionRows;
using executorch::kernels::optimized::Epilogue;
using executorch::kernels::optimized::on_every_target;
using executorch::kernels::optimized::Scores;
using executorch::kernels::optimized::ScoreStep;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

enum class Order { kHeads, kRows, kColumns };  // [batch, heads, rows, depth]; rows first; keys last

struct Case {
  int64_t batch, heads, queries, keys, depth, value_depth;
  Order order;
  float scale;
};

// One block of keys and several, queries that are read in place and scaled, few queries, and sizes
// that fill no tile.
constexpr Case kCases[] = {
    {1, 1, 1, 1, 1, 1, Order::kHeads, 1.0f},     {2, 3, 9, 17, 20, 24, Order::kHeads, 1.0f},
    {2, 3, 9, 17, 20, 24, Order::kRows, 0.5f},   {1, 2, 50, 289, 16, 33, Order::kRows, 1.0f},
    {1, 2, 33, 700, 8, 48, Order::kHeads, 0.3f}, {2, 2, 40, 300, 24, 64, Order::kColumns, 1.0f},
    {1, 4, 3, 500, 16, 16, Order::kRows, 0.5f},  {1, 3, 5, 49, 32, 32, Order::kColumns, 0.5f},
    {3, 2, 260, 49, 7, 5, Order::kRows, 1.0f},
};

std::vector<float> drawn(int64_t size, float step) {
  std::vector<float> values(static_cast<size_t>(size));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(step * static_cast<float>(i + 1));
  }
  return values;
}

AttentionRows rows_of(const Case& c, int64_t rows, int64_t depth, const float* data) {
  AttentionRows found;
  const bool by_row = c.order == Order::kRows;
  found.data = data;
  found.batch_stride = c.heads * rows * depth;
  found.head_stride = by_row ? depth : rows * depth;
  found.row_stride = by_row ? c.heads * depth : depth;
  return found;
}

size_t place_of(const AttentionRows& rows, int64_t batch, int64_t head, int64_t row) {
  return static_cast<size_t>(batch * rows.batch_stride + head * rows.head_stride +
                             row * rows.row_stride);
}

// A number for each head, query and key.
float bias_at(int64_t matrix, int64_t query, int64_t key) {
  return static_cast<float>((matrix * 5 + query * 3 + key * 7) % 11) - (key % 13 == 5 ? 200 : 5);
}

class Biases final : public ScoreStep {
 public:
  explicit Biases(int64_t heads) : heads_(heads) {}
  void apply(const Scores& s) const override {
    for (int64_t i = 0; i < s.rows.size(); ++i) {
      for (int64_t j = 0; j < s.keys.size(); ++j) {
        s.data[i * s.stride + j] +=
            bias_at(s.batch * heads_ + s.key_head, s.rows.begin + i, s.keys.begin + j);
      }
    }
  }

 private:
  int64_t heads_;
};

// Adds the number of the row, where the piece lies.
class Numbers final : public Epilogue {
 public:
  void finish(const Piece& piece) const override {
    for (int64_t row = piece.m_begin; row < piece.m_end; ++row) {
      for (int64_t column = 0; column < piece.n_end; ++column) {
        piece.data[(row - piece.m_begin) * piece.stride + column] += static_cast<float>(row);
      }
    }
  }
};

class AttendTest : public ::testing::TestWithParam<Case> {};

TEST_P(AttendTest, EqualsItsDefinition) {
  const Case& c = GetParam();
  const auto matrices = c.batch * c.heads;
  const auto query = drawn(matrices * c.queries * c.depth, 0.37f);
  const auto key = drawn(matrices * c.keys * c.depth, 0.91f);
  const auto value = drawn(matrices * c.keys * c.value_depth, 0.53f);
  std::vector<float> out(static_cast<size_t>(matrices * c.queries * c.value_depth));
  const Biases biases(c.heads);
  const Numbers numbers;
  AttentionProblem p;
  p.batch = c.batch;
  p.heads = p.key_heads = c.heads;
  p.queries = c.queries;
  p.keys = c.keys;
  p.depth = c.depth;
  p.value_depth = c.value_depth;
  p.scale = c.scale;
  p.step = &biases;
  p.epilogue = &numbers;
  p.query = rows_of(c, c.queries, c.depth, query.data());
  p.key = rows_of(c, c.keys, c.depth, key.data());
  p.value = rows_of(c, c.keys, c.value_depth, value.data());
  p.out = rows_of(c, c.queries, c.value_depth, out.data());
  p.keys_in_columns = c.order == Order::kColumns;
  p.key.row_stride = p.keys_in_columns ? c.keys : p.key.row_stride;
  const auto key_at = [&](int64_t batch, int64_t head, int64_t row, int64_t i) {
    const size_t first = place_of(p.key, batch, head, p.keys_in_columns ? i : row);
    return key[first + static_cast<size_t>(p.keys_in_columns ? row : i)];
  };
  std::vector<uint8_t> memory(16 << 20);
  on_every_target([&] {
    MemoryAllocator allocator(static_cast<uint32_t>(memory.size()), memory.data());
    KernelRuntimeContext context(nullptr, &allocator);
    std::fill(out.begin(), out.end(), -1.0f);
    ASSERT_EQ(attend(context, p), Error::Ok);
    for (int64_t m = 0; m < matrices; ++m) {
      const int64_t batch = m / c.heads, head = m % c.heads;
      for (int64_t q = 0; q < c.queries; ++q) {
        std::vector<double> weights(static_cast<size_t>(c.keys));
        double total = 0;
        for (int64_t k = 0; k < c.keys; ++k) {
          double score = 0;
          for (int64_t i = 0; i < c.depth; ++i) {
            score += static_cast<double>(
                         query[place_of(p.query, batch, head, q) + static_cast<size_t>(i)]) *
                     key_at(batch, head, k, i);
          }
          weights[static_cast<size_t>(k)] =
              std::exp(c.scale * score + static_cast<double>(bias_at(m, q, k)));
          total += weights[static_cast<size_t>(k)];
        }
        for (int64_t i = 0; i < c.value_depth; ++i) {
          double expected = static_cast<double>(m * c.queries + q);
          for (int64_t k = 0; k < c.keys; ++k) {
            expected += weights[static_cast<size_t>(k)] / total *
                        value[place_of(p.value, batch, head, k) + static_cast<size_t>(i)];
          }
          ASSERT_NEAR(out[place_of(p.out, batch, head, q) + static_cast<size_t>(i)], expected,
                      2e-6 * (expected + 10.0))
              << "matrix " << m << ", query " << q << ", column " << i;
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, AttendTest, ::testing::ValuesIn(kCases));

// Problems of other sizes, one of them empty.
TEST(AttendSideBySide, GivesTheBitsOfEachAlone) {
  struct Sizes {
    int64_t heads, queries, keys, depth;
  };
  constexpr Sizes kSizes[] = {{4, 1, 300, 16}, {2, 3, 40, 24}, {1, 0, 9, 8},
                              {6, 2, 7, 32},   {1, 5, 70, 8},  {3, 1, 1, 40}};
  std::vector<std::vector<float>> rows, alone, together;
  std::vector<AttentionProblem> problems;
  for (const Sizes& size : kSizes) {
    const Case c{1,          size.heads, size.queries, size.keys,
                 size.depth, size.depth, Order::kRows, 0.5f};
    rows.push_back(drawn(size.heads * (size.queries + 2 * size.keys) * size.depth, 0.37f));
    const float* const key = rows.back().data() + size.heads * size.queries * size.depth;
    alone.emplace_back(static_cast<size_t>(size.heads * size.queries * size.depth), -1.0f);
    AttentionProblem p;
    p.batch = 1;
    p.heads = p.key_heads = size.heads;
    p.queries = size.queries;
    p.keys = size.keys;
    p.depth = p.value_depth = size.depth;
    p.scale = c.scale;
    p.query = rows_of(c, size.queries, size.depth, rows.back().data());
    p.key = rows_of(c, size.keys, size.depth, key);
    p.value = rows_of(c, size.keys, size.depth, key + size.heads * size.keys * size.depth);
    p.out = rows_of(c, size.queries, size.depth, nullptr);
    problems.push_back(p);
  }
  together = alone;
  std::vector<uint8_t> memory(16 << 20);
  on_every_target([&] {
    for (size_t i = 0; i < problems.size(); ++i) {
      MemoryAllocator allocator(static_cast<uint32_t>(memory.size()), memory.data());
      KernelRuntimeContext context(nullptr, &allocator);
      problems[i].out.data = alone[i].data();
      ASSERT_EQ(attend(context, problems[i]), Error::Ok);
      problems[i].out.data = together[i].data();
      std::fill(together[i].begin(), together[i].end(), -1.0f);
    }
    MemoryAllocator allocator(static_cast<uint32_t>(memory.size()), memory.data());
    KernelRuntimeContext context(nullptr, &allocator);
    ASSERT_EQ(attend_side_by_side(context, {problems.data(), problems.size()}), Error::Ok);
    EXPECT_EQ(together, alone);
    MemoryAllocator small(64, memory.data());
    KernelRuntimeContext without_memory(nullptr, &small);
    EXPECT_EQ(attend_side_by_side(without_memory, {problems.data(), problems.size()}),
              Error::MemoryAllocationFailed);
  });
}

}  // namespace
