// SPDX-License-Identifier: BSD-3-Clause
// Layers whose filters are int8: of int8 values with one scale, or of rows of floats that become
// int8 as they come. Where the processor has products of bytes; with XNNPACK's numbers.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <executorch/backends/xnnpack/runtime/plan/dequantized_rows.h>
#include <executorch/backends/xnnpack/runtime/plan/rows_of_int8.h>
#include <executorch/backends/xnnpack/runtime/preparation/packing.h>
#include <executorch/kernels/optimized/int8/int8_depthwise.h>

#include <algorithm>
#include <cmath>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNodeUnion;
using kernels::optimized::Conv;
using kernels::optimized::int8_value_kernels;
using kernels::optimized::Int8Conv;
using kernels::optimized::Int8Scale;
using kernels::optimized::Int8Weights;
using runtime::Error;
using runtime::KernelRuntimeContext;
using runtime::MemoryAllocator;

namespace {

XNNDatatype type_of(const Graph& graph, uint32_t id) {
  return graph.values[id].type();
}

/// Of each channel of a filter.
std::vector<float> scales_of(const Definitions& definitions, uint32_t filter, size_t channels) {
  const Value& value = definitions.graph().values[filter];
  if (value.num_scales == 0) {
    return std::vector<float>(channels, value.scale);
  }
  const auto* const scales =
      reinterpret_cast<const float*>(definitions.contents(filter).scales.data());
  return std::vector<float>(scales, scales + channels);
}

/// A number of the output as the integer that stands for it, to nearest, within int8.
int32_t integer_of(float number, const Value& output) {
  const float scaled = number / output.scale + static_cast<float>(output.zero_point);
  return static_cast<int32_t>(std::nearbyint(std::clamp(scaled, -128.0f, 127.0f)));
}

/// Linear layers are convolutions that look at one position of an image of one column.
Conv conv_of_layer(const GraphNode& node, const Shapes& shapes) {
  if (node.node->xnode_union_type() != XNodeUnion::XNNFullyConnected) {
    return conv_of(node, shapes);
  }
  const Shape& input = shapes[node.operands.inputs[0]];
  const Shape& output = shapes[node.operands.output];
  Conv conv{};
  conv.batch = conv.groups = conv.in_d = conv.out_d = conv.in_w = conv.out_w = 1;
  conv.kernel_d = conv.kernel_h = conv.kernel_w = 1;
  conv.stride_d = conv.stride_h = conv.stride_w = 1;
  conv.dilation_d = conv.dilation_h = conv.dilation_w = 1;
  conv.in_channels = size_at(input, input.rank - 1);
  conv.out_channels = size_at(output, output.rank - 1);
  conv.in_h = conv.out_h = static_cast<int64_t>(output.num_elements()) / conv.out_channels;
  conv.channels_last = conv.weight_channels_last = true;
  return conv;
}

/// A filter that is packed once, and the bias beside it: as a matmul of what a filter sees, unless
/// the layer says otherwise.
class Int8Layer : public OwnStep {
 public:
  Error pack(const Definitions& definitions, PackedWeights& weights,
             MemoryAllocator& scratch) final {
    if (packed_ != nullptr) {
      return Error::Ok;
    }
    const auto [filter, bias] = source_of(definitions, node_);
    packed_ = static_cast<const uint8_t*>(
        weights.find_or_pack(filter, bias, seed(), num_packed(), [&, from = filter](void* block) {
          KernelRuntimeContext context(nullptr, &scratch);
          return pack_filter(context, static_cast<const int8_t*>(from),
                             static_cast<uint8_t*>(block)) == Error::Ok;
        }));
    ET_CHECK_OR_RETURN_ERROR(packed_ != nullptr, MemoryAllocationFailed,
                             "XNNPACK: no memory to pack the weights of a layer");
    set_bias(bias);
    return Error::Ok;
  }

