// SPDX-License-Identifier: BSD-3-Clause
// Operands and shapes by kind of node. Arithmetic is done in 64 bits on 32-bit fields.
#include <executorch/backends/xnnpack/runtime/shapes.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNode;
using fb_xnnpack::XNodeUnion;
using runtime::Error;
using Shapes = std::vector<Shape>;
using Ids = flatbuffers::Vector<uint32_t>;

namespace {

/// Most of a window's size, padding, stride and dilation, by dimension.
constexpr uint64_t kMaxWindow = 1 << 16;
constexpr uint32_t kKeepDims = 0x40;
constexpr uint32_t kTransposeB = 0x1;

template <typename OneInput>
void set_one_input(const OneInput& node, Operands& out) {
  out.inputs[0] = node.input_id();
  out.num_inputs = 1;
  out.output = node.output_id();
}

/// Convolutions and fully connected layers.
template <typename Weighted>
void set_weighted(const Weighted& node, Operands& out) {
  out.inputs[0] = node.input1_id();
  out.inputs[1] = node.filter_id();
  out.inputs[2] = node.bias_id();
  out.num_packed = node.bias_id() == kNoValue ? 1 : 2;
  out.num_inputs = 1 + out.num_packed;
  out.output = node.output_id();
}

void set_concatenate(const fb_xnnpack::_XNNCat& node, size_t count, Operands& out) {
  const uint32_t inputs[5] = {node.input1_id(), node.input2_id(), node.input3_id(),
                              node.input4_id(), node.input5_id()};
  std::copy(inputs, inputs + count, out.inputs);
  out.num_inputs = count;
  out.output = node.output_id();
}

void set_binary(const fb_xnnpack::_XNNNode2x1& node, Operands& out) {
  out.inputs[0] = node.input1_id();
  out.inputs[1] = node.input2_id();
  out.num_inputs = 2;
  out.output = node.output_id();
}

Error broadcast(const Shape& a, const Shape& b, Shape& out) {
  out.rank = std::max(a.rank, b.rank);
  for (size_t i = 0; i < out.rank; ++i) {
    const size_t from_a = i < a.rank ? a.dims[a.rank - 1 - i] : 1;
    const size_t from_b = i < b.rank ? b.dims[b.rank - 1 - i] : 1;
    ET_CHECK_OR_RETURN_ERROR(from_a == from_b || from_a == 1 || from_b == 1, InvalidProgram,
                             "XNNPACK: sizes %zu and %zu do not broadcast", from_a, from_b);
    out.dims[out.rank - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return Error::Ok;
}

Error check_bias(const Shapes& shapes, uint32_t bias, uint64_t channels) {
  ET_CHECK_OR_RETURN_ERROR(
      bias == kNoValue || (shapes[bias].rank == 1 && shapes[bias].dims[0] == channels),
      InvalidProgram, "XNNPACK: a bias does not have %zu elements", static_cast<size_t>(channels));
  return Error::Ok;
}

Error fully_connected(const fb_xnnpack::XNNFullyConnected& node, const Shapes& shapes, Shape& out) {
  const Shape& input = shapes[node.input1_id()];
  const Shape& filter = shapes[node.filter_id()];
  ET_CHECK_OR_RETURN_ERROR(node.flags() == 0, InvalidProgram,
                           "XNNPACK fully connected: flags %u, expected 0",
                           static_cast<unsigned>(node.flags()));
  ET_CHECK_OR_RETURN_ERROR(
      input.rank >= 1 && filter.rank == 2 && input.dims[input.rank - 1] == filter.dims[1],
      InvalidProgram, "XNNPACK fully connected: the input does not fit the filter");
  out = input;
  out.dims[out.rank - 1] = filter.dims[0];
  return check_bias(shapes, node.bias_id(), filter.dims[0]);
}

struct Window {
  uint64_t padding;  // both sides
  uint64_t kernel;
  uint64_t stride;
  uint64_t dilation;
};

Error check_window(const Window& window) {
  const uint64_t sizes[] = {window.kernel, window.stride, window.dilation};
  for (const uint64_t size : sizes) {
    ET_CHECK_OR_RETURN_ERROR(size > 0 && size <= kMaxWindow, InvalidProgram,
                             "XNNPACK: a window's size, stride or dilation of %zu",
                             static_cast<size_t>(size));
  }
  ET_CHECK_OR_RETURN_ERROR(window.padding <= 2 * kMaxWindow, InvalidProgram,
                           "XNNPACK: a padding of %zu", static_cast<size_t>(window.padding));
  return Error::Ok;
}

Error slide(uint64_t size, const Window& window, size_t& out) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_window(window));
  const uint64_t extent = (window.kernel - 1) * window.dilation + 1;
  ET_CHECK_OR_RETURN_ERROR(size + window.padding >= extent, InvalidProgram,
                           "XNNPACK: a window of %zu over %zu elements",
                           static_cast<size_t>(extent), static_cast<size_t>(size + window.padding));
  out = static_cast<size_t>((size + window.padding - extent) / window.stride + 1);
  return Error::Ok;
}

template <typename Padded>
uint64_t vertical(const Padded& node) {
  return uint64_t{node.padding_top()} + node.padding_bottom();
}

template <typename Padded>
uint64_t horizontal(const Padded& node) {
  return uint64_t{node.padding_left()} + node.padding_right();
}

/// What all three convolutions need of filter, bias and input. Returns the output channels.
Error check_filter(const fb_xnnpack::_XNNNodeConv& node, const Shapes& shapes, bool depthwise,
                   uint64_t& out_channels) {
  const Shape& input = shapes[node.input1_id()];
  const Shape& filter = shapes[node.filter_id()];
  const uint64_t in_channels = uint64_t{node.groups()} * node.group_input_channels();
  out_channels = uint64_t{node.groups()} * node.group_output_channels();
  ET_CHECK_OR_RETURN_ERROR(node.flags() == 0, InvalidProgram,
                           "XNNPACK convolution: flags %u, expected 0",
                           static_cast<unsigned>(node.flags()));
  ET_CHECK_OR_RETURN_ERROR(
      in_channels > 0 && out_channels > 0 && input.rank == 4 && input.dims[3] == in_channels,
      InvalidProgram, "XNNPACK convolution: the input does not have %zu channels",
      static_cast<size_t>(in_channels));
  const uint64_t first = depthwise ? 1 : out_channels;
  const uint64_t last = depthwise ? out_channels : node.group_input_channels();
  ET_CHECK_OR_RETURN_ERROR(!depthwise || node.group_input_channels() == 1, InvalidProgram,
                           "XNNPACK depthwise convolution: more than one channel a group");
  ET_CHECK_OR_RETURN_ERROR(filter.rank == 4 && filter.dims[0] == first &&
                               filter.dims[1] == node.kernel_height() &&
                               filter.dims[2] == node.kernel_width() && filter.dims[3] == last,
                           InvalidProgram, "XNNPACK convolution: the filter does not fit the node");
  return check_bias(shapes, node.bias_id(), out_channels);
}

Error convolution(const fb_xnnpack::_XNNNodeConv& node, const Shapes& shapes, bool depthwise,
                  Shape& out) {
  uint64_t channels = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check_filter(node, shapes, depthwise, channels));
  out = shapes[node.input1_id()];
  ET_CHECK_OK_OR_RETURN_ERROR(slide(
      out.dims[1],
      {vertical(node), node.kernel_height(), node.subsampling_height(), node.dilation_height()},
      out.dims[1]));
  ET_CHECK_OK_OR_RETURN_ERROR(slide(
      out.dims[2],
      {horizontal(node), node.kernel_width(), node.subsampling_width(), node.dilation_width()},
      out.dims[2]));
  out.dims[3] = static_cast<size_t>(channels);
  return Error::Ok;
}

