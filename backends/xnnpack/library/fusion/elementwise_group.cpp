// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/convolution/depthwise_rows.h>
#include <executorch/backends/xnnpack/library/convolution/indirection_free.h>
#include <executorch/backends/xnnpack/library/fusion/elementwise.h>
#include <executorch/backends/xnnpack/library/fusion/elementwise_group.h>
#include <executorch/backends/xnnpack/library/fusion/steps.h>
#include <executorch/backends/xnnpack/library/tile_order.h>

#include "xnnpack/compute.h"

#include <algorithm>
#include <array>

extern "C" {  // which its header declares for C alone
void xnn_compute_dqgemm(void*, size_t, size_t, size_t, size_t);
void xnn_compute_grouped_gemm(void*, size_t, size_t, size_t, size_t, size_t);
}

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kMaxOperators = 16;
/// Elements that go through all operators at a time: a few values of them fit a core's first cache.
constexpr size_t kPiece = 2048;
/// Fewer elements times operators take a thread less time than it takes to wake another.
constexpr size_t kAlone = size_t{1} << 14;

using Tiles2d = pthreadpool_task_2d_tile_2d_t;

/// What the last step of a producer computes.
enum class Tiling {
  kNone,     // nothing that is known here
  kTiles,    // [rows, columns], with batches or without, by tiles
  kColumns,  // the same without batches, threads go down the columns
  kRows,     // a row of an image at a time
};

Tiling tiling_of(const compute_parameters& step) {
  switch (step.type) {
    case xnn_parallelization_type_2d_tile_2d:
      if (is_gemm(step) || is_task(step.task_2d_tile_2d, xnn_compute_dqgemm) ||
          step.task_2d_tile_2d == compute_positions) {
        return Tiling::kTiles;
      }
      return step.task_2d_tile_2d == static_cast<Tiles2d>(by_columns<xnn_compute_gemm>) ||
                     step.task_2d_tile_2d == static_cast<Tiles2d>(by_columns<compute_positions>)
                 ? Tiling::kColumns
                 : Tiling::kNone;
    case xnn_parallelization_type_3d_tile_2d:
      return is_task(step.task_3d_tile_2d, xnn_compute_grouped_gemm) ||
                     is_task(step.task_3d_tile_2d, compute_image)
                 ? Tiling::kTiles
                 : Tiling::kNone;
    case xnn_parallelization_type_2d:
      return is_task(step.task_2d, compute_row) ? Tiling::kRows : Tiling::kNone;
    default:
      return Tiling::kNone;
  }
}

/// What computes the input of the first elementwise operator, or nothing: then `op` is null.
struct Producer {
  xnn_operator* op = nullptr;

  const compute_parameters& step() const { return tiles_of(*op); }
  Tiling tiling() const { return tiling_of(step()); }

  /// Elements of a row of the output, whose rows lie one after another; 0 where they do not.
  size_t columns(size_t elements) const {
    switch (tiling()) {
      case Tiling::kTiles: {
        const size_t inner = step().type == xnn_parallelization_type_2d_tile_2d ? 1 : 2;
        return is_dense(step().range[inner]) ? step().range[inner] : 0;
      }
      case Tiling::kColumns:
        return is_dense(step().range[0]) ? step().range[0] : 0;
      case Tiling::kRows: {
        const dwconv_context& c = op->context.dwconv.dwconv;
        const bool is_dense = c.output_batch_stride == step().range[1] * c.output_height_stride;
        return is_dense || step().range[0] == 1 ? elements / (step().range[0] * step().range[1])
                                                : 0;
      }
      default:
        return 0;
    }
  }

 private:
  bool is_dense(size_t columns) const {
    const bool is_image = op->ukernel.type == xnn_microkernel_type_igemm;
    const igemm_context& image = op->context.igemm.igemm;
    const gemm_context& gemm = op->context.gemm.gemm.gemm;
    return (is_image ? image.cm_stride >> image.log2_csize : gemm.cm_stride >> gemm.log2_csize) ==
           columns;
  }
};

/// The operators of a group, in order.
class Group {
 public:
  Group(const xnn_runtime& runtime, size_t index, size_t count) {
    for (size_t i = index; i < index + count; ++i) {
      xnn_operator* const op = runtime.opdata[i].operator_objects[0];
      if (op == nullptr || op->state == xnn_run_state_skip) {
        continue;  // the latter copies a value onto itself
      }
      if (Elementwise::is(*op)) {
        parts_[num_parts_++] = op;
      } else {
        producer_.op = op;
      }
    }
  }

  xnn_status run(pthreadpool_t pool) const {
    constexpr uint32_t kFlags = PTHREADPOOL_FLAG_DISABLE_DENORMALS;
    if (num_parts_ == 0) {
      return producer_.op == nullptr ? xnn_status_success : xnn_run_operator(producer_.op, pool);
    }
    const size_t all = Elementwise(*parts_[0]).elements();
    if (producer_.op == nullptr) {
      pthreadpool_t const threads = all * num_parts_ < kAlone ? nullptr : pool;
      pthreadpool_parallelize_1d_tile_1d(
          threads, [&](size_t first, size_t count) { compute(first, count); }, all, kPiece, kFlags);
      return xnn_status_success;
    }
    const xnn_status status = run_ahead(*producer_.op, pool);
    if (status == xnn_status_success) {
      run_tiles(threads_for(*producer_.op, pool), all, kFlags);
    }
    return status;
  }

