// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/openvino/runtime/payload.h>

#include <array>
#include <cinttypes>
#include <cstring>

namespace executorch::backends::openvino {

using runtime::Error;
using runtime::Result;

namespace {

/// Compiled payloads for CPUs begin with this, a u32, a u64 size, and text of that size.
constexpr char kCompiledMagic[] = "RR_UPCVO";
constexpr size_t kTextSizeAt = 12;
constexpr size_t kTextAt = 20;
constexpr size_t kMaxTextSize = 4096;

// Eight tables: table[n] is for a byte that n others follow.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0u);
    }
    tables[0][byte] = value;
  }
  for (size_t n = 1; n < tables.size(); ++n) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t value = tables[n - 1][byte];
      tables[n][byte] = (value >> 8) ^ tables[0][value & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

/// The value of `name` in "a=1;b=2".
std::string field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    const std::string_view entry = text.substr(0, end);
    if (entry.size() > name.size() && entry.substr(0, name.size()) == name &&
        entry[name.size()] == '=') {
      return std::string(entry.substr(name.size() + 1));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "";
}

Error read_compiled(Payload& payload) {
  const std::string_view bytes = payload.bytes;
  const std::string_view magic(kCompiledMagic);
  if (bytes.substr(0, magic.size()) != magic) {
    return Error::Ok;  // of another device or version: its library knows it
  }
  uint64_t size = 0;
  ET_CHECK_OR_RETURN_ERROR(bytes.size() > kTextAt, DelegateInvalidCompatibility,
                           "OpenVINO payload of %zu bytes: its header is cut off", bytes.size());
  std::memcpy(&size, bytes.data() + kTextSizeAt, sizeof(size));
  ET_CHECK_OR_RETURN_ERROR(
      size <= kMaxTextSize && size < bytes.size() - kTextAt, DelegateInvalidCompatibility,
      "OpenVINO payload of %zu bytes: its header says that it is longer", bytes.size());
  const std::string_view text = bytes.substr(kTextAt, static_cast<size_t>(size));
  payload.version = field(text, "ov");
  payload.isa = field(text, "isa");
  return Error::Ok;
}

Error read_portable(Payload& payload) {
  const std::string_view bytes = payload.bytes;
  PortableHeader header{};
  ET_CHECK_OR_RETURN_ERROR(bytes.size() >= sizeof(header), DelegateInvalidCompatibility,
                           "portable OpenVINO payload of %zu bytes: its header is cut off",
                           bytes.size());
  std::memcpy(&header, bytes.data(), sizeof(header));
  const uint64_t left = bytes.size() - sizeof(header);
  ET_CHECK_OR_RETURN_ERROR(header.model_size <= left && header.weights_size <= left,
                           DelegateInvalidCompatibility,
                           "portable OpenVINO payload of %zu bytes: its header says that it is "
                           "longer",
                           bytes.size());
  const size_t model_size = static_cast<size_t>(header.model_size);
  const size_t weights_at =
      (sizeof(header) + model_size + kWeightsAlignment - 1) / kWeightsAlignment * kWeightsAlignment;
  ET_CHECK_OR_RETURN_ERROR(weights_at + header.weights_size == bytes.size(),
                           DelegateInvalidCompatibility,
                           "portable OpenVINO payload of %zu bytes: expected %zu by its header",
                           bytes.size(), static_cast<size_t>(weights_at + header.weights_size));
  payload.is_portable = true;
  payload.model = bytes.substr(sizeof(header), model_size);
  payload.weights = bytes.substr(weights_at);
  return Error::Ok;
}

}  // namespace

uint32_t crc32(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFFu;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint32_t low = 0;
    uint32_t high = 0;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xFF] ^ kTables[6][low >> 8 & 0xFF] ^ kTables[5][low >> 16 & 0xFF] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xFF] ^ kTables[2][high >> 8 & 0xFF] ^
          kTables[1][high >> 16 & 0xFF] ^ kTables[0][high >> 24];
  }
  for (; left > 0; ++at, --left) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(*at)) & 0xFF];
  }
  return ~crc;
}

Result<Payload> open_payload(const void* data, size_t size, const Settings& settings) {
  Payload payload;
  payload.bytes = {static_cast<const char*>(data), size};
  ET_CHECK_OR_RETURN_ERROR(data != nullptr && size > 0, DelegateInvalidCompatibility,
                           "OpenVINO payload of no bytes");
  if (settings.checksum) {
    const uint32_t found = crc32(payload.bytes);
    ET_CHECK_OR_RETURN_ERROR(found == *settings.checksum, DelegateInvalidCompatibility,
                             "OpenVINO payload of %zu bytes is corrupted: expected checksum "
                             "%08" PRIx32 ", found %08" PRIx32 "; copy or export the file again",
                             size, *settings.checksum, found);
  }
  const std::string_view magic(kPortableMagic);
  const bool is_portable = payload.bytes.substr(0, magic.size()) == magic;
  ET_CHECK_OK_OR_RETURN_ERROR(is_portable ? read_portable(payload) : read_compiled(payload));
  if (payload.version.empty()) {
    payload.version = settings.version;
  }
  return payload;
}

}  // namespace executorch::backends::openvino
