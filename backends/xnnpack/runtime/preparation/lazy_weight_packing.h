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

  /// Makes the graph of the first run; `pointers` gets the matrices, arguments behind those of the
  /// payload.
  runtime::Error define(Subgraph& out, std::vector<xnn_external_value>& pointers) const;

 private:
  /// A filter of any rank as [outputs, inputs].
  xnn_status define_matrix(xnn_subgraph_t subgraph, uint32_t place, uint32_t& out,
                           std::vector<xnn_external_value>& pointers) const;

  const Definitions& definitions_;
  std::vector<Packing> packings_;
  std::vector<uint32_t> filters_;  // value ids, each once
};

}  // namespace executorch::backends::xnnpack
