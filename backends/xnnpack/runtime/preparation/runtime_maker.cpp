// SPDX-License-Identifier: BSD-3-Clause
// Segments become runtimes of XNNPACK's, other steps kernels of ours, of which some wait for the
// second run to be packed.
#include <executorch/backends/xnnpack/runtime/nodes/convolution_and_fully_connected.h>
#include <executorch/backends/xnnpack/runtime/preparation/byte_tables.h>
#include <executorch/backends/xnnpack/runtime/preparation/runtime_maker.h>
#include <executorch/backends/xnnpack/runtime/profile.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>

#include <cpuinfo.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using runtime::Error;

void RuntimeMaker::choose_precision() {
  if (options_.precision == ComputePrecision::Float16 && !cpuinfo_has_arm_neon_fp16_arith()) {
    options_.precision = ComputePrecision::Float32;
  }
  options_.own.bfloat16 = options_.precision == ComputePrecision::BFloat16;
}

/// By place of the nodes. Whether a graph is computed in halves, XNNPACK decides.
std::vector<const OwnKind*> RuntimeMaker::choose_own() const {
  const Graph& graph = out_.graph;
  std::vector<const OwnKind*> own(graph.nodes.size());
#ifdef EXECUTORCH_XNNPACK_OWN_STEPS
  if (options_.precision != ComputePrecision::Float16) {
    std::transform(graph.nodes.begin(), graph.nodes.end(), own.begin(),
                   [&](const GraphNode& node) { return own_kind_of(graph, node, options_.own); });
  }
#endif
  return own;
}

Error RuntimeMaker::define_segments() {
  const Graph& graph = out_.graph;
  out_.plan = cut_into_segments(graph, choose_own(), options_.segment_nodes);
  segments_.resize(out_.plan.size());
  for (size_t place = 0; place < segments_.size(); ++place) {
    auto& [subgraph, ids] = segments_[place];
    const Segment& segment = out_.plan[place];
    if (segment.is_view) {
      continue;
    }
    if (segment.own != nullptr) {
      if (options_.share_weights && out_.graph.nodes[segment.begin].operands.num_packed > 0) {
        packings_.push_back({&graph.nodes[segment.begin], false, {}, nullptr});
      }
      continue;
    }
    ET_CHECK_OK_OR_RETURN_ERROR(make_subgraph(segment.arguments.size(), subgraph));
    ids.assign(graph.values.size(), XNN_INVALID_VALUE_ID);
    const auto define = [&, &subgraph = subgraph, &ids = ids](const GraphNode& node) {
      if (node.operands.num_packed > 0 && options_.share_weights) {
        packings_.push_back({&node, true, {}, nullptr});
      }
      return Definitions::define_node(subgraph.get(), node, ids);
    };
    ET_CHECK_OK_OR_RETURN_ERROR(definitions_.define_segment(subgraph.get(), segment, ids, define));
  }
  return Error::Ok;
}

/// Whether one thread computes each of its nodes before it would have woken another.
bool RuntimeMaker::is_small(const Segment& segment) const {
  constexpr uint64_t kMaxElements = 1 << 13;
  const Graph& graph = out_.graph;
  return std::all_of(graph.nodes.begin() + static_cast<ptrdiff_t>(segment.begin),
                     graph.nodes.begin() + static_cast<ptrdiff_t>(segment.end),
                     [&](const GraphNode& node) {
                       const Operands& operands = node.operands;
                       return operands.num_packed == 0 &&
                              graph.shapes[operands.inputs[0]].num_elements() <= kMaxElements &&
                              graph.shapes[operands.output].num_elements() <= kMaxElements;
                     });
}

Error RuntimeMaker::make_runtime(const Segment& segment, xnn_subgraph_t subgraph,
                                 SegmentRuntime& out) {
  const bool halves = options_.precision == ComputePrecision::Float16;
  const uint32_t flags = (options_.profile ? XNN_FLAG_BASIC_PROFILING : 0u) |
                         (halves ? XNN_FLAG_HINT_FP16_INFERENCE : 0u);
  xnn_runtime_t runtime = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(
      xnn_create_runtime_v4(subgraph, options_.share_weights ? out_.weights->provider() : nullptr,
                            out_.workspace->handle(), is_small(segment) ? nullptr : options_.pool,
                            flags, &runtime),
      "a runtime"));
  out.runtime.reset(runtime);
  return Error::Ok;
}

/// Numbered from 1 on, in the order in which they run.
void RuntimeMaker::name_operators() {
  size_t count = 0;
  for (size_t place = 0; options_.profile && place < out_.plan.size(); ++place) {
    const Segment& segment = out_.plan[place];
    SegmentRuntime& run = out_.runtimes[place];
    if (segment.own != nullptr) {
      run.titles = title_of_own(segment.own->name, out_.graph, segment, count);
    } else if (run.runtime != nullptr) {
      run.titles =
          titles_of_operators(run.runtime.get(), out_.graph, segment, segments_[place].ids, count);
    }
  }
}

