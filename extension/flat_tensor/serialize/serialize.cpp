// SPDX-License-Identifier: BSD-3-Clause
// The file is: flatbuffer with the header inserted behind its identifier | padding | segments.
#include <executorch/extension/flat_tensor/serialize/serialize.h>

#include <cstring>
#include <vector>

#include <executorch/extension/data_writer/replacing_file.h>
#include <executorch/extension/flat_tensor/serialize/flat_tensor_generated.h>
#include <executorch/extension/flat_tensor/serialize/flat_tensor_header.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension::flat_tensor {

using executorch::aten::Tensor;
using executorch::runtime::Error;

namespace {

using TensorMap = std::map<std::string, Tensor>;

size_t align_up(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

template <typename T>
void append_number(std::string& out, T number) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<char>((number >> (8 * i)) & 0xff));
  }
}

Error check(const TensorMap& tensor_map, size_t alignment) {
  const uint16_t one = 1;
  uint8_t first_byte = 0;
  std::memcpy(&first_byte, &one, 1);
  ET_CHECK_OR_RETURN_ERROR(first_byte == 1, NotSupported,
                           "Data files are written on little-endian machines only");
  ET_CHECK_OR_RETURN_ERROR(alignment != 0 && (alignment & (alignment - 1)) == 0, InvalidArgument,
                           "Expected an alignment that is a power of two, got %zu", alignment);
  for (const auto& [name, tensor] : tensor_map) {
    ET_CHECK_OR_RETURN_ERROR(tensor.const_data_ptr() != nullptr || tensor.nbytes() == 0,
                             InvalidArgument, "Tensor %s has no data", name.c_str());
  }
  return Error::Ok;
}

// The table of contents, and how many bytes the segments take.
size_t build_contents(const TensorMap& tensor_map, size_t alignment,
                      flatbuffers::FlatBufferBuilder& builder) {
  std::vector<flatbuffers::Offset<flat_tensor_flatbuffer::NamedData>> entries;
  std::vector<flatbuffers::Offset<flat_tensor_flatbuffer::DataSegment>> segments;
  size_t end = 0;
  for (const auto& [name, tensor] : tensor_map) {
    const size_t offset = align_up(end, alignment);
    end = offset + tensor.nbytes();
    const std::vector<int32_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
    runtime::internal::DimOrderRoom room;
    const auto dim_order = runtime::internal::dim_order_of(tensor, room);
    const auto layout = flat_tensor_flatbuffer::CreateTensorLayout(
        builder, static_cast<executorch_flatbuffer::ScalarType>(tensor.scalar_type()),
        builder.CreateVector(sizes), builder.CreateVector(dim_order.data(), dim_order.size()));
    entries.push_back(flat_tensor_flatbuffer::CreateNamedData(
        builder, builder.CreateString(name), static_cast<uint32_t>(segments.size()), layout));
    segments.push_back(flat_tensor_flatbuffer::CreateDataSegment(builder, offset, tensor.nbytes()));
  }
  const auto root = flat_tensor_flatbuffer::CreateFlatTensor(
      builder, kSchemaVersion, builder.CreateVector(segments), builder.CreateVector(entries));
  flat_tensor_flatbuffer::FinishFlatTensorBuffer(builder, root);
  return end;
}

std::string build_header(size_t padded_size, size_t contents_size, size_t segment_base,
                         size_t data_size) {
  std::string header(FlatTensorHeader::kMagic, FlatTensorHeader::kMagicSize);
  append_number<uint32_t>(header, FlatTensorHeader::kHeaderExpectedLength);
  append_number<uint64_t>(header, padded_size);
  append_number<uint64_t>(header, contents_size);
  append_number<uint64_t>(header, segment_base);
  append_number<uint64_t>(header, data_size);
  header.resize(padded_size, '\0');
  return header;
}

void write_segments(std::ostream& out, const TensorMap& tensor_map, size_t alignment) {
  size_t position = 0;
  for (const auto& [name, tensor] : tensor_map) {
    const size_t offset = align_up(position, alignment);
    out << std::string(offset - position, '\0');
    out.write(static_cast<const char*>(tensor.const_data_ptr()),
              static_cast<std::streamsize>(tensor.nbytes()));
    position = offset + tensor.nbytes();
  }
}

Error write(std::ostream& out, const TensorMap& tensor_map, size_t alignment) {
  ET_CHECK_OK_OR_RETURN_ERROR(check(tensor_map, alignment));
  flatbuffers::FlatBufferBuilder builder;
  const size_t data_size = build_contents(tensor_map, alignment, builder);
  // The flatbuffer holds 64-bit numbers: shifted by a multiple of 8 they stay aligned.
  const size_t header_size = align_up(FlatTensorHeader::kHeaderExpectedLength, alignment);
  const size_t contents_size = builder.GetSize();
  const size_t segment_base = header_size + align_up(contents_size, alignment);

  std::string root;
  append_number<uint32_t>(root, *reinterpret_cast<const uint32_t*>(builder.GetBufferPointer()) +
                                    static_cast<uint32_t>(header_size));
  const char* contents = reinterpret_cast<const char*>(builder.GetBufferPointer());
  out << root;
  out.write(contents + 4, FlatTensorHeader::kHeaderOffset - 4);
  out << build_header(header_size, contents_size, segment_base, data_size);
  out.write(contents + FlatTensorHeader::kHeaderOffset,
            static_cast<std::streamsize>(contents_size - FlatTensorHeader::kHeaderOffset));
  out << std::string(segment_base - header_size - contents_size, '\0');
  write_segments(out, tensor_map, alignment);
  return Error::Ok;
}

}  // namespace

Error save_ptd(const std::string& path, const TensorMap& tensor_map,
               const size_t tensor_alignment) {
  ReplacingFile file(path);
  ET_CHECK_OK_OR_RETURN_ERROR(write(file.stream(), tensor_map, tensor_alignment));
  return file.commit();
}

Error save_ptd(std::ostream& out, const TensorMap& tensor_map, const size_t tensor_alignment) {
  ET_CHECK_OK_OR_RETURN_ERROR(write(out, tensor_map, tensor_alignment));
  out.flush();
  ET_CHECK_OR_RETURN_ERROR(out.good(), AccessFailed, "Cannot write the data file");
  return Error::Ok;
}

}  // namespace executorch::extension::flat_tensor
