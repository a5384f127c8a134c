// SPDX-License-Identifier: BSD-3-Clause
// Graphs for tests, value by value, packed as a file has them; and delegates of them.
#pragma once

#include <executorch/backends/vulkan/runtime/vulkan_backend.h>
#include <executorch/backends/vulkan/vulkan_generated.h>
#include <executorch/extension/tensor/tensor_ptr.h>

#include <cstdint>
#include <string>
#include <vector>

namespace executorch::backends::vulkan::testing {

class GraphBuilder {
 public:
  /// Each adds a value and returns its number.
  int32_t tensor(const std::vector<uint32_t>& dims,
                 vkgraph::VkDataType dtype = vkgraph::VkDataType::FLOAT32);
  int32_t input(const std::vector<uint32_t>& dims,
                vkgraph::VkDataType dtype = vkgraph::VkDataType::FLOAT32);
  /// `data`: its bytes, whatever the dtype.
  int32_t constant(const std::vector<uint32_t>& dims, const std::vector<float>& data,
                   vkgraph::VkDataType dtype = vkgraph::VkDataType::FLOAT32);
  int32_t integer(int64_t number);
  int32_t number(double number);
  int32_t text(const std::string& text);
  int32_t integers(const std::vector<int64_t>& numbers);
  int32_t values(const std::vector<int32_t>& ids);
  int32_t symint();
  int32_t null();

  void call(const std::string& name, const std::vector<int32_t>& args);
  void output(int32_t id) { graph.output_ids.push_back(static_cast<uint32_t>(id)); }

  /// With header; constants behind the flatbuffer.
  std::vector<uint8_t> pack() const;

  vkgraph::VkGraphT graph;

 private:
  template <typename Table>
  int32_t add(vkgraph::GraphTypes kind, Table table);
  std::vector<uint8_t> region_;
};

/// (x + constant) * x, of [4, 3] at most.
GraphBuilder sample();
/// Of each family one operator: x [1, 4, 6, 6] and an index [2].
GraphBuilder many_operators();
/// What runs it: inputs and outputs.
std::vector<extension::TensorPtr> many_arguments();
/// What a language model has of other operators: x [1, 4, 32], rows quantized while running,
/// caches.
GraphBuilder decoder_layer();
std::vector<extension::TensorPtr> decoder_arguments();

/// A delegate that is loaded; its payload's address is aligned.
class Loaded {
 public:
  explicit Loaded(const std::vector<uint8_t>& payload,
                  runtime::Span<const runtime::BackendOption> options = {},
                  runtime::ArrayRef<runtime::CompileSpec> specs = {});
  ~Loaded();
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  runtime::Error error() const { return error_; }
  /// Inputs, then outputs, then others that are no tensors.
  runtime::Error run(const std::vector<extension::TensorPtr>& args,
                     const std::vector<runtime::EValue*>& more = {}) const;

 private:
  std::vector<uint64_t> bytes_;
  runtime::BackendInterface* backend_ = nullptr;
  runtime::DelegateHandle* handle_ = nullptr;
  runtime::Error error_ = runtime::Error::Ok;
};

}  // namespace executorch::backends::vulkan::testing
