// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/stand_in/context.h>

#include <algorithm>
#include <cstring>

namespace executorch::backends::qualcomm::stand_in {

namespace {

constexpr uint64_t kMagic = 0x31302d4e4e512d45;  // E-QNN-01
constexpr size_t kHeadBytes = 16;

uint64_t checksum_of(const uint8_t* bytes, size_t size) {
  uint64_t sum = size, next = 0;
  for (size_t i = 0; i < size; i += sizeof(next)) {
    std::memcpy(&next, bytes + i, std::min(sizeof(next), size - i));
    sum = (sum ^ next) * 0x100000001b3 + (sum >> 32);
  }
  return sum;
}

}  // namespace

std::vector<uint8_t> pack(const qnn_stand_in::ContextT& context) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(qnn_stand_in::Context::Pack(builder, &context), qnn_stand_in::ContextIdentifier());
  std::vector<uint8_t> bytes(kHeadBytes + builder.GetSize());
  std::memcpy(bytes.data() + kHeadBytes, builder.GetBufferPointer(), builder.GetSize());
  const uint64_t checksum = checksum_of(bytes.data() + kHeadBytes, builder.GetSize());
  std::memcpy(bytes.data(), &kMagic, sizeof(kMagic));
  std::memcpy(bytes.data() + sizeof(kMagic), &checksum, sizeof(checksum));
  return bytes;
}

std::unique_ptr<qnn_stand_in::ContextT> unpack(const void* bytes, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(bytes);
  uint64_t magic = 0, checksum = 0;
  if (begin == nullptr || size < kHeadBytes) {
    return nullptr;
  }
  std::memcpy(&magic, begin, sizeof(magic));
  std::memcpy(&checksum, begin + sizeof(magic), sizeof(checksum));
  if (magic != kMagic || checksum != checksum_of(begin + kHeadBytes, size - kHeadBytes)) {
    return nullptr;
  }
  // Verified where it is aligned.
  const std::vector<uint64_t> aligned = [&] {
    std::vector<uint64_t> copy((size - kHeadBytes + 7) / 8);
    std::memcpy(copy.data(), begin + kHeadBytes, size - kHeadBytes);
    return copy;
  }();
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(aligned.data()),
                                 size - kHeadBytes);
  return qnn_stand_in::VerifyContextBuffer(verifier) ? qnn_stand_in::UnPackContext(aligned.data())
                                                     : nullptr;
}

}  // namespace executorch::backends::qualcomm::stand_in
