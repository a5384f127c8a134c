// SPDX-License-Identifier: BSD-3-Clause
// Defines what a graph has in subgraphs of XNNPACK: the whole, or single nodes to pack.
#pragma once

#include <executorch/backends/xnnpack/runtime/constants.h>
#include <executorch/backends/xnnpack/runtime/plan/segments.h>

#include <xnnpack.h>

#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

namespace executorch::backends::xnnpack {

struct DeleteSubgraph {
  void operator()(xnn_subgraph* graph) const { xnn_delete_subgraph(graph); }
};
using Subgraph = std::unique_ptr<xnn_subgraph, DeleteSubgraph>;

/// Ok, or an error with a message that says what XNNPACK was asked for: NotSupported for what it
/// has no kernel for, MemoryAllocationFailed, Internal.
runtime::Error check_status(xnn_status status, const char* what);

runtime::Error make_subgraph(size_t num_externals, Subgraph& out);

/// The bytes of a constant, for as long as the definitions live, and its scales.
struct Contents {
  runtime::Span<const uint8_t> bytes;
  runtime::Span<const uint8_t> scales;
};

/// Constants that are read while running, padded for XNNPACK.
using Kept = std::vector<std::vector<uint8_t>>;

using DefineNode = std::function<runtime::Error(const GraphNode& node)>;

/// Const members may be called by several threads.
class Definitions final {
 public:
  /// `graph` and `kept` must outlive it.
  Definitions(const Graph& graph, const Payload& payload, const runtime::NamedDataMap* data,
              Kept& kept)
      : graph_(graph), constants_(payload, data), kept_(kept) {}

  /// Before anything else, once. Errors are those of Constants.
  runtime::Error load_constants();
  /// Gives back the named data of constants but those whose bytes are `kept`.
  void give_back_but(const std::vector<const void*>& kept) { constants_.give_back_but(kept); }

  const Graph& graph() const { return graph_; }
  const Contents& contents(uint32_t id) const { return contents_[id]; }

  /// Defines a value as `external` with `flags`, or as what nodes read and write.
  xnn_status define_in(xnn_subgraph_t subgraph, uint32_t id, uint32_t external, uint32_t flags,
                       uint32_t& out) const;
  /// A segment: its arguments, the constants that it reads, values but those that `ids` has
  /// already, and needed nodes, by `define`. Arguments that are widened are converted, before and
  /// after all nodes.
  runtime::Error define_segment(xnn_subgraph_t subgraph, const Segment& segment, Ids& ids,
                                const DefineNode& define) const;
  /// A node, whose values are defined. Internal when XNNPACK refuses.
  static runtime::Error define_node(xnn_subgraph_t subgraph, const GraphNode& node, const Ids& ids);

 private:
  /// Sources and the results of needed nodes.
  runtime::Error define_values(xnn_subgraph_t subgraph, const Segment& segment, Ids& ids) const;
  runtime::Error convert_arguments(xnn_subgraph_t subgraph, const Segment& segment, const Ids& ids,
                                   bool are_outputs) const;
  runtime::Error load_constant(uint32_t id);
  runtime::Error load_scales(uint32_t id);

  const Graph& graph_;
  Constants constants_;
  Kept& kept_;
  std::vector<Contents> contents_;  // by value id
};

}  // namespace executorch::backends::xnnpack
