// SPDX-License-Identifier: BSD-3-Clause
// Makes a Delegate of an opened payload: constants, values and nodes in one pass over the graph.
#pragma once

#include <executorch/backends/xnnpack/runtime/constants.h>
#include <executorch/backends/xnnpack/runtime/delegate.h>
#include <executorch/backends/xnnpack/runtime/packed_weights.h>
#include <executorch/backends/xnnpack/runtime/values.h>

namespace executorch::backends::xnnpack {

/// The bytes of a constant, for as long as the builder lives, and its scales.
struct Contents {
  runtime::Span<const uint8_t> bytes;
  runtime::Span<const uint8_t> scales;
};

/// Used once. All members return what Delegate::create() does.
class Builder final {
 public:
  Builder(const Payload& payload, const runtime::NamedDataMap* data, Delegate& delegate,
          const DelegateOptions& options)
      : payload_(payload), constants_(payload, data), delegate_(delegate), options_(options) {}

  /// Makes the delegate ready to run, and done, or to run once.
  runtime::Error build();
  bool is_done() const { return later_.empty(); }
  /// After build() that was not done: packs the rest. Its caller holds the lock of the workspace.
  runtime::Error finish();

 private:
  struct DeleteSubgraph {
    void operator()(xnn_subgraph* graph) const { xnn_delete_subgraph(graph); }
  };
  using Subgraph = std::unique_ptr<xnn_subgraph, DeleteSubgraph>;

  runtime::Error read_values();
  runtime::Error read_external(const Value& value, uint32_t id);
  runtime::Error read_uses();
  runtime::Error read_use(const fb_xnnpack::XNode& node);
  runtime::Error find_needed();
  runtime::Error define_sources();
  runtime::Error define_nodes();
  runtime::Error load_constant(uint32_t id);
  runtime::Error load_scales(uint32_t id);
  runtime::Error define_value(uint32_t id);
  runtime::Error make_subgraph(size_t num_matrices, Subgraph& out) const;
  xnn_status define_as_is(xnn_subgraph_t subgraph, uint32_t id, uint32_t& out) const;
  xnn_status define_in(xnn_subgraph_t subgraph, uint32_t id, uint32_t external, uint32_t flags,
                       uint32_t& out) const;

  // packing.cpp
  /// A node with weights, and those weights once a thread of the pool has packed them.
  struct Packing {
    const fb_xnnpack::XNode* node;
    Operands operands;
    Fingerprint::Value fingerprint;
    std::unique_ptr<PackedWeights> weights;
  };
  void pack(std::vector<Packing>& packings);
  Fingerprint::Value fingerprint_of(const Packing& packing) const;
  /// The addresses of filter and bias, the latter null for none.
  std::pair<const void*, const void*> source_of(const Packing& packing) const;
  void describe(const Packing& packing, PackedWeights& weights) const;
  void pack_alone(const Packing& packing) const;

  // first_run.cpp
  bool is_matrix(const Packing& packing) const;
  uint64_t largest_activations() const;
  void choose_matrices();
  xnn_status define_matrix(xnn_subgraph_t subgraph, uint32_t place, uint32_t& out) const;
  runtime::Error define_first_run(xnn_subgraph_t subgraph);
  void give_back_packed();

  runtime::Error make_runtime(xnn_subgraph_t subgraph);
  runtime::Error make_first_runtime();
  runtime::Error make_last_runtime();

  Payload payload_;
  Constants constants_;
  Delegate& delegate_;
  DelegateOptions options_;
  Subgraph subgraph_;
  std::vector<Value> values_;
  std::vector<bool> needed_;  // leads to an output
  std::vector<bool> read_while_running_;
  std::vector<bool> packed_;
  std::vector<bool> widened_;  // packed as float32, though half precision in the payload
  std::vector<bool> defined_;
  std::vector<uint32_t> ids_;  // XNNPACK's, by value id
  std::vector<Contents> contents_;
  std::vector<Packing> packings_;
  std::vector<Packing> later_;      // those of matrices that the first run reads as they lie
  std::vector<uint32_t> matrices_;  // their filters' value ids
};

}  // namespace executorch::backends::xnnpack
