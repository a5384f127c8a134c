// SPDX-License-Identifier: BSD-3-Clause
// Cache blocking and threads around the register tiles of gemm_simd.cpp.
//
// Each thread takes a rectangle of C and, for one block of B at a time (kBlockK rows, kBlockPanels
// panels of columns: they stay in the L2 cache), walks over as many rows of A with the panel in the
// L1 cache. A thread packs its own panels, so there is one parallel region and no barrier; the
// price, packing B once per thread when C is split by rows, is 1/m of the work.
#include <executorch/kernels/optimized/gemm/gemm.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include <executorch/kernels/optimized/gemm/gemm_panels.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kBlockK = 256;
constexpr int64_t kBlockA = 1 << 16;  // values of A
constexpr int64_t kBlockB = 1 << 17;  // values of a B that is packed, if its columns are short
constexpr int64_t kBlockPanels = 8;
constexpr int64_t kUnpackedRows = 16;  // with so few rows of A, packing B costs more than it gains
constexpr size_t kAlignment = 64;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Block {
  int64_t k_begin, k_size;
  const float* panels;  // packed for this block; nullptr for a B that is packed whole, or in place
};

// How many rows of B a block has: all about as many.
int64_t rows_of_block(int64_t k, int64_t most) {
  const int64_t k_blocks = std::max<int64_t>(1, div_up(k, most));
  return std::max<int64_t>(1, div_up(k, k_blocks));
}

// One panel of columns against rows [m_begin, m_end).
void multiply_panel(const GemmKernels& kernels, const Gemm& g, const Block& block, int64_t j0,
                    int64_t cols, const float* b, int64_t ldb, int64_t m_begin, int64_t m_end) {
  const int64_t vectors = div_up(cols, kernels.lanes);
  const bool first = block.k_begin == 0;
  const bool last = block.k_begin + block.k_size >= g.k;
  alignas(kAlignment) float buffer[kMaxTileRows * kMaxTileWidth];
  GemmTile tile;
  tile.k = block.k_size;
  tile.lda = g.lda;
  tile.b = b;
  tile.ldb = ldb;
  tile.tail = cols - (vectors - 1) * kernels.lanes;
  tile.col_bias = first && g.col_bias != nullptr ? g.col_bias + j0 : nullptr;
  tile.accumulate = !g.c_transposed && (g.accumulate || !first);
  tile.is_bounded = last && (g.min > -kInfinity || g.max < kInfinity);
  tile.min = g.min;
  tile.max = g.max;
  for_each_tile(kernels, m_end - m_begin, [&](int64_t row, int64_t rows, int64_t count) {
    const int64_t i = m_begin + row;
    for (int64_t done = 0; done < count; done += tile.count) {
      const int64_t at = i + done * rows;
      tile.count = g.c_transposed ? 1 : count;
      tile.a = g.a + at * g.lda + block.k_begin;
      tile.row_bias = first && g.row_bias != nullptr ? g.row_bias + at : nullptr;
      tile.c = g.c_transposed ? buffer : g.c + at * g.ldc + j0;
      tile.ldc = g.c_transposed ? kMaxTileWidth : g.ldc;
      kernels.tile[rows - 1][vectors - 1](tile);
      if (g.c_transposed) {
        kernels.transpose(buffer, kMaxTileWidth, rows, cols, g.c + j0 * g.ldc + at, g.ldc,
                          g.accumulate || !first);
      }
    }
  });
}

