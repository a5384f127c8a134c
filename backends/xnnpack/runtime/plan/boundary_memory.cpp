// SPDX-License-Identifier: BSD-3-Clause
// The largest value first, each at the lowest offset that is free for as long as it lives.
#include <executorch/backends/xnnpack/runtime/plan/boundary_memory.h>
#include <executorch/backends/xnnpack/runtime/plan/rows_of_int8.h>

#include <xnnpack.h>

#include <algorithm>
#include <numeric>

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kAlignment = 64;

struct Block {
  uint32_t value;
  size_t size;
  size_t first;  // segment that writes it
  size_t last;   // segment that reads it last
  size_t offset = 0;
};

/// The value whose memory each has.
std::vector<uint32_t> owners_of(const Graph& graph, const std::vector<Segment>& segments) {
  std::vector<uint32_t> owners(graph.values.size());
  std::iota(owners.begin(), owners.end(), 0u);
  for (const Segment& segment : segments) {
    if (segment.is_view) {
      const Operands& operands = graph.nodes[segment.begin].operands;
      owners[operands.output] = owners[operands.inputs[0]];
    }
  }
  return owners;
}

size_t size_between(const Value& value, const Shape& shape) {
  return value.type() == fb_xnnpack::XNNDatatype::xnn_datatype_qdint8
             ? RowsOfInt8(value, shape).num_bytes()
             : static_cast<size_t>(size_of(value.type(), shape));
}

std::vector<Block> blocks_of(const Graph& graph, const std::vector<Segment>& segments,
                             const Shapes& shapes) {
  std::vector<bool> is_delegates(graph.values.size());
  for (const External& external : graph.externals) {
    is_delegates[external.value] = true;
  }
  std::vector<Block> blocks;
  std::vector<size_t> block_of(graph.values.size(), SIZE_MAX);
  const std::vector<uint32_t> owners = owners_of(graph, segments);
  for (size_t place = 0; place < segments.size(); ++place) {
    for (const SegmentArgument& argument : segments[place].arguments) {
      const uint32_t value = owners[argument.value];
      if (is_delegates[value]) {
        continue;
      }
      if (block_of[value] == SIZE_MAX) {
        const size_t size = size_between(graph.values[value], shapes[value]);
        block_of[value] = blocks.size();
        blocks.push_back({value,
                          (size + XNN_EXTRA_BYTES + kAlignment - 1) / kAlignment * kAlignment,
                          place, place});
      }
      blocks[block_of[value]].last = place;
    }
  }
  return blocks;
}

/// The lowest place beside those of `placed` that live at the same time.
size_t offset_beside(const Block& block, const std::vector<Block>& placed) {
  std::vector<std::pair<size_t, size_t>> taken;
  for (const Block& other : placed) {
    if (other.first <= block.last && block.first <= other.last) {
      taken.push_back({other.offset, other.offset + other.size});
    }
  }
  std::sort(taken.begin(), taken.end());
  size_t offset = 0;
  for (const auto& [begin, end] : taken) {
    if (offset + block.size <= begin) {
      break;
    }
    offset = std::max(offset, end);
  }
  return offset;
}

}  // namespace

void BoundaryMemory::plan(const Graph& graph, const std::vector<Segment>& segments,
                          const Shapes& shapes) {
  std::vector<Block> blocks = blocks_of(graph, segments, shapes);
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const Block& a, const Block& b) { return a.size > b.size; });
  offsets_.assign(graph.values.size(), kNone);
  std::vector<Block> placed;
  size_ = 0;
  for (Block& block : blocks) {
    block.offset = offset_beside(block, placed);
    placed.push_back(block);
    offsets_[block.value] = block.offset;
    size_ = std::max(size_, block.offset + block.size);
  }
}

}  // namespace executorch::backends::xnnpack
