// SPDX-License-Identifier: BSD-3-Clause
// Pieces of rows, each through all nodes. Results between nodes lie on the stack.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <algorithm>
#include <iterator>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNode;
using fb_xnnpack::XNodeUnion;
using kernels::optimized::Binary;
using kernels::optimized::map_binary_row;
using kernels::optimized::map_unary_row;
using kernels::optimized::Unary;
using kernels::optimized::UnaryConstants;
using runtime::Error;

namespace {

struct UnaryRow {
  XNodeUnion node;
  Unary function;
};
constexpr UnaryRow kUnary[] = {
    {XNodeUnion::XNNAbs, Unary::kAbs},
    {XNodeUnion::XNNCeiling, Unary::kCeil},
    {XNodeUnion::XNNClamp, Unary::kClamp},
    {XNodeUnion::XNNCos, Unary::kCos},
    {XNodeUnion::XNNELU, Unary::kElu},
    {XNodeUnion::XNNExp, Unary::kExp},
    {XNodeUnion::XNNFloor, Unary::kFloor},
    {XNodeUnion::XNNGelu, Unary::kGelu},
    {XNodeUnion::XNNHardswish, Unary::kHardswish},
    {XNodeUnion::XNNLeakyReLU, Unary::kLeakyRelu},
    {XNodeUnion::XNNLog, Unary::kLog},
    {XNodeUnion::XNNNegate, Unary::kNeg},
    {XNodeUnion::XNNReciprocalSquareRoot, Unary::kRsqrt},
    {XNodeUnion::XNNSigmoid, Unary::kSigmoid},
    {XNodeUnion::XNNSin, Unary::kSin},
    {XNodeUnion::XNNSquare, Unary::kSquare},
    {XNodeUnion::XNNSquareRoot, Unary::kSqrt},
    {XNodeUnion::XNNTanh, Unary::kTanh},
};

struct BinaryRow {
  XNodeUnion node;
  Binary function;
};
constexpr BinaryRow kBinary[] = {
    {XNodeUnion::XNNAdd, Binary::kAdd},      {XNodeUnion::XNNDiv, Binary::kDiv},
    {XNodeUnion::XNNMaximum, Binary::kMax},  {XNodeUnion::XNNMinimum, Binary::kMin},
    {XNodeUnion::XNNMultiply, Binary::kMul}, {XNodeUnion::XNNSubtract, Binary::kSub},
};

/// Null for a node that is no such function.
template <typename Row, size_t kCount>
const Row* row_of(const Row (&rows)[kCount], const XNode& node) {
  const auto* const found = std::find_if(std::begin(rows), std::end(rows), [&](const Row& row) {
    return row.node == node.xnode_union_type();
  });
  return found == std::end(rows) ? nullptr : found;
}

UnaryConstants constants_of(const GraphNode& node) {
  switch (node.node->xnode_union_type()) {
    case XNodeUnion::XNNClamp:
      return {node.limits.min, node.limits.max, 0};
    case XNodeUnion::XNNELU:
      return {table_of<fb_xnnpack::XNNELU>(*node.node).alpha(), 1, 1};
    case XNodeUnion::XNNLeakyReLU:
      return {table_of<fb_xnnpack::XNNLeakyReLU>(*node.node).negative_slope(), 0, 0};
    default:
      return {};
  }
}

/// The size of the last dimension; a value of no dimensions has one element.
size_t columns_of(const Shape& shape) {
  return shape.rank == 0 ? 1 : shape.dims[shape.rank - 1];
}

}  // namespace

bool FusedElementwise::takes(const Graph& graph, uint32_t result, const GraphNode& node) {
  if (node.table != nullptr || !is_plain_float(graph, node.operands.output) ||
      graph.shapes[node.operands.output] != graph.shapes[result] ||
      (row_of(kUnary, *node.node) == nullptr && row_of(kBinary, *node.node) == nullptr)) {
    return false;
  }
  return std::all_of(node.operands.inputs, node.operands.inputs + node.operands.num_inputs,
                     [&](uint32_t id) { return is_plain_float(graph, id); });
}

FusedElementwise::FusedElementwise(const Definitions& definitions, size_t begin, size_t end) {
  const Graph& graph = definitions.graph();
  output_ = graph.nodes[begin].operands.output;
  std::vector<uint32_t> results = {output_};
  for (size_t place = begin + 1; place < end; ++place) {
    const GraphNode& from = graph.nodes[place];
    if (!from.is_needed) {
      continue;
    }
    Node node;
    if (const UnaryRow* const row = row_of(kUnary, *from.node)) {
      node.unary = row->function;
      node.constants = constants_of(from);
    } else {
      node.is_binary = true;
      node.binary = row_of(kBinary, *from.node)->function;
      node.is_bounded = from.limits.min > Limits().min || from.limits.max < Limits().max;
      node.bounds = {from.limits.min, from.limits.max, 0};
    }
    for (size_t i = 0; i < from.operands.num_inputs; ++i) {
      node.operands[i] = operand_of(definitions, from.operands.inputs[i], results);
    }
    nodes_.push_back(node);
    output_ = from.operands.output;
    results.push_back(output_);
  }
}

FusedElementwise::Operand FusedElementwise::operand_of(const Definitions& definitions, uint32_t id,
                                                       const std::vector<uint32_t>& results) const {
  Operand operand;
  operand.value = id;
  const auto found = std::find(results.begin(), results.end(), id);
  if (found != results.end()) {
    operand.is_result = true;
    operand.result = static_cast<size_t>(found - results.begin());
  } else if (definitions.graph().values[id].is_constant()) {
    operand.constant = reinterpret_cast<const float*>(definitions.contents(id).bytes.data());
  }
  return operand;
}