 protected:
  Int8Layer(const Definitions& definitions, size_t begin)
      : node_(definitions.graph().nodes[begin]) {
    const Graph& graph = definitions.graph();
    conv_.sizes = conv_of_layer(node_, graph.shapes);
    of_group_ = int8_conv_weights(conv_.sizes);
    scales_ = scales_of(definitions, node_.operands.inputs[1],
                        static_cast<size_t>(conv_.sizes.out_channels));
  }

  /// Of the kernel, in names of packed weights.
  virtual uint32_t seed() const { return of_group_.for_tiles ? 0x49384154 : 0x49384356; }
  virtual size_t num_packed() const { return int8_conv_bytes(conv_.sizes, of_group_); }
  virtual Error pack_filter(KernelRuntimeContext& context, const int8_t* filter, uint8_t* to) {
    return pack_int8_conv(context, conv_.sizes, of_group_, filter, to);
  }
  /// Int32 or floats, as the node has it; null for none. Valid during the call.
  virtual void set_bias(const void* bias) = 0;

  const GraphNode& node_;
  Int8Conv conv_;
  Int8Weights of_group_;
  std::vector<float> scales_;  // of channels
  const uint8_t* packed_ = nullptr;
};

/// Of values with one scale.
class StaticLayer : public Int8Layer {
 public:
  Error reshape(const Shapes& shapes) final {
    conv_.sizes = conv_of_layer(node_, shapes);
    return Error::Ok;
  }

  Error run(const Addresses& addresses, MemoryAllocator& scratch) final {
    conv_.input = static_cast<const int8_t*>(addresses[node_.operands.inputs[0]]);
    conv_.output = static_cast<int8_t*>(addresses[node_.operands.output]);
    KernelRuntimeContext context(nullptr, &scratch);
    return compute(context, conv_);
  }

 protected:
  StaticLayer(const Definitions& definitions, size_t begin) : Int8Layer(definitions, begin) {
    const Graph& graph = definitions.graph();
    const Value& input = graph.values[node_.operands.inputs[0]];
    const Value& output = graph.values[node_.operands.output];
    conv_.zero = static_cast<int8_t>(input.zero_point);
    conv_.result = {nullptr, output.zero_point, integer_of(node_.limits.min, output),
                    integer_of(node_.limits.max, output)};
    for (float& scale : scales_) {
      scale = input.scale * scale / output.scale;
    }
  }

  virtual Error compute(KernelRuntimeContext& context, const Int8Conv& conv) = 0;

  std::vector<int32_t> starts_;
};

class Convolution final : public StaticLayer {
 public:
  Convolution(const Definitions& definitions, size_t begin, size_t)
      : StaticLayer(definitions, begin) {}

 private:
  void set_bias(const void* bias) override {
    starts_.resize(static_cast<size_t>(int8_conv_channels(conv_.sizes, of_group_)));
    int8_conv_starts(conv_.sizes, of_group_, packed_, static_cast<const int32_t*>(bias), conv_.zero,
                     starts_.data());
    conv_.packed = packed_;
    conv_.starts = starts_.data();
    conv_.result.scales = scales_.data();
  }
  Error compute(KernelRuntimeContext& context, const Int8Conv& conv) override {
    return int8_conv(context, conv, of_group_);
  }
};

class Depthwise final : public StaticLayer {
 public:
  Depthwise(const Definitions& definitions, size_t begin, size_t)
      : StaticLayer(definitions, begin) {}

 private:
  uint32_t seed() const override { return 0x49384450; }
  size_t num_packed() const override {
    return kernels::optimized::int8_depthwise_bytes(conv_.sizes);
  }
  Error pack_filter(KernelRuntimeContext&, const int8_t* filter, uint8_t* to) override {
    kernels::optimized::pack_int8_depthwise(conv_.sizes, filter, to);
    return Error::Ok;
  }
  void set_bias(const void* bias) override {
    const int64_t channels = conv_.sizes.in_channels;
    const auto filled = static_cast<size_t>(kernels::optimized::int8_depthwise_channels(channels));
    starts_.resize(filled);
    kernels::optimized::int8_depthwise_starts(
        conv_.sizes, packed_, static_cast<const int32_t*>(bias), conv_.zero, starts_.data());
    placed_scales_.resize(filled);
    for (int64_t i = 0; i < channels; ++i) {
      placed_scales_[static_cast<size_t>(kernels::optimized::int8_depthwise_place(channels, i))] =
          scales_[static_cast<size_t>(i)];
    }
    conv_.packed = packed_;
    conv_.starts = starts_.data();
    conv_.result.scales = placed_scales_.data();
  }
  Error compute(KernelRuntimeContext& context, const Int8Conv& conv) override {
    return kernels::optimized::int8_depthwise(context, conv);
  }

