// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/convolution/depthwise_rows.h>
#include <executorch/backends/xnnpack/library/convolution/indirection_free.h>
#include <executorch/backends/xnnpack/library/fusion/ring_buffer.h>
#include <executorch/backends/xnnpack/library/fusion/steps.h>
#include <executorch/backends/xnnpack/library/tile_order.h>

#include "xnnpack/compute.h"
#include "xnnpack/math.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace executorch::backends::xnnpack {

namespace {

/// A smaller result of a GEMM stays in the cores' own caches as it is.
constexpr size_t kMinBytes = size_t{3} << 19;
/// The same of what the reader writes.
constexpr size_t kMinOutputBytes = size_t{1} << 18;
/// Parts of the image for each thread; rows that two parts read are computed twice.
constexpr size_t kParts = 2;

/// Where a step writes its outputs.
struct Outputs {
  void** first = nullptr;  // null: of a step that is not known
  size_t stride = 0;       // bytes
};

Outputs outputs_of(xnn_operator& op, const compute_parameters& step) {
  if (step.type != xnn_parallelization_type_2d_tile_2d || step.context_offset != 0) {
    return {};
  }
  if (is_gemm(step)) {
    gemm_context& gemm = op.context.gemm.gemm.gemm;
    return {&gemm.c, gemm.cm_stride};
  }
  igemm_context& igemm = op.context.igemm.igemm;
  return is_task(step.task_2d_tile_2d, compute_positions) ? Outputs{&igemm.c, igemm.cm_stride}
                                                          : Outputs{};
}

/// Memory of a thread for `bytes` that kernels read.
size_t room_for(size_t bytes) {
  return round_up_po2(bytes + XNN_EXTRA_BYTES, XNN_ALLOCATION_ALIGNMENT);
}

/// A GEMM and the depthwise convolution that reads it, neighbors in a runtime, and the next GEMM
/// where nothing else reads what the convolution writes.
struct Pair {
  xnn_operator* producer = nullptr;  // null: there is none
  xnn_operator* reader = nullptr;
  uint32_t value = 0;
  xnn_operator* next = nullptr;  // null: outputs are kept

