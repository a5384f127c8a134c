// SPDX-License-Identifier: BSD-3-Clause
// Blocks of tiles go through all three steps in a core's own cache; by filters that are too large
// for that, many tiles go through one step after the other.
#include <executorch/kernels/optimized/conv/winograd.h>

#include <executorch/kernels/optimized/conv/winograd_tile.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kSmallFilters = (1 << 20) / sizeof(float);  // transformed: they stay in a cache
constexpr int64_t kBlockFloats = (1 << 18) / sizeof(float);   // of a block of tiles, by these
constexpr int64_t kBlocksPerThread = 4;
constexpr int64_t kManyTiles = 64;  // by others, for each thread
constexpr int64_t kTileGrain = 4;   // whose transforms are worth a task
// Between points, so that they do not share a set of the cache.
constexpr int64_t kGap = 16;

int64_t points_of_filters(const Conv& c) {
  return kWinogradPoints * c.in_channels * c.out_channels;
}

// A convolution as tiles, in the order of memory.
struct Tiles {
  const Conv& c;
  float min, max;
  const Epilogue* epilogue;
  int64_t rows, cols;  // of an image

  Tiles(const Conv& conv, float low, float high, const Epilogue* after)
      : c(conv),
        min(low),
        max(high),
        epilogue(after),
        rows(div_up(conv.out_h, kWinogradOutputs)),
        cols(div_up(conv.out_w, kWinogradOutputs)) {}

  int64_t count() const { return c.batch * rows * cols; }
  // `edge` has room for the values of a tile.
  void spread(int64_t tile, float* edge, float* points, int64_t stride) const;
  void collect(int64_t tile, const float* points, int64_t stride) const;
  // After all of [first, last) have been collected.
  void finish(int64_t first, int64_t last) const;

 private:
  struct Place {
    int64_t image, row, col;  // of the first output
  };
  Place place_of(int64_t tile) const {
    return {tile / (rows * cols), tile / cols % rows * kWinogradOutputs,
            tile % cols * kWinogradOutputs};
  }
};

// A tile that goes over the edge is copied first, with zeros around.
void Tiles::spread(int64_t tile, float* edge, float* points, int64_t stride) const {
  const Place place = place_of(tile);
  const int64_t first_row = place.row - c.pad_h;
  const int64_t first_col = place.col - c.pad_w;
  const int64_t row_step = c.in_w * c.in_channels;
  const float* const image = c.input + place.image * c.in_h * row_step;
  if (first_row >= 0 && first_col >= 0 && first_row + kWinogradTile <= c.in_h &&
      first_col + kWinogradTile <= c.in_w) {
    winograd_kernels().tile(image + first_row * row_step + first_col * c.in_channels, row_step,
                            c.in_channels, c.in_channels, points, stride);
    return;
  }
  for (int64_t i = 0; i < kWinogradPoints; ++i) {
    const int64_t row = first_row + i / kWinogradTile;
    const int64_t col = first_col + i % kWinogradTile;
    float* const to = edge + i * c.in_channels;
    if (row >= 0 && row < c.in_h && col >= 0 && col < c.in_w) {
      std::copy_n(image + row * row_step + col * c.in_channels, c.in_channels, to);
    } else {
      std::fill_n(to, c.in_channels, 0.0f);
    }
  }
  winograd_kernels().tile(edge, kWinogradTile * c.in_channels, c.in_channels, c.in_channels, points,
                          stride);
}

void Tiles::collect(int64_t tile, const float* points, int64_t stride) const {
  const Place place = place_of(tile);
  float* outputs[kWinogradOutputs * kWinogradOutputs];
  for (int64_t i = 0; i < kWinogradOutputs * kWinogradOutputs; ++i) {
    const int64_t row = place.row + i / kWinogradOutputs;
    const int64_t col = place.col + i % kWinogradOutputs;
    outputs[i] = row < c.out_h && col < c.out_w
                     ? c.output + ((place.image * c.out_h + row) * c.out_w + col) * c.out_channels
                     : nullptr;
  }
  winograd_kernels().product(points, stride, c.out_channels, min, max, outputs);
}

