// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of rows of floats that become int8 as they come (QuantizeRows), by filters of 4
// bits: with a scale for each channel, or for each block of a channel.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <executorch/backends/xnnpack/runtime/plan/dequantized_rows.h>
#include <executorch/backends/xnnpack/runtime/plan/rows_of_int8.h>
#include <executorch/backends/xnnpack/runtime/preparation/packing.h>
#include <executorch/kernels/optimized/blocks/blocks.h>
#include <executorch/kernels/optimized/scratch.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNodeUnion;
using kernels::optimized::BlockMatrix;
using kernels::optimized::kPanelRows;
using kernels::optimized::kUnit;
using runtime::Error;
using runtime::KernelRuntimeContext;
using runtime::MemoryAllocator;

namespace {

/// Units of a filter's numbers that have one scale: of one by channel, all of them.
int64_t units_of_scale(const Value& filter, int64_t k) {
  return (filter.group_size == 0 ? k : static_cast<int64_t>(filter.group_size)) / kUnit;
}

class Int4Layer final : public OwnStep {
 public:
  Int4Layer(const Definitions& definitions, size_t begin, size_t end)
      : node_(definitions.graph().nodes[begin]),
        input_(definitions.graph().values[node_.operands.inputs[0]]),
        fused_(definitions, begin, end) {
    const uint32_t filter = node_.operands.inputs[1];
    const Shape& shape = definitions.graph().shapes[filter];
    const int64_t k = size_at(shape, 1);
    matrix_ = kernels::optimized::int4_matrix(
        size_at(shape, 0), k, units_of_scale(definitions.graph().values[filter], k));
  }

  /// Sums of the filter's rows lie ahead of its panels.
  Error pack(const Definitions& definitions, PackedWeights& weights, MemoryAllocator&) override {
    if (matrix_.panels != nullptr) {
      return Error::Ok;
    }
    const uint32_t id = node_.operands.inputs[1];
    const Value& value = definitions.graph().values[id];
    const void* const scales = definitions.contents(id).scales.data();
    const bool by_channel = value.type() == XNNDatatype::xnn_datatype_qcint4;
    const auto num_sums = static_cast<size_t>(matrix_.num_panels() * kPanelRows);
    const size_t bytes = num_sums * sizeof(float) +
                         static_cast<size_t>(matrix_.num_panels() * matrix_.panel_bytes());
    const auto [filter, bias] = source_of(definitions, node_);
    const auto* const block = static_cast<const uint8_t*>(
        weights.find_or_pack(filter, bias, kSeed, bytes, [&, from = filter](void* to) {
          auto* const sums = static_cast<float*>(to);
          kernels::optimized::pack_int4(
              {matrix_.n, matrix_.k, units_of_scale(value, matrix_.k),
               static_cast<const uint8_t*>(from),
               by_channel ? nullptr : static_cast<const uint16_t*>(scales)},
              matrix_, reinterpret_cast<uint8_t*>(sums + num_sums), sums);
          return true;
        }));
    ET_CHECK_OR_RETURN_ERROR(block != nullptr, MemoryAllocationFailed,
                             "XNNPACK: no memory to pack the weights of a layer");
    sums_ = reinterpret_cast<const float*>(block);
    matrix_.panels = block + num_sums * sizeof(float);
    const auto channels = static_cast<size_t>(matrix_.n);
    scales_.assign(channels, 1.0f);
    if (by_channel) {
      std::copy_n(static_cast<const float*>(scales), channels, scales_.begin());
    }
    if (bias != nullptr) {
      bias_.assign(static_cast<const float*>(bias), static_cast<const float*>(bias) + channels);
    }
    return Error::Ok;
  }

  Error reshape(const Shapes& shapes) override {
    rows_ = RowsOfInt8(input_, shapes[node_.operands.inputs[0]]);
    return fused_.reshape(shapes);
  }

  Error run(const Addresses& addresses, MemoryAllocator& scratch) override {
    void* const from = addresses[node_.operands.inputs[0]];
    const int64_t rows = rows_.rows() * rows_.columns() / matrix_.k;
    if (rows == 0) {
      return Error::Ok;
    }
    KernelRuntimeContext context(nullptr, &scratch);
    auto* const memory = kernels::optimized::scratch<uint8_t>(
        context, kernels::optimized::int4_matmul_bytes(matrix_.k, rows));
    ET_CHECK_OR_RETURN_ERROR(memory != nullptr, MemoryAllocationFailed,
                             "XNNPACK: no memory for a layer of 4 bits");
    const DequantizedRows<float> result({sums_, 0, scales_, bias_, matrix_.n, node_.limits},
                                        {rows_.scales(from), rows / rows_.rows(), 0},
                                        static_cast<float*>(addresses[fused_.output()]),
                                        fused_.bind(addresses));
    kernels::optimized::multiply_int4(matrix_, rows_.values(from), rows, result, memory);
    return Error::Ok;
  }

 private:
  static constexpr uint32_t kSeed = 0x494E5434;

  const GraphNode& node_;
  const Value& input_;
  FusedElementwise fused_;
  RowsOfInt8 rows_;
  BlockMatrix matrix_;
  const float* sums_ = nullptr;  // of the filter's rows, times their scales
  std::vector<float> scales_;    // of channels
  std::vector<float> bias_;
};

}  // namespace

bool takes_rows_of_int4(const Graph& graph, const GraphNode& node) {
  if (node.node->xnode_union_type() != XNodeUnion::XNNFullyConnected) {
    return false;
  }
  const uint32_t input = node.operands.inputs[0], id = node.operands.inputs[1];
  const Value& filter = graph.values[id];
  const bool has_4_bits = filter.type() == XNNDatatype::xnn_datatype_qcint4 ||
                          filter.type() == XNNDatatype::xnn_datatype_qbint4;
  return has_4_bits && graph.shapes[id].rank == 2 && size_at(graph.shapes[id], 1) % kUnit == 0 &&
         static_cast<int64_t>(filter.group_size) % kUnit == 0 && filter.is_constant() &&
         !graph.uses[id].is_read && !graph.values[input].is_constant() &&
         is_plain_float(graph, node.operands.output) && kernels::optimized::suits_int4();
}

namespace {

bool suits(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return takes_rows_of_int4(graph, node) && are_own_rows(graph, node.operands.inputs[0]);
}

}  // namespace

const OwnKind kOwnInt4Matmul = {"Matmul (INT4 by rows)", suits, FusedElementwise::takes,
                                /*runs_unpacked=*/false, make_step<Int4Layer>};

}  // namespace executorch::backends::xnnpack
