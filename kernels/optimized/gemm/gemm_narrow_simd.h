// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of gemm_narrow.cpp, one set per instruction set. Both types are multiplied in
// words of 32 bits along k: 2 bfloat16 or 4 int8, which are multiplied and added to one 32-bit sum.
#pragma once

#include <cstdint>

#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>

namespace executorch::kernels::optimized {

// One tile of sums: `rows` by `cols`, at most NarrowKernels::tile_rows by panel_width.
struct NarrowTile {
  int64_t rows, cols;
  int64_t words;  // along k, a whole number of steps
  int64_t rest;   // values of A after them, less than a step
  const uint8_t* a;
  int64_t a_stride;       // bytes between rows
  const uint8_t* a_last;  // where a step is several words: the rest of A, a step a row, then 0
  const uint32_t* b;      // panel: `width` words, then those of the next k
  int64_t width;
  void* c;  // f32 or int32
  int64_t ldc;
  bool accumulate;        // start from what C holds
  const void* col_start;  // else from one sum a column; nullptr: from 0
  const void* row_start;  // added to the start: one sum a row, or nullptr
};

// Where a panel of B comes from: `values` along k by `cols`, both within the matrix.
struct NarrowPanel {
  const uint8_t* b;
  int64_t stride;  // bytes between rows (or columns)
  int64_t values;
  int64_t cols;
  int64_t width;  // words between rows of the panel
  uint32_t flip;  // applied to every word by exclusive or
};

struct NarrowTypeKernels {
  void (*tile)(const NarrowTile& tile);  // nullptr when the processor cannot
  // Write div_up(values, values of a word) rows, the last word filled up with 0 before the flip;
  // what lies past `cols` is left undefined.
  void (*pack_rows)(const NarrowPanel& panel, uint32_t* out);
  void (*pack_columns)(const NarrowPanel& panel, uint32_t* out);
  // Puts a packed panel, `words` (whole steps) by `width`, into the order of `tile`, or nullptr.
  void (*arrange)(uint32_t* panel, int64_t words, int64_t width);
  uint32_t flip;  // what `tile` expects of B
};

struct NarrowKernels {
  bool has_int8_dots;  // by an instruction
  int64_t tile_rows;
  int64_t panel_width;  // words in a row of a panel, at most kMaxTileWidth
  int64_t step_words;   // what an instruction takes along k; panels are filled up with rows of 0
  int64_t block_words;  // along k, of a set of panels: a whole number of steps
  int64_t block_panels;
  NarrowTypeKernels bfloat16;
  NarrowTypeKernels int8;
  // out[i] = what flipping B adds to every sum of row i of A, negated. nullptr: B is not flipped.
  void (*offsets)(const int8_t* a, int64_t a_stride, int64_t rows, int64_t k, int32_t* out);
  // Columns [n_begin, n_end) of an int8 matmul with at most kMaxFewRows rows of A and B in rows,
  // which is read in place. nullptr: such matmuls are packed like others.
  void (*few_rows)(const NarrowGemm& g, int64_t n_begin, int64_t n_end);
  // Around a thread's use of the tiles, or nullptr.
  void (*begin)();
  void (*end)();
};

constexpr int64_t kMaxNarrowTile = 1024;  // sums
constexpr int64_t kMaxFewRows = 4;
constexpr int64_t kFewRowsColumns = 256;  // of a call of few_rows, to read whole lines of B

// Vector loops of the processor; chosen at every call, so that tests can go through all
// instruction sets.
const NarrowKernels& narrow_kernels();

// gemm_narrow() with given loops.
[[nodiscard]] runtime::Error gemm_narrow_with(const NarrowKernels& kernels,
                                              runtime::KernelRuntimeContext& ctx, int64_t batch,
                                              runtime::FunctionRef<NarrowGemm(int64_t)> problem);

}  // namespace executorch::kernels::optimized
