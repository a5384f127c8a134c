// SPDX-License-Identifier: BSD-3-Clause
// Payloads for tests: small graphs, with constants in each of the three places that files use.
#pragma once

#include <executorch/backends/xnnpack/serialization/schema_generated.h>
#include <executorch/runtime/core/named_data_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace executorch::backends::xnnpack::testing {

/// Where the constants of a payload are.
enum class Constants { kFlatbuffer, kRegion, kNamed };

/// relu(conv(x)) -> max pool -> transpose -> slice, with a second output relu(conv(x)) + 1.
/// x is [1, 6, 6, 2], the results [1, 3, 2, 2] and [1, 6, 6, 3]. Every constant is 0.5 throughout.
fb_xnnpack::XNNGraphT sample_graph();

/// y = clamp(x W + b, -6, 6) of 4 rows of 32 inputs by 8 outputs, weights of 0.25 and a bias of 1,
/// as `kind` holds them; constants are within the graph. Values: x, W, b, y, and of the dynamic
/// kinds x as int8. x and y are float32, but float16 for kHalf, and int8 of scale 0.5 and zero
/// point 1 for the static kinds.
enum class Linear { kHalf, kStatic, kStaticByChannel, kDynamic, kDynamic4, kGroups4 };
fb_xnnpack::XNNGraphT linear_graph(Linear kind);

/// A tensor value with the id that it gets when it is added next; `constant`: index of its data, 0
/// for none; `external` 0xFFFFFFFF: no argument.
fb_xnnpack::XNNTensorValueT tensor_of(const fb_xnnpack::XNNGraphT& graph,
                                      fb_xnnpack::XNNDatatype type, std::vector<uint32_t> dims,
                                      uint32_t constant = 0, uint32_t flags = 0,
                                      uint32_t external = UINT32_MAX);
void add_tensor(fb_xnnpack::XNNGraphT& graph, const fb_xnnpack::XNNTensorValueT& value);

/// A value of type float32.
void add_value(fb_xnnpack::XNNGraphT& graph, std::vector<uint32_t> dims, uint32_t constant = 0,
               uint32_t flags = 0, uint32_t external = UINT32_MAX);
template <typename Table>
fb_xnnpack::XNodeT& add_node(fb_xnnpack::XNNGraphT& graph, fb_xnnpack::XNodeUnion kind,
                             const Table& table) {
  graph.xnodes.push_back(std::make_unique<fb_xnnpack::XNodeT>());
  graph.xnodes.back()->xnode_union.type = kind;
  graph.xnodes.back()->xnode_union.value = new Table(table);
  return *graph.xnodes.back();
}

/// The bytes of a graph. For kFlatbuffer under the identifier XN00 and without a header.
std::vector<uint8_t> pack(fb_xnnpack::XNNGraphT graph, Constants constants);

/// The bytes of a graph with its constants where they are, under the identifier XN00.
std::vector<uint8_t> pack_as_is(const fb_xnnpack::XNNGraphT& graph);

/// The bytes of a graph behind a header, under the identifier XN01, with `region` for constants
/// that are neither named nor in the graph.
std::vector<uint8_t> pack_with_header(const fb_xnnpack::XNNGraphT& graph,
                                      const std::vector<uint8_t>& region = {});

/// The named data of every payload of sample_graph().
class SampleData final : public runtime::NamedDataMap {
 public:
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(std::string_view) const override;
  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Error load_data_into(std::string_view, void*, size_t) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t) const override;
};

}  // namespace executorch::backends::xnnpack::testing
