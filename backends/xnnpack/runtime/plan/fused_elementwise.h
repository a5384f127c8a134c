// SPDX-License-Identifier: BSD-3-Clause
// Elementwise nodes behind a layer that a kernel of ours computes: activations, gates, sums of
// residuals. They take each piece of its result while that is in a core's own cache.
#pragma once

#include <executorch/backends/xnnpack/runtime/plan/own_step.h>
#include <executorch/kernels/optimized/binary.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/unary.h>

#include <array>
#include <vector>

namespace executorch::backends::xnnpack {

class FusedElementwise final : public kernels::optimized::Epilogue {
 public:
  /// Whether a node behind `before` may be one: of floats, of the shape of that one's result but
  /// for ones, or a reshape that keeps rows.
  static bool takes(const Graph& graph, const GraphNode& before, const GraphNode& node);

  /// Of the needed nodes [begin + 1, end), all of which are taken; `begin` is the layer's.
  /// Constants that they read must outlive it.
  FusedElementwise(const Definitions& definitions, size_t begin, size_t end);

  /// Where the layer and they write, a value id.
  uint32_t output() const { return output_; }
  /// InvalidArgument for shapes that do not meet element by element.
  runtime::Error reshape(const Shapes& shapes);
  /// `addresses` of values by id, null for constants. Null when nothing follows the layer. Valid
  /// while `addresses` are.
  const Epilogue* bind(const Addresses& addresses);

  void finish(const Piece& piece) const override;

 private:
  /// What a node reads: the result of one before, or a value of the graph.
  struct Operand {
    uint32_t value = kNoValue;
    size_t result = 0;  // 0: the layer's, i: the i-th node's
    const float* constant = nullptr;
    const float* data = nullptr;
    bool is_result = false;
    bool is_in_step = true;         // element i meets element i
    bool is_row = true;             // a number for each column, not one for all
    bool is_same = false;           // the same for all rows
    size_t place = 0;               // in Repeated
    size_t strides[kMaxRank] = {};  // of rows, by dimension but the last
    size_t flat_rows = 0;           // in step, or one number, for so many rows; 0: for all
  };
  struct Node {
    bool is_binary = false;
    bool is_bounded = false;
    kernels::optimized::Unary unary = {};
    kernels::optimized::Binary binary = {};
    kernels::optimized::UnaryConstants constants;
    kernels::optimized::UnaryConstants bounds;
    std::array<Operand, 2> operands;
    uint32_t output = kNoValue;
    Shape shape;
  };
  /// A value of the chain: the layer's result (0), or the i-th node's.
  struct Result {
    uint32_t value;
    size_t place;
  };
  using Results = std::array<float*, kMaxFollowing + 1>;
  /// Elements that go through all nodes at a time.
  static constexpr int64_t kPiece = 512;
  /// Rows that are the same for all rows, each so often that it is as long as a piece, at most.
  static constexpr size_t kMaxRepeated = 4;
  using Repeated = std::array<std::array<float, kPiece>, kMaxRepeated>;

  Operand operand_of(const Definitions& definitions, uint32_t id,
                     const std::vector<Result>& results) const;
  static runtime::Error reshape_operand(const Shape& shape, const Shape& of_node, Operand& operand);
  const float* at(const Node& node, const Operand& operand, int64_t row, int64_t column) const;
  void finish_short_rows(float* data, int64_t begin, int64_t end) const;
  void compute(float* data, int64_t row, int64_t column, int64_t count,
               const Repeated* repeated) const;
  void compute_node(const Node& node, const Results& results, float* out, int64_t row,
                    int64_t column, int64_t count, const Repeated* repeated) const;

  std::vector<Node> nodes_;
  uint32_t output_;
  float* data_ = nullptr;
  int64_t columns_ = 0;
  int64_t flat_rows_ = 0;     // of all operands: from a multiple of it on
  bool is_repeated_ = false;  // likewise, or one row, of which several make a piece
};

}  // namespace executorch::backends::xnnpack
