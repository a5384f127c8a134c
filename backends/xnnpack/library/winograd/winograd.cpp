// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK: convolutions of 3 x 3 pixels and few channels are computed with 2.25 times
// fewer multiplications (winograd.h). A block
// of tiles goes through all three steps before the next, so that it stays in a core's own cache. As
// tiles are added up, one infinite pixel makes NaN of every output of the tiles that it is in.
#include <executorch/backends/xnnpack/library/convolution/own_operator.h>
#include <executorch/backends/xnnpack/library/image_size.h>
#include <executorch/backends/xnnpack/library/winograd/winograd.h>

#include "xnnpack.h"
#include "xnnpack/allocator.h"
#include "xnnpack/cache.h"
#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/math.h"
#include "xnnpack/microkernel-type.h"
#include "xnnpack/operator.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

extern "C" {
#include "xnnpack/operator-utils.h"  // says that it is C of a part of itself
}

namespace executorch::backends::xnnpack::winograd {

namespace {

/// With fewer channels the transforms take longer than they save.
constexpr size_t kMinChannels = 32;
/// Transformed filters that stay in a core's own cache. Larger ones are read again for each block
/// of tiles, and take 16/9 of the memory: they must pay (cost()).
constexpr size_t kSmallFilterBytes = size_t{1} << 20;
/// What a block of tiles takes of a core's cache, and how many blocks there are at least for each
/// thread.
constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr size_t kBlocksPerThread = 4;
/// Tiles that large filters are read for at a time, the columns that a thread multiplies at least,
/// and how many parts of the work there are for each thread.
constexpr size_t kLargeBlock = 64;
constexpr size_t kMinColumns = 64;
constexpr size_t kLargeParts = 2;
/// Between points, so that they do not share a set of the cache.
constexpr size_t kGap = kLanes;

struct Free {
  void operator()(void* memory) const { xnn_release_simd_memory(memory); }
};
using Floats = std::unique_ptr<float, Free>;

Floats allocate(size_t count) {
  return Floats(static_cast<float*>(xnn_allocate_simd_memory(count * sizeof(float))));
}

const xnn_gemm_config* table() {
  return xnn_init_f32_gemm_config();
}

size_t panel_floats(size_t inputs) {
  return table()->nr * (inputs + 1);
}

/// Of one point: a bias and `inputs` weights for each column of each panel.
size_t point_floats(size_t inputs, size_t outputs) {
  return divide_round_up(outputs, table()->nr) * panel_floats(inputs);
}

/// A convolution of this size, as tiles; the operator holds it, where threads find it.
struct Plan : OwnCall {
  const float* zeros;
  const float* weights;
  size_t input_height, input_width, inputs, input_stride;
  size_t output_height, output_width, outputs, output_stride;
  size_t padding_top, padding_left;
  size_t rows_of_tiles, columns_of_tiles, num_tiles;
  size_t block;    // tiles
  size_t columns;  // outputs that are computed at a time
  float min, max;

  size_t spread_stride() const { return block * inputs + kGap; }
  size_t product_stride() const { return block * columns + kGap; }
  size_t scratch_floats() const { return kPoints * (spread_stride() + product_stride()); }
  size_t num_blocks() const { return divide_round_up(num_tiles, block); }
  size_t num_groups() const { return divide_round_up(outputs, columns); }

  /// Tiles and outputs of a part of the work; blocks of tiles go through all groups of outputs.
  struct Part {
    size_t first_tile, num_tiles, first_output, num_outputs;
  };
  Part part(size_t index) const {
    const size_t tile = index / num_groups() * block, output = index % num_groups() * columns;
    return {tile, std::min(block, num_tiles - tile), output, std::min(columns, outputs - output)};
  }

  struct Place {
    size_t image, row, column;  // of the first output
  };
  Place place_of(size_t tile) const {
    const size_t of_image = tile % (rows_of_tiles * columns_of_tiles);
    return {tile / (rows_of_tiles * columns_of_tiles), of_image / columns_of_tiles * kOutputs,
            of_image % columns_of_tiles * kOutputs};
  }

