// SPDX-License-Identifier: BSD-3-Clause
// A task is some rows by some panels of columns, on the tiles of gemm_narrow_simd.cpp and
// gemm_amx.cpp. A block of rows stays in the second-level cache for all panels.
#include <executorch/kernels/optimized/int8/int8_matmul.h>

#include <executorch/kernels/optimized/gemm/gemm_amx.h>
#include <executorch/kernels/optimized/gemm/gemm_narrow_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>
#include <executorch/kernels/optimized/scratch.h>

#include <algorithm>
#include <cstring>

namespace executorch::kernels::optimized {

using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kMaxLanes = 16;  // of a vector of sums
constexpr int64_t kRowAlignment = 64;
constexpr int64_t kBlockBytes = int64_t{1} << 19;  // of unfolded rows
constexpr int64_t kMaxBlockRows = 256;
// Of panels that a tile of rows goes through before its sums are finished.
constexpr int64_t kPanelBytes = int64_t{1} << 17;
constexpr int64_t kMaxSums = 4 * kMaxNarrowTile;

const NarrowKernels& kernels_of(const Int8Weights& weights) {
  static const NarrowKernels tiles = amx_kernels();
  return weights.for_tiles ? tiles : narrow_kernels();
}

int64_t start_bytes(const Int8Weights& w) {
  return w.num_sums() * static_cast<int64_t>(sizeof(int32_t));
}

// Words along k of a panel.
int64_t panel_words(const NarrowKernels& kernels, const Int8Weights& w) {
  return round_up(div_up(w.k, 4), kernels.step_words);
}

class Task {
 public:
  Task(const NarrowKernels& kernels, const Int8Matmul& m, int64_t problem, const Int8Result& result)
      : kernels_(kernels), m_(m), problem_(problem), result_(result) {}

  void run(const Rectangle& part, int64_t block_rows, int8_t* rows, int32_t* offsets) {
    const int64_t step = columns_at_once();
    for (int64_t row = part.m_begin, count = 0; row < part.m_end; row += count) {
      count = place_rows(row, std::min(block_rows, part.m_end - row), rows);
      if (kernels_.offsets != nullptr && kernels_.int8.flip != 0) {
        kernels_.offsets(left_, stride_, count, m_.weights.k, offsets);
        offsets_ = offsets;
      }
      for (int64_t col = part.n_begin; col < part.n_end; col += step) {
        multiply(row, count, {col, std::min(col + step, part.n_end)});
      }
    }
  }

 private:
  // How many rows from `row` on, at most `count`, are read next. Where instructions take more of a
  // row than is left of it, they read what follows, by weights of 0; rows behind which nothing
  // follows are copied.
  int64_t place_rows(int64_t row, int64_t count, int8_t* rows) {
    const int64_t k = m_.weights.k, words = panel_words(kernels_, m_.weights);
    const int64_t beyond = words * 4 - k;
    left_ = m_.left + row * m_.stride;
    stride_ = m_.stride;
    words_ = words;
    rest_ = 0;
    if (m_.unfolding == nullptr && kernels_.step_words == 1) {
      words_ = k / 4;
      rest_ = k % 4;
      return count;
    }
    const int64_t followed = m_.rows - div_up(beyond, m_.stride);
    if (m_.unfolding == nullptr && row < followed) {
      return std::min(count, followed - row);
    }
    stride_ = round_up(k, kRowAlignment);
    if (m_.unfolding != nullptr) {
      m_.unfolding->unfold(problem_, row, count, rows, stride_);
    }
    for (int64_t i = 0; i < count; ++i) {
      if (m_.unfolding == nullptr) {
        std::memcpy(rows + i * stride_, left_ + i * m_.stride, static_cast<size_t>(k));
      }
      std::memset(rows + i * stride_ + k, 0, static_cast<size_t>(beyond));
    }
    left_ = rows;
    return count;
  }

  int64_t columns_at_once() const {
    const int64_t width = kernels_.panel_width;
    const int64_t panels = kPanelBytes / (width * panel_words(kernels_, m_.weights) * 4);
    return width * std::clamp<int64_t>(panels, 1, kMaxSums / (kernels_.tile_rows * width));
  }

  void multiply(int64_t row, int64_t count, const Range& cols) {
    alignas(kRowAlignment) int32_t sums[kMaxSums];
    const int64_t stride = round_up(cols.size(), lanes_);
    for (int64_t i = 0; i < count; i += kernels_.tile_rows) {
      const int64_t rows = std::min(kernels_.tile_rows, count - i);
      for (int64_t col = cols.begin; col < cols.end; col += kernels_.panel_width) {
        multiply_tile(i, rows, col, sums + col - cols.begin, stride);
      }
      result_.finish(problem_, {row + i, rows, cols.begin, cols.size(), sums, stride});
    }
  }

