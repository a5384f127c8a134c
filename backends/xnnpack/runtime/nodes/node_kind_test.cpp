// SPDX-License-Identifier: BSD-3-Clause
// Every kind of node of the format has a whole row, but those that no exporter of ours writes.
#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <set>

namespace executorch::backends::xnnpack {
namespace {

using fb_xnnpack::XNodeUnion;
using runtime::Error;

/// A node of this kind, its table zero throughout.
class Node {
 public:
  explicit Node(XNodeUnion kind) {
    flatbuffers::FlatBufferBuilder builder;
    fb_xnnpack::XNodeBuilder made(builder);
    made.add_xnode_union_type(kind);
    builder.Finish(made.Finish());
    bytes_.assign(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  }
  const fb_xnnpack::XNode& get() const {
    return *flatbuffers::GetRoot<fb_xnnpack::XNode>(bytes_.data());
  }

 private:
  std::vector<uint8_t> bytes_;
};

TEST(NodeKindTest, EveryKindHasAWholeRowButThoseNotRun) {
  runtime::runtime_init();
  const std::set<XNodeUnion> not_run = {XNodeUnion::NONE, XNodeUnion::XNNArgMaxPooling2d,
                                        XNodeUnion::XNNScaledDotProductAttention};
  size_t rows = 0;
  for (const XNodeUnion kind : fb_xnnpack::EnumValuesXNodeUnion()) {
    const Node node(kind);
    const auto row = kind_of(node.get());
    if (not_run.count(kind) != 0) {
      EXPECT_EQ(row.error(), Error::NotImplemented);
      continue;
    }
    ASSERT_TRUE(row.ok()) << fb_xnnpack::EnumNameXNodeUnion(kind);
    EXPECT_EQ((*row)->kind, kind);
    EXPECT_TRUE((*row)->operands && (*row)->shape && (*row)->types && (*row)->define)
        << fb_xnnpack::EnumNameXNodeUnion(kind);
    ++rows;
  }
  const size_t listed = elementwise_kinds().size() +
                        convolution_and_fully_connected_kinds().size() +
                        pooling_and_resize_kinds().size() + data_movement_kinds().size();
  EXPECT_EQ(rows, listed);  // none twice
}

}  // namespace
}  // namespace executorch::backends::xnnpack