  compute_parameters& tiles() const { return tiles_of(*producer); }
  const Depthwise& depthwise() const {
    return *reinterpret_cast<const Depthwise*>(&reader->context);
  }
  size_t row_bytes() const {
    const auto& indirection = depthwise().indirection;
    return indirection.input_width * indirection.input_pixel_stride;
  }
  /// Input rows that one row of outputs reads.
  size_t ring_rows() const {
    const auto& indirection = depthwise().indirection;
    return (indirection.kernel_height - 1) * indirection.dilation_height + 1;
  }
  /// Whether a step ahead of the GEMM copies all that it reads.
  bool copies_input() const {
    return !is_gemm(tiles()) &&
           reinterpret_cast<const Convolution*>(&producer->context)->padded.height != 0;
  }
  size_t ring_bytes() const { return room_for(ring_rows() * row_bytes()); }
  size_t output_row_bytes() const { return depthwise().dwconv.output_height_stride; }
  size_t output_room() const { return room_for(output_row_bytes()); }
};

/// Whether the steps are pixels, each a GEMM's, and then a depthwise convolution of one image of
/// them, as this computes them.
bool has_known_steps(const Pair& pair) {
  const compute_parameters& rows = pair.reader->compute[0];
  const compute_parameters& tiles = pair.tiles();
  const auto& indirection = pair.depthwise().indirection;
  const Outputs outputs = outputs_of(*pair.producer, tiles);
  return outputs.first != nullptr && outputs.stride == indirection.input_pixel_stride &&
         pair.reader->ukernel.type == xnn_microkernel_type_dwconv &&
         rows.type == xnn_parallelization_type_2d && is_task(rows.task_2d, compute_row) &&
         pair.reader->compute[1].type == xnn_parallelization_type_invalid && rows.range[0] == 1 &&
         tiles.range[0] == indirection.input_height * indirection.input_width;
}

/// Whether XNNPACK keeps a value in the workspace, for one node.
bool has_one_reader(const xnn_value& value) {
  return value.allocation_type == xnn_allocation_type_workspace && value.num_consumers == 1;
}

/// Whether rings take less memory than the whole result, which nothing else reads.
bool takes_less(const xnn_runtime& runtime, const Pair& pair) {
  const size_t height = pair.depthwise().indirection.input_height;
  const size_t bytes = height * pair.row_bytes();
  return has_one_reader(runtime.values[pair.value]) && bytes >= kMinBytes &&
         pair.ring_rows() <= height &&
         pair.ring_bytes() * pthreadpool_get_threads_count(runtime.threadpool) <= bytes / 2;
}

/// Whether a GEMM is of all pixels that the convolution of a pair writes, and nothing else needs
/// them.
bool is_next(const xnn_runtime& runtime, const Pair& pair, const xnn_operator_data& node,
             uint32_t outputs) {
  xnn_operator* const op = node.operator_objects[0];
  if (!is_ready(op) || node.operator_objects[1] != nullptr || node.inputs[0] != outputs ||
      !has_one_reader(runtime.values[outputs])) {
    return false;
  }
  const compute_parameters& tiles = tiles_of(*op);
  const auto& indirection = pair.depthwise().indirection;
  return is_gemm(tiles) && tiles.context_offset == 0 &&
         tiles.range[0] == indirection.output_height * indirection.output_width &&
         op->context.gemm.gemm.gemm.a_stride * indirection.output_width ==
             pair.output_row_bytes() &&
         indirection.output_height * pair.output_row_bytes() >= kMinOutputBytes &&
         indirection.output_height > pthreadpool_get_threads_count(runtime.threadpool) * kParts;
}

/// The GEMM and the convolution that begin with an operator.
Pair two_at(const xnn_runtime& runtime, size_t index) {
  if (index + 1 >= runtime.num_ops) {
    return {};
  }
  const xnn_operator_data& first = runtime.opdata[index];
  const xnn_operator_data& second = runtime.opdata[index + 1];
  const Pair pair{first.operator_objects[0], second.operator_objects[0], first.outputs[0]};
  if (!is_ready(pair.producer) || !is_ready(pair.reader) || first.operator_objects[1] != nullptr ||
      second.operator_objects[1] != nullptr || pair.value != second.inputs[0]) {
    return {};
  }
  return has_known_steps(pair) && takes_less(runtime, pair) ? pair : Pair{};
}

/// A pair that was found when the workspace was planned.
Pair pair_of(const xnn_runtime& runtime, size_t index, size_t count) {
  const xnn_operator_data* const nodes = runtime.opdata + index;
  return {nodes[0].operator_objects[0], nodes[1].operator_objects[0], nodes[0].outputs[0],
          count == 3 ? nodes[2].operator_objects[0] : nullptr};
}

/// A thread's way to compute rows of outputs, with operators of its own: what its steps are given
/// lies in memory of its own.
class Part {
 public:
  Part(const Pair& pair, uint8_t* ring, uint8_t* outputs)
      : pair_(pair),
        ring_(ring),
        outputs_(outputs),
        tiles_(pair.tiles()),
        depthwise_(pair.depthwise()) {
    std::memcpy(&producer_.context, &pair.producer->context, sizeof(producer_.context));
    depthwise_.indirection.input = ring;
    depthwise_.dwconv.input_offset = 0;
    if (pair.next != nullptr) {
      next_ = pair.next->context.gemm.gemm.gemm;
    }
  }

  void compute(size_t first, size_t end) {
    const auto& indirection = depthwise_.indirection;
    const size_t ring_rows = pair_.ring_rows();
    size_t computed = 0;  // rows, or left out
    for (size_t row = first; row < end; ++row) {
      const size_t top = row * indirection.stride_height;
      const auto in_image = [&](size_t input_row) {
        return std::min(input_row - std::min(input_row, indirection.input_padding_top),
                        indirection.input_height);
      };
      computed = std::max(computed, in_image(top));
      for (; computed < in_image(top + ring_rows); ++computed) {
        compute_input_row(computed);
      }
      if (pair_.next == nullptr) {
        compute_row_of_ring(depthwise_, row, ring_rows);
        continue;
      }
      depthwise_.dwconv.output = moved(outputs_, row, pair_.output_row_bytes());
      compute_row_of_ring(depthwise_, row, ring_rows);
      next_.a = depthwise_.dwconv.output;
      compute_tiles(tiles_of(*pair_.next), &next_, row, indirection.output_width);
    }
  }