/// The inverse of slide(), with `adjustment` more.
Error spread(uint64_t size, const Window& window, uint64_t adjustment, size_t& out) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_window(window));
  ET_CHECK_OR_RETURN_ERROR(size > 0 && adjustment < window.stride, InvalidProgram,
                           "XNNPACK transposed convolution: an adjustment of %zu",
                           static_cast<size_t>(adjustment));
  const uint64_t extent = (window.kernel - 1) * window.dilation + 1;
  const uint64_t full = (size - 1) * window.stride + extent + adjustment;
  ET_CHECK_OR_RETURN_ERROR(full > window.padding, InvalidProgram,
                           "XNNPACK transposed convolution: nothing but padding");
  out = static_cast<size_t>(full - window.padding);
  return Error::Ok;
}

Error transposed_convolution(const fb_xnnpack::_XNNNodeConv& node, const Shapes& shapes,
                             Shape& out) {
  uint64_t channels = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check_filter(node, shapes, false, channels));
  out = shapes[node.input1_id()];
  ET_CHECK_OK_OR_RETURN_ERROR(spread(
      out.dims[1],
      {vertical(node), node.kernel_height(), node.subsampling_height(), node.dilation_height()},
      node.adjustment_height(), out.dims[1]));
  ET_CHECK_OK_OR_RETURN_ERROR(spread(
      out.dims[2],
      {horizontal(node), node.kernel_width(), node.subsampling_width(), node.dilation_width()},
      node.adjustment_width(), out.dims[2]));
  out.dims[3] = static_cast<size_t>(channels);
  return Error::Ok;
}

