// SPDX-License-Identifier: BSD-3-Clause
// Cache blocking and threads around the tiles of gemm_narrow_simd.cpp and gemm_amx.cpp: as
// gemm.cpp. bfloat16 sums are kept in an f32 stage of one block of C until k is done, then rounded;
// int32 sums lie in C.
#include <algorithm>
#include <cstring>

#include <executorch/kernels/optimized/convert_simd.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_amx.h>
#include <executorch/kernels/optimized/gemm/gemm_narrow_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>

namespace executorch::kernels::optimized {

using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kBlockRows = 256;
constexpr int64_t kUnfoldedValues = 128;  // along k, of a piece of a panel
constexpr size_t kAlignment = 64;

// What a thread works with.
struct Work {
  const NarrowKernels& kernels;
  const NarrowTypeKernels& of_type;
  const NarrowGemm& g;
  int64_t value_bytes;
  uint32_t* panels;
  uint8_t* a_last;  // kBlockRows steps, if a step has several words
  float* stage;     // bfloat16: the sums of kBlockRows by all columns of the panels

  int64_t per_word() const { return 4 / value_bytes; }
  int64_t width() const { return kernels.panel_width; }
  int64_t per_step() const { return kernels.step_words * per_word(); }
};

// A block of C, and of k in values.
struct Block {
  int64_t m_begin, m_end, n_begin, n_end, k_begin, k_end;

  int64_t values() const { return k_end - k_begin; }
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
    return {w.stage, w.g.c_transposed ? kBlockRows : w.kernels.block_panels * w.width()};
  }
  return {static_cast<int32_t*>(w.g.c) + block.m_begin * w.g.ldc + block.n_begin, w.g.ldc};
}

// Words along k of a panel.
int64_t panel_words(const Work& w, const Block& block) {
  return round_up(div_up(block.values(), w.per_word()), w.kernels.step_words);
}

// The columns of a panel from j on, unfolded a piece at a time.
void pack_unfolded(const Work& w, const Block& block, int64_t j, NarrowPanel panel, uint32_t* out) {
  const NarrowGemm& g = w.g;
  alignas(kAlignment) uint16_t values[kUnfoldedValues * kMaxTileWidth];
  panel.b = reinterpret_cast<const uint8_t*>(values);
  const int64_t stride = g.b_in_columns ? kUnfoldedValues : w.width();
  panel.stride = stride * w.value_bytes;
  for (int64_t k = block.k_begin; k < block.k_end; k += kUnfoldedValues) {
    const int64_t end = std::min(k + kUnfoldedValues, block.k_end);
    panel.values = end - k;
    g.unfold(g, {k, end, j, j + panel.cols, stride}, values);
    g.b_in_columns ? w.of_type.pack_columns(panel, out) : w.of_type.pack_rows(panel, out);
    out += kUnfoldedValues / w.per_word() * w.width();
  }
}

void pack(const Work& w, const Block& block) {
  const NarrowGemm& g = w.g;
  const int64_t words = div_up(block.values(), w.per_word());
  const int64_t padded = panel_words(w, block);
  NarrowPanel panel;
  panel.stride = g.ldb * w.value_bytes;
  panel.values = block.values();
  panel.width = w.width();
  panel.flip = w.of_type.flip;
  uint32_t* out = w.panels;
  for (int64_t j = block.n_begin; j < block.n_end; j += w.width(), out += padded * w.width()) {
    panel.cols = std::min(w.width(), block.n_end - j);
    if (g.unfold != nullptr) {
      pack_unfolded(w, block, j, panel, out);
    } else {
      const int64_t first = g.b_in_columns ? j * g.ldb + block.k_begin : block.k_begin * g.ldb + j;
      panel.b = static_cast<const uint8_t*>(g.b) + first * w.value_bytes;
      g.b_in_columns ? w.of_type.pack_columns(panel, out) : w.of_type.pack_rows(panel, out);
    }
    std::fill(out + words * w.width(), out + padded * w.width(), 0u);
    if (w.of_type.arrange != nullptr) {
      w.of_type.arrange(out, padded, w.width());
    }
  }
}

// What is left of each row of A after whole steps, filled up with 0: neither may a step read past
// the row, nor may what lies there (NaN, say) meet the 0 of the panel.
const uint8_t* pack_last_step(const Work& w, const Block& block) {
  const int64_t rest = block.values() % w.per_step();
  if (w.kernels.step_words == 1 || rest == 0) {
    return nullptr;
  }
  const auto* from = static_cast<const uint8_t*>(w.g.a) +
                     (block.m_begin * w.g.lda + block.k_end - rest) * w.value_bytes;
  const int64_t rest_bytes = rest * w.value_bytes;
  const int64_t step_bytes = w.kernels.step_words * 4;
  uint8_t* out = w.a_last;
  for (int64_t i = block.m_begin; i < block.m_end; ++i, out += step_bytes) {
    std::memcpy(out, from, static_cast<size_t>(rest_bytes));
    std::memset(out + rest_bytes, 0, static_cast<size_t>(step_bytes - rest_bytes));
    from += w.g.lda * w.value_bytes;
  }
  return w.a_last;
}

