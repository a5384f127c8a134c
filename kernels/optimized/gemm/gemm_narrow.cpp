// SPDX-License-Identifier: BSD-3-Clause
// Cache blocking and threads around the tiles of gemm_narrow_simd.cpp: as gemm.cpp. bfloat16 sums
// are kept in an f32 stage of one block of C until k is done, then rounded; int32 sums lie in C.
#include <algorithm>

#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_narrow_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>

namespace executorch::kernels::optimized {

using executorch::aten::ScalarType;
using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kBlockWords = 512;  // along k
constexpr int64_t kBlockRows = 256;
constexpr int64_t kBlockPanels = 4;
constexpr size_t kAlignment = 64;

// What a thread works with.
struct Work {
  const NarrowKernels& kernels;
  const NarrowTypeKernels& of_type;
  const NarrowGemm& g;
  int64_t value_bytes;
  int64_t width;     // columns of a panel
  uint32_t* panels;  // kBlockPanels of kBlockWords
  float* stage;      // bfloat16: the sums of kBlockRows x kBlockPanels panels
};

// A block of C, and of k in values.
struct Block {
  int64_t m_begin, m_end, n_begin, n_end, k_begin, k_end;
};

// Where the sums of a block are kept, `stride` of them apart.
struct SumMatrix {
  void* data;
  int64_t stride;

  void* at(int64_t i, int64_t j) const {
    return static_cast<uint8_t*>(data) + (i * stride + j) * 4;
  }
};

bool is_staged(const NarrowGemm& g) {
  return g.type == NarrowType::kBFloat16;
}

SumMatrix sums_of(const Work& w, const Block& block) {
  if (is_staged(w.g)) {
    return {w.stage, w.g.c_transposed ? kBlockRows : kBlockPanels * w.width};
  }
  return {static_cast<int32_t*>(w.g.c) + block.m_begin * w.g.ldc + block.n_begin, w.g.ldc};
}

void pack(const Work& w, const Block& block) {
  const NarrowGemm& g = w.g;
  const int64_t words = div_up((block.k_end - block.k_begin) * w.value_bytes, 4);
  NarrowPanel panel;
  panel.stride = g.ldb * w.value_bytes;
  panel.values = block.k_end - block.k_begin;
  panel.width = w.width;
  uint32_t* out = w.panels;
  for (int64_t j = block.n_begin; j < block.n_end; j += w.width, out += words * w.width) {
    const int64_t first = g.b_in_columns ? j * g.ldb + block.k_begin : block.k_begin * g.ldb + j;
    panel.b = static_cast<const uint8_t*>(g.b) + first * w.value_bytes;
    panel.cols = std::min(w.width, block.n_end - j);
    g.b_in_columns ? w.of_type.pack_columns(panel, out) : w.of_type.pack_rows(panel, out);
  }
}

// The rows of a block times the panel of columns from j on. `offsets`: see NarrowKernels.
void multiply_panel(const Work& w, const Block& block, int64_t j, const uint32_t* panel,
                    const int32_t* offsets) {
  const NarrowGemm& g = w.g;
  const int64_t cols = std::min(w.width, block.n_end - j);
  const int64_t vectors = div_up(cols, w.kernels.lanes);
  const int64_t per_word = 4 / w.value_bytes;
  const bool first = block.k_begin == 0;
  const bool biased = first && !g.accumulate;
  const SumMatrix sums = sums_of(w, block);
  alignas(kAlignment) float turned[kMaxTileRows * kMaxTileWidth];
  NarrowTile tile = {};
  tile.words = (block.k_end - block.k_begin) / per_word;
  tile.rest = (block.k_end - block.k_begin) % per_word;
  tile.a_stride = g.lda * w.value_bytes;
  tile.b = panel;
  tile.width = w.width;
  tile.tail = cols - (vectors - 1) * w.kernels.lanes;
  tile.accumulate = !biased && !g.c_transposed;
  tile.col_start = biased && g.col_bias != nullptr ? g.col_bias + j : nullptr;
  tile.ldc = g.c_transposed ? kMaxTileWidth : sums.stride;
  for (int64_t i = block.m_begin; i < block.m_end; i += w.kernels.tile_rows) {
    const int64_t rows = std::min(w.kernels.tile_rows, block.m_end - i);
    const int64_t row = i - block.m_begin;
    const int64_t col = j - block.n_begin;
    tile.a = static_cast<const uint8_t*>(g.a) + (i * g.lda + block.k_begin) * w.value_bytes;
    tile.row_start = biased && g.row_bias != nullptr ? g.row_bias + i : nullptr;
    if (offsets != nullptr) {
      tile.row_start = offsets + row;
    }
    tile.c = g.c_transposed ? turned : sums.at(row, col);
    w.of_type.tile[rows - 1][vectors - 1](tile);
    if (g.c_transposed) {
      gemm_kernels().transpose(turned, kMaxTileWidth, rows, cols,
                               static_cast<float*>(sums.at(col, row)), sums.stride, !biased);
    }
  }
}

void multiply_block(const Work& w, const Block& block) {
  int32_t offsets[kBlockRows];
  const bool has_offsets = w.g.type == NarrowType::kInt8 && block.k_begin == 0;
  if (has_offsets) {
    w.kernels.offsets(static_cast<const int8_t*>(w.g.a) + block.m_begin * w.g.lda, w.g.lda,
                      block.m_end - block.m_begin, w.g.k, offsets);
  }
  const int64_t words = div_up((block.k_end - block.k_begin) * w.value_bytes, 4);
  const uint32_t* panel = w.panels;
  for (int64_t j = block.n_begin; j < block.n_end; j += w.width, panel += words * w.width) {
    multiply_panel(w, block, j, panel, has_offsets ? offsets : nullptr);
  }
}

// Between the stage and C, a row of C at a time.
void move_stage(const Work& w, const Block& block, bool to_c) {
  const NarrowGemm& g = w.g;
  const SumMatrix sums = sums_of(w, block);
  const int64_t rows = block.m_end - block.m_begin;
  const int64_t cols = block.n_end - block.n_begin;
  const int64_t lines = g.c_transposed ? cols : rows;
  const int64_t length = g.c_transposed ? rows : cols;
  const int64_t begin = g.c_transposed ? block.n_begin * g.ldc + block.m_begin
                                       : block.m_begin * g.ldc + block.n_begin;
  for (int64_t i = 0; i < lines; ++i) {
    auto* c = static_cast<uint16_t*>(g.c) + begin + i * g.ldc;
    auto* line = static_cast<float*>(sums.at(i, 0));
    to_c ? narrow(ScalarType::BFloat16, line, c, length)
         : widen(ScalarType::BFloat16, c, line, length);
  }
}

// All of k for some rows and the columns of one set of panels. The panels are packed anew unless
// they are those of the rows before.
void multiply_rows(const Work& w, Block block, int64_t k_step, bool packed) {
  if (is_staged(w.g) && w.g.accumulate) {
    move_stage(w, block, /*to_c=*/false);
  }
  for (int64_t k = 0; k == 0 || k < w.g.k; k += k_step) {
    block.k_begin = k;
    block.k_end = std::min(k + k_step, w.g.k);
    if (!packed) {
      pack(w, block);
    }
    multiply_block(w, block);
  }
  if (is_staged(w.g)) {
    move_stage(w, block, /*to_c=*/true);
  }
}

void multiply_rectangle(const Work& w, const Rectangle& r) {
  const int64_t per_word = 4 / w.value_bytes;
  const int64_t words = std::max<int64_t>(1, div_up(w.g.k, per_word));
  const int64_t k_blocks = div_up(words, kBlockWords);
  const int64_t k_step = div_up(words, k_blocks) * per_word;
  const int64_t n_step = kBlockPanels * w.width;
  for (int64_t n = r.n_begin; n < r.n_end; n += n_step) {
    for (int64_t m = r.m_begin; m < r.m_end; m += kBlockRows) {
      const Block block{m, std::min(m + kBlockRows, r.m_end), n, std::min(n + n_step, r.n_end), 0,
                        0};
      multiply_rows(w, block, k_step, k_blocks == 1 && m != r.m_begin);
    }
  }
}

}  // namespace

