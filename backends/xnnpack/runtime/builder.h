// SPDX-License-Identifier: BSD-3-Clause
// Makes a Delegate of an opened payload: constants, values and nodes in one pass over the graph.
#pragma once

#include <executorch/backends/xnnpack/runtime/delegate.h>
#include <executorch/runtime/core/freeable_buffer.h>

namespace executorch::backends::xnnpack {

/// Used once. All members return what Delegate::create() does.
class Builder final {
 public:
  Builder(const Payload& payload, const runtime::NamedDataMap* data, Delegate& delegate)
      : payload_(payload), data_(data), delegate_(delegate) {}

  runtime::Error build(pthreadpool_t pool);

 private:
  struct DeleteSubgraph {
    void operator()(xnn_subgraph* graph) const { xnn_delete_subgraph(graph); }
  };

  runtime::Error read_values();
  runtime::Error read_external(const fb_xnnpack::XNNTensorValue& value, uint32_t id);
  runtime::Error read_uses();
  runtime::Error define_sources();
  runtime::Error define_nodes();
  runtime::Error define_value(uint32_t id, const void* data);
  runtime::Result<const void*> load_constant(uint32_t id);
  runtime::Result<runtime::Span<const uint8_t>> constant_bytes(uint32_t index);
  runtime::Result<runtime::Span<const uint8_t>> named_bytes(const char* key);

  const fb_xnnpack::XNNTensorValue& tensor(uint32_t id) const { return *tensors_[id]; }
  bool is_constant(uint32_t id) const { return tensor(id).constant_buffer_idx() != 0; }

  Payload payload_;
  const runtime::NamedDataMap* data_;
  Delegate& delegate_;
  std::unique_ptr<xnn_subgraph, DeleteSubgraph> subgraph_;
  std::vector<const fb_xnnpack::XNNTensorValue*> tensors_;
  std::vector<bool> read_while_running_;
  std::vector<bool> defined_;
  std::vector<uint32_t> ids_;  // XNNPACK's, by value id
  std::vector<runtime::FreeableBuffer> loaded_;
};

}  // namespace executorch::backends::xnnpack
