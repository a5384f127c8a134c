// SPDX-License-Identifier: BSD-3-Clause
// Weights are packed by all threads of the pool: each node becomes a graph of its own for as long
// as it takes to pack. The delegate's runtime, made by one thread, then finds them packed.
#include <executorch/backends/xnnpack/runtime/builder.h>
#include <executorch/backends/xnnpack/runtime/nodes.h>

#include <algorithm>
#include <atomic>

namespace executorch::backends::xnnpack {

/// All that decides what becomes of a filter and a bias: XNNPACK multiplies scales and zero points
/// of inputs and outputs into what it packs.
Fingerprint::Value Builder::fingerprint_of(const Packing& packing) const {
  const Operands& operands = packing.operands;
  Fingerprint fingerprint;
  fingerprint.add(packing.node->xnode_union_type());
  for (const uint32_t id : {operands.inputs[0], operands.inputs[1], operands.output}) {
    const Value& value = values_[id];
    fingerprint.add(value.type());
    fingerprint.add(value.scale);
    fingerprint.add(value.zero_point);
    fingerprint.add(value.group_size);
  }
  const Shape& filter = delegate_.shapes_[operands.inputs[1]];
  fingerprint.add(filter.dims, sizeof(filter.dims));
  const Shape& input = delegate_.shapes_[operands.inputs[0]];
  fingerprint.add(input.dims[input.rank - 1]);  // with the filter's sizes: the number of groups
  for (size_t i = 1; i <= operands.num_packed; ++i) {
    const Contents& contents = contents_[operands.inputs[i]];
    fingerprint.add(contents.bytes.data(), contents.bytes.size());
    fingerprint.add(contents.scales.data(), contents.scales.size());
  }
  return fingerprint.value();
}

/// Makes a graph of the one node and a runtime of that, which packs. What does not work alone is
/// packed with the rest.
void Builder::pack_alone(const Packing& packing) const {
  const Operands& operands = packing.operands;
  xnn_subgraph_t made = nullptr;
  if (values_[operands.inputs[0]].is_constant() ||
      xnn_create_subgraph(2, 0, &made) != xnn_status_success) {
    return;
  }
  const Subgraph subgraph(made);
  std::vector<uint32_t> ids(values_.size(), XNN_INVALID_VALUE_ID);
  const auto defines = [&](uint32_t id, uint32_t external, uint32_t flags) {
    return define_in(made, id, external, flags, ids[id]) == xnn_status_success;
  };
  bool is_defined = defines(operands.inputs[0], 0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
  for (size_t i = 1; i <= operands.num_packed && is_defined; ++i) {
    is_defined = defines(operands.inputs[i], XNN_INVALID_VALUE_ID, 0);
  }
  xnn_runtime_t packing_runtime = nullptr;
  if (is_defined && defines(operands.output, 1, XNN_VALUE_FLAG_EXTERNAL_OUTPUT) &&
      define_node(made, *packing.node, ids) == runtime::Error::Ok &&
      xnn_create_runtime_v3(made, packing.weights->provider(), nullptr, 0, &packing_runtime) ==
          xnn_status_success) {
    xnn_delete_runtime(packing_runtime);
  }
}

std::pair<const void*, const void*> Builder::source_of(const Packing& packing) const {
  const Operands& operands = packing.operands;
  return {contents_[operands.inputs[1]].bytes.data(),
          operands.num_packed < 2 ? nullptr : contents_[operands.inputs[2]].bytes.data()};
}

void Builder::describe(const Packing& packing, PackedWeights& weights) const {
  const auto [filter, bias] = source_of(packing);
  weights.describe(filter, bias, packing.fingerprint);
}

void Builder::pack(std::vector<Packing>& packings) {
  const auto size_of = [this](const Packing& packing) {
    return contents_[packing.operands.inputs[1]].bytes.size();
  };
  size_t total = 0;
  for (const Packing& packing : packings) {
    total += size_of(packing);
  }
  const bool by_all = packings.size() > 1 && total >= options_.large_from &&
                      pthreadpool_get_threads_count(options_.pool) > 1;
  if (by_all) {  // the largest first, so that no thread is left with one at the end
    std::stable_sort(packings.begin(), packings.end(),
                     [&](const Packing& a, const Packing& b) { return size_of(a) > size_of(b); });
  }
  struct Task {
    const Builder& builder;
    std::vector<Packing>& packings;
    bool packs;
    std::atomic<size_t> next{0};
  } task{*this, packings, by_all};
  const auto run = [](void* context, size_t) {
    Task& task = *static_cast<Task*>(context);
    Packing& packing = task.packings[task.next++];
    packing.fingerprint = task.builder.fingerprint_of(packing);
    if (task.packs) {
      packing.weights = std::make_unique<PackedWeights>();
      task.builder.describe(packing, *packing.weights);
      task.builder.pack_alone(packing);
    }
  };
  pthreadpool_parallelize_1d(by_all ? options_.pool : nullptr, run, &task, packings.size(), 0);
  for (const Packing& packing : packings) {
    describe(packing, *delegate_.weights_);
  }
}

}  // namespace executorch::backends::xnnpack
