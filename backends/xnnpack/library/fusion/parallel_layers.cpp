// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/fusion/parallel_layers.h>
#include <executorch/backends/xnnpack/library/fusion/steps.h>
#include <executorch/backends/xnnpack/library/gemm/column_pieces.h>

namespace executorch::backends::xnnpack {

namespace {

bool is_layer(const xnn_operator_data& node) {
  const xnn_operator* const op = node.operator_objects[0];
  return is_ready(op) && node.operator_objects[1] == nullptr && is_in_pieces(*op);
}

}  // namespace

size_t parallel_layers_at(const xnn_runtime& runtime, size_t index) {
  const xnn_operator_data* const first = runtime.opdata + index;
  const xnn_operator_data* const end = runtime.opdata + runtime.num_ops;
  const xnn_operator_data* node = first;
  while (node != end && is_layer(*node) && node->inputs[0] == first->inputs[0]) {
    ++node;
  }
  return node - first < 2 ? 0 : static_cast<size_t>(node - first);
}

xnn_status run_parallel_layers(const xnn_runtime& runtime, size_t index, size_t count) {
  const xnn_operator_data* const nodes = runtime.opdata + index;
  const auto layer = [&](size_t place) -> xnn_operator& {
    return *nodes[place].operator_objects[0];
  };
  size_t of_thread = 0;
  for (size_t i = 0; i < count; ++i) {
    of_thread += pieces_of_thread(layer(i));
  }
  pthreadpool_parallelize_1d(
      runtime.threadpool,
      [&](size_t piece) {
        const size_t thread = piece / of_thread;
        size_t place = piece % of_thread, i = 0;
        for (; place >= pieces_of_thread(layer(i)); ++i) {
          place -= pieces_of_thread(layer(i));
        }
        compute_piece_of(layer(i), thread, place);
      },
      threads_of_pieces(layer(0)) * of_thread, PTHREADPOOL_FLAG_DISABLE_DENORMALS);
  return xnn_status_success;
}

}  // namespace executorch::backends::xnnpack
