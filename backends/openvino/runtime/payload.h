// SPDX-License-Identifier: BSD-3-Clause
// The two forms of a payload, and what is known of one before OpenVINO reads it.
#pragma once

#include <executorch/backends/openvino/runtime/settings.h>
#include <executorch/runtime/core/result.h>

#include <string>
#include <string_view>

namespace executorch::backends::openvino {

struct Payload {
  std::string_view bytes;

  // Of one that OpenVINO compiled for a device, as it exported it:
  std::string version;  // that made it, such as "2026.4.1"; empty where nothing says so
  std::string isa;      // the instruction set that it needs; empty where its header does not say

  // Of a portable one, which is compiled when it is loaded:
  bool is_portable = false;
  std::string_view model;    // its XML
  std::string_view weights;  // aligned as the payload is
};

/// A portable payload is this header (numbers are little-endian), the model's XML, zeros up to a
/// multiple of 64 bytes, and weights.
struct PortableHeader {
  char magic[8];  // ETOVIR01
  uint64_t model_size;
  uint64_t weights_size;
};
constexpr char kPortableMagic[] = "ETOVIR01";
constexpr size_t kWeightsAlignment = 64;

/// Refers to `data`. DelegateInvalidCompatibility for bytes that are not those that were exported,
/// or that end too early.
runtime::Result<Payload> open_payload(const void* data, size_t size, const Settings& settings);

/// CRC-32 as zlib computes it.
uint32_t crc32(std::string_view bytes);

}  // namespace executorch::backends::openvino