Error pooling(const fb_xnnpack::_XNNPooling2D& node, const Shapes& shapes, bool dilated,
              Shape& out) {
  out = shapes[node.input_id()];
  ET_CHECK_OR_RETURN_ERROR(out.rank == 4, InvalidProgram,
                           "XNNPACK pooling: expected 4 dimensions, found %zu", out.rank);
  const uint64_t dilations[2] = {dilated ? node.dilation_height() : 1u,
                                 dilated ? node.dilation_width() : 1u};
  ET_CHECK_OK_OR_RETURN_ERROR(slide(
      out.dims[1], {vertical(node), node.pooling_height(), node.stride_height(), dilations[0]},
      out.dims[1]));
  return slide(out.dims[2],
               {horizontal(node), node.pooling_width(), node.stride_width(), dilations[1]},
               out.dims[2]);
}

Error global_pooling(const fb_xnnpack::_XNNNode1x1& node, const Shapes& shapes, Shape& out) {
  out = shapes[node.input_id()];
  ET_CHECK_OR_RETURN_ERROR(out.rank == 4 && (node.flags() & ~kKeepDims) == 0, InvalidProgram,
                           "XNNPACK global pooling: expected 4 dimensions");
  if ((node.flags() & kKeepDims) != 0) {
    out.dims[1] = out.dims[2] = 1;
  } else {
    out.rank = 2;
    out.dims[1] = out.dims[3];
  }
  return Error::Ok;
}

Error transpose(const fb_xnnpack::XNNStaticTranspose& node, const Shapes& shapes, Shape& out) {
  const Shape& input = shapes[node.input_id()];
  const Ids* perm = node.perm();
  ET_CHECK_OR_RETURN_ERROR(perm != nullptr && perm->size() == input.rank &&
                               node.num_dims() == input.rank && input.rank > 0,
                           InvalidProgram, "XNNPACK transpose: no order of %zu dimensions",
                           input.rank);
  uint32_t seen = 0;
  out.rank = input.rank;
  for (uint32_t i = 0; i < perm->size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(perm->Get(i) < input.rank && (seen >> perm->Get(i) & 1) == 0,
                             InvalidProgram, "XNNPACK transpose: not a permutation");
    seen |= 1u << perm->Get(i);
    out.dims[i] = input.dims[perm->Get(i)];
  }
  return Error::Ok;
}

/// A size of 0, at most one, is what is left of the elements.
Error reshape(const fb_xnnpack::XNNStaticReshape& node, const Shapes& shapes, Shape& out) {
  const Ids* sizes = node.new_shape();
  ET_CHECK_OR_RETURN_ERROR(
      sizes != nullptr && sizes->size() <= kMaxRank && node.num_dims() == sizes->size(),
      InvalidProgram, "XNNPACK reshape: no shape of at most %zu dimensions", kMaxRank);
  const uint64_t elements = shapes[node.input_id()].num_elements();
  size_t open = kMaxRank;
  out.rank = sizes->size();
  for (uint32_t i = 0; i < sizes->size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(sizes->Get(i) != 0 || open == kMaxRank, InvalidProgram,
                             "XNNPACK reshape: two open sizes");
    open = sizes->Get(i) == 0 ? i : open;
    out.dims[i] = sizes->Get(i) == 0 ? 1 : sizes->Get(i);
  }
  if (open != kMaxRank) {
    const uint64_t others = out.num_elements();
    ET_CHECK_OR_RETURN_ERROR(others <= kMaxElements && elements % others == 0, InvalidProgram,
                             "XNNPACK reshape: %zu elements do not divide into the shape",
                             static_cast<size_t>(elements));
    out.dims[open] = static_cast<size_t>(elements / others);
  }
  ET_CHECK_OR_RETURN_ERROR(out.num_elements() == elements, InvalidProgram,
                           "XNNPACK reshape: %zu elements into %zu", static_cast<size_t>(elements),
                           static_cast<size_t>(out.num_elements()));
  return Error::Ok;
}

