// SPDX-License-Identifier: BSD-3-Clause
// What a payload is loaded with: compile specs of the file, then options of the program that runs.
#pragma once

#include <executorch/runtime/backend/compile_options.h>

#include <map>
#include <optional>
#include <string>

namespace executorch::backends::openvino {

/// Compile specs and options have these keys; any other is a property of OpenVINO.
constexpr char kDeviceKey[] = "device";
constexpr char kPayloadKey[] = "payload";    // for the exporter
constexpr char kChecksumKey[] = "checksum";  // of the payload, written by the exporter
constexpr char kVersionKey[] = "version";    // of OpenVINO that compiled it, likewise

struct Settings {
  std::string device = "CPU";
  std::map<std::string, std::string> properties;
  std::optional<uint32_t> checksum;
  std::string version;

  /// Whether something is said about the precision of computing.
  bool has_precision() const;
  /// All of it as one text: equal for equal settings.
  std::string key() const;
};

/// InvalidArgument for what is no text in a file, or a checksum that is none. Numbers and bools,
/// which are YES and NO, are text.
extern const runtime::OptionTable<Settings> kOptions;

}  // namespace executorch::backends::openvino
