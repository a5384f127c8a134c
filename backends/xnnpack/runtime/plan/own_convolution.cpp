// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of floats that kernels of ours compute.
#include <executorch/backends/xnnpack/runtime/plan/own_step.h>

#include <executorch/backends/xnnpack/runtime/preparation/packing.h>
#include <executorch/kernels/optimized/conv/winograd.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNodeUnion;
using kernels::optimized::Conv;
using runtime::Error;
using runtime::KernelRuntimeContext;
using runtime::MemoryAllocator;
using runtime::Result;

namespace {

/// Of the time that XNNPACK takes: a result that it joins with a sum behind it now goes through
/// memory, and transformed filters take memory, too.
constexpr double kMaxCost = 0.75;
/// With fewer channels transforms take longer than they save.
constexpr int64_t kMinChannels = 16;

int64_t size_at(const Shape& shape, size_t dim) {
  return static_cast<int64_t>(shape.dims[dim]);
}

/// All but the pointers.
Conv conv_of(const GraphNode& node, const Shapes& shapes) {
  const auto& n = table_of<fb_xnnpack::_XNNNodeConv>(*node.node);
  const Shape& input = shapes[node.operands.inputs[0]];
  const Shape& output = shapes[node.operands.output];
  Conv conv{};
  conv.batch = size_at(input, 0);
  conv.groups = n.groups();
  conv.in_channels = size_at(input, 3);
  conv.out_channels = size_at(output, 3);
  conv.in_d = conv.out_d = conv.kernel_d = conv.stride_d = conv.dilation_d = 1;
  conv.in_h = size_at(input, 1);
  conv.in_w = size_at(input, 2);
  conv.out_h = size_at(output, 1);
  conv.out_w = size_at(output, 2);
  conv.kernel_h = n.kernel_height();
  conv.kernel_w = n.kernel_width();
  conv.stride_h = n.subsampling_height();
  conv.stride_w = n.subsampling_width();
  conv.pad_h = n.padding_top();
  conv.pad_w = n.padding_left();
  conv.dilation_h = n.dilation_height();
  conv.dilation_w = n.dilation_width();
  conv.channels_last = conv.weight_channels_last = true;
  return conv;
}

/// Filters and, behind them, a bias as the kernel reads them.
class Winograd final : public OwnStep {
 public:
  Winograd(const GraphNode& node, const Shapes& shapes)
      : node_(node), conv_(conv_of(node, shapes)) {}

  Error pack(const Definitions& definitions, PackedWeights& weights, MemoryAllocator& scratch) {
    const size_t floats = num_winograd_packed(conv_);
    const bool has_bias = node_.operands.num_packed > 1;
    const size_t bias_floats = has_bias ? static_cast<size_t>(conv_.out_channels) : 0;
    const auto [filter, bias] = source_of(definitions, node_);
    Conv source = conv_;
    source.weight = static_cast<const float*>(filter);
    const auto* const bias_values = static_cast<const float*>(bias);
    const auto pack_into = [&](void* block) {
      auto* const to = static_cast<float*>(block);
      KernelRuntimeContext context(nullptr, &scratch);
      const bool is_packed = pack_winograd(context, source, to) == Error::Ok;
      std::copy(bias_values, bias_values + bias_floats, to + floats);
      return is_packed;
    };
    packed_ = static_cast<const float*>(weights.find_or_pack(
        filter, bias, kSeed, (floats + bias_floats) * sizeof(float), pack_into));
    ET_CHECK_OR_RETURN_ERROR(packed_ != nullptr, MemoryAllocationFailed,
                             "XNNPACK: no memory to pack a convolution");
    bias_ = has_bias ? packed_ + floats : nullptr;
    return Error::Ok;
  }

  void reshape(const Shapes& shapes) override { conv_ = conv_of(node_, shapes); }

  Error run(const void* input, void* output, MemoryAllocator& scratch) override {
    conv_.input = static_cast<const float*>(input);
    conv_.output = static_cast<float*>(output);
    conv_.bias = bias_;
    KernelRuntimeContext context(nullptr, &scratch);
    return winograd_conv(context, conv_, packed_, node_.limits.min, node_.limits.max);
  }

 private:
  static constexpr uint32_t kSeed = 0x57494E4F;

  const GraphNode& node_;
  Conv conv_;
  const float* packed_ = nullptr;
  const float* bias_ = nullptr;
};

bool suits_winograd(const Graph& graph, const GraphNode& node, const OwnChoice& choice) {
  const Operands& operands = node.operands;
  const auto is_float = [&](uint32_t id) {
    return graph.values[id].type() == XNNDatatype::xnn_datatype_fp32 && !graph.is_converted(id);
  };
  const uint32_t filter = operands.inputs[1];
  if (!choice.winograd || !is_float(operands.inputs[0]) || !is_float(filter) ||
      !is_float(operands.output) || graph.uses[filter].is_read) {
    return false;
  }
  const Conv conv = conv_of(node, graph.shapes);
  return is_winograd(conv) && conv.in_channels >= kMinChannels &&
         conv.out_channels >= kMinChannels && cost_of_winograd(conv) < kMaxCost;
}

Result<std::unique_ptr<OwnStep>> make_winograd(const Definitions& definitions,
                                               const GraphNode& node, PackedWeights& weights,
                                               MemoryAllocator& scratch) {
  auto step = std::make_unique<Winograd>(node, definitions.graph().shapes);
  ET_CHECK_OK_OR_RETURN_ERROR(step->pack(definitions, weights, scratch));
  return std::unique_ptr<OwnStep>(std::move(step));
}

constexpr OwnKind kKinds[] = {
    {"Convolution (Winograd, F32)", XNodeUnion::XNNConv2d, suits_winograd, make_winograd},
};

}  // namespace

const OwnKind* own_kind_of(const Graph& graph, const GraphNode& node, const OwnChoice& choice) {
  for (const OwnKind& kind : kKinds) {
    if (node.node->xnode_union_type() == kind.node && kind.suits(graph, node, choice)) {
      return &kind;
    }
  }
  return nullptr;
}

}  // namespace executorch::backends::xnnpack
