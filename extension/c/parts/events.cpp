// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/parts/events.h>

#include <cstdlib>
#include <vector>

#include <executorch/devtools/etdump/etdump_flatcc.h>

namespace executorch::extension::c {

using etdump::ETDumpGen;
using etdump::ETDumpResult;
using runtime::Error;

namespace {

class Dump final : public Events {
 public:
  explicit Dump(size_t value_buffer_size) : buffer_(value_buffer_size) {}

  std::unique_ptr<runtime::EventTracer> make_tracer() override {
    auto tracer = std::make_unique<ETDumpGen>();
    tracer_ = tracer.get();
    begin();
    return tracer;
  }

  Error take(ExecuTorchMemory* events, ExecuTorchMemory* values) override {
    const ETDumpResult result = tracer_->get_etdump_data();
    dump_ = {result.buf, &std::free};
    *events = {result.buf, result.size};
    values_.clear();
    if (tracer_->get_data_sink() != nullptr) {
      values_.assign(buffer_.data(), buffer_.data() + tracer_->get_data_sink()->get_used_bytes());
    }
    *values = {values_.data(), values_.size()};
    begin();
    return Error::Ok;
  }

 private:
  void begin() {
    tracer_->reset();
    if (!buffer_.empty()) {
      (void)tracer_->set_debug_buffer({buffer_.data(), buffer_.size()});
      tracer_->set_event_tracer_debug_level(
          runtime::EventTracerDebugLogLevel::kIntermediateOutputs);
    }
  }

  std::vector<uint8_t> buffer_;
  std::vector<uint8_t> values_;  // those that were taken
  std::unique_ptr<void, void (*)(void*)> dump_{nullptr, &std::free};
  ETDumpGen* tracer_ = nullptr;  // the module's
};

}  // namespace

runtime::Result<std::unique_ptr<Events>> Events::create(size_t value_buffer_size) {
  return std::unique_ptr<Events>(std::make_unique<Dump>(value_buffer_size));
}

}  // namespace executorch::extension::c