void multiply_block(const GemmKernels& kernels, const Gemm& g, const Block& block,
                    const Rectangle& r) {
  const Panels panels(g.n, kernels.lanes);
  const int64_t width = panels.width();
  const int64_t rows = std::max<int64_t>(1, kBlockA / std::max(block.k_size, kBlockK));
  for (int64_t i = r.m_begin; i < r.m_end; i += rows) {
    const int64_t i_end = std::min(i + rows, r.m_end);
    const float* panel = block.panels;
    for (int64_t j = r.n_begin; j < r.n_end;) {
      const int64_t j_end = std::min(panels.end_of(j), r.n_end);
      const float* b = panel;
      int64_t ldb = width;
      if (g.packed != nullptr) {
        b = g.packed + place_of(panels, block.k_begin, block.k_size, j);
      } else if (panel != nullptr) {
        panel += width * block.k_size;
      } else {
        b = static_cast<const float*>(g.b) + block.k_begin * g.ldb + j;
        ldb = g.ldb;
      }
      multiply_panel(kernels, g, block, j, j_end - j, b, ldb, i, i_end);
      j = j_end;
    }
    if (g.epilogue != nullptr && block.k_begin + block.k_size >= g.k) {
      g.epilogue->finish({g.first_row + i, g.first_row + i_end, r.n_begin, r.n_end});
    }
  }
}

// Columns of [n_begin, n_end) that can be read in place: whole panels of a B that lies in rows,
// when it is read rarely.
int64_t unpacked_end(const Gemm& g, const Rectangle& r, int64_t width) {
  if (g.packed != nullptr || !g.b_in_rows || r.m_end - r.m_begin > kUnpackedRows) {
    return r.n_begin;
  }
  return r.n_begin + (r.n_end - r.n_begin) / width * width;
}

void multiply_rectangle(const GemmKernels& kernels, const Gemm& g, Rectangle r, float* scratch) {
  const Panels panels(g.n, kernels.lanes);
  const int64_t width = panels.width();
  const int64_t k_step = rows_of_block(g.k, g.packed != nullptr ? kPackedBlockK : kBlockK);
  const int64_t in_place = unpacked_end(g, r, width);
  const int64_t most =
      g.packed == nullptr ? kBlockPanels : std::max(kBlockPanels, kBlockB / (k_step * width));
  for (int64_t n = r.n_begin; n < r.n_end;) {
    const bool packed = n >= in_place;
    int64_t n_end = packed ? n : in_place;
    for (int64_t i = 0; packed && i < most && n_end < r.n_end; ++i) {
      n_end = std::min(panels.end_of(n_end), r.n_end);
    }
    for (int64_t k = 0; k == 0 || k < g.k; k += k_step) {
      Block block{k, std::min(k_step, g.k - k), nullptr};
      if (packed && g.packed == nullptr) {
        float* out = scratch;
        for (int64_t j = n; j < n_end; out += width * block.k_size) {
          const int64_t j_end = std::min(panels.end_of(j), n_end);
          g.pack(g, {k, k + block.k_size, j, j_end, width}, out);
          j = j_end;
        }
        block.panels = scratch;
      }
      multiply_block(kernels, g, block, {r.m_begin, r.m_end, n, n_end});
    }
    n = n_end;
  }
}

}  // namespace

void pack_rows(const Gemm& g, const GemmPanel& panel, float* out) {
  const auto* b = static_cast<const float*>(g.b);
  const int64_t cols = panel.n_end - panel.n_begin;
  for (int64_t k = panel.k_begin; k < panel.k_end; ++k, out += panel.width) {
    const float* row = b + k * g.ldb + panel.n_begin;
    std::memcpy(out, row, static_cast<size_t>(cols) * sizeof(float));
    std::fill(out + cols, out + panel.width, 0.0f);
  }
}

void pack_columns(const Gemm& g, const GemmPanel& panel, float* out) {
  const auto* b = static_cast<const float*>(g.b);
  const int64_t rows = panel.k_end - panel.k_begin;
  const int64_t cols = panel.n_end - panel.n_begin;
  gemm_kernels().transpose(b + panel.n_begin * g.ldb + panel.k_begin, g.ldb, cols, rows, out,
                           panel.width, /*add=*/false);
  for (int64_t k = 0; cols < panel.width && k < rows; ++k) {
    std::fill(out + k * panel.width + cols, out + (k + 1) * panel.width, 0.0f);
  }
}

