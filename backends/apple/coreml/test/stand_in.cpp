// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/apple/coreml/runtime/settings.h>
#include <executorch/backends/apple/coreml/test/stand_in.h>
#include <executorch/runtime/backend/files/folders.h>

#include <algorithm>
#include <cstdio>

namespace executorch::backends::coreml {

using runtime::Error;
using runtime::Result;

namespace {

class StandInModel final : public Model {
 public:
  StandInModel(const StandIn& all, StandIn::Loaded loaded, Description description)
      : all_(all), loaded_(std::move(loaded)), description_(std::move(description)) {}

  const Description& description() const override { return description_; }

  Error predict(const std::vector<NamedElements>& inputs, const std::vector<NamedElements>& outputs,
                const Take& take) override {
    ET_CHECK_OK_OR_RETURN_ERROR(all_.record("predict"));
    return all_.predict(loaded_, inputs, outputs, take);
  }

  Error reset_state() override {
    all_.reset(loaded_);
    return all_.record("reset_state");
  }

  Error plan(std::vector<PlannedOperation>* out) override {
    *out = all_.operations;
    return all_.record("plan");
  }

 private:
  const StandIn& all_;
  StandIn::Loaded loaded_;
  Description description_;
};

}  // namespace

std::vector<std::string> StandIn::calls() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return calls_;
}

size_t StandIn::count(const std::string& call) const {
  const auto all = calls();
  return static_cast<size_t>(std::count(all.begin(), all.end(), call));
}

Error StandIn::record(const std::string& call) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(call);
  }
  return fails(call) ? Error::Internal : Error::Ok;
}

void StandIn::prepare_folder(const std::string&) const {
  static_cast<void>(record("prepare"));
}

Error StandIn::compile(const std::string& package, const std::string& path) const {
  ET_CHECK_OK_OR_RETURN_ERROR(record("compile"));
  ET_CHECK_OR_RETURN_ERROR(runtime::is_file(package + "/Manifest.json"), InvalidProgram,
                           "stand-in: expected a package with a Manifest.json, found none");
  return std::rename(package.c_str(), path.c_str()) == 0 ? Error::Ok : Error::AccessFailed;
}

Result<std::unique_ptr<Model>> StandIn::load(const std::string& path, ComputeUnit unit,
                                             const std::string& function) const {
  const std::string call =
      std::string("load ") + name_of(unit) + (function.empty() ? "" : " ") + function;
  ET_CHECK_OK_OR_RETURN_ERROR(record(call));
  Loaded loaded{0, path, function};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    loaded.number = num_loaded_++;
  }
  Description description = ET_UNWRAP(describe(loaded));
  return std::unique_ptr<Model>(new StandInModel(*this, std::move(loaded), std::move(description)));
}

}  // namespace executorch::backends::coreml
