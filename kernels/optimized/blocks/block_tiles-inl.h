// SPDX-License-Identifier: BSD-3-Clause
// Many rows by panels on AMX, and what is fetched meanwhile. Included once per target, as
// simd_math-inl.h is.
#if defined(EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_TILES_INL_H_
#undef EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_TILES_INL_H_
#else
#define EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_TILES_INL_H_
#endif

#include <executorch/kernels/optimized/blocks/block_rows-inl.h>
#include <executorch/kernels/optimized/gemm/amx_tiles.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kLine = 64;

// Of what is unpacked next, the part that a tile has fetched, two lines at a time.
struct Fetch {
  const uint8_t* line = nullptr;
  const uint8_t* end = nullptr;

  HWY_INLINE void step() {
    if (line < end) {
      __builtin_prefetch(line);
      __builtin_prefetch(line + kLine);
      line += kStep;
    }
  }

  static constexpr int64_t kStep = 2 * kLine;
};

#undef ET_BLOCKS_ON_TILES
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL && defined(ET_HAS_TILE_INSTRUCTIONS)
#define ET_BLOCKS_ON_TILES 1

// Products of 16 rows of int8 and a panel of int4 on AMX. Codes of a panel lie as a tile has them.
// Sums of a block become floats while those of the next are multiplied. Other formats multiply each
// sum by two scales and add a minimum: with that, vectors alone were faster (0.85 of the time).
class OnTiles {
 public:
  static bool suits(const BlockMatrix& matrix) { return matrix.format == kInt4Format && has_amx(); }

  explicit OnTiles(const ManyRows& call)
      : call_(call), columns_(call.matrix.int4_units % 2 == 0 ? 2 * kUnit : kUnit) {}

  void run() const {
    const int64_t rows = call_.x.rows, whole = rows / kAmxRows * kAmxRows;
    if (whole > 0) {
      configure(kAmxRows);
    }
    for (int64_t row = 0; row < whole; row += kAmxRows) {
      multiply_rows(row, kAmxRows);
    }
    if (whole < rows) {
      configure(rows - whole);
      multiply_rows(whole, rows - whole);
    }
    ProcessorTiles::release();
  }

 private:
  using Sums = int32_t[kAmxRows][kPanelRows];
  using Totals = VF[kAmxRows];

  // Sums of two blocks: 0 and 1. Activations and codes: 2 and 3.
  void configure(int64_t rows) const {
    AmxConfig config;
    for (int tile = 0; tile < 4; ++tile) {
      config.rows[tile] = static_cast<uint8_t>(tile == 3 ? columns_ / 4 : rows);
      config.row_bytes[tile] = static_cast<uint16_t>(tile == 2 ? columns_ : kAmxRowBytes);
    }
    ProcessorTiles::configure(config);
  }

  void multiply_rows(int64_t first, int64_t rows) const {
    const int64_t tiles = (call_.x.rows + kAmxRows - 1) / kAmxRows;
    const int64_t bytes = (call_.next_bytes / tiles / Fetch::kStep + 1) * Fetch::kStep;
    for (int64_t i = 0; i < call_.count; ++i) {
      Fetch fetch;
      if (call_.next[i] != nullptr) {
        fetch.line = call_.next[i] + first / kAmxRows * bytes;
        fetch.end = std::min(fetch.line + bytes, call_.next[i] + call_.next_bytes);
      }
      multiply_panel(first, rows, call_.panels[i],
                     call_.out + first * call_.out_stride + i * kPanelRows, fetch);
    }
  }

  void multiply_panel(int64_t first, int64_t rows, const UnpackedPanel& panel, float* out,
                      Fetch fetch) const {
    alignas(64) Sums sums[2] = {};
    Totals totals;
#pragma GCC unroll 16
    for (int64_t r = 0; r < kAmxRows; ++r) {
      totals[r] =
          call_.add && r < rows ? hn::LoadU(DF(), out + r * call_.out_stride) : hn::Zero(DF());
    }
    const int64_t blocks = call_.units / call_.matrix.int4_units;
    multiply<0>(first, 0, panel, sums[0]);
    for (int64_t block = 0; block < blocks; ++block) {
      if (block + 1 < blocks) {
        block % 2 == 0 ? multiply<1>(first, block + 1, panel, sums[1])
                       : multiply<0>(first, block + 1, panel, sums[0]);
      }
      scale(block, panel, sums[block % 2], totals);
      fetch.step();
      fetch.step();
    }
    while (fetch.line < fetch.end) {
      fetch.step();
    }
#pragma GCC unroll 16
    for (int64_t r = 0; r < kAmxRows; ++r) {
      if (r < rows) {
        hn::StoreU(totals[r], DF(), out + r * call_.out_stride);
      }
    }
  }

  template <int kSums>
  void multiply(int64_t first, int64_t block, const UnpackedPanel& panel, Sums& sums) const {
    const int64_t size = call_.matrix.block_columns(), begin = block * size;
    const int8_t* x = call_.x.codes + first * call_.x.k + call_.first_unit * kUnit;
    ProcessorTiles::zero<kSums>();
    for (int64_t at = begin; at < begin + size; at += columns_) {
      ProcessorTiles::load<2>(x + at, call_.x.k);
      ProcessorTiles::load<3>(panel.codes + at * kPanelRows, kAmxRowBytes);
      ProcessorTiles::dot_int8<kSums, 2, 3>();
    }
    ProcessorTiles::store<kSums>(sums, sizeof(sums[0]));
  }

  HWY_INLINE void scale(int64_t block, const UnpackedPanel& panel, const Sums& sums,
                        Totals& totals) const {
    const VF scale = hn::LoadU(DF(), panel.scales + block * call_.matrix.int4_units * kPanelRows);
#pragma GCC unroll 16
    for (int64_t r = 0; r < kAmxRows; ++r) {
      totals[r] = hn::MulAdd(hn::ConvertTo(DF(), hn::LoadU(DI(), sums[r])), scale, totals[r]);
    }
  }

  const ManyRows& call_;
  const int64_t columns_;  // of a tile of activations
};
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#endif  // EXECUTORCH_KERNELS_OPTIMIZED_BLOCK_TILES_INL_H_
