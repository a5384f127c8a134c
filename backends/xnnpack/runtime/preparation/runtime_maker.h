// SPDX-License-Identifier: BSD-3-Clause
// From a graph to a runtime of XNNPACK's with packed weights.
#pragma once

#include <executorch/backends/xnnpack/runtime/XNNPACKBackend.h>
#include <executorch/backends/xnnpack/runtime/plan/boundary_memory.h>
#include <executorch/backends/xnnpack/runtime/plan/own_step.h>
#include <executorch/backends/xnnpack/runtime/preparation/definitions.h>
#include <executorch/backends/xnnpack/runtime/preparation/packing.h>
#include <executorch/backends/xnnpack/runtime/weights/packed_weights.h>
#include <executorch/backends/xnnpack/runtime/workspace.h>

#include <pthreadpool.h>
#include <xnnpack.h>

#include <memory>
#include <string>
#include <vector>

namespace executorch::backends::xnnpack {

struct DelegateOptions {
  /// Null: none. Must outlive the delegate.
  pthreadpool_t pool = nullptr;
  /// Bytes of weights from which on all threads of the pool pack them, and matrices may wait until
  /// the delegate runs again.
  size_t large_from = size_t{1} << 18;
  bool pack_at_load = false;
  ComputePrecision precision = ComputePrecision::Float32;
  OwnChoice own;
  /// Whether packed weights are those of the process, or this delegate's own.
  bool share_weights = true;
  /// Where packed weights are looked for first, and saved; null: nowhere. Only with share_weights.
  std::shared_ptr<PackedFile> packed_file;
  WorkspaceSharingMode workspaces = WorkspaceSharingMode::PerModel;
  /// Stands for the method that the delegate is a part of; may be null.
  const void* model = nullptr;
  /// Whether the time of every operator is measured.
  bool profile = false;
  /// Nodes that a segment has at least, where it may end; 0: all are one segment.
  size_t segment_nodes = 0;
};

struct DeleteRuntime {
  void operator()(xnn_runtime* runtime) const { xnn_delete_runtime(runtime); }
};

/// A segment as it runs.
struct SegmentRuntime {
  std::vector<xnn_external_value> pointers;  // that XNNPACK has
  std::string titles;                        // of operators that are measured
  std::unique_ptr<OwnStep> own;              // then there is no runtime
  std::unique_ptr<xnn_runtime, DeleteRuntime> runtime;
};

/// What a delegate runs with. The runtimes use all that stands before them.
struct Executable {
  Graph graph;
  Kept kept;
  std::unique_ptr<PackedWeights> weights;
  std::shared_ptr<Workspace> workspace;
  std::vector<Segment> plan;
  BoundaryMemory boundaries;
  std::vector<SegmentRuntime> runtimes;  // one for each segment, or none where making them failed
};

/// Used once. All members return what Delegate::create() does.
class RuntimeMaker final {
 public:
  /// `out.graph` has been read. `out` must outlive the maker.
  RuntimeMaker(const Payload& payload, const runtime::NamedDataMap* data,
               const DelegateOptions& options, Executable& out)
      : definitions_(out.graph, payload, data, out.kept), options_(options), out_(out) {}

  /// Makes runtimes and steps; is done, unless matrices of steps wait for the second run.
  runtime::Error make();
  bool is_done() const { return !own_wait_; }
  /// After make() that was not done: packs the rest. Its caller holds the lock of the workspace.
  runtime::Error finish();

 private:
  void choose_precision();
  std::vector<const OwnKind*> choose_own() const;
  runtime::Error define_segments();
  bool is_small(const Segment& segment) const;
  runtime::Error make_runtime(const Segment& segment, xnn_subgraph_t subgraph, SegmentRuntime& out);
  void name_operators();
  bool matrices_of_own_are_large() const;
  runtime::Error make_own_steps();
  runtime::Error pack_own_steps(bool all);
  runtime::Error make_runtimes();
  void pack(std::vector<Packing>& packings);
  void give_back_packed();

  Definitions definitions_;
  std::vector<Packing> packings_;
  DelegateOptions options_;
  Executable& out_;
  bool own_wait_ = false;  // steps of ours whose first run is without packed weights
  struct Defined {
    Subgraph subgraph;
    Ids ids;  // XNNPACK's, in that
  };
  std::vector<Defined> segments_;
};

}  // namespace executorch::backends::xnnpack