  void spread(size_t tile, float* points) const;
  void multiply(const Part& part, const float* spread, float* products) const;
  void collect(const Part& part, size_t tile, const float* points) const;
};

void Plan::spread(size_t tile, float* points) const {
  const Place place = place_of(tile);
  const float* pixels[kPoints];
  for (size_t i = 0; i < kPoints; ++i) {
    // Wraps around ahead of the image.
    const size_t row = place.row + i / kTile - padding_top;
    const size_t column = place.column + i % kTile - padding_left;
    const size_t pixel = (place.image * input_height + row) * input_width + column;
    pixels[i] = row < input_height && column < input_width ? input + pixel * input_stride : zeros;
  }
  transform_tile(pixels, inputs, points, spread_stride());
}

void Plan::multiply(const Part& part, const float* spread, float* products) const {
  const size_t rows = table()->mr;
  const auto gemm = reinterpret_cast<xnn_f32_gemm_minmax_ukernel_fn>(
      table()->minmax.gemm[rows - 1].function[XNN_UARCH_DEFAULT]);
  xnn_f32_minmax_params any;
  table()->init.f32(&any, -INFINITY, INFINITY);
  const float* const panels = weights + part.first_output / table()->nr * panel_floats(inputs);
  for (size_t point = 0; point < kPoints; ++point) {
    for (size_t row = 0; row < part.num_tiles; row += rows) {
      gemm(std::min(rows, part.num_tiles - row), part.num_outputs, inputs * sizeof(float),
           spread + point * spread_stride() + row * inputs, inputs * sizeof(float),
           panels + point * point_floats(inputs, outputs),
           products + point * product_stride() + row * columns, columns * sizeof(float),
           table()->nr * sizeof(float), &any);
    }
  }
}

void Plan::collect(const Part& part, size_t tile, const float* points) const {
  const Place place = place_of(part.first_tile + tile);
  float* pixels[kOutputs * kOutputs];
  for (size_t i = 0; i < kOutputs * kOutputs; ++i) {
    const size_t row = place.row + i / kOutputs;
    const size_t column = place.column + i % kOutputs;
    const size_t pixel = (place.image * output_height + row) * output_width + column;
    pixels[i] = row < output_height && column < output_width
                    ? output + pixel * output_stride + part.first_output
                    : nullptr;
  }
  transform_product(points + tile * columns, product_stride(), part.num_outputs, min, max, pixels);
}

void run_part(Plan* plan, size_t thread, size_t index) {
  float* const spread = plan->scratch + thread * plan->scratch_floats();
  float* const products = spread + kPoints * plan->spread_stride();
  const Plan::Part part = plan->part(index);
  for (size_t i = 0; i < part.num_tiles; ++i) {
    plan->spread(part.first_tile + i, spread + i * plan->inputs);
  }
  plan->multiply(part, spread, products);
  for (size_t i = 0; i < part.num_tiles; ++i) {
    plan->collect(part, i, products);
  }
}

bool is_large(size_t inputs, size_t outputs) {
  return inputs * outputs * kPoints * sizeof(float) > kSmallFilterBytes;
}

/// Whole tiles of rows of the matrix kernel, and enough blocks for all threads.
size_t small_block(const Plan& plan, size_t num_threads) {
  const size_t rows = table()->mr;
  const size_t fit = kBlockBytes / (kPoints * (plan.inputs + plan.outputs) * sizeof(float));
  const size_t fair = plan.num_tiles / (kBlocksPerThread * num_threads);
  return std::max(rows, std::min(fit, fair) / rows * rows);
}

/// Cuts the work for so many threads: few tiles by a large filter along its outputs, so that each
/// part of it is read by one thread.
void cut(Plan& plan, size_t num_threads) {
  plan.columns = plan.outputs;
  if (!is_large(plan.inputs, plan.outputs)) {
    plan.block = small_block(plan, num_threads);
    return;
  }
  plan.block = std::min(kLargeBlock, round_up(plan.num_tiles, table()->mr));
  const size_t groups = divide_round_up(kLargeParts * num_threads, plan.num_blocks());
  const size_t fair = round_up(divide_round_up(plan.outputs, groups), table()->nr);
  plan.columns = std::min(plan.outputs, std::max(kMinColumns, fair));
}

/// What a convolution of `positions`, about a square, takes so, of what it takes directly; in fused
/// multiply-adds of a vector for each pair of channels. A tile's transforms are some 48 operations
/// for each channel, a vector of weights that comes from the cache that cores share takes as long
/// as three.
double cost(size_t positions, size_t inputs, size_t outputs) {
  const auto side = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(positions))));
  const size_t tiles = divide_round_up(side, kOutputs) * divide_round_up(side, kOutputs);
  const size_t blocks = divide_round_up(tiles, kLargeBlock);
  const double products =
      static_cast<double>(kPoints * (round_up(tiles, table()->mr) + 3 * blocks));
  const double transforms =
      48.0 * static_cast<double>(tiles) *
      (1.0 / static_cast<double>(inputs) + 1.0 / static_cast<double>(outputs));
  return (products + transforms) / static_cast<double>(kFilter * kFilter * positions);
}
/// Memory is worth something, too.
constexpr double kMaxCostOfLarge = 2.0 / 3;

size_t packed_floats(const Filter& f) {
  return kPoints * point_floats(f.inputs, f.outputs);
}

