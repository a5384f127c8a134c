// SPDX-License-Identifier: BSD-3-Clause
// Opens a delegate's bytes. Every offset is checked before use.
#include <executorch/backends/xnnpack/runtime/payload.h>
#include <executorch/runtime/backend/payload_formats.h>

#include <cstring>

namespace executorch::backends::xnnpack {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr flatbuffers::uoffset_t kMaxTables = 1 << 22;

bool has_identifier(Span<const uint8_t> flatbuffer, const char* identifier) {
  return std::memcmp(flatbuffer.data() + 4, identifier, 4) == 0;
}

/// The generated verifier lets a union be absent, or of a kind that it does not know.
Error check_presence(const fb_xnnpack::XNNGraph& graph) {
  ET_CHECK_OR_RETURN_ERROR(graph.xvalues() != nullptr && graph.xnodes() != nullptr, InvalidProgram,
                           "XNNPACK graph without values or nodes");
  for (const fb_xnnpack::XValue* value : *graph.xvalues()) {
    ET_CHECK_OR_RETURN_ERROR(value->xvalue_union() != nullptr, InvalidProgram,
                             "XNNPACK graph: a value says nothing");
    const auto* quantized = value->xvalue_union_as_XNNQuantizedTensorValue();
    ET_CHECK_OR_RETURN_ERROR(quantized == nullptr || quantized->tensor_value() != nullptr,
                             InvalidProgram, "XNNPACK graph: a quantized value without its tensor");
  }
  for (const fb_xnnpack::XNode* node : *graph.xnodes()) {
    ET_CHECK_OR_RETURN_ERROR(node->xnode_union() != nullptr, InvalidProgram,
                             "XNNPACK graph: a node says nothing");
    ET_CHECK_OR_RETURN_ERROR(node->xnode_union_type() <= fb_xnnpack::XNodeUnion::MAX,
                             NotImplemented, "XNNPACK node type %d: written by a newer exporter",
                             static_cast<int>(node->xnode_union_type()));
  }
  return Error::Ok;
}

}  // namespace

Result<Payload> open_payload(const void* data, size_t size) {
  const size_t least = runtime::kXnnpackHeader.num_bytes;
  ET_CHECK_OR_RETURN_ERROR(data != nullptr && size >= least, InvalidArgument,
                           "XNNPACK payload of %zu bytes, expected at least %zu", size, least);
  Span<const uint8_t> flatbuffer(static_cast<const uint8_t*>(data), size);
  Span<const uint8_t> constants;
  if (runtime::has_magic(flatbuffer, runtime::kXnnpackHeader)) {
    const auto found = ET_UNWRAP(runtime::read_regions(flatbuffer, runtime::kXnnpackHeader));
    flatbuffer = found.regions[0];
    constants = found.regions[1];
  }
  ET_CHECK_OR_RETURN_ERROR(has_identifier(flatbuffer, "XN01") || has_identifier(flatbuffer, "XN00"),
                           DelegateInvalidCompatibility,
                           "XNNPACK flatbuffer: expected identifier XN01 or XN00");
  flatbuffers::Verifier::Options options;
  options.max_tables = kMaxTables;
  flatbuffers::Verifier verifier(flatbuffer.data(), flatbuffer.size(), options);
  ET_CHECK_OR_RETURN_ERROR(verifier.VerifyBuffer<fb_xnnpack::XNNGraph>(nullptr),
                           DelegateInvalidCompatibility, "XNNPACK flatbuffer: bad structure");
  const fb_xnnpack::XNNGraph* graph = flatbuffers::GetRoot<fb_xnnpack::XNNGraph>(flatbuffer.data());
  ET_CHECK_OK_OR_RETURN_ERROR(check_presence(*graph));
  return Payload{graph, constants};
}

}  // namespace executorch::backends::xnnpack
