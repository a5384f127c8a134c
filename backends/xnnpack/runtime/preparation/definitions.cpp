// SPDX-License-Identifier: BSD-3-Clause
// Values and nodes in XNNPACK's terms.
#include <executorch/backends/xnnpack/runtime/preparation/byte_tables.h>
#include <executorch/backends/xnnpack/runtime/preparation/definitions.h>

#include <cstring>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

/// What 4-bit weights store for zero.
constexpr int32_t kNibbleZero = 8;

uint32_t external_flag(bool is_output) {
  return is_output ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT : XNN_VALUE_FLAG_EXTERNAL_INPUT;
}

}  // namespace

Error check_status(xnn_status status, const char* what) {
  switch (status) {
    case xnn_status_success:
      return Error::Ok;
    case xnn_status_out_of_memory:
      ET_LOG(Error, "XNNPACK: no memory for %s", what);
      return Error::MemoryAllocationFailed;
    case xnn_status_unsupported_parameter:
    case xnn_status_unsupported_hardware:
      ET_LOG(
          Error,
          "XNNPACK has no kernels for %s in this build or on this processor: half precision needs "
          "instructions of its own",
          what);
      return Error::NotSupported;
    default:
      ET_LOG(Error, "XNNPACK refused %s: status %d", what, static_cast<int>(status));
      return Error::Internal;
  }
}

Error make_subgraph(size_t num_externals, Subgraph& out) {
  xnn_subgraph_t made = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(
      xnn_create_subgraph(static_cast<uint32_t>(num_externals), 0, &made), "a subgraph"));
  out.reset(made);
  return Error::Ok;
}

Error Definitions::load_constants() {
  contents_.resize(graph_.values.size());
  for (uint32_t id = 0; id < contents_.size(); ++id) {
    if (graph_.values[id].is_constant()) {
      ET_CHECK_OK_OR_RETURN_ERROR(load_constant(id));
    }
  }
  return Error::Ok;
}

/// Data that stays where it is while the graph is built; what is read later is copied with the
/// bytes behind it that XNNPACK may read.
Error Definitions::load_constant(uint32_t id) {
  const Value& value = graph_.values[id];
  const Shape& shape = graph_.shapes[id];
  const uint32_t index = value.tensor->constant_buffer_idx();
  Contents& contents = contents_[id];
  ET_CHECK_OK_OR_RETURN_ERROR(load_scales(id));
  contents.bytes =
      ET_UNWRAP(value.is_widened ? constants_.load_widened(index, shape.num_elements())
                                 : constants_.load(index, size_of(value.type(), shape)));
  if (graph_.uses[id].is_read) {
    std::vector<uint8_t> copy(contents.bytes.size() + XNN_EXTRA_BYTES);
    std::memcpy(copy.data(), contents.bytes.data(), contents.bytes.size());
    kept_.push_back(std::move(copy));
    contents.bytes = {kept_.back().data(), contents.bytes.size()};
  }
  return Error::Ok;
}

Error Definitions::load_scales(uint32_t id) {
  const auto bytes_of = [](auto scales) {
    return Span<const uint8_t>{reinterpret_cast<const uint8_t*>(scales.data()),
                               scales.size() * sizeof(scales[0])};
  };
  switch (graph_.values[id].type()) {
    case XNNDatatype::xnn_datatype_qcint8:
    case XNNDatatype::xnn_datatype_qcint4:
    case XNNDatatype::xnn_datatype_qcint32:
      contents_[id].scales = bytes_of(ET_UNWRAP(constants_.scales_by_channel(graph_.values[id])));
      return Error::Ok;
    case XNNDatatype::xnn_datatype_qbint4:
      contents_[id].scales = bytes_of(ET_UNWRAP(constants_.scales_by_group(graph_.values[id])));
      return Error::Ok;
    default:
      return Error::Ok;
  }
}

