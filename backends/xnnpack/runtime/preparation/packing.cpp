// SPDX-License-Identifier: BSD-3-Clause
// Fingerprints of what is packed, and graphs of one node that pack it.
#include <executorch/backends/xnnpack/runtime/preparation/packing.h>

#include <algorithm>
#include <atomic>

namespace executorch::backends::xnnpack {

using runtime::Span;

namespace {

/// Bytes that a thread reads at a time.
constexpr size_t kPart = size_t{1} << 20;

/// Adds the fingerprints of their parts, which threads of `pool` make.
void add_parts(Span<const uint8_t> bytes, uint64_t seed, pthreadpool_t pool,
               Fingerprint& fingerprint) {
  struct Task {
    Span<const uint8_t> bytes;
    uint64_t seed;
    std::vector<Fingerprint::Value> parts;
  } task{bytes, seed, std::vector<Fingerprint::Value>((bytes.size() + kPart - 1) / kPart)};
  const auto run = [](void* context, size_t place) {
    Task& task = *static_cast<Task*>(context);
    const size_t begin = place * kPart;
    task.parts[place] = Fingerprint::of(task.bytes.data() + begin,
                                        std::min(kPart, task.bytes.size() - begin), task.seed);
  };
  pthreadpool_parallelize_1d(pool, run, &task, task.parts.size(), 0);
  fingerprint.add(bytes.size());
  fingerprint.add(task.parts.data(), task.parts.size() * sizeof(task.parts[0]));
}

/// All that decides what becomes of a filter and a bias: XNNPACK multiplies scales and zero points
/// of inputs and outputs into what it packs.
Fingerprint::Value fingerprint_of(const Definitions& definitions, const GraphNode& node,
                                  uint64_t seed, pthreadpool_t pool) {
  const Graph& graph = definitions.graph();
  const Operands& operands = node.operands;
  Fingerprint fingerprint(seed);
  fingerprint.add(node.node->xnode_union_type());
  for (const uint32_t id : {operands.inputs[0], operands.inputs[1], operands.output}) {
    const Value& value = graph.values[id];
    fingerprint.add(value.type());
    fingerprint.add(value.scale);
    fingerprint.add(value.zero_point);
    fingerprint.add(value.group_size);
  }
  const Shape& filter = graph.shapes[operands.inputs[1]];
  fingerprint.add(filter.dims, sizeof(filter.dims));
  const Shape& input = graph.shapes[operands.inputs[0]];
  fingerprint.add(input.dims[input.rank - 1]);  // with the filter's sizes: the number of groups
  for (size_t i = 1; i <= operands.num_packed; ++i) {
    const Contents& contents = definitions.contents(operands.inputs[i]);
    add_parts(contents.bytes, seed, pool, fingerprint);
    add_parts(contents.scales, seed, pool, fingerprint);
  }
  return fingerprint.value();
}

/// Makes a graph of the one node and a runtime of that, which packs. What does not work alone is
/// packed with the rest.
void pack_alone(const Definitions& definitions, const Packing& packing) {
  const Operands& operands = packing.node->operands;
  xnn_subgraph_t made = nullptr;
  if (definitions.graph().values[operands.inputs[0]].is_constant() ||
      xnn_create_subgraph(2, 0, &made) != xnn_status_success) {
    return;
  }
  const Subgraph subgraph(made);
  std::vector<uint32_t> ids(definitions.graph().values.size(), XNN_INVALID_VALUE_ID);
  const auto defines = [&](uint32_t id, uint32_t external, uint32_t flags) {
    return definitions.define_in(made, id, external, flags, ids[id]) == xnn_status_success;
  };
  bool is_defined = defines(operands.inputs[0], 0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
  for (size_t i = 1; i <= operands.num_packed && is_defined; ++i) {
    is_defined = defines(operands.inputs[i], XNN_INVALID_VALUE_ID, 0);
  }
  xnn_runtime_t packing_runtime = nullptr;
  if (is_defined && defines(operands.output, 1, XNN_VALUE_FLAG_EXTERNAL_OUTPUT) &&
      Definitions::define_node(made, *packing.node, ids) == runtime::Error::Ok &&
      xnn_create_runtime_v3(made, packing.weights->provider(), nullptr, 0, &packing_runtime) ==
          xnn_status_success) {
    xnn_delete_runtime(packing_runtime);
  }
}

void describe(const Definitions& definitions, const Packing& packing, PackedWeights& weights) {
  const auto [filter, bias] = source_of(definitions, *packing.node);
  weights.describe(filter, bias, packing.fingerprint);
}

}  // namespace

std::pair<const void*, const void*> source_of(const Definitions& definitions,
                                              const GraphNode& node) {
  const Operands& operands = node.operands;
  return {
      definitions.contents(operands.inputs[1]).bytes.data(),
      operands.num_packed < 2 ? nullptr : definitions.contents(operands.inputs[2]).bytes.data()};
}

void pack(const Definitions& definitions, std::vector<Packing>& packings, PackedWeights& weights,
          pthreadpool_t pool, size_t large_from) {
  const auto size_of = [&](const Packing& packing) {
    return definitions.contents(packing.node->operands.inputs[1]).bytes.size();
  };
  size_t total = 0;
  for (const Packing& packing : packings) {
    total += size_of(packing);
  }
  const bool by_all =
      packings.size() > 1 && total >= large_from && pthreadpool_get_threads_count(pool) > 1;
  if (by_all) {  // the largest first, so that no thread is left with one at the end
    std::stable_sort(packings.begin(), packings.end(),
                     [&](const Packing& a, const Packing& b) { return size_of(a) > size_of(b); });
  }
  struct Task {
    const Definitions& definitions;
    std::vector<Packing>& packings;
    const PackedWeights& weights;
    bool packs;          // a node per thread
    pthreadpool_t pool;  // of each node, otherwise
    std::atomic<size_t> next{0};
  } task{definitions, packings, weights, by_all, by_all ? nullptr : pool};
  const auto run = [](void* context, size_t) {
    Task& task = *static_cast<Task*>(context);
    Packing& packing = task.packings[task.next++];
    packing.fingerprint =
        fingerprint_of(task.definitions, *packing.node, task.weights.seed(), task.pool);
    if (task.packs && packing.is_xnnpacks) {
      packing.weights = std::make_unique<PackedWeights>(task.weights.file());
      describe(task.definitions, packing, *packing.weights);
      pack_alone(task.definitions, packing);
    }
  };
  pthreadpool_parallelize_1d(by_all ? pool : nullptr, run, &task, packings.size(), 0);
  for (const Packing& packing : packings) {
    describe(definitions, packing, weights);
  }
}

}  // namespace executorch::backends::xnnpack
