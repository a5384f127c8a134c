// SPDX-License-Identifier: BSD-3-Clause
// A layer of floats with a filter and perhaps a bias that a kernel of ours computes, and the
// elementwise nodes behind it.
#pragma once

#include <executorch/backends/xnnpack/runtime/plan/fused_elementwise.h>
#include <executorch/backends/xnnpack/runtime/plan/own_step.h>
#include <executorch/kernels/optimized/conv/conv.h>

namespace executorch::backends::xnnpack {

class OwnLayer : public OwnStep {
 public:
  runtime::Error pack(const Definitions& definitions, PackedWeights& weights,
                      runtime::MemoryAllocator& scratch) final;
  runtime::Error reshape(const Shapes& shapes) final;
  runtime::Error run(const Addresses& addresses, runtime::MemoryAllocator& scratch) final;

 protected:
  /// `seed` is the kernel's, in names of packed weights.
  OwnLayer(const Definitions& definitions, size_t begin, size_t end, uint32_t seed);

  /// What a kernel computes once.
  struct Run {
    const float* input;
    float* output;
    const float* packed;  // null before pack()
    const float* filter;  // of the file; null after pack()
    const float* bias;    // or null
    Limits limits;
    const kernels::optimized::Epilogue* epilogue;  // or null
  };

  virtual void set_shapes(const GraphNode& node, const Shapes& shapes) = 0;
  virtual size_t num_packed() const = 0;  // floats
  virtual runtime::Error pack_filter(const float* filter, float* to,
                                     runtime::MemoryAllocator& scratch) = 0;
  virtual runtime::Error compute(const Run& run, runtime::MemoryAllocator& scratch) = 0;

 private:
  const GraphNode& node_;
  const uint32_t seed_;
  FusedElementwise fused_;
  const float* packed_ = nullptr;
  const float* filter_ = nullptr;
  const float* bias_ = nullptr;
};

inline int64_t size_at(const Shape& shape, size_t dim) {
  return static_cast<int64_t>(shape.dims[dim]);
}

/// Of a node that is a convolution, all but the pointers.
kernels::optimized::Conv conv_of(const GraphNode& node, const Shapes& shapes);

/// For rows of own_kind_of().
template <typename Step>
std::unique_ptr<OwnStep> make_step(const Definitions& definitions, const Segment& segment) {
  return std::make_unique<Step>(definitions, segment.begin, segment.end);
}
bool takes_nothing(const Graph& graph, const GraphNode& before, const GraphNode& node);

/// Whether steps of ours write the value, rows of int8 with a scale each, and read it.
bool are_own_rows(const Graph& graph, uint32_t id);
/// Whether the node would read such rows as a layer with a filter of 4 bits.
bool takes_rows_of_int4(const Graph& graph, const GraphNode& node);

/// Whether nodes read and write floats where it is.
bool is_plain_float(const Graph& graph, uint32_t id);
/// Whether the layer's input, filter and output are, and the filter alone is known.
bool is_layer_of_floats(const Graph& graph, const GraphNode& node);

// Rows of own_kind_of().
extern const OwnKind kOwnWinograd;
extern const OwnKind kOwnBFloat16Matmul;
extern const OwnKind kOwnMatmul;
extern const OwnKind kOwnAttention;
extern const OwnKind kOwnBatchMatmul;
extern const OwnKind kOwnConvolution;
extern const OwnKind kOwnDepthwise;
extern const OwnKind kOwnMaxPool;
extern const OwnKind kOwnMean;
extern const OwnKind kOwnInt8Convolution;
extern const OwnKind kOwnInt8Depthwise;
extern const OwnKind kOwnQuantizeRows;
extern const OwnKind kOwnDynamicMatmul;
extern const OwnKind kOwnInt4Matmul;
extern const OwnKind kOwnByteTable;

}  // namespace executorch::backends::xnnpack
