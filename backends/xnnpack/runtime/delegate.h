// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: an XNNPACK runtime and what it needs to run.
#pragma once

#include <executorch/backends/xnnpack/runtime/packed_weights.h>
#include <executorch/backends/xnnpack/runtime/payload.h>
#include <executorch/backends/xnnpack/runtime/shapes.h>
#include <executorch/backends/xnnpack/runtime/workspace.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <pthreadpool.h>
#include <xnnpack.h>

#include <memory>
#include <string>
#include <vector>

namespace executorch::backends::xnnpack {

class Builder;

struct DelegateOptions {
  /// Null: none. Must outlive the delegate.
  pthreadpool_t pool = nullptr;
  /// Bytes of weights from which on all threads of the pool pack them, and matrices are packed when
  /// the delegate runs again, not when it is loaded.
  size_t large_from = size_t{1} << 18;
  /// Whether packed weights are those of the process, or this delegate's own.
  bool share_weights = true;
  WorkspaceSharingMode workspaces = WorkspaceSharingMode::PerModel;
  /// Stands for the method that the delegate is a part of; may be null.
  const void* model = nullptr;
  /// Whether the time of every operator is measured.
  bool profile = false;
};

/// Owns, or shares, packed weights; owns the constants that are read while running, and memory for
/// intermediate values. Used by one thread at a time; any number of delegates run in parallel.
class Delegate final {
 public:
  /// Builds the graph of an opened payload, whose bytes are used by later calls of execute(), too.
  /// Named data is given back, at the latest, by the second call of execute() or by the destructor;
  /// where it comes from must live as long.
  /// Errors: InvalidProgram for a graph that makes no sense, NotImplemented or NotSupported for one
  /// that this build cannot run, NotFound for missing data, Internal when XNNPACK refuses.
  static runtime::Result<std::unique_ptr<Delegate>> create(const Payload& payload,
                                                           const runtime::NamedDataMap* data,
                                                           const DelegateOptions& options);

  /// Runs on `args`: inputs, then outputs, which are resized. InvalidArgument for arguments of
  /// another number, type or rank than the graph's, or of sizes that its nodes cannot take.
  /// `tracer` may be null; it gets the operators' times when the delegate measures them.
  runtime::Error execute(runtime::Span<runtime::EValue*> args,
                         runtime::EventTracer* tracer = nullptr);

  ~Delegate();

 private:
  struct External {
    uint32_t value = kNoValue;
    bool is_output = false;
    executorch::aten::ScalarType type = executorch::aten::ScalarType::Float;
  };
  template <auto* destroy>
  struct Destroy {
    template <typename T>
    void operator()(T* object) const {
      destroy(object);
    }
  };
  using Runtime = std::unique_ptr<xnn_runtime, Destroy<&xnn_delete_runtime>>;

  friend class Builder;

  Delegate();
  runtime::Error invoke(runtime::EventTracer* tracer);

  runtime::Error read_input_shapes(runtime::Span<runtime::EValue*> args, bool& changed);
  runtime::Error propagate_shapes();
  runtime::Error resize_outputs(runtime::Span<runtime::EValue*> args);
  runtime::Error set_up(runtime::Span<runtime::EValue*> args);

  const fb_xnnpack::XNNGraph* graph_ = nullptr;
  std::unique_ptr<Builder> builder_;          // while matrices are to be packed
  std::vector<Shape> shapes_;                 // by value id
  std::vector<External> externals_;           // by place among the arguments
  std::vector<xnn_external_value> matrices_;  // of the file, arguments behind the others
  std::vector<xnn_external_value> pointers_;
  std::vector<std::vector<uint8_t>> kept_;  // constants read while running, padded for XNNPACK
  std::unique_ptr<PackedWeights> weights_;
  std::shared_ptr<Workspace> workspace_;
  Runtime runtime_;
  std::vector<std::string> handles_;  // of operators that are measured
  bool is_profiled_ = false;
  bool has_shapes_ = false;  // XNNPACK knows shapes_
  bool has_run_ = false;
};

}  // namespace executorch::backends::xnnpack
