// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/nxp/runtime/payload.h>
#include <executorch/runtime/backend/payload_blocks.h>

#include <cinttypes>

namespace executorch::backends::neutron {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr uint64_t kMagic = 0x64434D6E;
// Words of the microcode that say sizes; those behind them differ by the payload's version.
constexpr size_t kMicrocodeSize = 6, kWeightsSize = 7, kScratchSize = 9, kFirstOfVersion = 10;
constexpr uint64_t kIsProfiled = 0x80000000;  // a bit of the profile's size

constexpr uint64_t aligned(uint64_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

#define EXPECT_PAYLOAD(condition, format, ...) \
  ET_CHECK_OR_RETURN_ERROR(condition, InvalidProgram, "%s payload: " format, kBackend, __VA_ARGS__)

Error check_ports(const char* kind, const Ports& ports, uint64_t num_in_microcode) {
  EXPECT_PAYLOAD(ports.size() == num_in_microcode,
                 "expected as many %ss as the header has, %zu, found %" PRIu64 " in the microcode",
                 kind, ports.size(), num_in_microcode);
  for (size_t i = 0; i < ports.size(); ++i) {
    EXPECT_PAYLOAD(ports.flags[i] <= 1, "%s %zu: expected flag 0 or 1, found %d", kind, i,
                   int{ports.flags[i]});
  }
  return Error::Ok;
}

}  // namespace

Result<Payload> Payload::read(Span<const uint8_t> bytes) {
  EXPECT_PAYLOAD(bytes.size() >= 3, "expected a header, found %zu bytes", bytes.size());
  const size_t num_inputs = bytes[0], num_outputs = bytes[1];
  const size_t header_size = 4 + 2 * (num_inputs + num_outputs), start = aligned(header_size);
  EXPECT_PAYLOAD(bytes.size() >= header_size && bytes.size() % kAlignment == 0,
                 "expected a header of %zu bytes and a multiple of %zu in all, found %zu bytes",
                 header_size, kAlignment, bytes.size());
  const uint8_t* at = bytes.data() + 3;
  const auto take = [&at](size_t count) {
    at += count;
    return Span<const uint8_t>(at - count, count);
  };
  Payload made;
  made.num_input_arguments = bytes[2];
  made.inputs.flags = take(num_inputs);
  made.outputs.flags = take(num_outputs);
  made.inputs.map = take(num_inputs);
  made.outputs.map = take(num_outputs);
  const uint8_t version = *at;
  EXPECT_PAYLOAD(version <= 1, "expected version 0 or 1, found %d", int{version});
  for (size_t i = 0; i < num_inputs; ++i) {
    EXPECT_PAYLOAD(made.inputs.map[i] < made.num_input_arguments,
                   "input %zu: expected one of %zu arguments, found %d", i,
                   made.num_input_arguments, int{made.inputs.map[i]});
  }

  const size_t num_words = version == 0 ? 13 : 15;
  EXPECT_PAYLOAD(bytes.size() >= start + 4 * num_words,
                 "expected %zu bytes of microcode or more at byte %zu, found %zu bytes",
                 4 * num_words, start, bytes.size());
  const auto word = [&](size_t i) {
    return runtime::number_at(bytes, {static_cast<uint32_t>(start + 4 * i), 4});
  };
  EXPECT_PAYLOAD(word(0) == kMagic,
                 "expected microcode that begins with 0x64434D6E, found 0x%" PRIX64, word(0));
  ET_CHECK_OK_OR_RETURN_ERROR(check_ports("input", made.inputs, word(num_words - 2)));
  ET_CHECK_OK_OR_RETURN_ERROR(check_ports("output", made.outputs, word(num_words - 1)));
  const uint64_t weights = start + aligned(word(kMicrocodeSize));
  const uint64_t kernels = weights + aligned(word(kWeightsSize));
  EXPECT_PAYLOAD(word(kMicrocodeSize) >= 4 * num_words && kernels <= bytes.size(),
                 "expected microcode of %zu bytes or more, and kernels from byte %" PRIu64
                 ", found %" PRIu64 " and %zu bytes in all",
                 4 * num_words, kernels, word(kMicrocodeSize), bytes.size());
  made.microcode = bytes.data() + start;
  made.weights = bytes.data() + weights;
  made.kernels = bytes.data() + kernels;
  made.scratch_size = static_cast<size_t>(word(kScratchSize));
  if (version == 1) {
    made.profile_size = static_cast<size_t>(word(kFirstOfVersion) & ~kIsProfiled);
    made.debug_size = static_cast<size_t>(word(kFirstOfVersion + 1));
  }
  made.weights_scratch_size = static_cast<size_t>(word(num_words - 3));
  return made;
}

}  // namespace executorch::backends::neutron