/// Whether those that may wait have so much to pack that the first run goes without.
bool RuntimeMaker::matrices_of_own_are_large() const {
  size_t total = 0;
  for (const Segment& segment : out_.plan) {
    const Operands& operands = out_.graph.nodes[segment.begin].operands;
    if (segment.own != nullptr && segment.own->runs_unpacked && operands.num_packed > 0) {
      total += definitions_.contents(operands.inputs[1]).bytes.size();
    }
  }
  return total > 0 && total >= options_.large_from;
}

Error RuntimeMaker::make_own_steps() {
  for (size_t place = 0; place < out_.plan.size(); ++place) {
    const Segment& segment = out_.plan[place];
    if (segment.own != nullptr) {
      out_.runtimes[place].own = segment.own->make(definitions_, segment);
    }
  }
  return pack_own_steps(!own_wait_);
}

Error RuntimeMaker::pack_own_steps(bool all) {
  extension::MallocMemoryAllocator scratch;
  for (size_t place = 0; place < out_.plan.size(); ++place) {
    const OwnKind* const kind = out_.plan[place].own;
    if (kind != nullptr && (all || !kind->runs_unpacked)) {
      ET_CHECK_OK_OR_RETURN_ERROR(
          out_.runtimes[place].own->pack(definitions_, *out_.weights, scratch));
      scratch.reset();
    }
  }
  return Error::Ok;
}

Error RuntimeMaker::make_runtimes() {
  for (size_t place = 0; place < segments_.size(); ++place) {
    SegmentRuntime& run = out_.runtimes[place];
    if (out_.plan[place].own == nullptr && !out_.plan[place].is_view) {
      ET_CHECK_OK_OR_RETURN_ERROR(
          make_runtime(out_.plan[place], segments_[place].subgraph.get(), run));
    }
  }
  return Error::Ok;
}

void RuntimeMaker::pack(std::vector<Packing>& packings) {
  if (!packings.empty()) {
    xnnpack::pack(definitions_, packings, *out_.weights, options_.pool, options_.large_from);
  }
}

/// What is packed is not read again, but for scales: XNNPACK looks at them ahead of the weights.
void RuntimeMaker::give_back_packed() {
  std::vector<const void*> kept;
  for (uint32_t id = 0; id < out_.graph.values.size(); ++id) {
    kept.push_back(definitions_.contents(id).scales.data());
  }
  const auto keep = [&](const Packing& packing) {
    const Operands& operands = packing.node->operands;
    for (size_t i = 1; i <= operands.num_packed; ++i) {
      kept.push_back(definitions_.contents(operands.inputs[i]).bytes.data());
    }
  };
  for (const Packing& packing : packings_) {
    const auto [filter, bias] = source_of(definitions_, *packing.node);
    if (!out_.weights->holds(filter, bias)) {
      keep(packing);
    }
  }
  definitions_.give_back_but(kept);
}

Error RuntimeMaker::make() {
  choose_precision();
  // Whether a graph is computed in halves, and packed for it, XNNPACK decides for each anew.
  options_.share_weights =
      options_.share_weights && options_.precision != ComputePrecision::Float16;
  out_.weights = std::make_unique<PackedWeights>(
      options_.share_weights ? options_.packed_file : nullptr, options_.pool);
  ET_CHECK_OK_OR_RETURN_ERROR(definitions_.load_constants());
#ifdef EXECUTORCH_XNNPACK_OWN_STEPS
  if (options_.own.any) {
    ET_CHECK_OK_OR_RETURN_ERROR(make_byte_tables(definitions_, out_.graph));
  }
#endif
  ET_CHECK_OK_OR_RETURN_ERROR(define_segments());
  out_.workspace = ET_UNWRAP(Workspace::get(options_.workspaces, options_.model));
  // What is measured is measured as it will run; what a file may hold need not be packed; a matrix
  // that is not packed is multiplied in float32.
  if (!options_.pack_at_load && !options_.profile && options_.packed_file == nullptr &&
      options_.precision == ComputePrecision::Float32 && options_.share_weights) {
    own_wait_ = matrices_of_own_are_large();
  }
  pack(packings_);
  out_.runtimes.resize(segments_.size());
  Error made = make_own_steps();  // which packs, while others run
  const std::lock_guard<std::mutex> lock(out_.workspace->mutex);
  if (made == Error::Ok) {
    made = make_runtimes();
  }
  if (made != Error::Ok) {
    out_.runtimes.clear();
    return made;
  }
  name_operators();
  if (is_done()) {
    out_.weights->forget_sources();
  } else {
    give_back_packed();
  }
  out_.workspace->expect_first_run();
  return Error::Ok;
}

Error RuntimeMaker::finish() {
  ET_CHECK_OK_OR_RETURN_ERROR(pack_own_steps(true));
  own_wait_ = false;
  out_.weights->forget_sources();
  return Error::Ok;
}

}  // namespace executorch::backends::xnnpack
