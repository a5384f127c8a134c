// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of floats, and convolutions that look at one position at a time; and products of
// two values.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <executorch/kernels/optimized/convert_simd.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using extension::parallel_for;
using fb_xnnpack::XNodeUnion;
using kernels::optimized::Gemm;
using kernels::optimized::map_unary_row;
using kernels::optimized::NarrowGemm;
using kernels::optimized::Unary;
using kernels::optimized::UnaryConstants;
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

/// Operands rounded to bfloat16, sums in float32.
class BFloat16Matmul final : public OwnLayer {
 public:
  BFloat16Matmul(const Definitions& definitions, size_t begin, size_t end)
      : OwnLayer(definitions, begin, end, kSeed) {
    const Gemm g = gemm_of(definitions.graph().nodes[begin], definitions.graph().shapes);
    gemm_.n = gemm_.ldc = g.n;
    gemm_.k = gemm_.lda = gemm_.ldb = g.k;
    gemm_.b_in_columns = gemm_.c_is_f32 = true;
  }

 private:
  static constexpr uint32_t kSeed = 0x42463136;
  static constexpr int64_t kGrain = 1 << 14;  // values that are worth a task

  void set_shapes(const GraphNode& node, const Shapes& shapes) override {
    gemm_.m = static_cast<int64_t>(shapes[node.operands.output].num_elements()) / gemm_.n;
  }
  size_t num_packed() const override { return static_cast<size_t>(gemm_.n * gemm_.k + 1) / 2; }
  Error pack_filter(const float* filter, float* to, MemoryAllocator&) override {
    round(filter, reinterpret_cast<uint16_t*>(to), gemm_.n * gemm_.k);
    return Error::Ok;
  }
  Error compute(const Run& run, MemoryAllocator& scratch) override {
    KernelRuntimeContext context(nullptr, &scratch);
    const int64_t values = gemm_.m * gemm_.k;
    auto* const rounded = kernels::optimized::scratch<uint16_t>(context, values);
    ET_CHECK_OR_RETURN_ERROR(rounded != nullptr, MemoryAllocationFailed,
                             "XNNPACK: no memory for %zu rounded values",
                             static_cast<size_t>(values));
    round(run.input, rounded, values);
    NarrowGemm g = gemm_;
    g.a = rounded;
    g.b = run.packed;
    g.c = run.output;
    g.col_bias = run.bias;
    ET_CHECK_OK_OR_RETURN_ERROR(
        kernels::optimized::gemm_narrow(context, 1, [&](int64_t) { return g; }));
    const UnaryConstants bounds = {run.limits.min, run.limits.max, 0};
    const int64_t rows_of_task = std::max<int64_t>(1, kGrain / g.n);
    parallel_for(0, g.m, rows_of_task, [&](int64_t first, int64_t last) {
      float* const from = run.output + first * g.n;
      map_unary_row(Unary::kClamp, bounds, from, from, (last - first) * g.n);
      if (run.epilogue != nullptr) {
        run.epilogue->finish({first, last, 0, g.n});
      }
    });
    return Error::Ok;
  }

  static void round(const float* from, uint16_t* to, int64_t count) {
    parallel_for(0, count, kGrain, [&](int64_t first, int64_t last) {
      kernels::optimized::narrow_values(/*is_half=*/false, from + first, to + first, last - first);
    });
  }

  NarrowGemm gemm_;
};

/// Of matrices that are both computed, or constants.
class BatchMatmul final : public OwnStep {
 public:
  BatchMatmul(const Definitions& definitions, size_t begin, size_t end)
      : node_(definitions.graph().nodes[begin]), fused_(definitions, begin, end) {
    for (size_t i = 0; i < 2; ++i) {
      const uint32_t id = node_.operands.inputs[i];
      if (definitions.graph().values[id].is_constant()) {
        constants_[i] = reinterpret_cast<const float*>(definitions.contents(id).bytes.data());
      }
    }
    const uint32_t flags = table_of<fb_xnnpack::_XNNNode2x1>(*node_.node).flags();
    gemm_.b_in_rows = flags == 0;
    gemm_.pack = gemm_.b_in_rows ? kernels::optimized::pack_rows : kernels::optimized::pack_columns;
    gemm_.min = node_.limits.min;
    gemm_.max = node_.limits.max;
  }

  Error reshape(const Shapes& shapes) override {
    const Shape& a = shapes[node_.operands.inputs[0]];
    const Shape& c = shapes[node_.operands.output];
    gemm_.m = static_cast<int64_t>(a.dims[a.rank - 2]);
    gemm_.k = gemm_.lda = static_cast<int64_t>(a.dims[a.rank - 1]);
    gemm_.n = gemm_.ldc = static_cast<int64_t>(c.dims[c.rank - 1]);
    gemm_.ldb = gemm_.b_in_rows ? gemm_.n : gemm_.k;
    batch_ = static_cast<int64_t>(c.num_elements()) / (gemm_.m * gemm_.n);
    return fused_.reshape(shapes);
  }

  Error run(const Addresses& addresses, MemoryAllocator& scratch) override {
    const auto input = [&](size_t i) {
      return constants_[i] != nullptr
                 ? constants_[i]
                 : static_cast<const float*>(addresses[node_.operands.inputs[i]]);
    };
    const float* const a = input(0);
    const float* const b = input(1);
    auto* const c = static_cast<float*>(addresses[fused_.output()]);
    const auto* const epilogue = fused_.bind(addresses);
    KernelRuntimeContext context(nullptr, &scratch);
    return kernels::optimized::gemm(context, batch_, [&](int64_t i) {
      Gemm g = gemm_;
      g.a = a + i * g.m * g.k;
      g.b = b + i * g.k * g.n;
      g.c = c + i * g.m * g.n;
      g.epilogue = epilogue;
      g.first_row = i * g.m;
      return g;
    });
  }

 private:
  const GraphNode& node_;
  FusedElementwise fused_;
  const float* constants_[2] = {};
  Gemm gemm_;
  int64_t batch_ = 0;
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

bool suits_matmul(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return looks_at_one_position(node) && is_layer_of_floats(graph, node);
}

bool suits_bfloat16(const Graph& graph, const GraphNode& node, const OwnChoice& choice) {
  return choice.bfloat16 && kernels::optimized::has_bfloat16_matmul() &&
         looks_at_one_position(node) && is_layer_of_floats(graph, node);
}

bool suits_batch(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return node.node->xnode_union_type() == XNodeUnion::XNNBatchMatrixMultiply &&
         is_plain_float(graph, node.operands.inputs[0]) &&
         is_plain_float(graph, node.operands.inputs[1]) &&
         is_plain_float(graph, node.operands.output);
}

}  // namespace

const OwnKind kOwnMatmul = {"Matmul (F32)", suits_matmul, FusedElementwise::takes,
                            /*runs_unpacked=*/true, make_step<Matmul>};
const OwnKind kOwnBFloat16Matmul = {"Matmul (BF16)", suits_bfloat16, FusedElementwise::takes,
                                    /*runs_unpacked=*/false, make_step<BFloat16Matmul>};
const OwnKind kOwnBatchMatmul = {"Batch matmul (F32)", suits_batch, FusedElementwise::takes,
                                 /*runs_unpacked=*/false, make_step<BatchMatmul>};

}  // namespace executorch::backends::xnnpack