  // Rows of the block from `row` on, by a panel.
  void multiply_tile(int64_t row, int64_t rows, int64_t col, int32_t* sums, int64_t stride) const {
    NarrowTile tile = {};
    tile.rows = rows;
    tile.cols = std::min(kernels_.panel_width, round_up(m_.weights.n - col, lanes_));
    tile.words = words_;
    tile.rest = rest_;
    tile.a = reinterpret_cast<const uint8_t*>(left_ + row * stride_);
    tile.a_stride = stride_;
    tile.width = kernels_.panel_width;
    tile.b = reinterpret_cast<const uint32_t*>(m_.weights.packed + start_bytes(m_.weights)) +
             col * panel_words(kernels_, m_.weights);
    tile.c = sums;
    tile.ldc = stride;
    tile.col_start = m_.starts == nullptr ? nullptr : m_.starts + col;
    tile.row_start = offsets_ == nullptr ? nullptr : offsets_ + row;
    kernels_.int8.tile(tile);
  }

  const NarrowKernels& kernels_;
  // Columns of a tile are a multiple: a power of two that divides the width of panels.
  const int64_t lanes_ = std::min(kMaxLanes, kernels_.panel_width & -kernels_.panel_width);
  const Int8Matmul m_;
  const int64_t problem_;
  const Int8Result& result_;
  const int8_t* left_ = nullptr;
  int64_t stride_ = 0;
  int64_t words_ = 0, rest_ = 0;
  const int32_t* offsets_ = nullptr;
};

}  // namespace

bool has_int8_dots() {
  return narrow_kernels().has_int8_dots;
}

bool suits_int8_tiles(int64_t rows, int64_t n, int64_t k) {
  constexpr int64_t kMinRows = 8, kMinWeights = 256;
  return rows >= kMinRows && n * k >= kMinWeights && has_amx();
}

size_t int8_packed_bytes(const Int8Weights& w) {
  const NarrowKernels& kernels = kernels_of(w);
  const int64_t words = round_up(w.n, kernels.panel_width) * panel_words(kernels, w);
  return static_cast<size_t>(start_bytes(w) + words * 4);
}

void pack_int8(const Int8Weights& w, const int8_t* from, uint8_t* to) {
  const NarrowKernels& kernels = kernels_of(w);
  auto* const sums = reinterpret_cast<int32_t*>(to);
  auto* const panels = reinterpret_cast<uint32_t*>(to + start_bytes(w));
  const int64_t width = kernels.panel_width, words = panel_words(kernels, w);
  std::fill(sums + w.n, sums + w.num_sums(), 0);
  parallel_for(0, div_up(w.n, width), 1, [&](int64_t first, int64_t last) {
    for (int64_t j = first * width; j < std::min(last * width, w.n); j += width) {
      uint32_t* const panel = panels + j * words;
      NarrowPanel p = {};
      p.b = reinterpret_cast<const uint8_t*>(from + j * w.k);
      p.stride = p.values = w.k;
      p.cols = std::min(width, w.n - j);
      p.width = width;
      p.flip = kernels.int8.flip;
      std::fill_n(panel, words * width, 0u);
      kernels.int8.pack_columns(p, panel);
      if (kernels.int8.arrange != nullptr) {
        kernels.int8.arrange(panel, words, width);
      }
      for (int64_t i = j; i < j + p.cols; ++i) {
        uint32_t sum = 0;
        for (int64_t q = 0; q < w.k; ++q) {
          sum += static_cast<uint32_t>(from[i * w.k + q]);
        }
        sums[i] = static_cast<int32_t>(sum);
      }
    }
  });
}

Error int8_matmul(runtime::KernelRuntimeContext& ctx, int64_t count,
                  runtime::FunctionRef<Int8Matmul(int64_t)> problem, const Int8Result& result) {
  if (count <= 0) {
    return Error::Ok;
  }
  const Int8Matmul shape = problem(0);
  const NarrowKernels& kernels = kernels_of(shape.weights);
  const int64_t n = shape.weights.n, k = shape.weights.k;
  const int64_t work = shape.rows * n * std::max<int64_t>(1, k / 4);
  const Split split = split_matmul(shape.rows, n, kernels.tile_rows, kernels.panel_width,
                                   parts_per_matmul(work, count, /*is_packed=*/true));
  const int64_t tasks = count * split.parts();
  const int64_t stride = round_up(k, kRowAlignment);
  const int64_t block_rows =
      std::clamp(kBlockBytes / stride / kernels.tile_rows * kernels.tile_rows, kernels.tile_rows,
                 kMaxBlockRows);
  const int64_t block_bytes = std::min(block_rows, shape.rows) * stride;
  const int64_t of_thread = block_bytes + kMaxBlockRows * static_cast<int64_t>(sizeof(int32_t));
  const int64_t threads = std::min(get_num_threads(), tasks);
  auto* const memory = scratch<int8_t>(ctx, threads * of_thread);
  if (memory == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  const int64_t grain =
      std::max<int64_t>(1, kMinWorkPerTask / std::max<int64_t>(1, work / split.parts()));
  parallel_for(0, tasks, grain, [&](int64_t first, int64_t last) {
    int8_t* const rows = memory + get_thread_num() * of_thread;
    auto* const offsets = reinterpret_cast<int32_t*>(rows + block_bytes);
    if (kernels.begin != nullptr) {
      kernels.begin();
    }
    for (int64_t task = first; task < last; ++task) {
      const int64_t index = task / split.parts();
      Task(kernels, problem(index), index, result)
          .run(part_of(split, task % split.parts()), block_rows, rows, offsets);
    }
    if (kernels.end != nullptr) {
      kernels.end();
    }
  });
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
