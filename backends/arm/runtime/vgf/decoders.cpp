// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/arm/runtime/vgf/decoders.h>

#include <cinttypes>

namespace executorch::backends::arm::vgf {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

using Header = Decoder<mlsdk_decoder_header_decoder>;

Result<Header> open_header(Span<const uint8_t> bytes) {
  const size_t num_bytes = mlsdk_decoder_header_size();
  ET_CHECK_OR_RETURN_ERROR(bytes.size() >= num_bytes, Internal,
                           "%s: expected a VGF file, found %zu bytes", kName, bytes.size());
  Header header =
      ET_UNWRAP(Header::make("header", mlsdk_decoder_header_decoder_mem_reqs(), [&](void* memory) {
        return mlsdk_decoder_create_header_decoder(bytes.data(), num_bytes, bytes.size(), memory);
      }));
  ET_CHECK_OR_RETURN_ERROR(mlsdk_decoder_is_header_valid(header.get()), Internal,
                           "%s: expected the magic VGF1, found other bytes", kName);
  mlsdk_decoder_vgf_version ours{};
  mlsdk_decoder_get_version(&ours);
  ET_CHECK_OR_RETURN_ERROR(
      mlsdk_decoder_is_header_compatible(header.get()), Internal,
      "%s: expected a VGF file of version %d.%d or an earlier minor one, found %d.%d", kName,
      ours.major, ours.minor, mlsdk_decoder_get_header_major(header.get()),
      mlsdk_decoder_get_header_minor(header.get()));
  return header;
}

/// A table's bytes, which lie within the file.
Result<Span<const uint8_t>> section(const Header& header, Span<const uint8_t> bytes,
                                    mlsdk_decoder_section which, const char* what) {
  mlsdk_decoder_vgf_section_info info{};
  mlsdk_decoder_get_header_section_info(header.get(), which, &info);
  ET_CHECK_OR_RETURN_ERROR(
      info.offset <= bytes.size() && info.size <= bytes.size() - info.offset, Internal,
      "%s: the %s of %" PRIu64 " bytes at %" PRIu64 " lies outside of the file's %zu bytes", kName,
      what, info.size, info.offset, bytes.size());
  ET_CHECK_OR_RETURN_ERROR(info.offset % alignof(uint64_t) == 0, Internal,
                           "%s: the %s at %" PRIu64 ": expected a multiple of %zu", kName, what,
                           info.offset, alignof(uint64_t));
  return Span<const uint8_t>(bytes.data() + info.offset, info.size);
}

/// `create` is the library's function for it, in memory of `num_bytes`.
template <typename T>
Error open_table(const Header& header, Span<const uint8_t> bytes, mlsdk_decoder_section which,
                 const char* what, size_t num_bytes, T* (*create)(const void*, uint64_t, void*),
                 Decoder<T>& out) {
  const Span<const uint8_t> table = ET_UNWRAP(section(header, bytes, which, what));
  out = ET_UNWRAP(Decoder<T>::make(
      what, num_bytes, [&](void* memory) { return create(table.data(), table.size(), memory); }));
  return Error::Ok;
}

}  // namespace

Result<Decoders> open_decoders(Span<const uint8_t> bytes) {
  const Header header = ET_UNWRAP(open_header(bytes));
  Decoders out;
  ET_CHECK_OK_OR_RETURN_ERROR(open_table(header, bytes, mlsdk_decoder_section_modules,
                                         "module table",
                                         mlsdk_decoder_module_table_decoder_mem_reqs(),
                                         mlsdk_decoder_create_module_table_decoder, out.modules));
  ET_CHECK_OK_OR_RETURN_ERROR(
      open_table(header, bytes, mlsdk_decoder_section_model_sequence, "model sequence",
                 mlsdk_decoder_model_sequence_decoder_mem_reqs(),
                 mlsdk_decoder_create_model_sequence_decoder, out.sequence));
  ET_CHECK_OK_OR_RETURN_ERROR(
      open_table(header, bytes, mlsdk_decoder_section_resources, "resource table",
                 mlsdk_decoder_model_resource_table_decoder_mem_reqs(),
                 mlsdk_decoder_create_model_resource_table_decoder, out.resources));
  ET_CHECK_OK_OR_RETURN_ERROR(
      open_table(header, bytes, mlsdk_decoder_section_constants, "constant table",
                 mlsdk_decoder_constant_table_decoder_mem_reqs(),
                 mlsdk_decoder_create_constant_table_decoder, out.constants));
  return out;
}

}  // namespace executorch::backends::arm::vgf
