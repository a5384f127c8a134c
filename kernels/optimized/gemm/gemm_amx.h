// SPDX-License-Identifier: BSD-3-Clause
// Loops of gemm_narrow.cpp over AMX tiles, written against a tile file: the processor's
// (gemm_amx.cpp) or a model of it (amx_model.h, for tests).
//
// A tile is 16 rows of 64 bytes. 2 x 2 tiles of sums take 32 x 32 values of C; each step along k
// (32 bfloat16, 64 int8) loads 2 tiles of A, in place, and 2 of B, from its panel, for 4 tile
// multiplications: one load of 1 KB per multiplication, none of them packed on the left.
//
// Estimated for Sapphire Rapids, not measured: a tile multiplication takes 16 cycles, a load from
// L1 8, so a step is 64 cycles of multiplications beside 32 of loads (48 if the rows of A are not
// aligned to 64 bytes) and asks for 64 bytes a cycle, half of them from the L1 cache, where a panel
// (32 KB) stays. Sums are read and written once per 16 steps, some 100 cycles in 1024. Expected: 75
// to 85% of peak for large matmuls, less for few rows or short k.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <executorch/kernels/optimized/gemm/gemm_narrow_simd.h>

namespace executorch::kernels::optimized {

constexpr int64_t kAmxRows = 16;      // of a tile
constexpr int64_t kAmxColumns = 16;   // words in a row of a tile
constexpr int64_t kAmxRowBytes = 64;  // of a tile

// The operand of LDTILECFG: the shape of each tile register.
struct alignas(64) AmxConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(AmxConfig) == 64);

// Registers: sums at 2 * i + j for row i and column j of the 2 x 2 tiles; A at 4 + i; B at 6 + j.
constexpr int kAmxA = 4;
constexpr int kAmxB = 6;

// For `rows` of A, 1 to 32. The second row of tiles is whole when there is none, and then unused.
inline AmxConfig amx_config(int64_t rows) {
  const auto upper = static_cast<uint8_t>(rows < kAmxRows ? rows : kAmxRows);
  const auto lower = static_cast<uint8_t>(rows > kAmxRows ? rows - kAmxRows : kAmxRows);
  AmxConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = kAmxRowBytes;
    const bool in_upper = tile == 0 || tile == 1 || tile == kAmxA;
    config.rows[tile] = tile >= kAmxB ? kAmxRows : in_upper ? upper : lower;
  }
  return config;
}

// Sums in memory, as the tiles load and store them.
struct AmxSums {
  const void* from;  // nullptr: 0
  int64_t from_stride;
  void* to;
  int64_t to_stride;  // both in bytes
};

// `Tiles` has static members: configure(config), release(), zero<t>(), load<t>(from, stride),
// store<t>(to, stride), dot_bfloat16<c, a, b>(), dot_int8<c, a, b>().
template <typename Tiles, NarrowType kType, int kRowTiles, int kColTiles>
struct AmxLoop {
  template <int kSum>
  static void start(const AmxSums& sums) {
    if (sums.from == nullptr) {
      Tiles::template zero<kSum>();
      return;
    }
    constexpr int64_t kRow = kSum / 2 * kAmxRows, kColumn = kSum % 2 * kAmxRowBytes;
    Tiles::template load<kSum>(
        static_cast<const uint8_t*>(sums.from) + kRow * sums.from_stride + kColumn,
        sums.from_stride);
  }

  template <int kSum>
  static void finish(const AmxSums& sums) {
    constexpr int64_t kRow = kSum / 2 * kAmxRows, kColumn = kSum % 2 * kAmxRowBytes;
    Tiles::template store<kSum>(static_cast<uint8_t*>(sums.to) + kRow * sums.to_stride + kColumn,
                                sums.to_stride);
  }

  template <int kSum>
  static void dot() {
    constexpr int kLeft = kAmxA + kSum / 2, kRight = kAmxB + kSum % 2;
    if constexpr (kType == NarrowType::kBFloat16) {
      Tiles::template dot_bfloat16<kSum, kLeft, kRight>();
    } else {
      Tiles::template dot_int8<kSum, kLeft, kRight>();
    }
  }

  static void step(const uint8_t* a, int64_t a_stride, const uint32_t* b, int64_t b_stride) {
    Tiles::template load<kAmxA>(a, a_stride);
    Tiles::template load<kAmxB>(b, b_stride);
    dot<0>();
    if constexpr (kColTiles == 2) {
      Tiles::template load<kAmxB + 1>(b + kAmxColumns, b_stride);
      dot<1>();
    }
    if constexpr (kRowTiles == 2) {
      Tiles::template load<kAmxA + 1>(a + kAmxRows * a_stride, a_stride);
      dot<2>();
    }
    if constexpr (kRowTiles == 2 && kColTiles == 2) {
      dot<3>();
    }
  }

  template <typename Body>
  static void for_each_sum(const Body& body) {
    body(std::integral_constant<int, 0>());
    if constexpr (kColTiles == 2) {
      body(std::integral_constant<int, 1>());
    }
    if constexpr (kRowTiles == 2) {
      body(std::integral_constant<int, 2>());
    }
    if constexpr (kRowTiles == 2 && kColTiles == 2) {
      body(std::integral_constant<int, 3>());
    }
  }