/// A size of 0 is the whole dimension.
Error slice(const fb_xnnpack::XNNStaticSlice& node, const Shapes& shapes, Shape& out) {
  out = shapes[node.input_id()];
  const Ids* offsets = node.offsets();
  const Ids* sizes = node.sizes();
  ET_CHECK_OR_RETURN_ERROR(
      offsets != nullptr && sizes != nullptr && offsets->size() == out.rank &&
          sizes->size() == out.rank && node.num_dims() == out.rank && out.rank > 0,
      InvalidProgram, "XNNPACK slice: no offsets and sizes of %zu dimensions", out.rank);
  for (uint32_t i = 0; i < sizes->size(); ++i) {
    const uint64_t whole = out.dims[i];
    ET_CHECK_OR_RETURN_ERROR(sizes->Get(i) != 0 || offsets->Get(i) == 0, InvalidProgram,
                             "XNNPACK slice: offset without size");
    const uint64_t size = sizes->Get(i) == 0 ? whole : sizes->Get(i);
    ET_CHECK_OR_RETURN_ERROR(size + offsets->Get(i) <= whole, InvalidProgram,
                             "XNNPACK slice: beyond %zu elements", static_cast<size_t>(whole));
    out.dims[i] = static_cast<size_t>(size);
  }
  return Error::Ok;
}

Error pad(const fb_xnnpack::XNNStaticConstantPad& node, const Shapes& shapes, Shape& out) {
  out = shapes[node.input_id()];
  const Ids* before = node.pre_paddings();
  const Ids* after = node.post_paddings();
  ET_CHECK_OR_RETURN_ERROR(before != nullptr && after != nullptr && before->size() == out.rank &&
                               after->size() == out.rank,
                           InvalidProgram, "XNNPACK pad: no paddings of %zu dimensions", out.rank);
  for (uint32_t i = 0; i < before->size(); ++i) {
    out.dims[i] += static_cast<size_t>(before->Get(i)) + after->Get(i);
  }
  return Error::Ok;
}

Error concatenate(const Operands& operands, uint32_t axis, const Shapes& shapes, Shape& out) {
  out = shapes[operands.inputs[0]];
  ET_CHECK_OR_RETURN_ERROR(axis < out.rank, InvalidProgram, "XNNPACK concatenation: axis %u of %zu",
                           static_cast<unsigned>(axis), out.rank);
  for (size_t i = 1; i < operands.num_inputs; ++i) {
    const Shape& more = shapes[operands.inputs[i]];
    ET_CHECK_OR_RETURN_ERROR(more.rank == out.rank, InvalidProgram,
                             "XNNPACK concatenation: of %zu and %zu dimensions", out.rank,
                             more.rank);
    for (size_t dim = 0; dim < out.rank; ++dim) {
      ET_CHECK_OR_RETURN_ERROR(dim == axis || more.dims[dim] == out.dims[dim], InvalidProgram,
                               "XNNPACK concatenation: sizes %zu and %zu", out.dims[dim],
                               more.dims[dim]);
    }
    out.dims[axis] += more.dims[axis];
  }
  return Error::Ok;
}

Error matrix_multiply(const fb_xnnpack::_XNNNode2x1& node, const Shapes& shapes, Shape& out) {
  const Shape& a = shapes[node.input1_id()];
  const Shape& b = shapes[node.input2_id()];
  ET_CHECK_OR_RETURN_ERROR(a.rank == b.rank && a.rank >= 3 && (node.flags() & ~kTransposeB) == 0,
                           InvalidProgram, "XNNPACK matrix multiply: %zu and %zu dimensions",
                           a.rank, b.rank);
  const bool transposed = (node.flags() & kTransposeB) != 0;
  const size_t rows = b.dims[b.rank - (transposed ? 1 : 2)];
  ET_CHECK_OR_RETURN_ERROR(a.dims[a.rank - 1] == rows, InvalidProgram,
                           "XNNPACK matrix multiply: %zu columns and %zu rows", a.dims[a.rank - 1],
                           rows);
  out = a;
  out.dims[out.rank - 1] = b.dims[b.rank - (transposed ? 2 : 1)];
  for (size_t i = 0; i + 2 < a.rank; ++i) {
    ET_CHECK_OR_RETURN_ERROR(a.dims[i] == b.dims[i], InvalidProgram,
                             "XNNPACK matrix multiply: batches of %zu and %zu", a.dims[i],
                             b.dims[i]);
  }
  return Error::Ok;
}