  std::vector<float> placed_scales_;
};

/// Floats by what suits the smallest and the largest number of each row, or image.
class QuantizeRows final : public OwnStep {
 public:
  QuantizeRows(const Definitions& definitions, size_t begin, size_t)
      : operands_(definitions.graph().nodes[begin].operands),
        output_(definitions.graph().values[operands_.output]) {}

  Error reshape(const Shapes& shapes) override {
    rows_ = RowsOfInt8(output_, shapes[operands_.output]);
    return Error::Ok;
  }

  Error run(const Addresses& addresses, MemoryAllocator&) override {
    void* const to = addresses[operands_.output];
    kernels::optimized::quantize_rows(static_cast<const float*>(addresses[operands_.inputs[0]]),
                                      rows_.rows(), rows_.columns(), rows_.values(to),
                                      rows_.scales(to));
    return Error::Ok;
  }

 private:
  const Operands& operands_;
  const Value& output_;
  RowsOfInt8 rows_;
};

/// Of rows, or images, that QuantizeRows has written.
class DynamicLayer final : public Int8Layer {
 public:
  DynamicLayer(const Definitions& definitions, size_t begin, size_t end)
      : Int8Layer(definitions, begin),
        input_(definitions.graph().values[node_.operands.inputs[0]]),
        fused_(definitions, begin, end) {}

  Error reshape(const Shapes& shapes) override {
    rows_ = RowsOfInt8(input_, shapes[node_.operands.inputs[0]]);
    conv_.sizes = conv_of_layer(node_, shapes);
    num_images_ = conv_.sizes.batch;
    conv_.sizes.batch = 1;
    return fused_.reshape(shapes);
  }

  Error run(const Addresses& addresses, MemoryAllocator& scratch) override {
    void* const from = addresses[node_.operands.inputs[0]];
    const auto* const epilogue = fused_.bind(addresses);
    KernelRuntimeContext context(nullptr, &scratch);
    const int64_t positions = conv_.sizes.out_h * conv_.sizes.out_w;
    const int64_t of_scale = num_images_ * positions / rows_.rows();
    const int64_t groups = conv_.sizes.out_channels / of_group_.n;
    const DequantizedRows<int32_t>::Filter filter = {
        sums_.data(), static_cast<int64_t>(sums_.size()) / groups, scales_, bias_, of_group_.n,
        node_.limits};
    for (int64_t image = 0; image < num_images_; ++image) {
      const Int8Scale* const scales = rows_.scales(from) + image * positions / of_scale;
      const DequantizedRows<int32_t> result(filter, {scales, of_scale, image * positions},
                                            static_cast<float*>(addresses[fused_.output()]),
                                            epilogue);
      conv_.input = rows_.values(from) +
                    image * conv_.sizes.in_h * conv_.sizes.in_w * conv_.sizes.in_channels;
      conv_.zero = static_cast<int8_t>(scales->zero);  // rows have nothing beside them
      ET_CHECK_OK_OR_RETURN_ERROR(int8_conv(context, conv_, of_group_, result));
      scratch.reset();
    }
    return Error::Ok;
  }

 private:
  void set_bias(const void* bias) override {
    sums_.resize(static_cast<size_t>(int8_conv_channels(conv_.sizes, of_group_)));
    int8_conv_starts(conv_.sizes, of_group_, packed_, nullptr, /*zero=*/-1, sums_.data());
    if (bias != nullptr) {
      const auto* const floats = static_cast<const float*>(bias);
      bias_.assign(floats, floats + conv_.sizes.out_channels);
    }
    conv_.packed = packed_;
  }

