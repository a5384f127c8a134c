// SPDX-License-Identifier: BSD-3-Clause
// What a context of the stand-in library has: graphs, as they are made or as a context binary has
// them.
#pragma once

#include <executorch/backends/qualcomm/stand_in/values.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace executorch::backends::qualcomm::stand_in {

/// Of errors: what QNN's functions return, why is logged.
constexpr Qnn_ErrorHandle_t kInvalidArgument = 1001, kNotSupported = 1002, kInvalidBinary = 5003,
                            kFailed = 6004;

constexpr char kBuildId[] = "v2.37.0.stand-in";

/// Bytes of a context binary: a magic, a checksum of what follows, a flatbuffer.
std::vector<uint8_t> pack(const qnn_stand_in::ContextT& context);
/// Null for bytes that are no context binary.
std::unique_ptr<qnn_stand_in::ContextT> unpack(const void* bytes, size_t size);

/// What an operator took, in microseconds.
struct Timing {
  std::string name;
  uint64_t microseconds;
};

/// Runs a graph. `given[i]`, for each tensor: what is read of an input; `taken[i]`: where an output
/// goes. Why not, or empty.
std::string run(const qnn_stand_in::ContextT& context, const qnn_stand_in::GraphT& graph,
                const std::vector<const uint8_t*>& given, const std::vector<uint8_t*>& taken,
                std::vector<Timing>* out_timings);

}  // namespace executorch::backends::qualcomm::stand_in
