// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/run_report.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <string_view>

#include <executorch/extension/runner_util/threads.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/core/version.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::aten::DimOrderType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;

namespace {

#if defined(__x86_64__)
constexpr const char* kArchitecture = "x86_64";
#elif defined(__i386__)
constexpr const char* kArchitecture = "i386";
#elif defined(__aarch64__)
constexpr const char* kArchitecture = "aarch64";
#elif defined(__arm__)
constexpr const char* kArchitecture = "armv7";
#elif defined(__riscv) && __riscv_xlen == 64
constexpr const char* kArchitecture = "riscv64";
#else
constexpr const char* kArchitecture = "unknown";
#endif

#if defined(__ANDROID__)
constexpr const char* kSystem = "Android";
#elif defined(__linux__)
constexpr const char* kSystem = "Linux";
#elif defined(__APPLE__)
constexpr const char* kSystem = "macOS";
#else
constexpr const char* kSystem = "unknown";
#endif

#ifdef NDEBUG
constexpr const char* kBuild = "release";
#else
constexpr const char* kBuild = "debug";
#endif

constexpr int kDigits = std::numeric_limits<double>::max_digits10;

void write_text(std::string_view text, std::ostream& out) {
  out << '"';
  for (const char each : text) {
    if (each == '"' || each == '\\') {
      out << '\\' << each;
    } else if (static_cast<unsigned char>(each) < 0x20) {
      char escaped[7];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", each);
      out << escaped;
    } else {
      out << each;
    }
  }
  out << '"';
}

// With the names that Python's module json reads for what JSON has none.
void write_number(double value, std::ostream& out) {
  if (std::isfinite(value)) {
    out.precision(kDigits);
    out << value;
  } else {
    out << (std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }
}

template <typename Items, typename Write>
void write_list(const Items& items, std::ostream& out, Write write) {
  const char* before = "[";
  for (const auto& each : items) {
    out << before;
    write(each);
    before = ",";
  }
  out << (before[0] == '[' ? "[]" : "]");
}

template <typename Items>
void write_integers(const Items& items, std::ostream& out) {
  write_list(items, out, [&out](const auto& each) { out << static_cast<int64_t>(each); });
}

void write_tensor(const Tensor& tensor, std::ostream& out) {
  out << "{\"dtype\":" << static_cast<int>(tensor.scalar_type()) << ",\"sizes\":";
  write_integers(tensor.sizes(), out);
  std::vector<DimOrderType> order(static_cast<size_t>(tensor.dim()));
  out << ",\"dim_order\":";
  if (runtime::get_dim_order(tensor, order.data(), order.size()) == Error::Ok) {
    write_integers(order, out);
  } else {
    out << "null";
  }
  out << "}";
}

void write_output(const EValue& value, std::ostream& out) {
  if (value.isTensor()) {
    write_tensor(value.toTensor(), out);
    return;
  }
  if (value.isInt()) {
    out << "{\"value\":" << value.toInt();
  } else if (value.isDouble()) {
    out << "{\"value\":";
    write_number(value.toDouble(), out);
  } else if (value.isBool()) {
    out << "{\"value\":" << (value.toBool() ? "true" : "false");
  } else if (value.isString()) {
    const auto text = value.toString();
    out << "{\"value\":";
    write_text({text.data(), text.size()}, out);
  } else if (value.isNone()) {
    out << "{\"value\":null";
  } else {
    out << "{\"unknown\":";
    write_text(runtime::tag_to_string(value.tag), out);
  }
  out << "}";
}

}  // namespace

int64_t process_bytes(const char* field) {
  std::ifstream file("/proc/self/status");
  const std::string start = std::string(field) + ":";
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, start.size(), start) == 0) {
      return std::strtoll(line.c_str() + start.size(), nullptr, 10) * 1024;
    }
  }
  return 0;
}

void describe_runner(bool has_events, std::ostream& out) {
  out << "{\"version\":\"" ET_VERSION "\",\"architecture\":\"" << kArchitecture
      << "\",\"system\":\"" << kSystem << "\",\"build\":\"" << kBuild
      << "\",\"events\":" << (has_events ? "true" : "false") << ",\"threads\":" << num_cpu_threads()
      << ",\"operators\":";
  std::set<std::string_view> operators;
  for (const auto& each : runtime::get_registered_kernels()) {
    operators.insert(each.name_);
  }
  write_list(operators, out, [&out](std::string_view each) { write_text(each, out); });
  out << ",\"backends\":";
  std::set<std::string_view> backends;
  for (size_t i = 0; i < runtime::get_num_registered_backends(); ++i) {
    const auto name = runtime::get_backend_name(i);
    if (name.ok()) {
      backends.insert(*name);
    }
  }
  write_list(backends, out, [&out](std::string_view each) { write_text(each, out); });
  out << "}\n";
}

Error write_run_report(const RunReport& report, const runtime::Method& method,
                       const std::string& path) {
  std::ofstream out(path, std::ios::trunc);
  out << "{\"load_ns\":" << report.load_ns << ",\"run_ns\":";
  write_integers(report.run_ns, out);
  out << ",\"bytes_before\":" << report.bytes_before
      << ",\"resident_bytes\":" << report.resident_bytes << ",\"peak_bytes\":" << report.peak_bytes
      << ",\"outputs\":";
  std::vector<const EValue*> outputs;
  for (size_t i = 0; i < method.outputs_size(); ++i) {
    outputs.push_back(&method.get_output(i));
  }
  write_list(outputs, out, [&out](const EValue* each) { write_output(*each, out); });
  out << "}\n";
  out.close();
  ET_CHECK_OR_RETURN_ERROR(!out.fail(), AccessFailed, "Cannot write the report %s", path.c_str());
  return Error::Ok;
}

}  // namespace executorch::extension