xnn_status Definitions::define_in(xnn_subgraph_t subgraph, uint32_t id, uint32_t external,
                                  uint32_t flags, uint32_t& out) const {
  const Value& value = graph_.values[id];
  const Shape& shape = graph_.shapes[id];
  const void* const data = value.is_constant() ? contents_[id].bytes.data() : nullptr;
  const void* const scales = contents_[id].scales.data();
  const auto by_channel = [&](xnn_datatype type, int32_t zero_point) {
    return xnn_define_channelwise_quantized_tensor_value_v2(
        subgraph, type, zero_point, static_cast<const float*>(scales), shape.rank,
        value.channel_dim, shape.dims, data, external, flags, &out);
  };
  const auto by_tensor = [&](xnn_datatype type) {
    return xnn_define_quantized_tensor_value(subgraph, type, value.zero_point, value.scale,
                                             shape.rank, shape.dims, data, external, flags, &out);
  };
  switch (value.type()) {
    case XNNDatatype::xnn_datatype_qint8:
      return by_tensor(xnn_datatype_qint8);
    case XNNDatatype::xnn_datatype_quint8:
      return by_tensor(xnn_datatype_quint8);
    case XNNDatatype::xnn_datatype_qint32:
      return by_tensor(xnn_datatype_qint32);
    case XNNDatatype::xnn_datatype_qcint8:
      return by_channel(xnn_datatype_qcint8, 0);
    case XNNDatatype::xnn_datatype_qcint4:
      return by_channel(xnn_datatype_qcint4, kNibbleZero);
    case XNNDatatype::xnn_datatype_qcint32:
      return by_channel(xnn_datatype_qcint32, 0);
    case XNNDatatype::xnn_datatype_qdint8:
      return xnn_define_dynamically_quantized_tensor_value(subgraph, xnn_datatype_qdint8,
                                                           shape.rank, value.num_nonbatch_dims,
                                                           shape.dims, external, flags, &out);
    case XNNDatatype::xnn_datatype_qbint4:
      return xnn_define_blockwise_quantized_tensor_value(
          subgraph, xnn_datatype_qbint4, kNibbleZero, static_cast<const uint16_t*>(scales),
          shape.rank, value.channel_dim, value.group_size, shape.dims, data, external, flags, &out);
    default: {
      const bool is_half = value.type() == XNNDatatype::xnn_datatype_fp16;
      return xnn_define_tensor_value(subgraph, is_half ? xnn_datatype_fp16 : xnn_datatype_fp32,
                                     shape.rank, shape.dims, data, external, flags, &out);
    }
  }
}

Error Definitions::define_values(xnn_subgraph_t subgraph, const Segment& segment, Ids& ids) const {
  const auto define = [&](uint32_t id, uint32_t external, uint32_t flags) {
    return ids[id] != XNN_INVALID_VALUE_ID
               ? Error::Ok
               : check_status(define_in(subgraph, id, external, flags, ids[id]), "a value");
  };
  for (uint32_t place = 0; place < segment.arguments.size(); ++place) {
    const auto [id, is_output] = segment.arguments[place];
    const bool is_converted = graph_.is_converted(id);
    ET_CHECK_OK_OR_RETURN_ERROR(define(id, is_converted ? XNN_INVALID_VALUE_ID : place,
                                       is_converted ? 0 : external_flag(is_output)));
  }
  Error error = Error::Ok;
  for (size_t place = segment.begin; place < segment.end; ++place) {
    const GraphNode& node = graph_.nodes[place];
    if (!node.is_needed) {
      continue;
    }
    for_each_read(node, [&](uint32_t id) {
      if (graph_.values[id].is_constant() && error == Error::Ok) {
        error = define(id, XNN_INVALID_VALUE_ID, 0);
      }
    });
    ET_CHECK_OK_OR_RETURN_ERROR(error);
    ET_CHECK_OK_OR_RETURN_ERROR(define(node.operands.output, XNN_INVALID_VALUE_ID, 0));
  }
  return Error::Ok;
}

Error Definitions::convert_arguments(xnn_subgraph_t subgraph, const Segment& segment,
                                     const Ids& ids, bool are_outputs) const {
  for (uint32_t place = 0; place < segment.arguments.size(); ++place) {
    const auto [id, is_output] = segment.arguments[place];
    if (is_output != are_outputs || !graph_.is_converted(id)) {
      continue;
    }
    const Shape& shape = graph_.shapes[id];
    uint32_t half = XNN_INVALID_VALUE_ID;
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_status(xnn_define_tensor_value(subgraph, xnn_datatype_fp16, shape.rank, shape.dims,
                                             nullptr, place, external_flag(is_output), &half),
                     "an argument of half precision"));
    const uint32_t whole = ids[id];
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_status(xnn_define_unary(subgraph, xnn_unary_convert, nullptr,
                                      are_outputs ? whole : half, are_outputs ? half : whole, 0),
                     "the conversion of an argument of half precision"));
  }
  return Error::Ok;
}

Error Definitions::define_segment(xnn_subgraph_t subgraph, const Segment& segment, Ids& ids,
                                  const DefineNode& define) const {
  ET_CHECK_OK_OR_RETURN_ERROR(define_values(subgraph, segment, ids));
  ET_CHECK_OK_OR_RETURN_ERROR(convert_arguments(subgraph, segment, ids, false));
  for (size_t place = segment.begin; place < segment.end; ++place) {
    if (graph_.nodes[place].is_needed) {
      ET_CHECK_OK_OR_RETURN_ERROR(define(graph_.nodes[place]));
    }
  }
  return convert_arguments(subgraph, segment, ids, true);
}

Error Definitions::define_node(xnn_subgraph_t subgraph, const GraphNode& node, const Ids& ids) {
  return check_status(node.kind->define(subgraph, *node.node, node.operands, node.limits, ids),
                      name_of(*node.node));
}

}  // namespace executorch::backends::xnnpack