 private:
  /// Where row 0 would lie so that row `row` comes to `place`: steps go by the place of the
  /// first one.
  static void* moved(uint8_t* place, size_t row, size_t bytes) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(place) - row * bytes);
  }

  static void compute_tiles(const compute_parameters& tiles, void* context, size_t row,
                            size_t width) {
    for (size_t pixel = 0; pixel < width; pixel += tiles.tile[0]) {
      tiles.task_2d_tile_2d(context, row * width + pixel, 0, std::min(tiles.tile[0], width - pixel),
                            tiles.range[1]);
    }
  }

  void compute_input_row(size_t row) {
    uint8_t* const place = ring_ + row % pair_.ring_rows() * pair_.row_bytes();
    *outputs_of(producer_, tiles_).first = moved(place, row, pair_.row_bytes());
    compute_tiles(tiles_, &producer_.context, row, depthwise_.indirection.input_width);
  }

  const Pair& pair_;
  uint8_t* const ring_;
  uint8_t* const outputs_;  // a row
  const compute_parameters& tiles_;
  Depthwise depthwise_;
  xnn_operator producer_ = {};  // its context alone
  gemm_context next_ = {};
};

struct Parts {
  const Pair& pair;
  uint8_t* rings;
  uint8_t* outputs;
  size_t count;

  static void compute(void* self, size_t thread, size_t index) {
    const Parts& parts = *static_cast<const Parts*>(self);
    const size_t rows = parts.pair.depthwise().indirection.output_height;
    Part part(parts.pair, parts.rings + thread * parts.pair.ring_bytes(),
              parts.outputs + thread * parts.pair.output_room());
    part.compute(rows * index / parts.count, rows * (index + 1) / parts.count);
  }
};

/// `rings` and `outputs`: memory of all threads, the latter for a pair with a next GEMM.
xnn_status run(const Pair& pair, void* rings, void* outputs, pthreadpool_t pool) {
  for (xnn_operator* op : {pair.producer, pair.next}) {
    const xnn_status status = op == nullptr ? xnn_status_success : run_ahead(*op, pool);
    if (status != xnn_status_success) {
      return status;
    }
  }
  const size_t count = std::min(pthreadpool_get_threads_count(pool) * kParts,
                                pair.depthwise().indirection.output_height);
  Parts parts{pair, static_cast<uint8_t*>(rings), static_cast<uint8_t*>(outputs), count};
  pthreadpool_parallelize_1d_with_thread(pool, Parts::compute, &parts, count,
                                         PTHREADPOOL_FLAG_DISABLE_DENORMALS);
  return xnn_status_success;
}

}  // namespace

/// What begins a pair of its own is no next GEMM.
size_t ring_buffers_at(const xnn_runtime& runtime, size_t index) {
  const Pair pair = two_at(runtime, index);
  if (pair.producer == nullptr) {
    return 0;
  }
  const bool has_next =
      index + 2 < runtime.num_ops && two_at(runtime, index + 2).producer == nullptr &&
      is_next(runtime, pair, runtime.opdata[index + 2], runtime.opdata[index + 1].outputs[0]);
  return has_next ? 3 : 2;
}

void plan_ring_buffers(const xnn_runtime& runtime, size_t index, size_t count,
                       xnn_value_allocation_tracker& tracker) {
  const Pair pair = pair_of(runtime, index, count);
  const size_t threads = pthreadpool_get_threads_count(runtime.threadpool);
  const auto first = static_cast<uint32_t>(index);
  const auto last = static_cast<uint32_t>(index + count - 1);
  tracker.usage[pair.value].tensor_size = threads * pair.ring_bytes();
  if (pair.next != nullptr) {
    xnn_usage_record* const rows = &tracker.usage[runtime.opdata[index + 1].outputs[0]];
    rows->tensor_size = threads * pair.output_room();
    rows->first_node = first;
    tracker.usage[runtime.num_values + last].first_node = first;
  }
  xnn_usage_record* const matrix = &tracker.usage[runtime.num_values + index];
  xnn_usage_record* const input = memory_of(tracker, runtime.opdata[index].inputs[0]);
  xnn_usage_record* const output = memory_of(tracker, runtime.opdata[last].outputs[0]);
  matrix->last_node = last;
  output->first_node = std::min(output->first_node, first);
  if (pair.copies_input() && input->last_node == first && first != 0) {
    input->last_node = first - 1;  // outputs may be placed where it was, but not the copy
    matrix->first_node = first - 1;
  } else {
    input->last_node = std::max(input->last_node, last);
  }
}

xnn_status run_ring_buffers(const xnn_runtime& runtime, size_t index, size_t count) {
  const Pair pair = pair_of(runtime, index, count);
  const uint32_t outputs = runtime.opdata[index + 1].outputs[0];
  return run(pair, runtime.values[pair.value].data, runtime.values[outputs].data,
             runtime.threadpool);
}

}  // namespace executorch::backends::xnnpack
