// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/apple/coreml/runtime/settings.h>

#include <charconv>
#include <string_view>

namespace executorch::backends::coreml {

using runtime::Error;
using runtime::GivenOption;
using runtime::OptionSource;

namespace {

// In the order of ComputeUnit.
constexpr const char* kComputeUnits[] = {"cpu_only", "cpu_and_gpu", "cpu_and_ne", "all"};

Error read_compute_unit(const GivenOption& given, Settings& out) {
  std::string_view text;
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::read_value(given, text));
  for (size_t i = 0; i < std::size(kComputeUnits); ++i) {
    if (text == kComputeUnits[i]) {
      out.compute_unit = static_cast<ComputeUnit>(i);
      return Error::Ok;
    }
  }
  ET_LOG(Error,
         "Core ML: Invalid compute_unit value: '%.*s'. Valid values are: cpu_only, cpu_and_gpu, "
         "cpu_and_ne, all",
         static_cast<int>(text.size()), text.data());
  return Error::InvalidProgram;
}

/// A decimal number, or nothing.
Error read_target(const GivenOption& given, Settings& out) {
  std::string_view text;
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::read_value(given, text));
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out.specification);
  const bool is_number = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return text.empty() || is_number ? Error::Ok : given.refuse("a number");
}

Error read_cache_folder(const GivenOption& given, Settings& out) {
  std::string folder;
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::read_value(given, folder));
  out.cache_folder = folder.empty() ? out.cache_folder : folder;
  return Error::Ok;
}

constexpr runtime::Option<Settings> kRows[] = {
    {"compute_units", read_compute_unit},
    {"min_deployment_target", read_target},
    {"model_compute_precision", runtime::kForTheCompiler},
    {"model_type", runtime::kForTheCompiler},  // its payload says what it is
    {"op_linear_quantizer_config", runtime::kForTheCompiler},
    {"pass_pipeline", runtime::kForTheCompiler},
    {"enumerated_shapes", runtime::kForTheCompiler},
    {"multimethod_weight_sharing_strategy", runtime::kForTheCompiler},
    {kComputeUnitKey, read_compute_unit, OptionSource::kRuntime},
    {kCacheFolderKey, read_cache_folder, OptionSource::kRuntime},
    {kNewCacheKey, runtime::check_option<bool>, OptionSource::kRuntime},
};

}  // namespace

constexpr runtime::OptionTable<Settings> kOptions{"Core ML", kRows};

const char* name_of(ComputeUnit unit) {
  return kComputeUnits[static_cast<size_t>(unit)];
}

}  // namespace executorch::backends::coreml
