// SPDX-License-Identifier: BSD-3-Clause
// Pooling of floats: the largest of windows, the mean of all positions.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <executorch/kernels/optimized/pool/max_pool_nhwc.h>
#include <executorch/kernels/optimized/reduction/reduction.h>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNodeUnion;
using runtime::Error;
using runtime::MemoryAllocator;

namespace {

class LargestOfWindows final : public OwnStep {
 public:
  LargestOfWindows(const Definitions& definitions, size_t begin, size_t end)
      : node_(definitions.graph().nodes[begin]), fused_(definitions, begin, end) {
    const auto& n = table_of<fb_xnnpack::_XNNPooling2D>(*node_.node);
    pool_.kernel_h = n.pooling_height();
    pool_.kernel_w = n.pooling_width();
    pool_.stride_h = n.stride_height();
    pool_.stride_w = n.stride_width();
    pool_.pad_h = n.padding_top();
    pool_.pad_w = n.padding_left();
    pool_.dilation_h = n.dilation_height();
    pool_.dilation_w = n.dilation_width();
    pool_.min = node_.limits.min;
    pool_.max = node_.limits.max;
  }

  Error reshape(const Shapes& shapes) override {
    const Shape& input = shapes[node_.operands.inputs[0]];
    const Shape& output = shapes[node_.operands.output];
    pool_.batch = size_at(input, 0);
    pool_.in_h = size_at(input, 1);
    pool_.in_w = size_at(input, 2);
    pool_.channels = size_at(input, 3);
    pool_.out_h = size_at(output, 1);
    pool_.out_w = size_at(output, 2);
    return fused_.reshape(shapes);
  }

  Error run(const Addresses& addresses, MemoryAllocator&) override {
    pool_.input = static_cast<const float*>(addresses[node_.operands.inputs[0]]);
    pool_.output = static_cast<float*>(addresses[fused_.output()]);
    pool_.epilogue = fused_.bind(addresses);
    max_pool_nhwc(pool_);
    return Error::Ok;
  }

 private:
  const GraphNode& node_;
  FusedElementwise fused_;
  kernels::optimized::MaxPool pool_ = {};
};

/// Of all positions of an image, by channel.
class MeanOfPositions final : public OwnStep {
 public:
  MeanOfPositions(const Definitions& definitions, size_t begin, size_t)
      : operands_(definitions.graph().nodes[begin].operands) {}

  Error reshape(const Shapes& shapes) override {
    const Shape& input = shapes[operands_.inputs[0]];
    loops_ = {size_at(input, 0), size_at(input, 1) * size_at(input, 2), size_at(input, 3)};
    return Error::Ok;
  }

  Error run(const Addresses& addresses, MemoryAllocator&) override {
    kernels::optimized::sum_dim(loops_, 1.0f / static_cast<float>(loops_.n),
                                static_cast<const float*>(addresses[operands_.inputs[0]]),
                                static_cast<float*>(addresses[operands_.output]));
    return Error::Ok;
  }

 private:
  const Operands& operands_;
  kernels::optimized::InnerLoops loops_ = {};
};

template <XNodeUnion kKind>
bool suits(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return node.node->xnode_union_type() == kKind && is_plain_float(graph, node.operands.inputs[0]) &&
         !graph.values[node.operands.inputs[0]].is_constant() &&
         is_plain_float(graph, node.operands.output);
}

}  // namespace

const OwnKind kOwnMaxPool = {"Max pool (F32)", suits<XNodeUnion::XNNMaxPooling2d>,
                             FusedElementwise::takes, /*runs_unpacked=*/true,
                             make_step<LargestOfWindows>};
const OwnKind kOwnMean = {"Mean (F32)", suits<XNodeUnion::XNNGlobalAvgPooling2d>, takes_nothing,
                          /*runs_unpacked=*/true, make_step<MeanOfPositions>};

}  // namespace executorch::backends::xnnpack
