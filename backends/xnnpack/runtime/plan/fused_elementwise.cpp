// SPDX-License-Identifier: BSD-3-Clause
// Pieces of rows, each through all nodes. Results between nodes lie on the stack.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <algorithm>
#include <iterator>
#include <numeric>

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

bool is_reshape(const GraphNode& node) {
  return node.node->xnode_union_type() == XNodeUnion::XNNStaticReshape;
}

/// At any shapes, as its last size is fixed.
bool keeps_rows(const GraphNode& reshape) {
  const auto* const sizes = table_of<fb_xnnpack::XNNStaticReshape>(*reshape.node).new_shape();
  return sizes->size() > 0 && sizes->Get(sizes->size() - 1) != 0;
}

}  // namespace

bool FusedElementwise::takes(const Graph& graph, const GraphNode& before, const GraphNode& node) {
  const Shape& shape = graph.shapes[node.operands.output];
  const Shape& result = graph.shapes[before.operands.output];
  if (node.table != nullptr || !is_plain_float(graph, node.operands.output) ||
      columns_of(shape) != columns_of(result) || shape.num_elements() != result.num_elements()) {
    return false;
  }
  return is_reshape(node)
             ? keeps_rows(node)
             : (row_of(kUnary, *node.node) != nullptr || row_of(kBinary, *node.node) != nullptr) &&
                   std::all_of(node.operands.inputs,
                               node.operands.inputs + node.operands.num_inputs,
                               [&](uint32_t id) { return is_plain_float(graph, id); });
}

FusedElementwise::FusedElementwise(const Definitions& definitions, size_t begin, size_t end) {
  const Graph& graph = definitions.graph();
  output_ = graph.nodes[begin].operands.output;
  std::vector<Result> results = {{output_, 0}};
  for (size_t place = begin + 1; place < end; ++place) {
    const GraphNode& from = graph.nodes[place];
    if (!from.is_needed) {
      continue;
    }
    output_ = from.operands.output;
    if (is_reshape(from)) {
      const auto is_read = [&](const Result& result) {
        return result.value == from.operands.inputs[0];
      };
      results.push_back({output_, std::find_if(results.begin(), results.end(), is_read)->place});
      continue;
    }
    Node node;
    node.output = output_;
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
    results.push_back({output_, nodes_.size()});
  }
}

FusedElementwise::Operand FusedElementwise::operand_of(const Definitions& definitions, uint32_t id,
                                                       const std::vector<Result>& results) const {
  Operand operand;
  operand.value = id;
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const Result& result) { return result.value == id; });
  if (found != results.end()) {
    operand.is_result = true;
    operand.result = found->place;
  } else if (definitions.graph().values[id].is_constant()) {
    operand.constant = reinterpret_cast<const float*>(definitions.contents(id).bytes.data());
  }
  return operand;
}

Error FusedElementwise::reshape(const Shapes& shapes) {
  columns_ = static_cast<int64_t>(columns_of(shapes[output_]));
  flat_rows_ = 0;
  is_repeated_ = 2 * columns_ <= kPiece;
  size_t num_repeated = 0;
  for (Node& node : nodes_) {
    node.shape = shapes[node.output];
    ET_CHECK_OR_RETURN_ERROR(static_cast<int64_t>(columns_of(node.shape)) == columns_,
                             InvalidArgument,
                             "XNNPACK: rows of %zu elements, where others have %zu",
                             columns_of(node.shape), static_cast<size_t>(columns_));
    for (size_t i = 0; i < (node.is_binary ? 2u : 1u); ++i) {
      Operand& operand = node.operands[i];
      ET_CHECK_OK_OR_RETURN_ERROR(reshape_operand(shapes[operand.value], node.shape, operand));
      flat_rows_ = std::gcd(flat_rows_, static_cast<int64_t>(operand.flat_rows));
      is_repeated_ = is_repeated_ && (operand.is_in_step || operand.is_same);
      operand.place = num_repeated;
      num_repeated += operand.is_same && operand.is_row ? 1 : 0;
    }
  }
  is_repeated_ = is_repeated_ && num_repeated <= kMaxRepeated;
  return Error::Ok;
}