// Tiles side by side have two runs of positions.
void Tiles::finish(int64_t first, int64_t last) const {
  if (epilogue == nullptr) {
    return;
  }
  while (first < last) {
    const Place place = place_of(first);
    const int64_t end = std::min(last, (first / cols + 1) * cols);
    const int64_t col_end = std::min(place.col + (end - first) * kWinogradOutputs, c.out_w);
    const int64_t row_end = std::min(place.row + kWinogradOutputs, c.out_h);
    for (int64_t row = place.row; row < row_end; ++row) {
      const int64_t positions = (place.image * c.out_h + row) * c.out_w;
      epilogue->finish({positions + place.col, positions + col_end, 0, c.out_channels});
    }
    first = end;
  }
}

// Scratch memory of up to `size` tiles: one of the edge, their points, and those of their products.
struct Block {
  int64_t size, edge, spread_stride, product_stride;

  Block(const Conv& c, int64_t tiles)
      : size(tiles),
        edge(kWinogradPoints * c.in_channels),
        spread_stride(tiles * c.in_channels + kGap),
        product_stride(tiles * c.out_channels + kGap) {}
  int64_t floats() const { return kWinogradPoints * (spread_stride + product_stride); }
  float* products(float* points) const { return points + kWinogradPoints * spread_stride; }

  // Of `count` tiles: those of the point by its filters.
  Gemm problem(const Conv& c, const float* packed, int64_t count, int64_t point,
               float* points) const {
    Gemm g;
    g.m = count;
    g.n = c.out_channels;
    g.k = c.in_channels;
    g.a = points + point * spread_stride;
    g.lda = c.in_channels;
    g.packed = packed + point * static_cast<int64_t>(num_packed(g.n, g.k));
    g.c = products(points) + point * product_stride;
    g.ldc = c.out_channels;
    g.col_bias = point == kWinogradPointInAll ? c.bias : nullptr;
    return g;
  }
};

// Whole tiles of rows of the matrix kernel, and enough blocks for all threads.
int64_t tiles_of_block(const Conv& c, int64_t tiles) {
  const int64_t rows = gemm_kernels().tile_rows;
  const int64_t fit = kBlockFloats / (kWinogradPoints * (c.in_channels + c.out_channels));
  const int64_t fair = tiles / (kBlocksPerThread * get_num_threads());
  return std::max(rows, std::min(fit, fair) / rows * rows);
}

Error by_blocks(runtime::KernelRuntimeContext& ctx, const Tiles& tiles, const float* packed) {
  const Conv& c = tiles.c;
  const int64_t count = tiles.count();
  const Block block(c, tiles_of_block(c, count));
  const int64_t blocks = div_up(count, block.size);
  const int64_t of_thread = block.edge + block.floats();
  auto* memory = scratch<float>(ctx, std::min(get_num_threads(), blocks) * of_thread);
  if (memory == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
    float* const edge = memory + get_thread_num() * of_thread;
    float* const own = edge + block.edge;
    for (int64_t tile = first * block.size; tile < std::min(count, last * block.size);
         tile += block.size) {
      const int64_t size = std::min(block.size, count - tile);
      for (int64_t i = 0; i < size; ++i) {
        tiles.spread(tile + i, edge, own + i * c.in_channels, block.spread_stride);
      }
      for (int64_t point = 0; point < kWinogradPoints; ++point) {
        multiply_packed(block.problem(c, packed, size, point, own));
      }
      for (int64_t i = 0; i < size; ++i) {
        tiles.collect(tile + i, block.products(own) + i * c.out_channels, block.product_stride);
      }
      tiles.finish(tile, tile + size);
    }
  });
  return Error::Ok;
}

Error by_steps(runtime::KernelRuntimeContext& ctx, const Tiles& tiles, const float* packed) {
  const Conv& c = tiles.c;
  const int64_t count = tiles.count();
  const Block block(c, std::min(count, kManyTiles * get_num_threads()));
  auto* memory = scratch<float>(ctx, block.floats());
  auto* edges = scratch<float>(ctx, get_num_threads() * block.edge);
  if (memory == nullptr || edges == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  for (int64_t tile = 0; tile < count; tile += block.size) {
    const int64_t size = std::min(block.size, count - tile);
    parallel_for(0, size, kTileGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        tiles.spread(tile + i, edges + get_thread_num() * block.edge, memory + i * c.in_channels,
                     block.spread_stride);
      }
    });
    const Error error = gemm(ctx, kWinogradPoints, [&](int64_t point) {
      return block.problem(c, packed, size, point, memory);
    });
    if (error != Error::Ok) {
      return error;
    }
    parallel_for(0, size, kTileGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        tiles.collect(tile + i, block.products(memory) + i * c.out_channels, block.product_stride);
      }
      tiles.finish(tile + first, tile + last);
    });
  }
  return Error::Ok;
}

}  // namespace