/// To `kPoints` matrices as the matrix kernel reads them.
bool pack(const Filter& f, const float* filters, const float* bias, float* packed) {
  const size_t inputs = f.inputs, outputs = f.outputs;
  const size_t panel = table()->nr;
  const Floats points = allocate(kPoints * panel * inputs);
  if (points == nullptr) {
    return false;
  }
  const auto pack_panel = reinterpret_cast<xnn_packw_gemm_goi_ukernel_fn>(table()->pack_gemm_goi);
  for (size_t first = 0; first < outputs; first += panel) {
    const size_t count = std::min(panel, outputs - first);
    for (size_t i = 0; i < count; ++i) {
      transform_filter(filters + (first + i) * kFilter * kFilter * inputs, inputs,
                       points.get() + i * inputs, panel * inputs);
    }
    for (size_t point = 0; point < kPoints; ++point) {
      const bool has_bias = bias != nullptr && point == kPointInAll;
      pack_panel(
          1, count, inputs, panel, 1, 1, points.get() + point * panel * inputs,
          has_bias ? bias + first : nullptr, nullptr,
          packed + point * point_floats(inputs, outputs) + first / panel * panel_floats(inputs), 0,
          nullptr);
    }
  }
  return true;
}

bool are_channels_for_it(size_t inputs, size_t outputs, size_t positions) {
  const xnn_hardware_config* const hardware = xnn_init_hardware_config();
  return hardware != nullptr && hardware->use_x86_avx512skx && table() != nullptr &&
         table()->log2_kr == 0 && table()->log2_sr == 0 && inputs % kLanes == 0 &&
         outputs % kLanes == 0 && inputs >= kMinChannels && outputs >= kMinChannels &&
         inputs <= kSmallFilterBytes && outputs <= kSmallFilterBytes &&
         (!is_large(inputs, outputs) ||
          (positions != 0 && cost(positions, inputs, outputs) < kMaxCostOfLarge));
}

void for_each_run(const xnn_operator& op, size_t part_index,
                  const std::function<void(size_t first, size_t elements)>& use) {
  const Plan& plan = *reinterpret_cast<const Plan*>(&op.context);
  const Plan::Part part = plan.part(part_index);
  const size_t end = part.first_tile + part.num_tiles;
  const auto use_positions = [&](size_t first, size_t count) {
    if (part.num_outputs == plan.outputs) {
      use(first * plan.outputs, count * plan.outputs);
      return;
    }
    for (size_t i = first; i < first + count; ++i) {
      use(i * plan.outputs + part.first_output, part.num_outputs);
    }
  };
  for (size_t tile = part.first_tile; tile < end;) {
    const Plan::Place place = plan.place_of(tile);
    const size_t tiles = std::min(end - tile, plan.columns_of_tiles - place.column / kOutputs);
    const size_t count = std::min(tiles * kOutputs, plan.output_width - place.column);
    const size_t rows = std::min(kOutputs, plan.output_height - place.row);
    for (size_t row = place.row; row < place.row + rows; ++row) {
      use_positions((place.image * plan.output_height + row) * plan.output_width + place.column,
                    count);
    }
    tile += tiles;
  }
}

bool suits(const Filter& f, float min, float max, uint32_t flags) {
  return f.height == kFilter && f.width == kFilter && f.stride_y == 1 && f.stride_x == 1 &&
         f.dilation_y == 1 && f.dilation_x == 1 && f.groups == 1 && min < max &&
         (flags & ~(kNoTable | XNN_FLAG_POSITIONS_MASK)) == 0 && f.input_stride >= f.inputs &&
         f.output_stride >= f.outputs &&
         are_channels_for_it(f.inputs, f.outputs, xnn_positions_of_flags(flags));
}

size_t plan_parts(xnn_operator& op, size_t num_threads) {
  Plan plan{};
  plan.zeros = static_cast<const float*>(op.zero_buffer);
  plan.weights = static_cast<const float*>(packed_weights(&op));
  plan.input_height = op.input_height;
  plan.input_width = op.input_width;
  plan.inputs = op.group_input_channels;
  plan.input_stride = op.input_pixel_stride;
  plan.output_height = op.output_height;
  plan.output_width = op.output_width;
  plan.outputs = op.group_output_channels;
  plan.output_stride = op.output_pixel_stride;
  plan.padding_top = op.padding_top;
  plan.padding_left = op.padding_left;
  plan.rows_of_tiles = divide_round_up(op.output_height, kOutputs);
  plan.columns_of_tiles = divide_round_up(op.output_width, kOutputs);
  plan.num_tiles = op.batch_size * plan.rows_of_tiles * plan.columns_of_tiles;
  plan.min = op.params.f32_minmax.scalar.min;
  plan.max = op.params.f32_minmax.scalar.max;
  cut(plan, num_threads);
  static_assert(sizeof(Plan) <= sizeof(op.context));
  new (&op.context) Plan(plan);
  op.compute[0].type = xnn_parallelization_type_1d_with_thread;
  op.compute[0].task_1d_with_thread = reinterpret_cast<pthreadpool_task_1d_with_thread_t>(run_part);
  op.compute[0].range[0] = plan.num_blocks() * plan.num_groups();
  return num_threads * plan.scratch_floats();
}

}  // namespace

}  // namespace executorch::backends::xnnpack::winograd

namespace executorch::backends::xnnpack {

const OwnConvolution kWinogradConvolution{
    0x57494E4F,     winograd::suits,      winograd::packed_floats,
    winograd::pack, winograd::plan_parts, winograd::for_each_run};

}  // namespace executorch::backends::xnnpack