Error FusedElementwise::reshape(const Shapes& shapes) {
  shape_ = shapes[output_];
  columns_ = static_cast<int64_t>(columns_of(shape_));
  is_flat_ = true;
  is_repeated_ = 2 * columns_ <= kPiece;
  size_t num_repeated = 0;
  for (Node& node : nodes_) {
    for (size_t i = 0; i < (node.is_binary ? 2u : 1u); ++i) {
      Operand& operand = node.operands[i];
      const Shape& shape = shapes[operand.value];
      operand.is_in_step = shape == shape_;
      ET_CHECK_OR_RETURN_ERROR(
          (operand.is_in_step || !operand.is_result) && shape.rank <= shape_.rank, InvalidArgument,
          "XNNPACK: a value of %zu elements, of which the layer before has %zu",
          static_cast<size_t>(shape.num_elements()), static_cast<size_t>(shape_.num_elements()));
      const size_t ahead = shape_.rank - shape.rank;
      operand.is_row = columns_of(shape) > 1;
      size_t stride = columns_of(shape);
      std::fill(std::begin(operand.strides), std::end(operand.strides), 0);
      for (size_t dim = shape_.rank - 1; dim > ahead; --dim) {
        const size_t size = shape.dims[dim - 1 - ahead];
        operand.strides[dim - 1] = size == 1 ? 0 : stride;
        stride *= size;
      }
      const bool is_same = std::all_of(std::begin(operand.strides), std::end(operand.strides),
                                       [](size_t each) { return each == 0; });
      operand.is_same_row = !operand.is_in_step && operand.is_row && is_same;
      is_flat_ = is_flat_ && (operand.is_in_step || (is_same && !operand.is_row));
      operand.place = num_repeated;
      num_repeated += operand.is_same_row ? 1 : 0;
      is_repeated_ = is_repeated_ && (operand.is_in_step || is_same);
    }
  }
  is_repeated_ = is_repeated_ && num_repeated <= kMaxRepeated;
  return Error::Ok;
}

const kernels::optimized::Epilogue* FusedElementwise::bind(const Addresses& addresses) {
  data_ = static_cast<float*>(addresses[output_]);
  for (Node& node : nodes_) {
    for (Operand& operand : node.operands) {
      if (operand.constant != nullptr) {
        operand.data = operand.constant;
      } else if (operand.value != kNoValue && !operand.is_result) {
        operand.data = static_cast<const float*>(addresses[operand.value]);
      }
    }
  }
  return nodes_.empty() ? nullptr : this;
}

void FusedElementwise::finish(const Piece& piece) const {
  const int64_t width = piece.n_end - piece.n_begin;
  if (is_flat_ && width == columns_) {
    compute(0, piece.m_begin * columns_, (piece.m_end - piece.m_begin) * columns_, nullptr);
    return;
  }
  if (is_repeated_ && width == columns_) {
    finish_short_rows(piece.m_begin, piece.m_end);
    return;
  }
  for (int64_t row = piece.m_begin; row < piece.m_end; ++row) {
    compute(row, piece.n_begin, width, nullptr);
  }
}

void FusedElementwise::finish_short_rows(int64_t begin, int64_t end) const {
  const int64_t rows = std::min(kPiece / columns_, end - begin);
  Repeated repeated;
  for (const Node& node : nodes_) {
    for (const Operand& operand : node.operands) {
      for (int64_t i = 0; operand.is_same_row && i < rows; ++i) {
        std::copy_n(operand.data, columns_, repeated[operand.place].data() + i * columns_);
      }
    }
  }
  for (int64_t row = begin; row < end; row += rows) {
    compute(row, 0, std::min(rows, end - row) * columns_, &repeated);
  }
}

/// Elements from a column of a row on, which go over into other rows where all operands do.
void FusedElementwise::compute(int64_t row, int64_t column, int64_t count,
                               const Repeated* repeated) const {
  alignas(64) float between[kMaxFollowing][kPiece];
  for (int64_t done = 0; done < count; done += kPiece) {
    const int64_t size = std::min(kPiece, count - done);
    Results results;
    results[0] = data_ + row * columns_ + column + done;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      results[i + 1] = i + 1 == nodes_.size() ? results[0] : between[i];
      compute_node(nodes_[i], results, results[i + 1], row, column + done, size, repeated);
    }
  }
}

const float* FusedElementwise::at(const Operand& operand, int64_t row, int64_t column) const {
  if (operand.is_in_step) {
    return operand.data + row * columns_ + column;
  }
  size_t offset = 0;
  auto rest = static_cast<size_t>(row);
  for (size_t dim = shape_.rank - 1; dim > 0; --dim) {
    offset += rest % shape_.dims[dim - 1] * operand.strides[dim - 1];
    rest /= shape_.dims[dim - 1];
  }
  return operand.data + offset + (operand.is_row ? column : 0);
}

void FusedElementwise::compute_node(const Node& node, const Results& results, float* out,
                                    int64_t row, int64_t column, int64_t count,
                                    const Repeated* repeated) const {
  const auto from = [&](const Operand& operand) -> const float* {
    if (operand.is_same_row && repeated != nullptr) {
      return (*repeated)[operand.place].data();
    }
    return operand.is_result ? results[operand.result] : at(operand, row, column);
  };
  const auto& [x, y] = node.operands;
  if (!node.is_binary) {
    map_unary_row(node.unary, node.constants, from(x), out, count);
    return;
  }
  const auto is_array = [](const Operand& operand) {
    return operand.is_result || operand.is_in_step || operand.is_row;
  };
  map_binary_row(node.binary, 1.0f, from(x), is_array(x), from(y), is_array(y), out, count);
  if (node.is_bounded) {
    map_unary_row(Unary::kClamp, node.bounds, out, out, count);
  }
}

}  // namespace executorch::backends::xnnpack
