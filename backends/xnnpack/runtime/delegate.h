// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: an XNNPACK runtime and what it needs to run.
#pragma once

#include <executorch/backends/xnnpack/runtime/payload.h>
#include <executorch/backends/xnnpack/runtime/preparation/runtime_maker.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <memory>
#include <vector>

namespace executorch::backends::xnnpack {

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
  Delegate() = default;
  runtime::Error invoke(runtime::EventTracer* tracer);

  runtime::Error read_input_shapes(runtime::Span<runtime::EValue*> args, bool& changed);
  runtime::Error propagate_shapes();
  /// Tells a segment's runtime the shapes of what it reads, and compares what it writes.
  runtime::Error reshape(const Segment& segment, xnn_runtime_t runtime);
  runtime::Error resize_outputs(runtime::Span<runtime::EValue*> args);
  /// Hands the arguments to XNNPACK, unless it has them. `is_needed`: it has been changed.
  runtime::Error set_up(runtime::Span<runtime::EValue*> args, bool is_needed);

  Executable run_;
  std::unique_ptr<RuntimeMaker> maker_;  // while matrices are to be packed
  Shapes shapes_;                        // of this run, by value id
  Addresses addresses_;
  void* block_ = nullptr;  // of values between segments, in the last run
  bool is_profiled_ = false;
  bool has_shapes_ = false;  // XNNPACK knows shapes_
  bool has_run_ = false;
};

}  // namespace executorch::backends::xnnpack