Error resize(const fb_xnnpack::XNNStaticResizeBilinear2D& node, const Shapes& shapes, Shape& out) {
  out = shapes[node.input_id()];
  ET_CHECK_OR_RETURN_ERROR(out.rank == 4 && node.new_height() > 0 && node.new_width() > 0,
                           InvalidProgram, "XNNPACK resize: expected 4 dimensions and a size");
  out.dims[1] = node.new_height();
  out.dims[2] = node.new_width();
  return Error::Ok;
}

Error infer(const XNode& node, const Operands& operands, const Shapes& shapes, Shape& out) {
  switch (node.xnode_union_type()) {
    case XNodeUnion::XNNFullyConnected:
      return fully_connected(*node.xnode_union_as_XNNFullyConnected(), shapes, out);
    case XNodeUnion::XNNConv2d:
      return convolution(*node.xnode_union_as_XNNConv2d(), shapes, false, out);
    case XNodeUnion::XNNDepthwiseConv2d:
      return convolution(*node.xnode_union_as_XNNDepthwiseConv2d(), shapes, true, out);
    case XNodeUnion::XNNConvTranspose2d:
      return transposed_convolution(*node.xnode_union_as_XNNConvTranspose2d(), shapes, out);
    case XNodeUnion::XNNAvgPooling2d:
      return pooling(*node.xnode_union_as_XNNAvgPooling2d(), shapes, false, out);
    case XNodeUnion::XNNMaxPooling2d:
      return pooling(*node.xnode_union_as_XNNMaxPooling2d(), shapes, true, out);
    case XNodeUnion::XNNGlobalAvgPooling2d:
      return global_pooling(*node.xnode_union_as_XNNGlobalAvgPooling2d(), shapes, out);
    case XNodeUnion::XNNStaticTranspose:
      return transpose(*node.xnode_union_as_XNNStaticTranspose(), shapes, out);
    case XNodeUnion::XNNStaticReshape:
      return reshape(*node.xnode_union_as_XNNStaticReshape(), shapes, out);
    case XNodeUnion::XNNStaticSlice:
      return slice(*node.xnode_union_as_XNNStaticSlice(), shapes, out);
    case XNodeUnion::XNNStaticConstantPad:
      return pad(*node.xnode_union_as_XNNStaticConstantPad(), shapes, out);
    case XNodeUnion::XNNStaticResizeBilinear2D:
      return resize(*node.xnode_union_as_XNNStaticResizeBilinear2D(), shapes, out);
    case XNodeUnion::XNNBatchMatrixMultiply:
      return matrix_multiply(*node.xnode_union_as_XNNBatchMatrixMultiply(), shapes, out);
    case XNodeUnion::XNNConcatenate2:
    case XNodeUnion::XNNConcatenate3:
    case XNodeUnion::XNNConcatenate4:
    case XNodeUnion::XNNConcatenate5:
      return concatenate(operands,
                         static_cast<const fb_xnnpack::_XNNCat*>(node.xnode_union())->axis(),
                         shapes, out);
    default:
      if (operands.num_inputs == 2) {
        return broadcast(shapes[operands.inputs[0]], shapes[operands.inputs[1]], out);
      }
      out = shapes[operands.inputs[0]];
      return Error::Ok;
  }
}

}  // namespace

uint64_t Shape::num_elements() const {
  uint64_t product = 1;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] == 0) {
      return 0;
    }
    // Both factors are at most 2^32, so the product does not overflow.
    product =
        product > kMaxElements || dims[i] > kMaxElements ? kMaxElements + 1 : product * dims[i];
  }
  return product;
}

bool Shape::operator==(const Shape& other) const {
  return rank == other.rank && std::equal(dims, dims + rank, other.dims);
}