bool is_winograd(const Conv& c) {
  return c.channels_last && c.weight_channels_last && c.groups == 1 && c.in_d == 1 &&
         c.kernel_d == 1 && c.pad_d == 0 && c.kernel_h == kWinogradTaps &&
         c.kernel_w == kWinogradTaps && c.stride_h == 1 && c.stride_w == 1 && c.dilation_h == 1 &&
         c.dilation_w == 1;
}

// In multiply-adds of a vector for each pair of channels. A tile's transforms take as long as some
// 110 for each channel, a vector of weights that comes from the cache that cores share as five: of
// tools/bench/conv_kernels on AVX2.
double cost_of_winograd(const Conv& c) {
  const int64_t tiles =
      c.batch * div_up(c.out_h, kWinogradOutputs) * div_up(c.out_w, kWinogradOutputs);
  const int64_t rows = gemm_kernels().tile_rows;
  const int64_t reads = points_of_filters(c) <= kSmallFilters ? 0 : 5 * div_up(tiles, kManyTiles);
  const auto products = static_cast<double>(kWinogradPoints * (div_up(tiles, rows) * rows + reads));
  const double transforms =
      110.0 * static_cast<double>(tiles) *
      (1.0 / static_cast<double>(c.in_channels) + 1.0 / static_cast<double>(c.out_channels));
  const int64_t direct = kWinogradTaps * kWinogradTaps * c.batch * c.out_h * c.out_w;
  return (products + transforms) / static_cast<double>(direct);
}

size_t num_winograd_packed(const Conv& c) {
  return static_cast<size_t>(kWinogradPoints) * num_packed(c.out_channels, c.in_channels);
}

// Filters become points panel by panel, so that these need no more memory than one panel.
Error pack_winograd(runtime::KernelRuntimeContext& ctx, const Conv& c, float* packed) {
  Gemm g;
  g.n = c.out_channels;
  g.k = c.in_channels;
  g.ldb = c.in_channels;
  g.pack = [](const Gemm& points, const GemmPanel& panel, float* out) {
    pack_columns(points, {panel.k_begin, panel.k_end, 0, panel.n_end - panel.n_begin, panel.width},
                 out);
  };
  const int64_t panels = num_panels(g.n);
  const int64_t size = panel_of(g, 0).width * c.in_channels + kGap;  // of a point
  const int64_t of_thread = kWinogradPoints * size;
  auto* memory = scratch<float>(ctx, std::min(get_num_threads(), panels) * of_thread);
  if (memory == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  parallel_for(0, panels, 1, [&](int64_t first, int64_t last) {
    float* const points = memory + get_thread_num() * of_thread;
    Gemm point = g;
    for (int64_t index = first; index < last; ++index) {
      const GemmPanel panel = panel_of(g, index);
      for (int64_t i = panel.n_begin; i < panel.n_end; ++i) {
        winograd_kernels().filter(c.weight + i * kWinogradTaps * kWinogradTaps * c.in_channels,
                                  c.in_channels, c.in_channels,
                                  points + (i - panel.n_begin) * c.in_channels, size);
      }
      for (int64_t i = 0; i < kWinogradPoints; ++i) {
        point.b = points + i * size;
        pack_panel(point, index, packed + i * static_cast<int64_t>(num_packed(g.n, g.k)));
      }
    }
  });
  return Error::Ok;
}

Error winograd_conv(runtime::KernelRuntimeContext& ctx, const Conv& c, const float* packed,
                    float min, float max, const Epilogue* epilogue) {
  const Tiles tiles(c, min, max, epilogue);
  return points_of_filters(c) <= kSmallFilters ? by_blocks(ctx, tiles, packed)
                                               : by_steps(ctx, tiles, packed);
}

}  // namespace executorch::kernels::optimized
