// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/openvino/runtime/settings.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace executorch::backends::openvino {

using runtime::Error;

namespace {

/// Specs of files may end with NULs.
std::string text_of(const runtime::SizedBuffer& value) {
  const auto* text = static_cast<const char*>(value.buffer);
  size_t size = text == nullptr ? 0 : value.nbytes;
  while (size > 0 && text[size - 1] == '\0') {
    --size;
  }
  return {text, size};
}

std::string text_of(const runtime::OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) {
    return *flag ? "YES" : "NO";
  }
  if (const int* number = std::get_if<int>(&value)) {
    return std::to_string(*number);
  }
  return std::get<2>(value).data();
}

}  // namespace

Error Settings::add(runtime::ArrayRef<runtime::CompileSpec> specs) {
  for (const runtime::CompileSpec& spec : specs) {
    const std::string value = text_of(spec.value);
    ET_CHECK_OR_RETURN_ERROR(spec.key != nullptr && value.find('\0') == std::string::npos,
                             InvalidArgument, "OpenVINO: compile spec %s: expected text",
                             spec.key != nullptr ? spec.key : "without a key");
    if (std::strcmp(spec.key, kDeviceKey) == 0) {
      device = value;
    } else if (std::strcmp(spec.key, kChecksumKey) == 0) {
      char* end = nullptr;
      checksum = static_cast<uint32_t>(std::strtoul(value.c_str(), &end, 16));
      ET_CHECK_OR_RETURN_ERROR(value.size() == 8 && *end == '\0', InvalidArgument,
                               "OpenVINO: compile spec %s: expected 8 hexadecimal digits, found %s",
                               kChecksumKey, value.c_str());
    } else if (std::strcmp(spec.key, kVersionKey) == 0) {
      version = value;
    } else if (std::strcmp(spec.key, kPayloadKey) != 0) {
      properties[spec.key] = value;
    }
  }
  return Error::Ok;
}

void Settings::add(runtime::Span<const runtime::BackendOption> options) {
  for (const runtime::BackendOption& option : options) {
    const std::string value = text_of(option.value);
    if (std::strcmp(option.key, kDeviceKey) == 0) {
      device = value;
    } else {
      properties[option.key] = value;
    }
  }
}

bool Settings::has_precision() const {
  return properties.count("INFERENCE_PRECISION_HINT") + properties.count("EXECUTION_MODE_HINT") > 0;
}

std::string Settings::key() const {
  std::string text = device;
  for (const auto& [name, value] : properties) {
    text += '\n' + name + '=' + value;
  }
  return text;
}

}  // namespace executorch::backends::openvino
