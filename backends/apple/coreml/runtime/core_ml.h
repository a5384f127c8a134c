// SPDX-License-Identifier: BSD-3-Clause
// What the delegate asks of Core ML: to compile a package, to load a model, to predict. core_ml.mm
// asks Core ML; tests have a stand-in (test/stand_in.h). All else is plain C++.
//
// Errors come with a text in the log; nothing throws.
#pragma once

#include <executorch/runtime/backend/ports/ports.h>
#include <executorch/runtime/core/result.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace executorch::backends::coreml {

enum class ComputeUnit { kCpuOnly, kCpuAndGpu, kCpuAndNe, kAll };

/// An input or output of a model's function.
struct Feature {
  std::string name;
  executorch::aten::ScalarType dtype = executorch::aten::ScalarType::Float;
  /// Those that it has where nothing else is said; empty where the model does not tell.
  std::vector<int64_t> sizes;
  /// Of each dimension, where sizes vary; else empty.
  std::vector<runtime::PortSizes::Range> ranges;
  /// All that it may have, where they are listed; else empty.
  std::vector<std::vector<int64_t>> listed;
};

struct Description {
  std::vector<Feature> inputs;
  std::vector<Feature> outputs;
  bool has_state = false;
};

/// A value of a prediction, in memory of who gives it.
struct NamedElements {
  const char* name = "";
  runtime::Elements elements;
};

/// An operation of a model and where Core ML means to run it.
struct PlannedOperation {
  std::string kind;
  std::vector<std::string> outputs;
  double cost = 0;        // its part of a prediction's time; of any scale
  std::string preferred;  // CPU, GPU or NE
  std::vector<std::string> supported;
};

/// A loaded function of a model. One thread at a time.
class Model {
 public:
  virtual ~Model() = default;
  virtual const Description& description() const = 0;

  /// Gets output `index` of those that were asked for; its memory is valid during the call. Where
  /// it is the memory that was given for it, the result is there.
  using Take = std::function<runtime::Error(size_t index, const runtime::Elements& result)>;

  /// `outputs`: names, and memory to write to; Core ML takes memory of its own where there is none
  /// (data is null), and where it cannot write to what it is given. Calls `take` once for each.
  virtual runtime::Error predict(const std::vector<NamedElements>& inputs,
                                 const std::vector<NamedElements>& outputs, const Take& take) = 0;

  /// States are zero again.
  virtual runtime::Error reset_state() = 0;

  /// NotSupported where the system does not tell.
  virtual runtime::Error plan(std::vector<PlannedOperation>* out) = 0;
};

/// How the app wants models to be kept.
struct Defaults {
  std::string cache_folder;
  uint64_t max_cache_bytes = uint64_t{10} << 30;
  /// Runs a model once when it is loaded, so that the first real run is not the slow one.
  bool prewarms = true;
};

/// One object for the process; any thread.
class CoreML {
 public:
  virtual ~CoreML() = default;
  virtual bool is_available() const = 0;
  /// The latest specification of models that the system loads: 6 is iOS 15 and macOS 12, 9 is iOS
  /// 18 and macOS 15.
  virtual int latest_specification() const = 0;
  virtual Defaults defaults() const = 0;
  /// Keeps a folder out of backups, and readable when the device is locked.
  virtual void prepare_folder(const std::string& path) const = 0;

  /// The package in a folder, compiled, at a path where nothing is.
  virtual runtime::Error compile(const std::string& package, const std::string& path) const = 0;
  /// `function`: empty for a model of one.
  virtual runtime::Result<std::unique_ptr<Model>> load(const std::string& path, ComputeUnit unit,
                                                       const std::string& function) const = 0;
};

}  // namespace executorch::backends::coreml