  const Value& input_;
  FusedElementwise fused_;
  RowsOfInt8 rows_;
  int64_t num_images_ = 1;
  std::vector<float> bias_;
  std::vector<int32_t> sums_;  // of filters, as int8_conv_starts() has them
};

bool has_known_filter(const Graph& graph, const GraphNode& node) {
  const uint32_t input = node.operands.inputs[0], filter = node.operands.inputs[1];
  const XNNDatatype type = type_of(graph, filter);
  return (type == XNNDatatype::xnn_datatype_qcint8 || type == XNNDatatype::xnn_datatype_qint8) &&
         graph.values[filter].is_constant() && !graph.uses[filter].is_read &&
         !graph.values[input].is_constant();
}

bool is_static(const Graph& graph, const GraphNode& node) {
  return type_of(graph, node.operands.inputs[0]) == XNNDatatype::xnn_datatype_qint8 &&
         type_of(graph, node.operands.output) == XNNDatatype::xnn_datatype_qint8 &&
         has_known_filter(graph, node);
}

bool suits_convolution(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  const XNodeUnion kind = node.node->xnode_union_type();
  return (kind == XNodeUnion::XNNConv2d || kind == XNodeUnion::XNNFullyConnected) &&
         is_static(graph, node) && suits_int8_conv(conv_of_layer(node, graph.shapes));
}

bool suits_depthwise(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return node.node->xnode_union_type() == XNodeUnion::XNNDepthwiseConv2d &&
         is_static(graph, node) &&
         kernels::optimized::suits_int8_depthwise(conv_of(node, graph.shapes));
}

bool takes_rows(const Graph& graph, const GraphNode& node) {
  const XNodeUnion kind = node.node->xnode_union_type();
  return (kind == XNodeUnion::XNNConv2d || kind == XNodeUnion::XNNFullyConnected) &&
         has_known_filter(graph, node) && is_plain_float(graph, node.operands.output) &&
         suits_int8_conv(conv_of_layer(node, graph.shapes));
}

}  // namespace

bool are_own_rows(const Graph& graph, uint32_t id) {
  if (type_of(graph, id) != XNNDatatype::xnn_datatype_qdint8) {
    return false;
  }
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const GraphNode& node) {
    if (!node.is_needed) {
      return true;
    }
    if (node.operands.output == id) {
      return node.node->xnode_union_type() == XNodeUnion::XNNConvert &&
             is_plain_float(graph, node.operands.inputs[0]) &&
             !graph.values[node.operands.inputs[0]].is_constant();
    }
    bool reads = false;
    for_each_read(node, [&](uint32_t read) { reads = reads || read == id; });
    return !reads || takes_rows(graph, node) || takes_rows_of_int4(graph, node);
  });
}

namespace {

bool suits_quantize(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return node.node->xnode_union_type() == XNodeUnion::XNNConvert &&
         are_own_rows(graph, node.operands.output);
}

bool suits_dynamic(const Graph& graph, const GraphNode& node, const OwnChoice&) {
  return takes_rows(graph, node) && are_own_rows(graph, node.operands.inputs[0]);
}

}  // namespace

const OwnKind kOwnInt8Convolution = {"Convolution (INT8)", suits_convolution, takes_nothing,
                                     /*runs_unpacked=*/false, make_step<Convolution>};
const OwnKind kOwnInt8Depthwise = {"Depthwise convolution (INT8)", suits_depthwise, takes_nothing,
                                   /*runs_unpacked=*/false, make_step<Depthwise>};
const OwnKind kOwnQuantizeRows = {"Quantize rows (INT8)", suits_quantize, takes_nothing,
                                  /*runs_unpacked=*/false, make_step<QuantizeRows>};
const OwnKind kOwnDynamicMatmul = {"Matmul (INT8 by rows)", suits_dynamic, FusedElementwise::takes,
                                   /*runs_unpacked=*/false, make_step<DynamicLayer>};

}  // namespace executorch::backends::xnnpack
