// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/tracing.h>

#include <executorch/devtools/etdump/data_sinks/file_data_sink.h>
#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/extension/pybindings/log_capture.h>

#include <cstdlib>
#include <vector>

namespace executorch::extension::pybindings {

namespace {

using etdump::ETDumpGen;
using etdump::ETDumpResult;
using etdump::FileDataSink;

class Dump final : public Tracing {
 public:
  explicit Dump(size_t debug_buffer_size) : values_(debug_buffer_size) { begin(); }

  runtime::EventTracer* tracer() override { return &gen_; }

  void write(const std::string& etdump_path, const std::string* debug_buffer_path) override {
    const ETDumpResult result = gen_.get_etdump_data();
    const std::unique_ptr<void, decltype(&std::free)> owner(result.buf, &std::free);
    const bool has_values = gen_.get_data_sink() != nullptr;
    const size_t num_value_bytes = has_values ? gen_.get_data_sink()->get_used_bytes() : 0;
    begin();
    if (result.buf == nullptr) {
      return;
    }
    write_file(etdump_path, result.buf, result.size);
    if (has_values && debug_buffer_path != nullptr) {
      write_file(*debug_buffer_path, values_.data(), num_value_bytes);
    }
  }

 private:
  void begin() {
    gen_.reset();
    if (!values_.empty()) {
      (void)gen_.set_debug_buffer({values_.data(), values_.size()});
      gen_.set_event_tracer_debug_level(runtime::EventTracerDebugLogLevel::kIntermediateOutputs);
    }
  }

  static void write_file(const std::string& path, const void* data, size_t size) {
    const LogCapture capture;
    auto file = capture.take(FileDataSink::create(path.c_str()), "Cannot write an ETDump");
    capture.check(file.write(data, size).error(), "Cannot write an ETDump");
  }

  std::vector<uint8_t> values_;
  ETDumpGen gen_;
};

}  // namespace

std::shared_ptr<Tracing> Tracing::create(size_t debug_buffer_size) {
  return std::make_shared<Dump>(debug_buffer_size);
}

}  // namespace executorch::extension::pybindings
