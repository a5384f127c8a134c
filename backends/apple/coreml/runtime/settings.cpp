// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/apple/coreml/runtime/settings.h>
#include <executorch/runtime/backend/compile_options.h>

#include <array>
#include <charconv>

namespace executorch::backends::coreml {

using runtime::Error;

namespace {

// In the order of ComputeUnit.
constexpr const char* kComputeUnits[] = {"cpu_only", "cpu_and_gpu", "cpu_and_ne", "all"};

struct Specs {
  ComputeUnit compute_unit = ComputeUnit::kAll;
  int specification = 0;
};

Error read_compute_unit(std::string_view text, ComputeUnit& out) {
  for (size_t i = 0; i < std::size(kComputeUnits); ++i) {
    if (text == kComputeUnits[i]) {
      out = static_cast<ComputeUnit>(i);
      return Error::Ok;
    }
  }
  ET_LOG(Error,
         "Core ML: Invalid compute_unit value: '%.*s'. Valid values are: cpu_only, cpu_and_gpu, "
         "cpu_and_ne, all",
         static_cast<int>(text.size()), text.data());
  return Error::InvalidProgram;
}

Error read_unit_spec(const char* backend, const runtime::CompileSpec& spec, Specs& out) {
  std::string_view text;
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::internal::read_spec(backend, spec, text));
  return read_compute_unit(text, out.compute_unit);
}

/// A decimal number, or nothing.
Error read_target_spec(const char* backend, const runtime::CompileSpec& spec, Specs& out) {
  std::string_view text;
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::internal::read_spec(backend, spec, text));
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out.specification);
  ET_CHECK_OR_RETURN_ERROR(
      text.empty() || (read.ec == std::errc() && read.ptr == text.data() + text.size()),
      InvalidProgram, "%s: compile spec %s: expected a number, found '%.*s'", backend, spec.key,
      static_cast<int>(text.size()), text.data());
  return Error::Ok;
}

constexpr runtime::CompileOption<Specs> kSpecs[] = {
    {"compute_units", read_unit_spec},
    {"min_deployment_target", read_target_spec},
    {"model_compute_precision", runtime::kForTheCompiler},
    {"model_type", runtime::kForTheCompiler},  // its payload says what it is
    {"op_linear_quantizer_config", runtime::kForTheCompiler},
    {"pass_pipeline", runtime::kForTheCompiler},
    {"enumerated_shapes", runtime::kForTheCompiler},
    {"multimethod_weight_sharing_strategy", runtime::kForTheCompiler},
};

}  // namespace

const char* name_of(ComputeUnit unit) {
  return kComputeUnits[static_cast<size_t>(unit)];
}

Error Settings::add(runtime::ArrayRef<runtime::CompileSpec> specs) {
  const Specs said = ET_UNWRAP(runtime::read_compile_options("Core ML", specs, kSpecs));
  compute_unit = said.compute_unit;
  specification = said.specification;
  return Error::Ok;
}

Error Settings::add(runtime::Span<const runtime::BackendOption> options) {
  for (const runtime::BackendOption& option : options) {
    const std::string_view key = option.key;
    const auto* text = std::get_if<std::array<char, runtime::kMaxOptionValueLength>>(&option.value);
    if (key == kComputeUnitKey && text != nullptr) {
      ET_CHECK_OK_OR_RETURN_ERROR(read_compute_unit(text->data(), compute_unit));
    } else if (key == kCacheFolderKey && text != nullptr) {
      cache_folder = text->front() != '\0' ? text->data() : cache_folder;
    } else if (key != kNewCacheKey || !std::holds_alternative<bool>(option.value)) {
      ET_LOG(Error, "Core ML: option %s: expected %s or %s (text), or %s (a bool)", option.key,
             kComputeUnitKey, kCacheFolderKey, kNewCacheKey);
      return Error::InvalidArgument;
    }
  }
  return Error::Ok;
}

}  // namespace executorch::backends::coreml
