// SPDX-License-Identifier: BSD-3-Clause
// Core ML's place in tests, on any computer: it records what it is asked, and what models are and
// compute is preset by the test.
#pragma once

#include <executorch/backends/apple/coreml/runtime/core_ml.h>
#include <executorch/runtime/platform/compiler.h>

#include <mutex>
#include <string>
#include <vector>

namespace executorch::backends::coreml {

class StandIn final : public CoreML {
 public:
  explicit StandIn(const std::string& cache_folder) { preset.cache_folder = cache_folder; }

  // Said before it is asked.
  Defaults preset;
  int latest = 9;
  bool is_there = true;
  /// Of a model that is loaded: a number of its own, where it is, and its function.
  struct Loaded {
    int number = 0;
    std::string path;
    std::string function;
  };
  std::function<runtime::Result<Description>(const Loaded&)> describe;
  std::function<runtime::Error(const Loaded&, const std::vector<NamedElements>& inputs,
                               const std::vector<NamedElements>& outputs, const Model::Take& take)>
      predict;
  std::function<void(const Loaded&)> reset = [](const Loaded&) {};
  std::vector<PlannedOperation> operations;
  /// Whether a call fails, of those that calls() has.
  std::function<bool(const std::string& call)> fails = [](const std::string&) { return false; };

  /// "compile", "load all", "load cpu_only main", "predict", "reset_state", "plan", "prepare".
  std::vector<std::string> calls() const;
  size_t count(const std::string& call) const;

  bool is_available() const override { return is_there; }
  int latest_specification() const override { return latest; }
  Defaults defaults() const override { return preset; }
  void prepare_folder(const std::string& path) const override;
  /// Moves the package, which has a Manifest.json.
  runtime::Error compile(const std::string& package, const std::string& path) const override;
  runtime::Result<std::unique_ptr<Model>> load(const std::string& path, ComputeUnit unit,
                                               const std::string& function) const override;

  /// Records a call; an error if it is to fail.
  ET_NODISCARD runtime::Error record(const std::string& call) const;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::string> calls_;
  mutable int num_loaded_ = 0;
};

}  // namespace executorch::backends::coreml