Error operands_of(const XNode& node, Operands& out) {
  const void* table = node.xnode_union();
  switch (node.xnode_union_type()) {
    case XNodeUnion::XNNAdd:
    case XNodeUnion::XNNDiv:
    case XNodeUnion::XNNMinimum:
    case XNodeUnion::XNNMaximum:
    case XNodeUnion::XNNMultiply:
    case XNodeUnion::XNNSubtract:
    case XNodeUnion::XNNPReLU:
    case XNodeUnion::XNNBatchMatrixMultiply:
      set_binary(*static_cast<const fb_xnnpack::_XNNNode2x1*>(table), out);
      return Error::Ok;
    case XNodeUnion::XNNSoftmax:
    case XNodeUnion::XNNSigmoid:
    case XNodeUnion::XNNClamp:
    case XNodeUnion::XNNFloor:
    case XNodeUnion::XNNConvert:
    case XNodeUnion::XNNGlobalAvgPooling2d:
    case XNodeUnion::XNNSquareRoot:
    case XNodeUnion::XNNCeiling:
    case XNodeUnion::XNNHardswish:
    case XNodeUnion::XNNNegate:
    case XNodeUnion::XNNSquare:
    case XNodeUnion::XNNAbs:
    case XNodeUnion::XNNReciprocalSquareRoot:
    case XNodeUnion::XNNLog:
    case XNodeUnion::XNNGelu:
    case XNodeUnion::XNNTanh:
    case XNodeUnion::XNNExp:
    case XNodeUnion::XNNSin:
    case XNodeUnion::XNNCopy:
    case XNodeUnion::XNNCos:
      set_one_input(*static_cast<const fb_xnnpack::_XNNNode1x1*>(table), out);
      return Error::Ok;
    case XNodeUnion::XNNConv2d:
    case XNodeUnion::XNNDepthwiseConv2d:
    case XNodeUnion::XNNConvTranspose2d:
      set_weighted(*static_cast<const fb_xnnpack::_XNNNodeConv*>(table), out);
      return Error::Ok;
    case XNodeUnion::XNNFullyConnected:
      set_weighted(*node.xnode_union_as_XNNFullyConnected(), out);
      return Error::Ok;
    case XNodeUnion::XNNAvgPooling2d:
    case XNodeUnion::XNNMaxPooling2d:
      set_one_input(*static_cast<const fb_xnnpack::_XNNPooling2D*>(table), out);
      return Error::Ok;
    case XNodeUnion::XNNConcatenate2:
      set_concatenate(*node.xnode_union_as_XNNConcatenate2(), 2, out);
      return Error::Ok;
    case XNodeUnion::XNNConcatenate3:
      set_concatenate(*node.xnode_union_as_XNNConcatenate3(), 3, out);
      return Error::Ok;
    case XNodeUnion::XNNConcatenate4:
      set_concatenate(*node.xnode_union_as_XNNConcatenate4(), 4, out);
      return Error::Ok;
    case XNodeUnion::XNNConcatenate5:
      set_concatenate(*node.xnode_union_as_XNNConcatenate5(), 5, out);
      return Error::Ok;
    case XNodeUnion::XNNStaticTranspose:
      set_one_input(*node.xnode_union_as_XNNStaticTranspose(), out);
      return Error::Ok;
    case XNodeUnion::XNNStaticReshape:
      set_one_input(*node.xnode_union_as_XNNStaticReshape(), out);
      return Error::Ok;
    case XNodeUnion::XNNStaticSlice:
      set_one_input(*node.xnode_union_as_XNNStaticSlice(), out);
      return Error::Ok;
    case XNodeUnion::XNNStaticConstantPad:
      set_one_input(*node.xnode_union_as_XNNStaticConstantPad(), out);
      return Error::Ok;
    case XNodeUnion::XNNStaticResizeBilinear2D:
      set_one_input(*node.xnode_union_as_XNNStaticResizeBilinear2D(), out);
      return Error::Ok;
    case XNodeUnion::XNNELU:
      set_one_input(*node.xnode_union_as_XNNELU(), out);
      return Error::Ok;
    case XNodeUnion::XNNLeakyReLU:
      set_one_input(*node.xnode_union_as_XNNLeakyReLU(), out);
      return Error::Ok;
    default:
      ET_LOG(Error, "XNNPACK node %s: this build cannot run it",
             fb_xnnpack::EnumNameXNodeUnion(node.xnode_union_type()));
      return Error::NotImplemented;
  }
}

Error infer_shape(const XNode& node, Shapes& shapes) {
  Operands operands;
  ET_CHECK_OK_OR_RETURN_ERROR(operands_of(node, operands));
  Shape out;
  ET_CHECK_OK_OR_RETURN_ERROR(infer(node, operands, shapes, out));
  ET_CHECK_OR_RETURN_ERROR(out.num_elements() > 0 && out.num_elements() <= kMaxElements,
                           InvalidProgram, "XNNPACK: a value without elements, or of more than %zu",
                           static_cast<size_t>(kMaxElements));
  shapes[operands.output] = out;
  return Error::Ok;
}

}  // namespace executorch::backends::xnnpack