// What the rows of a block bring to each of its panels.
struct LeftRows {
  const uint8_t* a_last;   // see NarrowTile
  const int32_t* offsets;  // see NarrowKernels
};

NarrowTile first_tile(const Work& w, const Block& block, int64_t j, const uint32_t* panel) {
  const NarrowGemm& g = w.g;
  NarrowTile tile = {};
  tile.cols = std::min(w.width(), block.n_end - j);
  tile.rest = block.values() % w.per_step();
  tile.words = (block.values() - tile.rest) / w.per_word();
  tile.a_stride = g.lda * w.value_bytes;
  tile.b = panel;
  tile.width = w.width();
  return tile;
}

// The rows of a block times the panel of columns from j on.
void multiply_panel(const Work& w, const Block& block, int64_t j, const uint32_t* panel,
                    const LeftRows& left) {
  const NarrowGemm& g = w.g;
  const bool biased = block.k_begin == 0 && !g.accumulate;
  const SumMatrix sums = sums_of(w, block);
  const int64_t col = j - block.n_begin;
  alignas(kAlignment) float turned[kMaxNarrowTile];
  NarrowTile tile = first_tile(w, block, j, panel);
  tile.accumulate = !biased && !g.c_transposed;
  tile.col_start = biased && g.col_bias != nullptr ? g.col_bias + j : nullptr;
  tile.ldc = g.c_transposed ? w.width() : sums.stride;
  for (int64_t i = block.m_begin; i < block.m_end; i += w.kernels.tile_rows) {
    const int64_t row = i - block.m_begin;
    tile.rows = std::min(w.kernels.tile_rows, block.m_end - i);
    tile.a = static_cast<const uint8_t*>(g.a) + (i * g.lda + block.k_begin) * w.value_bytes;
    if (left.a_last != nullptr) {
      tile.a_last = left.a_last + row * w.kernels.step_words * 4;
    }
    tile.row_start = biased && g.row_bias != nullptr ? g.row_bias + i : nullptr;
    if (left.offsets != nullptr) {
      tile.row_start = left.offsets + row;
    }
    tile.c = g.c_transposed ? turned : sums.at(row, col);
    w.of_type.tile(tile);
    if (g.c_transposed) {
      gemm_kernels().transpose(turned, w.width(), tile.rows, tile.cols,
                               static_cast<float*>(sums.at(col, row)), sums.stride, !biased);
    }
  }
}

void multiply_block(const Work& w, const Block& block) {
  int32_t offsets[kBlockRows];
  LeftRows left{pack_last_step(w, block), nullptr};
  if (w.of_type.flip != 0 && block.k_begin == 0) {
    w.kernels.offsets(static_cast<const int8_t*>(w.g.a) + block.m_begin * w.g.lda, w.g.lda,
                      block.m_end - block.m_begin, w.g.k, offsets);
    left.offsets = offsets;
  }
  const int64_t panel_size = panel_words(w, block) * w.width();
  const uint32_t* panel = w.panels;
  for (int64_t j = block.n_begin; j < block.n_end; j += w.width(), panel += panel_size) {
    multiply_panel(w, block, j, panel, left);
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
    auto* line = static_cast<float*>(sums.at(i, 0));
    if (g.c_is_f32) {
      float* c = static_cast<float*>(g.c) + begin + i * g.ldc;
      to_c ? std::copy_n(line, length, c) : std::copy_n(c, length, line);
      continue;
    }
    auto* c = static_cast<uint16_t*>(g.c) + begin + i * g.ldc;
    to_c ? narrow_values(/*is_half=*/false, line, c, length)
         : widen_values(/*is_half=*/false, c, line, length);
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
  const int64_t words = std::max<int64_t>(1, div_up(w.g.k, w.per_word()));
  const int64_t k_blocks = div_up(words, w.kernels.block_words);
  const int64_t k_step = round_up(div_up(words, k_blocks), w.kernels.step_words) * w.per_word();
  const int64_t n_step = w.kernels.block_panels * w.width();
  for (int64_t n = r.n_begin; n < r.n_end; n += n_step) {
    for (int64_t m = r.m_begin; m < r.m_end; m += kBlockRows) {
      const Block block{m, std::min(m + kBlockRows, r.m_end), n, std::min(n + n_step, r.n_end), 0,
                        0};
      multiply_rows(w, block, k_step, k_blocks == 1 && m != r.m_begin);
    }
  }
}

// Words of scratch memory of a thread, in the order they lie.
struct Scratch {
  int64_t panels, a_last, stage;

  int64_t total() const { return panels + a_last + stage; }
};

Scratch scratch_of(const NarrowKernels& kernels, const NarrowGemm& g, int64_t words) {
  const int64_t panels = std::min(kernels.block_panels, div_up(g.n, kernels.panel_width));
  const int64_t panel_words = std::min(kernels.block_words, round_up(words, kernels.step_words));
  return {panels * kernels.panel_width * panel_words,
          kernels.step_words > 1 ? kBlockRows * kernels.step_words : 0,
          is_staged(g) ? kBlockRows * kernels.block_panels * kernels.panel_width : 0};
}

void run_task(const Work& w, const Rectangle& part) {
  if (w.kernels.begin != nullptr) {
    w.kernels.begin();
  }
  multiply_rectangle(w, part);
  if (w.kernels.end != nullptr) {
    w.kernels.end();
  }
}

bool has_few_rows(const NarrowGemm& g) {
  return g.type == NarrowType::kInt8 && !g.b_in_columns && g.m <= kMaxFewRows;
}

void multiply_few_rows(const NarrowKernels& kernels, int64_t batch, const NarrowGemm& shape,
                       runtime::FunctionRef<NarrowGemm(int64_t)> problem) {
  const int64_t parts = div_up(shape.n, kFewRowsColumns);
  const int64_t work = shape.m * kFewRowsColumns * std::max<int64_t>(1, div_up(shape.k, 4));
  parallel_for(0, batch * parts, div_up(kMinWorkPerTask, work), [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; ++task) {
      const NarrowGemm g = problem(task / parts);
      const int64_t j = task % parts * kFewRowsColumns;
      kernels.few_rows(g, j, std::min(j + kFewRowsColumns, g.n));
    }
  });
}

