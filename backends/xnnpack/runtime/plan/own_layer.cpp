// SPDX-License-Identifier: BSD-3-Clause
// What layers of ours have in common, and which there are.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <executorch/backends/xnnpack/runtime/preparation/packing.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using runtime::Error;
using runtime::MemoryAllocator;

namespace {

/// The first that suits a node computes it.
const OwnKind* const kKinds[] = {&kOwnBFloat16Matmul, &kOwnWinograd,     &kOwnMatmul,
                                 &kOwnConvolution,    &kOwnDepthwise,    &kOwnAttention,
                                 &kOwnMaxPool,        &kOwnMean,         &kOwnInt8Convolution,
                                 &kOwnInt8Depthwise,  &kOwnQuantizeRows, &kOwnDynamicMatmul,
                                 &kOwnInt4Matmul,     &kOwnByteTable};

}  // namespace

OwnLayer::OwnLayer(const Definitions& definitions, size_t begin, size_t end, uint32_t seed)
    : node_(definitions.graph().nodes[begin]), seed_(seed), fused_(definitions, begin, end) {
  const auto [filter, bias] = source_of(definitions, node_);
  filter_ = static_cast<const float*>(filter);
  bias_ = static_cast<const float*>(bias);
}

/// The bias lies behind the filter.
Error OwnLayer::pack(const Definitions& definitions, PackedWeights& weights,
                     MemoryAllocator& scratch) {
  if (packed_ != nullptr) {
    return Error::Ok;
  }
  const size_t floats = num_packed();
  const size_t bias_floats =
      node_.operands.num_packed > 1
          ? static_cast<size_t>(definitions.graph().shapes[node_.operands.inputs[2]].num_elements())
          : 0;
  const auto pack_into = [&](void* block) {
    auto* const to = static_cast<float*>(block);
    const bool is_packed = pack_filter(filter_, to, scratch) == Error::Ok;
    std::copy(bias_, bias_ + bias_floats, to + floats);
    return is_packed;
  };
  packed_ = static_cast<const float*>(weights.find_or_pack(
      filter_, bias_, seed_, (floats + bias_floats) * sizeof(float), pack_into));
  ET_CHECK_OR_RETURN_ERROR(packed_ != nullptr, MemoryAllocationFailed,
                           "XNNPACK: no memory to pack the weights of a layer");
  filter_ = nullptr;
  bias_ = bias_floats > 0 ? packed_ + floats : nullptr;
  return Error::Ok;
}

Error OwnLayer::reshape(const Shapes& shapes) {
  set_shapes(node_, shapes);
  return fused_.reshape(shapes);
}

Error OwnLayer::run(const Addresses& addresses, MemoryAllocator& scratch) {
  return compute({static_cast<const float*>(addresses[node_.operands.inputs[0]]),
                  static_cast<float*>(addresses[fused_.output()]), packed_, filter_, bias_,
                  node_.limits, fused_.bind(addresses)},
                 scratch);
}

bool takes_nothing(const Graph&, const GraphNode&, const GraphNode&) {
  return false;
}

bool is_plain_float(const Graph& graph, uint32_t id) {
  return graph.values[id].type() == XNNDatatype::xnn_datatype_fp32 && !graph.is_converted(id);
}

bool is_layer_of_floats(const Graph& graph, const GraphNode& node) {
  const uint32_t input = node.operands.inputs[0], filter = node.operands.inputs[1];
  return is_plain_float(graph, input) && !graph.values[input].is_constant() &&
         is_plain_float(graph, filter) && graph.values[filter].is_constant() &&
         !graph.uses[filter].is_read && is_plain_float(graph, node.operands.output);
}

const OwnKind* own_kind_of(const Graph& graph, const GraphNode& node, const OwnChoice& choice) {
  if (!choice.any) {
    return nullptr;
  }
  const auto* const found =
      std::find_if(std::begin(kKinds), std::end(kKinds),
                   [&](const OwnKind* kind) { return kind->suits(graph, node, choice); });
  return found == std::end(kKinds) ? nullptr : *found;
}

}  // namespace executorch::backends::xnnpack
