// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/openvino/runtime/settings.h>

#include <cstdlib>
#include <string_view>

namespace executorch::backends::openvino {

using runtime::Error;
using runtime::GivenOption;
using runtime::OptionSource;

namespace {

/// Text, as OpenVINO has numbers and bools too. Specs of files may end with NULs.
runtime::Result<std::string> text_of(const GivenOption& given) {
  if (given.value != nullptr && !given.is_text()) {
    const bool* flag = std::get_if<bool>(given.value);
    return flag == nullptr ? std::to_string(std::get<int>(*given.value)) : *flag ? "YES" : "NO";
  }
  std::string text;
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::read_value(given, text));
  text.erase(text.find_last_not_of('\0') + 1);
  return text.find('\0') == std::string::npos ? runtime::Result<std::string>(text)
                                              : given.refuse("text");
}

template <auto Member>
Error read_text(const GivenOption& given, Settings& out) {
  out.*Member = ET_UNWRAP(text_of(given));
  return Error::Ok;
}

Error read_checksum(const GivenOption& given, Settings& out) {
  const std::string text = ET_UNWRAP(text_of(given));
  char* end = nullptr;
  out.checksum = static_cast<uint32_t>(std::strtoul(text.c_str(), &end, 16));
  return text.size() == 8 && *end == '\0' ? Error::Ok : given.refuse("8 hexadecimal digits");
}

Error read_property(const GivenOption& given, Settings& out) {
  out.properties[given.key] = ET_UNWRAP(text_of(given));
  return Error::Ok;
}

constexpr runtime::Option<Settings> kRows[] = {
    {kDeviceKey, read_text<&Settings::device>, OptionSource::kAny},
    {kChecksumKey, read_checksum},
    {kVersionKey, read_text<&Settings::version>},
    {kPayloadKey, runtime::kForTheCompiler},
};

}  // namespace

constexpr runtime::OptionTable<Settings> kOptions{"OpenVINO", kRows, read_property, read_property,
                                                  Error::InvalidArgument};

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