// A tile multiplication takes as long for few columns as for 16, and tiles have to be configured:
// not for small matmuls. With a few rows of A all time goes into reading B, so vectors are as good.
bool suits_amx(const NarrowGemm& g) {
  constexpr int64_t kMinRows = 8;
  constexpr int64_t kMinWork = 1 << 15;
  const int64_t words = is_staged(g) ? g.k / 2 : g.k / 4;
  return g.m >= kMinRows && words >= kAmxColumns && g.m * g.n * words >= kMinWork;
}

}  // namespace

bool has_bfloat16_matmul() {
  return narrow_kernels().bfloat16.tile != nullptr;
}

Error gemm_narrow_with(const NarrowKernels& kernels, runtime::KernelRuntimeContext& ctx,
                       int64_t batch, runtime::FunctionRef<NarrowGemm(int64_t)> problem) {
  if (batch <= 0) {
    return Error::Ok;
  }
  const NarrowGemm shape = problem(0);
  if (shape.m <= 0 || shape.n <= 0) {
    return Error::Ok;
  }
  if (kernels.few_rows != nullptr && has_few_rows(shape)) {
    multiply_few_rows(kernels, batch, shape, problem);
    return Error::Ok;
  }
  const bool staged = is_staged(shape);
  const NarrowTypeKernels& of_type = staged ? kernels.bfloat16 : kernels.int8;
  const int64_t value_bytes = staged ? 2 : 1;
  const int64_t words = std::max<int64_t>(1, div_up(shape.k * value_bytes, 4));
  const int64_t work = shape.m * shape.n * words;
  // Every part of the rows unfolds all its columns again: cut columns alone where they are enough.
  const bool by_columns =
      shape.unfold != nullptr && shape.n >= kernels.panel_width * get_num_threads();
  const Split split = split_matmul(shape.m, shape.n, by_columns ? shape.m : kernels.tile_rows,
                                   kernels.panel_width, parts_per_matmul(work, batch));
  const int64_t tasks = batch * split.parts();
  const int64_t grain =
      std::max<int64_t>(1, kMinWorkPerTask / std::max<int64_t>(1, work / split.parts()));
  const Scratch scratch = scratch_of(kernels, shape, words);
  const int64_t threads = std::min(get_num_threads(), tasks);
  auto memory = ctx.allocate_temp(static_cast<size_t>(threads * scratch.total()) * sizeof(uint32_t),
                                  kAlignment);
  if (!memory.ok()) {
    return memory.error();
  }
  auto* words_of_threads = static_cast<uint32_t*>(memory.get());
  parallel_for(0, tasks, grain, [&](int64_t first, int64_t last) {
    uint32_t* panels = words_of_threads + get_thread_num() * scratch.total();
    uint32_t* a_last = panels + scratch.panels;
    auto* stage = reinterpret_cast<float*>(a_last + scratch.a_last);
    for (int64_t task = first; task < last; ++task) {
      const NarrowGemm g = problem(task / split.parts());
      const Work w{kernels, of_type, g, value_bytes, panels, reinterpret_cast<uint8_t*>(a_last),
                   stage};
      run_task(w, part_of(split, task % split.parts()));
    }
  });
  return Error::Ok;
}

Error gemm_narrow(runtime::KernelRuntimeContext& ctx, int64_t batch,
                  runtime::FunctionRef<NarrowGemm(int64_t)> problem) {
  if (batch <= 0) {
    return Error::Ok;
  }
  const bool tiles = suits_amx(problem(0)) && has_bfloat16_matmul() && has_amx();
  return gemm_narrow_with(tiles ? amx_kernels() : narrow_kernels(), ctx, batch, problem);
}

}  // namespace executorch::kernels::optimized
