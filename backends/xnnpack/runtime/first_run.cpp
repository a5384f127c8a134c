// SPDX-License-Identifier: BSD-3-Clause
// To pack a matrix takes memory and time, which a program that runs once never gets back. So the
// first run multiplies by matrices as they lie in the file; the second packs them for good.
#include <executorch/backends/xnnpack/runtime/builder.h>
#include <executorch/backends/xnnpack/runtime/nodes.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNodeUnion;
using runtime::Error;

namespace {

/// For fewer XNNPACK has other kernels, which add in another order. No panel is wider.
constexpr size_t kMinOutputs = 64;
/// Such a matrix may be packed into the workspace (library/panel_products.cpp). What is larger than
/// this, and than what the workspace must hold anyway, would make that larger for good.
constexpr uint64_t kMaxBytes = uint64_t{1} << 20;

}  // namespace

/// Whether the node is a product of floats with a matrix: a linear layer, or a convolution that
/// looks at one pixel at a time.
bool Builder::is_matrix(const Packing& packing) const {
  const auto is_float = [this](uint32_t id) {
    return values_[id].type() == XNNDatatype::xnn_datatype_fp32;
  };
  const uint32_t filter = packing.operands.inputs[1];
  if (!is_float(packing.operands.inputs[0]) || !is_float(filter) || read_while_running_[filter] ||
      delegate_.shapes_[filter].dims[0] < kMinOutputs) {
    return false;
  }
  if (packing.node->xnode_union_type() != XNodeUnion::XNNConv2d) {
    return packing.node->xnode_union_type() == XNodeUnion::XNNFullyConnected;
  }
  const fb_xnnpack::_XNNNodeConv& n = *packing.node->xnode_union_as_XNNConv2d();
  const uint32_t padding =
      n.padding_top() | n.padding_right() | n.padding_bottom() | n.padding_left();
  return n.groups() == 1 && padding == 0 && n.kernel_height() == 1 && n.kernel_width() == 1 &&
         n.subsampling_height() == 1 && n.subsampling_width() == 1;
}

/// Bytes that the largest node reads and writes.
uint64_t Builder::largest_activations() const {
  uint64_t largest = 0;
  for (const fb_xnnpack::XNode* node : *payload_.graph->xnodes()) {
    Operands operands;
    static_cast<void>(operands_of(*node, operands));  // known: it has been defined
    const auto bytes_of = [this](uint32_t id) {
      return size_of(values_[id].type(), delegate_.shapes_[id]);
    };
    largest = std::max(largest, bytes_of(operands.inputs[0]) + bytes_of(operands.output));
  }
  return largest;
}

/// Moves what is to be packed later from packings_ to later_, if there is enough of it. What is
/// measured is measured as it will run.
void Builder::choose_matrices() {
  const uint64_t max_bytes = std::max(kMaxBytes, largest_activations());
  std::vector<bool> is_other(values_.size());
  for (const Packing& packing : packings_) {
    const bool matrix =
        is_matrix(packing) && contents_[packing.operands.inputs[1]].bytes.size() <= max_bytes;
    is_other[packing.operands.inputs[1]] = is_other[packing.operands.inputs[1]] || !matrix;
    if (packing.operands.num_packed > 1) {
      is_other[packing.operands.inputs[2]] = true;
    }
  }
  const auto others = std::stable_partition(
      packings_.begin(), packings_.end(),
      [&](const Packing& packing) { return is_other[packing.operands.inputs[1]]; });
  size_t total = 0;
  for (auto each = others; each != packings_.end(); ++each) {
    const uint32_t id = each->operands.inputs[1];
    if (std::find(matrices_.begin(), matrices_.end(), id) == matrices_.end()) {
      matrices_.push_back(id);
      total += contents_[id].bytes.size();
    }
  }
  if (total < options_.large_from || options_.profile) {
    matrices_.clear();
    return;
  }
  later_.assign(std::make_move_iterator(others), std::make_move_iterator(packings_.end()));
  packings_.erase(others, packings_.end());
}

/// A filter of any rank as [outputs, inputs], an argument behind those of the payload.
xnn_status Builder::define_matrix(xnn_subgraph_t subgraph, uint32_t place, uint32_t& out) const {
  const uint32_t id = matrices_[place];
  const Shape& shape = delegate_.shapes_[id];
  const size_t outputs = shape.dims[0];
  const size_t sizes[] = {outputs, static_cast<size_t>(shape.num_elements()) / outputs};
  const uint32_t external = payload_.graph->num_externs() + place;
  delegate_.matrices_.push_back({external, const_cast<uint8_t*>(contents_[id].bytes.data())});
  return xnn_define_tensor_value(subgraph, xnn_datatype_fp32, 2, sizes, nullptr, external,
                                 XNN_VALUE_FLAG_EXTERNAL_INPUT, &out);
}

/// What is packed is not read again.
void Builder::give_back_packed() {
  std::vector<const void*> kept;
  const auto keep = [&](const Packing& packing) {
    for (size_t i = 1; i <= packing.operands.num_packed; ++i) {
      kept.push_back(contents_[packing.operands.inputs[i]].bytes.data());
    }
  };
  std::for_each(later_.begin(), later_.end(), keep);
  for (const Packing& packing : packings_) {
    const auto [filter, bias] = source_of(packing);
    if (!delegate_.weights_->holds(filter, bias)) {
      keep(packing);
    }
  }
  constants_.give_back_but(kept);
}

Error Builder::define_first_run(xnn_subgraph_t subgraph) {
  std::vector<uint32_t> ids(values_.size(), XNN_INVALID_VALUE_ID);
  for (uint32_t place = 0; place < matrices_.size(); ++place) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_status(define_matrix(subgraph, place, ids[matrices_[place]]), "a matrix"));
  }
  for (uint32_t id = 0; id < values_.size(); ++id) {
    if (ids_[id] != XNN_INVALID_VALUE_ID && ids[id] == XNN_INVALID_VALUE_ID) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_status(define_as_is(subgraph, id, ids[id]), "a value"));
    }
  }
  for (const fb_xnnpack::XNode* node : *payload_.graph->xnodes()) {
    const auto product = std::find_if(later_.begin(), later_.end(),
                                      [&](const Packing& packing) { return packing.node == node; });
    if (product != later_.end()) {
      ET_CHECK_OK_OR_RETURN_ERROR(define_product(subgraph, *node, product->operands, ids));
      continue;
    }
    Operands operands;
    ET_CHECK_OK_OR_RETURN_ERROR(operands_of(*node, operands));
    if (needed_[operands.output]) {
      ET_CHECK_OK_OR_RETURN_ERROR(define_node(subgraph, *node, ids));
    }
  }
  return Error::Ok;
}

}  // namespace executorch::backends::xnnpack
