// SPDX-License-Identifier: BSD-3-Clause
// Opens a delegate's bytes. Every offset is checked before use.
#include <executorch/backends/xnnpack/runtime/payload.h>

#include <cstring>

namespace executorch::backends::xnnpack {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr size_t kHeaderSize = 30;
constexpr size_t kMagicOffset = 4;
constexpr size_t kMinFlatbufferSize = 8;
constexpr flatbuffers::uoffset_t kMaxTables = 1 << 22;

template <typename T>
T read(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

bool has_magic(const uint8_t* bytes, const char* magic) {
  return std::memcmp(bytes + kMagicOffset, magic, 4) == 0;
}

/// Reads the header, if there is one, into the two regions.
Error split(Span<const uint8_t> bytes, Span<const uint8_t>& flatbuffer,
            Span<const uint8_t>& constants) {
  flatbuffer = bytes;
  if (!has_magic(bytes.data(), "XH00")) {
    return Error::Ok;
  }
  const uint64_t flatbuffer_offset = read<uint32_t>(bytes.data() + 10);
  const uint64_t flatbuffer_size = read<uint32_t>(bytes.data() + 14);
  const uint64_t constants_offset = read<uint32_t>(bytes.data() + 18);
  const uint64_t constants_size = read<uint64_t>(bytes.data() + 22);
  const uint64_t size = bytes.size();
  ET_CHECK_OR_RETURN_ERROR(
      flatbuffer_size >= kMinFlatbufferSize && flatbuffer_offset + flatbuffer_size <= size &&
          flatbuffer_offset % 4 == 0,
      InvalidArgument, "XNNPACK header: flatbuffer outside of the %zu bytes", bytes.size());
  ET_CHECK_OR_RETURN_ERROR(
      constants_offset >= flatbuffer_offset + flatbuffer_size && constants_offset <= size &&
          constants_size <= size - constants_offset,
      InvalidArgument, "XNNPACK header: constants outside of the %zu bytes", bytes.size());
  flatbuffer = {bytes.data() + flatbuffer_offset, static_cast<size_t>(flatbuffer_size)};
  constants = {bytes.data() + constants_offset, static_cast<size_t>(constants_size)};
  return Error::Ok;
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
  ET_CHECK_OR_RETURN_ERROR(data != nullptr && size >= kHeaderSize, InvalidArgument,
                           "XNNPACK payload of %zu bytes, expected at least %zu", size,
                           kHeaderSize);
  Span<const uint8_t> flatbuffer;
  Span<const uint8_t> constants;
  ET_CHECK_OK_OR_RETURN_ERROR(
      split({static_cast<const uint8_t*>(data), size}, flatbuffer, constants));
  ET_CHECK_OR_RETURN_ERROR(
      has_magic(flatbuffer.data(), "XN01") || has_magic(flatbuffer.data(), "XN00"),
      DelegateInvalidCompatibility, "XNNPACK flatbuffer: expected identifier XN01 or XN00");
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