 private:
  void run_tiles(pthreadpool_t pool, size_t all, uint32_t flags) const {
    const compute_parameters& step = producer_.step();
    void* const context = &producer_.op->context;
    const size_t columns = producer_.columns(all);
    const size_t outer = step.range[0], middle = step.range[1], inner = step.range[2];
    switch (producer_.tiling()) {
      case Tiling::kTiles:
        if (step.type == xnn_parallelization_type_2d_tile_2d) {
          pthreadpool_parallelize_2d_tile_2d(
              pool,
              [&](size_t row, size_t column, size_t rows, size_t width) {
                step.task_2d_tile_2d(context, row, column, rows, width);
                compute_tile(row, column, rows, width, columns);
              },
              outer, middle, step.tile[0], step.tile[1], flags);
          break;
        }
        pthreadpool_parallelize_3d_tile_2d(
            pool,
            [&](size_t batch, size_t row, size_t column, size_t rows, size_t width) {
              step.task_3d_tile_2d(context, batch, row, column, rows, width);
              compute_tile(batch * middle + row, column, rows, width, columns);
            },
            outer, middle, inner, step.tile[0], step.tile[1], flags);
        break;
      case Tiling::kColumns:
        pthreadpool_parallelize_2d_tile_2d(
            pool,
            [&](size_t column, size_t row, size_t width, size_t rows) {
              step.task_2d_tile_2d(context, column, row, width, rows);
              compute_tile(row, column, rows, width, columns);
            },
            outer, middle, step.tile[0], step.tile[1], flags);
        break;
      case Tiling::kRows:
        pthreadpool_parallelize_2d(
            pool,
            [&](size_t image, size_t row) {
              step.task_2d(context, image, row);
              compute((image * middle + row) * columns, columns);
            },
            outer, middle, flags);
        break;
      default:
        break;
    }
  }

  void compute_tile(size_t row, size_t column, size_t rows, size_t width, size_t columns) const {
    if (width == columns) {
      compute(row * columns, rows * columns);
      return;
    }
    for (size_t i = row; i < row + rows; ++i) {
      compute(i * columns + column, width);
    }
  }

  void compute(size_t first, size_t count) const {
    for (const size_t end = first + count; first < end; first += kPiece) {
      const size_t piece = std::min(kPiece, end - first);
      for (size_t i = 0; i < num_parts_; ++i) {
        Elementwise(*parts_[i]).compute(first, piece);
      }
    }
  }

  Producer producer_;
  std::array<const xnn_operator*, kMaxOperators> parts_;
  size_t num_parts_ = 0;
};

/// One operator, or none: an activation that went into another.
bool has_one_operator(const xnn_operator_data& node) {
  return node.operator_objects[1] == nullptr;
}

}  // namespace

size_t elementwise_group_at(const xnn_runtime& runtime, size_t index) {
  xnn_operator* const first = runtime.opdata[index].operator_objects[0];
  if (!is_ready(first) || !has_one_operator(runtime.opdata[index])) {
    return 0;
  }
  const bool has_producer = !Elementwise::is(*first);
  if (has_producer && tiling_of(tiles_of(*first)) == Tiling::kNone) {
    return 0;
  }
  std::array<uint32_t, kMaxOperators> written;
  size_t num_written = 0, elements = has_producer ? 0 : Elementwise(*first).elements();
  written[num_written++] = runtime.opdata[index].outputs[0];
  size_t count = 1;
  for (size_t i = index + 1; i < runtime.num_ops && num_written < kMaxOperators; ++i) {
    const xnn_operator_data& node = runtime.opdata[i];
    const xnn_operator* const op = node.operator_objects[0];
    if (op == nullptr) {
      continue;
    }
    if (!has_one_operator(node) || !Elementwise::is(*op)) {
      break;
    }
    const Elementwise part(*op);
    bool follows = false, is_in_step = true;
    for (size_t input = 0; input < node.num_inputs; ++input) {
      const bool is_written = std::find(written.begin(), written.begin() + num_written,
                                        node.inputs[input]) != written.begin() + num_written;
      follows = follows || is_written;
      is_in_step = is_in_step && (!is_written || part.reads_in_step(input));
    }
    if (elements == 0) {  // the first behind a producer
      elements = part.elements();
      if (!follows || Producer{first}.columns(elements) == 0) {
        return 0;
      }
    }
    if (part.elements() != elements || !is_in_step) {
      break;
    }
    written[num_written++] = node.outputs[0];
    count = i + 1 - index;
  }
  return count == 1 ? 0 : count;
}

xnn_status run_elementwise_group(const xnn_runtime& runtime, size_t index, size_t count) {
  return Group(runtime, index, count).run(runtime.threadpool);
}

}  // namespace executorch::backends::xnnpack