Error FusedElementwise::reshape_operand(const Shape& shape, const Shape& of_node,
                                        Operand& operand) {
  operand.is_in_step =
      shape.num_elements() == of_node.num_elements() && columns_of(shape) == columns_of(of_node);
  ET_CHECK_OR_RETURN_ERROR(
      (operand.is_in_step || !operand.is_result) && shape.rank <= of_node.rank, InvalidArgument,
      "XNNPACK: a value of %zu elements, of which the layer before has %zu",
      static_cast<size_t>(shape.num_elements()), static_cast<size_t>(of_node.num_elements()));
  const size_t ahead = of_node.rank - shape.rank;
  operand.is_row = columns_of(shape) > 1;
  size_t stride = columns_of(shape);
  std::fill(std::begin(operand.strides), std::end(operand.strides), 0);
  for (size_t dim = of_node.rank - 1; dim > ahead; --dim) {
    const size_t size = shape.dims[dim - 1 - ahead];
    operand.strides[dim - 1] = size == 1 ? 0 : stride;
    stride *= size;
  }
  operand.is_same =
      !operand.is_in_step && std::all_of(std::begin(operand.strides), std::end(operand.strides),
                                         [](size_t each) { return each == 0; });
  operand.flat_rows = 1;
  for (size_t dim = of_node.rank - 1; dim > ahead; --dim) {
    const size_t size = shape.dims[dim - 1 - ahead];
    if (size != (operand.is_row ? of_node.dims[dim - 1] : 1)) {
      break;
    }
    operand.flat_rows *= of_node.dims[dim - 1];
  }
  if (operand.is_in_step || (operand.is_same && !operand.is_row)) {
    operand.flat_rows = 0;
  }
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
  const int64_t stride = piece.data != nullptr ? piece.stride : columns_;
  float* data =
      piece.data != nullptr ? piece.data : data_ + piece.m_begin * columns_ + piece.n_begin;
  const bool is_dense = width == columns_ && stride == columns_;
  if (is_dense && is_repeated_ && flat_rows_ != 0) {
    finish_short_rows(data, piece.m_begin, piece.m_end);
    return;
  }
  for (int64_t row = piece.m_begin; row < piece.m_end;) {
    int64_t end = row + 1;
    if (is_dense) {
      end = flat_rows_ == 0 ? piece.m_end
                            : std::min(piece.m_end, (row / flat_rows_ + 1) * flat_rows_);
    }
    compute(data, row, piece.n_begin, (end - row - 1) * columns_ + width, nullptr);
    data += (end - row) * stride;
    row = end;
  }
}

void FusedElementwise::finish_short_rows(float* data, int64_t begin, int64_t end) const {
  const int64_t rows = std::min(kPiece / columns_, end - begin);
  Repeated repeated;
  for (const Node& node : nodes_) {
    for (const Operand& operand : node.operands) {
      for (int64_t i = 0; operand.is_same && operand.is_row && i < rows; ++i) {
        std::copy_n(operand.data, columns_, repeated[operand.place].data() + i * columns_);
      }
    }
  }
  for (int64_t row = begin; row < end; row += rows) {
    compute(data + (row - begin) * columns_, row, 0, std::min(rows, end - row) * columns_,
            &repeated);
  }
}

/// Elements from a column of a row on, which go over into other rows where all operands do. `data`
/// has the layer's result of them, and will have theirs.
void FusedElementwise::compute(float* data, int64_t row, int64_t column, int64_t count,
                               const Repeated* repeated) const {
  alignas(64) float between[kMaxFollowing][kPiece];
  for (int64_t done = 0; done < count; done += kPiece) {
    const int64_t size = std::min(kPiece, count - done);
    Results results;
    results[0] = data + done;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      results[i + 1] = i + 1 == nodes_.size() ? results[0] : between[i];
      compute_node(nodes_[i], results, results[i + 1], row, column + done, size, repeated);
    }
  }
}

const float* FusedElementwise::at(const Node& node, const Operand& operand, int64_t row,
                                  int64_t column) const {
  if (operand.is_in_step) {
    return operand.data + row * columns_ + column;
  }
  if (operand.is_same) {
    return operand.data + (operand.is_row ? column : 0);
  }
  size_t offset = 0;
  auto rest = static_cast<size_t>(row);
  for (size_t dim = node.shape.rank - 1; dim > 0; --dim) {
    offset += rest % node.shape.dims[dim - 1] * operand.strides[dim - 1];
    rest /= node.shape.dims[dim - 1];
  }
  return operand.data + offset + (operand.is_row ? column : 0);
}

void FusedElementwise::compute_node(const Node& node, const Results& results, float* out,
                                    int64_t row, int64_t column, int64_t count,
                                    const Repeated* repeated) const {
  const auto from = [&](const Operand& operand) -> const float* {
    if (operand.is_same && operand.is_row && repeated != nullptr) {
      return (*repeated)[operand.place].data();
    }
    return operand.is_result ? results[operand.result] : at(node, operand, row, column);
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
