// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of floats: by Winograd's algorithm, where that takes less time, or as sums of
// products.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <executorch/kernels/optimized/conv/conv_packed.h>
#include <executorch/kernels/optimized/conv/depthwise/depthwise.h>
#include <executorch/kernels/optimized/conv/winograd.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNodeUnion;
using kernels::optimized::Conv;
using kernels::optimized::depthwise_conv;
using runtime::Error;
using runtime::KernelRuntimeContext;
using runtime::MemoryAllocator;

namespace {

/// Of the time of a direct convolution: transformed filters take memory, too.
constexpr double kMaxCost = 0.75;
/// With fewer channels transforms take longer than they save.
constexpr int64_t kMinChannels = 16;

class OwnConvolution : public OwnLayer {
 protected:
  OwnConvolution(const Definitions& definitions, size_t begin, size_t end, uint32_t seed)
      : OwnLayer(definitions, begin, end, seed),
        conv_(conv_of(definitions.graph().nodes[begin], definitions.graph().shapes)) {}

  /// With the pointers of a run.
  Conv conv_for(const Run& run) const {
    Conv conv = conv_;
    conv.input = run.input;
    conv.output = run.output;
    conv.bias = run.bias;
    return conv;
  }
  Conv conv_with(const float* filter) const {
    Conv conv = conv_;
    conv.weight = filter;
    return conv;
  }

  Conv conv_;

 private:
  void set_shapes(const GraphNode& node, const Shapes& shapes) final {
    conv_ = conv_of(node, shapes);
  }
};

class Winograd final : public OwnConvolution {
 public:
  Winograd(const Definitions& definitions, size_t begin, size_t end)
      : OwnConvolution(definitions, begin, end, /*seed=*/0x57494E4F) {}

 private:
  size_t num_packed() const override { return num_winograd_packed(conv_); }
  Error pack_filter(const float* filter, float* to, MemoryAllocator& scratch) override {
    KernelRuntimeContext context(nullptr, &scratch);
    return pack_winograd(context, conv_with(filter), to);
  }
  Error compute(const Run& run, MemoryAllocator& scratch) override {
    KernelRuntimeContext context(nullptr, &scratch);
    return winograd_conv(context, conv_for(run), run.packed, run.limits.min, run.limits.max,
                         run.epilogue);
  }
};

/// As sums of products.
class Direct final : public OwnConvolution {
 public:
  Direct(const Definitions& definitions, size_t begin, size_t end)
      : OwnConvolution(definitions, begin, end, /*seed=*/0x434F4E56) {}

 private:
  size_t num_packed() const override { return num_conv_packed(conv_); }
  Error pack_filter(const float* filter, float* to, MemoryAllocator&) override {
    pack_conv(conv_with(filter), to);
    return Error::Ok;
  }
  Error compute(const Run& run, MemoryAllocator& scratch) override {
    KernelRuntimeContext context(nullptr, &scratch);
    return packed_conv(context, conv_for(run), run.packed, run.limits.min, run.limits.max,
                       run.epilogue);
  }
};

/// A filter for each channel.
class ByChannel final : public OwnConvolution {
 public:
  ByChannel(const Definitions& definitions, size_t begin, size_t end)
      : OwnConvolution(definitions, begin, end, /*seed=*/0x44455054) {}

 private:
  size_t num_packed() const override {
    return static_cast<size_t>(conv_.kernel_h * conv_.kernel_w * conv_.in_channels);
  }
  Error pack_filter(const float* filter, float* to, MemoryAllocator&) override {
    std::copy_n(filter, num_packed(), to);
    return Error::Ok;
  }
  Error compute(const Run& run, MemoryAllocator&) override {
    depthwise_conv({conv_for(run), run.packed != nullptr ? run.packed : run.filter, run.limits.min,
                    run.limits.max, run.epilogue});
    return Error::Ok;
  }
};

bool suits_winograd(const Graph& graph, const GraphNode& node, const OwnChoice& choice) {
  if (!choice.winograd || node.node->xnode_union_type() != XNodeUnion::XNNConv2d ||
      !is_layer_of_floats(graph, node)) {
    return false;
  }
  const Conv conv = conv_of(node, graph.shapes);
  return is_winograd(conv) && conv.in_channels >= kMinChannels &&
         conv.out_channels >= kMinChannels && cost_of_winograd(conv) < kMaxCost;
}

bool suits_convolution(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return node.node->xnode_union_type() == XNodeUnion::XNNConv2d &&
         is_layer_of_floats(graph, node) && is_packable(conv_of(node, graph.shapes));
}

bool suits_depthwise(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return node.node->xnode_union_type() == XNodeUnion::XNNDepthwiseConv2d &&
         is_layer_of_floats(graph, node) && is_depthwise(conv_of(node, graph.shapes));
}

}  // namespace

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

const OwnKind kOwnWinograd = {"Convolution (Winograd, F32)", suits_winograd,
                              FusedElementwise::takes, /*runs_unpacked=*/false,
                              make_step<Winograd>};
const OwnKind kOwnConvolution = {"Convolution (F32)", suits_convolution, FusedElementwise::takes,
                                 /*runs_unpacked=*/false, make_step<Direct>};
const OwnKind kOwnDepthwise = {"Depthwise convolution (F32)", suits_depthwise,
                               FusedElementwise::takes, /*runs_unpacked=*/true,
                               make_step<ByChannel>};

}  // namespace executorch::backends::xnnpack
