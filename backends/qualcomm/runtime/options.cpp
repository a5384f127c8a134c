// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/qc_compiler_spec_generated.h>
#include <executorch/backends/qualcomm/runtime/options.h>

#include <cstring>
#include <vector>

namespace executorch::backends::qualcomm {

using qnn_delegate::QnnExecuTorchBackendType;
using runtime::Error;
using runtime::GivenOption;
using runtime::Option;
using runtime::OptionSource;

namespace {

Error read_spec(const GivenOption& given, Options& out) {
  return read_compile_spec(given.span(), out);
}

Error warn_of_spec(const GivenOption& given, Options&) {
  ET_LOG(Info, "QnnBackend: compile spec %s is not known, and has no effect", given.key);
  return Error::Ok;
}

/// A number of an enum whose values are 0 to `most`.
template <auto Member, int most>
Error read_enum(const GivenOption& given, Options& out) {
  int32_t value = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::read_value(given, value));
  ET_CHECK_OR_RETURN_ERROR(value >= 0 && value <= most, InvalidArgument,
                           "QnnBackend: option %s: expected 0..%d, found %d", given.key, most,
                           static_cast<int>(value));
  out.*Member = value;
  return Error::Ok;
}

/// Of a part that this half has not: its type is checked.
template <typename T>
constexpr auto kUnused = runtime::check_option<T, Options>;

constexpr Option<Options> kRows[] = {
    {"qnn_compile_spec", read_spec, OptionSource::kRequired},
    {"qnn_runtime_log_level", read_enum<&Options::log_level, 5>, OptionSource::kRuntime},
    {"qnn_runtime_htp_performance_mode", read_enum<&Options::performance_mode, 8>,
     OptionSource::kRuntime},
    {"qnn_runtime_profile_level", read_enum<&Options::profile_level, 3>, OptionSource::kRuntime},
    {"qnn_runtime_lpai_fps", kUnused<int>, OptionSource::kRuntime},
    {"qnn_runtime_lpai_ftrt_ratio", kUnused<int>, OptionSource::kRuntime},
    {"qnn_runtime_lpai_client_perf_type", kUnused<int>, OptionSource::kRuntime},
    {"qnn_runtime_lpai_affinity", kUnused<int>, OptionSource::kRuntime},
    {"qnn_runtime_lpai_core_selection", kUnused<int>, OptionSource::kRuntime},
    {"qnn_runtime_heap_profiling_path", kUnused<std::string_view>, OptionSource::kRuntime},
};

}  // namespace

const runtime::OptionTable<Options> kOptionTable{"QnnBackend", kRows, warn_of_spec};

const char* Options::library_name() const {
  switch (static_cast<QnnExecuTorchBackendType>(backend_type)) {
    case QnnExecuTorchBackendType::kGpuBackend:
      return "libQnnGpu.so";
    case QnnExecuTorchBackendType::kDspBackend:
      return "libQnnDsp.so";
    case QnnExecuTorchBackendType::kLpaiBackend:
      return "libQnnLpai.so";
    default:
      return "libQnnHtp.so";
  }
}

bool Options::is_htp() const {
  return static_cast<QnnExecuTorchBackendType>(backend_type) ==
         QnnExecuTorchBackendType::kHtpBackend;
}

Error read_compile_spec(runtime::Span<const uint8_t> bytes, Options& out) {
  // Verified where it is aligned.
  std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
  if (!bytes.empty()) {
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
  }
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(aligned.data()), bytes.size());
  ET_CHECK_OR_RETURN_ERROR(
      qnn_delegate::VerifyQnnExecuTorchOptionsBuffer(verifier), InvalidProgram,
      "QnnBackend: compile spec qnn_compile_spec: expected a flatbuffer QnnExecuTorchOptions, "
      "found %zu other bytes",
      bytes.size());
  const auto& spec = *qnn_delegate::GetQnnExecuTorchOptions(aligned.data());
  out.library_path = spec.library_path() == nullptr ? "" : spec.library_path()->str();
  out.log_level = static_cast<int32_t>(spec.log_level());
  out.profile_level = static_cast<int32_t>(spec.profile_level());
  out.online_prepare = spec.online_prepare();
  out.shared_buffer = spec.shared_buffer();
  if (const auto* soc = spec.soc_info()) {
    out.soc_model = static_cast<uint32_t>(soc->soc_model());
    if (const auto* htp = soc->htp_info()) {
      out.htp_arch = static_cast<uint32_t>(htp->htp_arch());
      out.vtcm_mb = htp->vtcm_size_in_mb();
    }
  }
  if (const auto* backend = spec.backend_options()) {
    out.backend_type = static_cast<int32_t>(backend->backend_type());
    if (const auto* htp = backend->htp_options()) {
      out.performance_mode = static_cast<int32_t>(htp->performance_mode());
      out.is_half = htp->precision() == qnn_delegate::QnnExecuTorchHtpPrecision::kHtpFp16;
      out.folds_relu = htp->use_fold_relu();
      out.uses_conv_hmx = htp->use_conv_hmx();
      out.shares_weights = htp->use_weight_sharing();
    }
  }
  return Error::Ok;
}

}  // namespace executorch::backends::qualcomm
