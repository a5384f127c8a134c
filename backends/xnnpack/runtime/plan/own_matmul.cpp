// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of floats, and convolutions that look at one position at a time.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <executorch/kernels/optimized/gemm/gemm.h>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNodeUnion;
using kernels::optimized::Gemm;
using runtime::Error;
using runtime::KernelRuntimeContext;
using runtime::MemoryAllocator;

namespace {

/// The filter is [columns, depth]; all but the rows, and the pointers.
Gemm gemm_of(const GraphNode& node, const Shapes& shapes) {
  const Shape& filter = shapes[node.operands.inputs[1]];
  Gemm g;
  g.n = static_cast<int64_t>(filter.dims[0]);
  g.k = static_cast<int64_t>(filter.num_elements()) / g.n;
  g.lda = g.ldb = g.k;
  g.ldc = g.n;
  g.pack = kernels::optimized::pack_columns;
  return g;
}

class Matmul final : public OwnLayer {
 public:
  Matmul(const Definitions& definitions, size_t begin, size_t end)
      : OwnLayer(definitions, begin, end, kSeed),
        gemm_(gemm_of(definitions.graph().nodes[begin], definitions.graph().shapes)) {}

 private:
  static constexpr uint32_t kSeed = 0x4D41544D;

  void set_shapes(const GraphNode& node, const Shapes& shapes) override {
    gemm_.m = static_cast<int64_t>(shapes[node.operands.output].num_elements()) / gemm_.n;
  }
  size_t num_packed() const override { return kernels::optimized::num_packed(gemm_.n, gemm_.k); }
  Error pack_filter(const float* filter, float* to, MemoryAllocator&) override {
    Gemm source = gemm_;
    source.b = filter;
    kernels::optimized::pack_matrix(source, to);
    return Error::Ok;
  }
  Error compute(const Run& run, MemoryAllocator& scratch) override {
    Gemm g = gemm_;
    g.a = run.input;
    g.b = run.filter;
    g.packed = run.packed;
    g.c = run.output;
    g.col_bias = run.bias;
    g.min = run.limits.min;
    g.max = run.limits.max;
    g.epilogue = run.epilogue;
    KernelRuntimeContext context(nullptr, &scratch);
    return kernels::optimized::gemm(context, 1, [&](int64_t) { return g; });
  }

  Gemm gemm_;
};

bool looks_at_one_position(const GraphNode& node) {
  if (node.node->xnode_union_type() != XNodeUnion::XNNConv2d) {
    return node.node->xnode_union_type() == XNodeUnion::XNNFullyConnected;
  }
  const fb_xnnpack::_XNNNodeConv& n = *node.node->xnode_union_as_XNNConv2d();
  const uint32_t padding =
      n.padding_top() | n.padding_right() | n.padding_bottom() | n.padding_left();
  return n.groups() == 1 && padding == 0 && n.kernel_height() == 1 && n.kernel_width() == 1 &&
         n.subsampling_height() == 1 && n.subsampling_width() == 1;
}

/// XNNPACK computes the two by rows that stay in a core's own cache (library/fusion/ring_buffer.h).
bool is_before_depthwise(const Graph& graph, const GraphNode& node) {
  constexpr uint64_t kMinBytes = 3 << 19;
  const uint32_t output = node.operands.output;
  if (graph.shapes[output].num_elements() * sizeof(float) < kMinBytes) {
    return false;
  }
  for (const GraphNode& each : graph.nodes) {
    if (each.node->xnode_union_type() == XNodeUnion::XNNDepthwiseConv2d &&
        each.operands.inputs[0] == output) {
      return true;
    }
  }
  return false;
}

bool suits(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return looks_at_one_position(node) && is_layer_of_floats(graph, node) &&
         node.operands.flags == 0 && !is_before_depthwise(graph, node);
}

std::unique_ptr<OwnStep> make(const Definitions& definitions, size_t begin, size_t end) {
  return std::make_unique<Matmul>(definitions, begin, end);
}

}  // namespace

const OwnKind kOwnMatmul = {"Matmul (F32)", suits, FusedElementwise::takes, /*runs_unpacked=*/true,
                            make};

}  // namespace executorch::backends::xnnpack