bool has_bfloat16_products() {
  return narrow_kernels().bfloat16.tile[0][0] != nullptr;
}

Error gemm_narrow(runtime::KernelRuntimeContext& ctx, int64_t batch,
                  runtime::FunctionRef<NarrowGemm(int64_t)> problem) {
  if (batch <= 0) {
    return Error::Ok;
  }
  const NarrowKernels& kernels = narrow_kernels();
  const NarrowGemm shape = problem(0);
  if (shape.m <= 0 || shape.n <= 0) {
    return Error::Ok;
  }
  const bool staged = is_staged(shape);
  const int64_t value_bytes = staged ? 2 : 1;
  const int64_t width = kTileVectors * kernels.lanes;
  const int64_t words = std::max<int64_t>(1, div_up(shape.k * value_bytes, 4));
  const int64_t work = shape.m * shape.n * words;
  const Split split =
      split_product(shape.m, shape.n, kernels.tile_rows, width, parts_per_product(work, batch));
  const int64_t tasks = batch * split.parts();
  const int64_t grain =
      std::max<int64_t>(1, kMinWorkPerTask / std::max<int64_t>(1, work / split.parts()));
  const int64_t block_cols = std::min(kBlockPanels, div_up(shape.n, width)) * width;
  const int64_t panel_words = block_cols * std::min(kBlockWords, words);
  const int64_t stage_words = staged ? kBlockRows * kBlockPanels * width : 0;
  const int64_t per_thread = panel_words + stage_words;
  const int64_t threads = std::min(get_num_threads(), tasks);
  auto memory =
      ctx.allocate_temp(static_cast<size_t>(threads * per_thread) * sizeof(uint32_t), kAlignment);
  if (!memory.ok()) {
    return memory.error();
  }
  auto* scratch = static_cast<uint32_t*>(memory.get());
  parallel_for(0, tasks, grain, [&](int64_t first, int64_t last) {
    uint32_t* own = scratch + get_thread_num() * per_thread;
    for (int64_t task = first; task < last; ++task) {
      const NarrowGemm g = problem(task / split.parts());
      const Work w{kernels, staged ? kernels.bfloat16 : kernels.int8,   g, value_bytes, width,
                   own,     reinterpret_cast<float*>(own + panel_words)};
      multiply_rectangle(w, part_of(split, task % split.parts(), g.m, g.n));
    }
  });
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
