// SPDX-License-Identifier: BSD-3-Clause
// Headers and segment places of .pte and .ptd files.
#include <executorch/exir/_native/file_layout.h>

#include <executorch/exir/_native/flatbuffer_reader.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace executorch::exir {
namespace {

constexpr uint64_t kHeaderStart = 8;
constexpr uint32_t kProgramHeaderSize = 32;
constexpr uint32_t kOldProgramHeaderSize = 24;  // before segment_data_size
constexpr uint32_t kFlatTensorHeaderSize = 40;
constexpr uint64_t kMaxOffset = std::numeric_limits<int64_t>::max();

uint64_t checked_add(uint64_t a, uint64_t b) {
  if (a > kMaxOffset || b > kMaxOffset - a) {
    throw std::invalid_argument("the file would be larger than 2^63 bytes");
  }
  return a + b;
}

uint64_t round_up(uint64_t value, uint64_t alignment) {
  if (alignment == 0 || alignment > (uint64_t{1} << 32)) {
    throw std::invalid_argument("expected an alignment in [1, 2^32], found " +
                                std::to_string(alignment));
  }
  return checked_add(value, alignment - 1) / alignment * alignment;
}

template <typename T>
void append(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));  // little-endian host, as everywhere in this module
  out.append(bytes, sizeof(T));
}

/// `flatbuffer` with `header` (already padded) between its identifier and the rest; the root offset
/// moves along.
std::string insert_header(const std::string& flatbuffer, const std::string& header) {
  if (flatbuffer.size() < kHeaderStart) {
    throw std::invalid_argument("not a flatbuffer: fewer than 8 bytes");
  }
  uint32_t root = 0;
  std::memcpy(&root, flatbuffer.data(), sizeof(root));
  std::string out;
  append(out, static_cast<uint32_t>(root + header.size()));
  out.append(flatbuffer, 4, 4);
  out += header;
  out.append(flatbuffer, kHeaderStart, std::string::npos);
  return out;
}

bool has_magic(const FlatbufferReader& file, const char* magic) {
  return file.size() >= kHeaderStart + 4 && std::memcmp(file.at(kHeaderStart, 4), magic, 4) == 0;
}

// The flatbuffer with a header of `inserted` bytes in it, padded to where segments begin.
std::string padded_head(const std::string& flatbuffer, std::string header, uint64_t inserted,
                        uint64_t segment_base) {
  header.resize(inserted);
  std::string head = insert_header(flatbuffer, header);
  head.resize(segment_base);
  return head;
}

void check_range(const char* what, uint64_t offset, uint64_t num_bytes, uint64_t size) {
  if (offset > size || num_bytes > size - offset) {
    throw FormatError(std::string(what) + ": " + std::to_string(num_bytes) + " bytes at " +
                      std::to_string(offset) + " lie outside the file of " + std::to_string(size) +
                      " bytes");
  }
}

}  // namespace

Layout lay_out(const std::vector<std::pair<uint64_t, uint64_t>>& items, uint64_t alignment) {
  Layout layout;
  layout.offsets.reserve(items.size());
  for (const auto& [size, own] : items) {
    const uint64_t offset = round_up(layout.size, own == 0 ? 0 : std::lcm(alignment, own));
    layout.offsets.push_back(offset);
    layout.size = checked_add(offset, size);
  }
  return layout;
}

std::string program_head(const std::string& flatbuffer, uint64_t segment_data_size,
                         uint64_t header_alignment, uint64_t base_alignment) {
  if (segment_data_size == 0) {
    return flatbuffer;
  }
  const uint64_t inserted = round_up(kProgramHeaderSize, header_alignment);
  const uint64_t program_size = flatbuffer.size() + inserted;
  const uint64_t base = round_up(program_size, base_alignment);
  std::string header = "eh00";
  append(header, kProgramHeaderSize);
  append(header, program_size);
  append(header, base);
  append(header, segment_data_size);
  return padded_head(flatbuffer, header, inserted, base);
}

std::string flat_tensor_head(const std::string& flatbuffer, uint64_t segment_data_size,
                             uint64_t header_alignment, uint64_t base_alignment) {
  const uint64_t inserted = round_up(kFlatTensorHeaderSize, header_alignment);
  const uint64_t base = round_up(flatbuffer.size() + inserted, base_alignment);
  std::string header = "FH01";
  append(header, kFlatTensorHeaderSize);
  append(header, inserted);
  append(header, static_cast<uint64_t>(flatbuffer.size()));
  append(header, base);
  append(header, segment_data_size);
  return padded_head(flatbuffer, header, inserted, base);
}

std::optional<ProgramHeader> parse_program_header(const uint8_t* data, uint64_t size) {
  const FlatbufferReader file(data, size);
  if (!has_magic(file, "eh00")) {
    return std::nullopt;
  }
  const uint32_t length = file.read<uint32_t>(kHeaderStart + 4);
  if (length < kOldProgramHeaderSize) {
    throw FormatError("expected a header of at least 24 bytes, found " + std::to_string(length));
  }
  ProgramHeader header{file.read<uint64_t>(16), file.read<uint64_t>(24), 0};
  check_range("program data", 0, header.program_size, size);
  check_range("segments", header.segment_base_offset, 0, size);
  if (length >= kProgramHeaderSize) {
    header.segment_data_size = file.read<uint64_t>(32);
    check_range("segments", header.segment_base_offset, header.segment_data_size, size);
  }
  return header;
}

std::optional<FlatTensorHeader> parse_flat_tensor_header(const uint8_t* data, uint64_t size) {
  const FlatbufferReader file(data, size);
  if (!has_magic(file, "FH01")) {
    return std::nullopt;
  }
  const uint32_t length = file.read<uint32_t>(kHeaderStart + 4);
  if (length < kFlatTensorHeaderSize) {
    throw FormatError("expected a header of at least 40 bytes, found " + std::to_string(length));
  }
  const FlatTensorHeader header{file.read<uint64_t>(16), file.read<uint64_t>(24),
                                file.read<uint64_t>(32), file.read<uint64_t>(40)};
  check_range("flatbuffer", header.flatbuffer_offset, header.flatbuffer_size, size);
  check_range("segments", header.segment_base_offset, header.segment_data_size, size);
  return header;
}

}  // namespace executorch::exir
