// SPDX-License-Identifier: BSD-3-Clause
// Verifies payloads: the blocks, then the numbers in them, before anything is used.
#include <executorch/backends/arm/runtime/payload.h>

#include <cstring>

#include <executorch/runtime/backend/payload_formats.h>

namespace executorch::backends::arm {

using runtime::Result;
using runtime::Span;

namespace {

constexpr size_t kAlignment = 16;
constexpr size_t kNumDims = 6;
constexpr size_t kNumbersOfPort = kNumDims + 3;
constexpr int32_t kScratchRegion = 1;

enum Block : size_t { kCommands, kWeights, kScratchSize, kInputs, kOutputs };

size_t unsigned_at(const uint8_t* bytes) {
  return static_cast<size_t>(runtime::little_endian(bytes, sizeof(uint32_t)));
}

int32_t signed_at(const uint8_t* bytes) {
  return static_cast<int32_t>(runtime::little_endian(bytes, sizeof(int32_t)));
}

/// Of one port, whose nine numbers are at `bytes`; `what` for messages.
Result<Port> read_port(const uint8_t* bytes, size_t scratch_size, const char* what) {
  int32_t numbers[kNumbersOfPort];
  for (size_t i = 0; i < kNumbersOfPort; ++i) {
    numbers[i] = signed_at(bytes + i * sizeof(int32_t));
  }
  const int32_t element_size = numbers[kNumDims], offset = numbers[kNumDims + 1];
  const int32_t region = numbers[kNumDims + 2];
  ET_CHECK_OR_RETURN_ERROR(
      element_size == 1 || element_size == 2 || element_size == 4, InvalidProgram,
      "EthosUBackend: %s: expected elements of 1, 2 or 4 bytes, found %" PRId32, what,
      element_size);
  ET_CHECK_OR_RETURN_ERROR(region == kScratchRegion, InvalidProgram,
                           "EthosUBackend: %s: expected region %" PRId32 ", found %" PRId32
                           ": compile without --separate-io-regions",
                           what, kScratchRegion, region);
  // What fits the scratch fits 32 bits, so that no product of two such numbers exceeds 64.
  uint64_t numel = 1;
  for (size_t i = 0; i < kNumDims; ++i) {
    ET_CHECK_OR_RETURN_ERROR(numbers[i] > 0, InvalidProgram,
                             "EthosUBackend: %s: expected sizes above 0, found %" PRId32, what,
                             numbers[i]);
    numel *= static_cast<uint64_t>(numbers[i]);
    ET_CHECK_OR_RETURN_ERROR(numel <= scratch_size, InvalidProgram,
                             "EthosUBackend: %s: more elements than the scratch has bytes, %zu",
                             what, scratch_size);
  }
  const uint64_t nbytes = numel * static_cast<uint64_t>(element_size);
  ET_CHECK_OR_RETURN_ERROR(offset >= 0 && nbytes <= scratch_size &&
                               static_cast<uint64_t>(offset) <= scratch_size - nbytes,
                           InvalidProgram,
                           "EthosUBackend: %s: %" PRIu64 " bytes at offset %" PRId32
                           " of a scratch of %zu bytes",
                           what, nbytes, offset, scratch_size);
  const auto row = static_cast<size_t>(numbers[kNumDims - 1]);
  return Port{static_cast<size_t>(offset), static_cast<size_t>(element_size), row,
              static_cast<size_t>(numel) / row};
}

Result<Span<const Port>> read_ports(Span<const uint8_t> block, size_t scratch_size,
                                    runtime::MemoryAllocator& allocator, const char* what) {
  constexpr size_t kPortBytes = kNumbersOfPort * sizeof(int32_t);
  const size_t rest = block.size() < sizeof(int32_t) ? 0 : block.size() - sizeof(int32_t);
  const size_t count = rest / kPortBytes;
  ET_CHECK_OR_RETURN_ERROR(
      block.size() == sizeof(int32_t) + count * kPortBytes && unsigned_at(block.data()) == count,
      InvalidProgram, "EthosUBackend: %ss: expected a count and %zu bytes each, found %zu", what,
      kPortBytes, block.size());
  if (count == 0) {
    return Span<const Port>();
  }
  auto* ports = allocator.allocateList<Port>(count);
  ET_CHECK_OR_RETURN_ERROR(ports != nullptr, MemoryAllocationFailed,
                           "EthosUBackend: no memory for %zu %ss", count, what);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* bytes = block.data() + sizeof(int32_t) + i * kPortBytes;
    ports[i] = ET_UNWRAP(read_port(bytes, scratch_size, what));
  }
  return Span<const Port>(ports, count);
}

bool is_command_stream(Span<const uint8_t> commands) {
  return commands.size() >= 4 && (std::memcmp(commands.data(), "COP1", 4) == 0 ||
                                  std::memcmp(commands.data(), "COP2", 4) == 0);
}

}  // namespace

Result<Payload> open_payload(Span<const uint8_t> bytes, runtime::MemoryAllocator& allocator) {
  ET_CHECK_OR_RETURN_ERROR(
      bytes.data() != nullptr && reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0,
      InvalidProgram, "EthosUBackend: payload of %zu bytes: expected an address aligned to %zu",
      bytes.size(), kAlignment);
  const auto blocks = ET_UNWRAP(runtime::read_blocks(bytes, runtime::kEthosUBlocks));
  ET_CHECK_OR_RETURN_ERROR(is_command_stream(blocks.data[kCommands]), InvalidProgram,
                           "EthosUBackend: cmd_data: expected COP1 or COP2 at its beginning");
  ET_CHECK_OR_RETURN_ERROR(blocks.data[kScratchSize].size() == sizeof(uint32_t), InvalidProgram,
                           "EthosUBackend: scratch_size: expected 4 bytes, found %zu",
                           blocks.data[kScratchSize].size());
  Payload out;
  out.commands = blocks.data[kCommands];
  out.weights = blocks.data[kWeights];
  out.scratch_size = unsigned_at(blocks.data[kScratchSize].data());
  out.inputs = ET_UNWRAP(read_ports(blocks.data[kInputs], out.scratch_size, allocator, "input"));
  out.outputs = ET_UNWRAP(read_ports(blocks.data[kOutputs], out.scratch_size, allocator, "output"));
  return out;
}

}  // namespace executorch::backends::arm
