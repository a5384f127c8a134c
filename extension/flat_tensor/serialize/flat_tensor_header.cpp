// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/flat_tensor/serialize/flat_tensor_header.h>

#include <cstring>

namespace executorch::extension {

namespace {

// Numbers in the file are little-endian.
template <typename T>
T read_number(const uint8_t* data) {
  T number = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    number |= static_cast<T>(data[i]) << (8 * i);
  }
  return number;
}

}  // namespace

runtime::Result<FlatTensorHeader> FlatTensorHeader::Parse(const void* data, size_t size) {
  ET_CHECK_OR_RETURN_ERROR(data != nullptr && size >= kNumHeadBytes, InvalidArgument,
                           "Expected at least %zu bytes of a data file, got %zu", kNumHeadBytes,
                           size);
  const uint8_t* header = static_cast<const uint8_t*>(data) + kHeaderOffset;
  if (std::memcmp(header, kMagic, kMagicSize) != 0) {
    return runtime::Error::NotFound;
  }
  const uint32_t length = read_number<uint32_t>(header + kMagicSize);
  ET_CHECK_OR_RETURN_ERROR(length >= kHeaderExpectedLength, InvalidExternalData,
                           "Expected a header of at least %u bytes, got %u",
                           static_cast<unsigned>(kHeaderExpectedLength),
                           static_cast<unsigned>(length));
  const uint8_t* numbers = header + kMagicSize + sizeof(uint32_t);
  return FlatTensorHeader{read_number<uint64_t>(numbers), read_number<uint64_t>(numbers + 8),
                          read_number<uint64_t>(numbers + 16), read_number<uint64_t>(numbers + 24)};
}

}  // namespace executorch::extension
