// SPDX-License-Identifier: BSD-3-Clause
// Formats of matrices in blocks: a row of the table per format. A number is scale * (code -
// offset), or scale * code + minimum, with integer codes of a few bits.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

enum class Minima : uint8_t {
  kNone,  // codes are `offset` too high instead
  kHalf,  // f16, added
  kByte,  // 8 unsigned bits times an f16 of 256 columns, subtracted
};

struct BlockFormat {
  int number;  // the one that GGUF gives it, or kNotOfGguf
  const char* name;
  int low_bits;        // of a code: those that lie together first
  int high_bits;       // the rest, or 0
  int group;           // numbers of a row that share a scale: 16 or 32
  bool byte_scales;    // scales are bytes times an f16 of 256 columns; else f16
  bool signed_scales;  // those bytes
  Minima minima;
  int offset;     // what codes are higher than values
  bool is_table;  // codes are places in kTableValues
  // Activations have a scale for each row, which is the caller's to multiply with; blocks are of as
  // many units as the matrix says, and have one scale, bfloat16.
  bool by_rows = false;

  constexpr int units_per_block() const { return byte_scales ? 8 : 1; }  // unless by_rows
  constexpr int groups_per_unit() const { return 32 / group; }
};

constexpr int kNotOfGguf = -1;

constexpr BlockFormat kBlockFormats[] = {
    {2, "Q4_0", 4, 0, 32, false, false, Minima::kNone, 8, false},
    {3, "Q4_1", 4, 0, 32, false, false, Minima::kHalf, 0, false},
    {6, "Q5_0", 4, 1, 32, false, false, Minima::kNone, 16, false},
    {7, "Q5_1", 4, 1, 32, false, false, Minima::kHalf, 0, false},
    {8, "Q8_0", 8, 0, 32, false, false, Minima::kNone, 128, false},
    {10, "Q2_K", 2, 0, 16, true, false, Minima::kByte, 0, false},
    {11, "Q3_K", 2, 1, 16, true, true, Minima::kNone, 4, false},
    {12, "Q4_K", 4, 0, 32, true, false, Minima::kByte, 0, false},
    {13, "Q5_K", 4, 1, 32, true, false, Minima::kByte, 0, false},
    {14, "Q6_K", 4, 2, 16, true, true, Minima::kNone, 32, false},
    {20, "IQ4_NL", 4, 0, 32, false, false, Minima::kNone, 128, true},
    {23, "IQ4_XS", 4, 0, 32, true, true, Minima::kNone, 128, true},
    {kNotOfGguf, "int4", 4, 0, 32, false, false, Minima::kNone, 8, false, true},
};
constexpr int kNumBlockFormats = sizeof(kBlockFormats) / sizeof(kBlockFormats[0]);
constexpr int kInt4Format = kNumBlockFormats - 1;  // the one by rows

// The non-linear values of IQ4, moved up by the offset.
constexpr uint8_t kTableValues[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                      129, 141, 153, 166, 181, 197, 217, 241};

// How rows lie: 16 together are a panel, whose columns go 32 at a time (a unit). In a unit, 4
// columns of the 16 rows are 64 bytes of codes (a quad), so that one instruction multiplies them
// with 4 activations: lane r of the sums belongs to row r.
constexpr int64_t kPanelRows = 16;
constexpr int64_t kUnit = 32;
constexpr int kQuads = 8;  // of a unit
constexpr int64_t kQuadBytes = 4 * kPanelRows;

// A unit: the scales of each group (16 numbers), then its minima, then the low bits of all quads,
// then the high ones. A plane of w bits holds 8 / w quads in 64 bytes, the first in the lowest
// bits. With byte scales, 16 f16 factors, and as many of the minima, precede every 8 units; by
// rows, 16 scales every block.
constexpr int64_t scale_bytes(const BlockFormat& f) {
  return f.by_rows ? 0 : kPanelRows * (f.byte_scales ? f.groups_per_unit() : 2);
}
constexpr int64_t minima_bytes(const BlockFormat& f) {
  return f.minima == Minima::kNone
             ? 0
             : kPanelRows * (f.minima == Minima::kByte ? f.groups_per_unit() : 2);
}
constexpr int64_t plane_bytes(int bits) {
  return kUnit * kPanelRows * bits / 8;
}
constexpr int64_t unit_bytes(const BlockFormat& f) {
  return scale_bytes(f) + minima_bytes(f) + plane_bytes(f.low_bits) + plane_bytes(f.high_bits);
}
constexpr int64_t factor_bytes(const BlockFormat& f) {
  return f.byte_scales || f.by_rows ? 2 * kPanelRows * (f.minima == Minima::kByte ? 2 : 1) : 0;
}
constexpr int64_t block_bytes(const BlockFormat& f, int64_t units) {
  return factor_bytes(f) + units * unit_bytes(f);
}
constexpr int64_t kMaxUnitsOfBlock = 8;

}  // namespace executorch::kernels::optimized