  static void run(const NarrowTile& t, const AmxSums& sums) {
    for_each_sum([&](auto sum) { start<decltype(sum)::value>(sums); });
    const int64_t b_stride = t.width * static_cast<int64_t>(sizeof(uint32_t));
    const uint8_t* a = t.a;
    const uint32_t* b = t.b;
    for (int64_t k = 0; k < t.words; k += kAmxRows, a += kAmxRowBytes, b += kAmxRows * t.width) {
      step(a, t.a_stride, b, b_stride);
    }
    if (t.rest != 0) {
      step(t.a_last, kAmxRowBytes, b, b_stride);
    }
    for_each_sum([&](auto sum) { finish<decltype(sum)::value>(sums); });
  }
};

// A block of sums for the tiles that cannot start or end in place: the last columns, and biases of
// rows.
struct alignas(64) AmxBlock {
  uint32_t words[kMaxNarrowTile];
};
constexpr int64_t kAmxBlockColumns = 2 * kAmxColumns;
constexpr int64_t kAmxBlockStride = kAmxBlockColumns * 4;

template <typename Sum>
void fill_amx_block(const NarrowTile& t, AmxBlock& block) {
  const auto* cols = static_cast<const Sum*>(t.col_start);
  const auto* rows = static_cast<const Sum*>(t.row_start);
  for (int64_t i = 0; i < t.rows; ++i) {
    const Sum* line = t.accumulate ? static_cast<const Sum*>(t.c) + i * t.ldc : cols;
    Sum out[kAmxBlockColumns] = {};
    for (int64_t j = 0; j < t.cols; ++j) {
      out[j] = (line != nullptr ? line[j] : Sum(0)) + (rows != nullptr ? rows[i] : Sum(0));
    }
    std::memcpy(block.words + i * kAmxBlockColumns, out, sizeof(out));
  }
}

inline void copy_amx_block(const NarrowTile& t, const AmxBlock& block) {
  auto* out = static_cast<uint32_t*>(t.c);
  for (int64_t i = 0; i < t.rows; ++i) {
    std::memcpy(out + i * t.ldc, block.words + i * kAmxBlockColumns,
                static_cast<size_t>(t.cols) * sizeof(uint32_t));
  }
}

// Tiles are configured for 32 rows between calls.
template <typename Tiles, NarrowType kType>
void amx_tile(const NarrowTile& t) {
  using Sum = std::conditional_t<kType == NarrowType::kBFloat16, float, int32_t>;
  const bool whole_cols = t.cols % kAmxColumns == 0;
  const bool whole_rows = t.rows % kAmxRows == 0;
  const int64_t c_stride = t.ldc * 4;
  AmxBlock block;
  AmxSums sums{nullptr, 0, t.c, c_stride};
  if (t.row_start != nullptr || ((t.accumulate || t.col_start != nullptr) && !whole_cols)) {
    fill_amx_block<Sum>(t, block);
    sums.from = block.words;
    sums.from_stride = kAmxBlockStride;
  } else if (t.accumulate) {
    sums.from = t.c;
    sums.from_stride = c_stride;
  } else {
    sums.from = t.col_start;  // the same row 16 times
  }
  if (!whole_cols) {
    sums.to = block.words;
    sums.to_stride = kAmxBlockStride;
  }
  if (!whole_rows) {
    Tiles::configure(amx_config(t.rows));
  }
  if (t.rows > kAmxRows) {
    t.cols > kAmxColumns ? AmxLoop<Tiles, kType, 2, 2>::run(t, sums)
                         : AmxLoop<Tiles, kType, 2, 1>::run(t, sums);
  } else {
    t.cols > kAmxColumns ? AmxLoop<Tiles, kType, 1, 2>::run(t, sums)
                         : AmxLoop<Tiles, kType, 1, 1>::run(t, sums);
  }
  if (!whole_rows) {
    Tiles::configure(amx_config(2 * kAmxRows));
  }
  if (!whole_cols) {
    copy_amx_block(t, block);
  }
}

// `vectors` packs the panels.
template <typename Tiles>
NarrowKernels amx_kernels_over(const NarrowKernels& vectors) {
  NarrowKernels kernels = {};
  kernels.has_int8_dots = true;
  kernels.tile_rows = 2 * kAmxRows;
  kernels.panel_width = kAmxBlockColumns;
  kernels.step_words = kAmxRows;
  kernels.block_words = 256;  // with 8 panels: 256 KB of B, A and sums each in the L2 cache
  kernels.block_panels = 8;
  kernels.bfloat16 = vectors.bfloat16;
  kernels.bfloat16.tile = &amx_tile<Tiles, NarrowType::kBFloat16>;
  kernels.int8 = vectors.int8;
  kernels.int8.tile = &amx_tile<Tiles, NarrowType::kInt8>;
  kernels.int8.arrange = nullptr;
  kernels.int8.flip = 0;
  kernels.begin = [] { Tiles::configure(amx_config(2 * kAmxRows)); };
  kernels.end = [] { Tiles::release(); };
  return kernels;
}

// True when processor and system let this process use AMX tiles for bfloat16 and int8. The first
// call asks the system for permission.
bool has_amx();

// For tests and benchmarks: as if there were none. Not while kernels run, nor between packing and
// multiplying.
void forbid_amx(bool forbidden);

// Only if has_amx().
NarrowKernels amx_kernels();

}  // namespace executorch::kernels::optimized