size_t num_packed(int64_t n, int64_t k) {
  const Panels panels(n, gemm_kernels().lanes);
  return static_cast<size_t>(panels.count() * panels.width() * std::max<int64_t>(k, 0));
}

int64_t num_panels(int64_t n) {
  return n <= 0 ? 0 : Panels(n, gemm_kernels().lanes).index_of(n - 1) + 1;
}

GemmPanel panel_of(const Gemm& g, int64_t index) {
  const Panels panels(g.n, gemm_kernels().lanes);
  const int64_t begin = panels.begin_at(index);
  return {0, g.k, begin, panels.end_of(begin), panels.width()};
}

void pack_panel(const Gemm& g, int64_t index, float* out) {
  const Panels panels(g.n, gemm_kernels().lanes);
  const GemmPanel panel = panel_of(g, index);
  const int64_t k_step = rows_of_block(g.k, kPackedBlockK);
  for (int64_t k = 0; k < g.k; k += k_step) {
    const int64_t k_size = std::min(k_step, g.k - k);
    g.pack(g, {k, k + k_size, panel.n_begin, panel.n_end, panel.width},
           out + place_of(panels, k, k_size, panel.n_begin));
  }
}

void pack_matrix(const Gemm& g, float* out) {
  parallel_for(0, num_panels(g.n), 1, [&](int64_t first, int64_t last) {
    for (int64_t index = first; index < last; ++index) {
      pack_panel(g, index, out);
    }
  });
}

Error gemm(runtime::KernelRuntimeContext& ctx, int64_t batch,
           runtime::FunctionRef<Gemm(int64_t)> problem) {
  if (batch <= 0) {
    return Error::Ok;
  }
  const GemmKernels& kernels = gemm_kernels();
  const Gemm shape = problem(0);
  if (shape.m <= 0 || shape.n <= 0) {
    return Error::Ok;
  }
  const int64_t width = kTileVectors * kernels.lanes;
  const int64_t work = shape.m * shape.n * std::max<int64_t>(shape.k, 1);
  const Split split = split_matmul(shape.m, shape.n, kernels.tile_rows, width,
                                   parts_per_matmul(work, batch, shape.packed != nullptr));
  const int64_t parts = split.parts();
  const int64_t tasks = batch * parts;
  const int64_t grain = std::max<int64_t>(1, kMinWorkPerTask / std::max<int64_t>(1, work / parts));
  const int64_t panels = std::min(kBlockPanels, div_up(shape.n, width));
  const int64_t per_thread = panels * width * std::min(kBlockK, std::max<int64_t>(shape.k, 1));
  const int64_t threads = std::min(get_num_threads(), tasks);
  float* scratch = nullptr;
  if (shape.packed == nullptr) {
    auto memory =
        ctx.allocate_temp(static_cast<size_t>(threads * per_thread) * sizeof(float), kAlignment);
    if (!memory.ok()) {
      return memory.error();
    }
    scratch = static_cast<float*>(memory.get());
  }
  parallel_for(0, tasks, grain, [&](int64_t first, int64_t last) {
    float* own = scratch == nullptr ? nullptr : scratch + get_thread_num() * per_thread;
    for (int64_t task = first; task < last; ++task) {
      const Gemm g = problem(task / parts);
      multiply_rectangle(kernels, g, part_of(split, task % parts), own);
    }
  });
  return Error::Ok;
}

void multiply_packed(const Gemm& g) {
  multiply_rectangle(gemm_kernels(), g, {0, g.m, 0, g.n}, nullptr);
}

void dot_rows(const DotRows& problem) {
  const GemmKernels& kernels = gemm_kernels();
  const int64_t grain = std::max<int64_t>(1, kMinWorkPerTask / std::max<int64_t>(1, problem.k));
  parallel_for(0, problem.num_rows, grain,
               [&](int64_t first, int64_t last) { kernels.dot_rows(problem, first, last); });
}

}  // namespace executorch::kernels::optimized
