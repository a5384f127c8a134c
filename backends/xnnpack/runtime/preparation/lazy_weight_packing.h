// SPDX-License-Identifier: BSD-3-Clause
// To pack a matrix takes memory and time, which a program that runs once never gets back. So the
// first run multiplies by the file's matrices unpacked; the second packs them for good.
#pragma once

#include <executorch/backends/xnnpack/runtime/preparation/packing.h>

#include <vector>

namespace executorch::backends::xnnpack {

class LazyWeightPacking final {
 public:
  /// `definitions` must outlive it.
  explicit LazyWeightPacking(const Definitions& definitions) : definitions_(definitions) {}

  /// Takes what is to be packed later out of `packings`, if there are `large_from` bytes of it.
  void choose(std::vector<Packing>& packings, size_t large_from);
  bool empty() const { return packings_.empty(); }
  /// Those of matrices that the first run reads unpacked.
  std::vector<Packing>& packings() { return packings_; }

  /// Whether the first run of a segment reads matrices.
  bool has(const Segment& segment) const { return !filters_of(segment).empty(); }
  /// Makes the graph of a segment's first run, with XNNPACK's `ids`; `pointers` gets the matrices,
  /// arguments behind those of the segment.
  runtime::Error define(const Segment& segment, Subgraph& out, Ids& ids,
                        std::vector<xnn_external_value>& pointers) const;

 private:
  bool is_lazy(const GraphNode& node) const;
  /// Value ids of matrices, each once.
  std::vector<uint32_t> filters_of(const Segment& segment) const;
  /// A filter of any rank as [outputs, inputs].
  xnn_status define_matrix(xnn_subgraph_t subgraph, uint32_t id, uint32_t external,
                           uint32_t& out) const;

  const Definitions& definitions_;
  std::vector<Packing> packings_;
};

}  // namespace executorch::backends::xnnpack
