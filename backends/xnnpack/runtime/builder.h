// SPDX-License-Identifier: BSD-3-Clause
// Makes a Delegate of an opened payload: constants, values and nodes in one pass over the graph.
#pragma once

#include <executorch/backends/xnnpack/runtime/constants.h>
#include <executorch/backends/xnnpack/runtime/delegate.h>
#include <executorch/backends/xnnpack/runtime/packed_weights.h>
#include <executorch/backends/xnnpack/runtime/values.h>

namespace executorch::backends::xnnpack {

/// Used once. All members return what Delegate::create() does.
class Builder final {
 public:
  Builder(const Payload& payload, const runtime::NamedDataMap* data, Delegate& delegate)
      : payload_(payload), constants_(payload, data), delegate_(delegate) {}

  runtime::Error build(const DelegateOptions& options);

 private:
  struct DeleteSubgraph {
    void operator()(xnn_subgraph* graph) const { xnn_delete_subgraph(graph); }
  };

  runtime::Error read_values();
  runtime::Error read_external(const Value& value, uint32_t id);
  runtime::Error read_uses();
  runtime::Error read_use(const fb_xnnpack::XNode& node);
  runtime::Error find_needed();
  runtime::Error define_sources();
  runtime::Error define_nodes();
  runtime::Error define_value(uint32_t id, const void* data);
  runtime::Result<xnn_status> define_in_subgraph(uint32_t id, const void* data);
  runtime::Result<const void*> load_constant(uint32_t id);
  void describe_packing(const fb_xnnpack::XNode& node, const Operands& operands);

  Payload payload_;
  Constants constants_;
  Delegate& delegate_;
  std::unique_ptr<xnn_subgraph, DeleteSubgraph> subgraph_;
  std::vector<Value> values_;
  std::vector<bool> needed_;  // leads to an output
  std::vector<bool> read_while_running_;
  std::vector<bool> packed_;
  std::vector<bool> widened_;  // packed as float32, though half precision in the payload
  std::vector<bool> defined_;
  std::vector<uint32_t> ids_;  // XNNPACK's, by value id
  std::vector<const void*> data_of_;
  std::vector<Fingerprint> contents_;  // of what is packed: its bytes and scales
};

}  // namespace executorch::backends::xnnpack
