// SPDX-License-Identifier: BSD-3-Clause
// Two products of values with a softmax between them: scores never leave a core's cache, and heads
// are read and written where the layers around have them.
#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>
#include <executorch/backends/xnnpack/runtime/plan/strided_view.h>

#include <executorch/kernels/optimized/attention/attention_blocks.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNodeUnion;
using kernels::optimized::AttentionProblem;
using kernels::optimized::AttentionRows;
using kernels::optimized::ScoreStep;
using runtime::Error;
using runtime::KernelRuntimeContext;
using runtime::MemoryAllocator;

namespace {

bool is_kind(const GraphNode& node, XNodeUnion kind) {
  return node.is_needed && node.node->xnode_union_type() == kind;
}

/// The first node of a kind in [begin, end); `end` for none.
size_t find_kind(const Graph& graph, size_t begin, size_t end, XNodeUnion kind) {
  while (begin < end && !is_kind(graph.nodes[begin], kind)) {
    ++begin;
  }
  return begin;
}

/// Where the nodes of a step stand: the product that gives scores is its first, then what is done
/// with them, the softmax, the product with values, what is done with its result, and a transpose.
struct Places {
  size_t scores, softmax, values, transpose, end;

  Places(const Graph& graph, size_t begin, size_t step_end)
      : scores(begin),
        softmax(find_kind(graph, begin, step_end, XNodeUnion::XNNSoftmax)),
        values(find_kind(graph, softmax, step_end, XNodeUnion::XNNBatchMatrixMultiply)),
        transpose(find_kind(graph, values, step_end, XNodeUnion::XNNStaticTranspose)),
        end(step_end) {}
};

uint32_t flags_of(const GraphNode& node) {
  return table_of<fb_xnnpack::_XNNNode2x1>(*node.node).flags();
}

bool is_bounded(const GraphNode& node) {
  return node.limits.min > Limits().min || node.limits.max < Limits().max;
}

/// A product by one number that is known.
bool scales_values(const Graph& graph, const GraphNode& node) {
  if (!is_kind(node, XNodeUnion::XNNMultiply)) {
    return false;
  }
  const uint32_t factor = node.operands.inputs[1];
  return !is_bounded(node) && graph.values[factor].is_constant() && is_plain_float(graph, factor) &&
         graph.shapes[factor].num_elements() == 1 &&
         !graph.values[node.operands.inputs[0]].is_constant() &&
         is_plain_float(graph, node.operands.inputs[0]) &&
         is_plain_float(graph, node.operands.output) &&
         graph.shapes[node.operands.inputs[0]] == graph.shapes[node.operands.output];
}

/// Dimensions before the last two: batches of heads.
struct Heads {
  int64_t batch = 1, heads = 1;
  int64_t batch_stride = 0, head_stride = 0;
};

/// None where more than two strides tell them.
std::optional<Heads> heads_of(const StridedView& view) {
  Heads found;
  for (size_t dim = view.shape.rank - 2; dim > 0; --dim) {
    const int64_t size = size_at(view.shape, dim - 1), stride = view.strides[dim - 1];
    if (size == 1) {
      continue;
    }
    if (found.heads == 1) {
      found.heads = size;
      found.head_stride = stride;
    } else if (found.batch == 1 && stride == found.heads * found.head_stride) {
      found.heads *= size;
    } else if (found.batch == 1) {
      found.batch = size;
      found.batch_stride = stride;
    } else if (stride == found.batch * found.batch_stride) {
      found.batch *= size;
    } else {
      return std::nullopt;
    }
  }
  return found;
}

/// What is read and written, as matrices with a row for each query or key.
struct Matrices {
  StridedView query, key, value, result;

  /// `by_depth`: keys as the file's product has them, a row for each number of a key.
  void turn_keys(bool by_depth) {
    if (by_depth) {
      const size_t rank = key.shape.rank;
      std::swap(key.shape.dims[rank - 1], key.shape.dims[rank - 2]);
      std::swap(key.strides[rank - 1], key.strides[rank - 2]);
    }
  }

  /// Sizes, strides and types of a problem; false for what the kernel does not read.
  bool describe(AttentionProblem& p) const {
    p.queries = from_end(query, 2);
    p.depth = from_end(query, 1);
    p.keys = from_end(key, 2);
    p.value_depth = from_end(value, 1);
    p.keys_in_columns = !is_dense(key, 1);
    if (!is_dense(query, 1) || !is_dense(value, 1) || !is_dense(result, 1) ||
        (p.keys_in_columns && !is_dense(key, 2)) || from_end(key, 1) != p.depth ||
        from_end(value, 2) != p.keys || from_end(result, 2) != p.queries ||
        from_end(result, 1) != p.value_depth) {
      return false;
    }
    const StridedView* const views[] = {&query, &key, &value, &result};
    AttentionRows* const rows[] = {&p.query, &p.key, &p.value, &p.out};
    p.heads = 0;
    for (const StridedView* view : views) {
      const std::optional<Heads> found = heads_of(*view);
      if (!found.has_value() || (found->batch > 1 && p.heads != 0 && p.heads != found->heads)) {
        return false;
      }
      p.heads = found->batch > 1 ? found->heads : p.heads;
    }
    const Heads of_query = *heads_of(query);
    const int64_t matrices = of_query.batch * of_query.heads;
    p.heads = p.key_heads = p.heads == 0 ? matrices : p.heads;
    p.batch = matrices / p.heads;
    for (size_t i = 0; i < std::size(views); ++i) {
      const Heads found = *heads_of(*views[i]);
      if (found.batch * found.heads != matrices) {
        return false;
      }
      rows[i]->head_stride = found.head_stride;
      rows[i]->batch_stride = found.batch > 1 ? found.batch_stride : p.heads * found.head_stride;
      rows[i]->row_stride = views[i]->strides[views[i]->shape.rank - 2];
    }
    if (p.keys_in_columns) {
      p.key.row_stride = key.strides[key.shape.rank - 1];
    }
    return true;
  }

 private:
  static int64_t from_end(const StridedView& view, size_t dim) {
    return size_at(view.shape, view.shape.rank - dim);
  }
  static bool is_dense(const StridedView& view, size_t dim) {
    return view.strides[view.shape.rank - dim] == 1 || from_end(view, dim) == 1;
  }
};

/// Queries, keys and values: a value of the graph, and the nodes, by place, that would have moved
/// it, in their order.
struct Operand {
  uint32_t source = kNoValue;
  std::vector<size_t> views;
};
using Operands3 = std::array<Operand, 3>;

/// `writer` gives the place of a node that is not computed for a value, or the number of nodes.
template <typename Writer>
Operands3 operands_of(const Graph& graph, const Places& places, const Writer& writer) {
  const uint32_t* const of_scores = graph.nodes[places.scores].operands.inputs;
  const uint32_t values = graph.nodes[places.values].operands.inputs[1];
  Operands3 found;
  found[0].source = of_scores[0];
  found[1].source = of_scores[1];
  found[2].source = values;
  for (Operand& operand : found) {
    for (size_t place = writer(operand.source); place < graph.nodes.size();
         place = writer(operand.source)) {
      operand.views.insert(operand.views.begin(), place);
      operand.source = graph.nodes[place].operands.inputs[0];
    }
  }
  return found;
}

/// Of the last value of a step before its transpose, or of its result.
StridedView result_of(const Graph& graph, const Places& places, const Shapes& shapes) {
  if (places.transpose == places.end) {
    return StridedView::whole(shapes[graph.nodes[places.values].operands.output]);
  }
  const GraphNode& node = graph.nodes[places.transpose];
  const StridedView written = StridedView::whole(shapes[node.operands.output]);
  const auto& perm = *table_of<fb_xnnpack::XNNStaticTranspose>(*node.node).perm();
  StridedView view = StridedView::whole(shapes[node.operands.inputs[0]]);
  for (uint32_t dim = 0; dim < perm.size(); ++dim) {
    view.strides[perm.Get(dim)] = written.strides[dim];
  }
  return view;
}

/// False for what the kernel does not read or write.
bool describe(const Graph& graph, const Places& places, const Operands3& operands,
              const Shapes& shapes, AttentionProblem& p, std::array<int64_t, 3>& offsets) {
  Matrices m;
  StridedView* const views[] = {&m.query, &m.key, &m.value};
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!view_through(graph, operands[i].views, operands[i].source, shapes, *views[i])) {
      return false;
    }
    offsets[i] = views[i]->offset;
  }
  m.turn_keys(flags_of(graph.nodes[places.scores]) == 0);
  m.result = result_of(graph, places, shapes);
  return m.describe(p);
}

class Attention final : public OwnStep, private ScoreStep {
 public:
  Attention(const Definitions& definitions, const Segment& segment)
      : graph_(definitions.graph()),
        places_(graph_, segment.begin, segment.end),
        on_scores_(definitions, places_.scores, places_.softmax),
        on_result_(definitions, places_.values, places_.transpose) {
    operands_ = operands_of(graph_, places_, [&](uint32_t id) {
      const auto found =
          std::find_if(segment.views.begin(), segment.views.end(),
                       [&](size_t place) { return graph_.nodes[place].operands.output == id; });
      return found == segment.views.end() ? graph_.nodes.size() : *found;
    });
    for (size_t i = 0; i < operands_.size(); ++i) {
      const uint32_t id = operands_[i].source;
      constants_[i] = graph_.values[id].is_constant()
                          ? reinterpret_cast<const float*>(definitions.contents(id).bytes.data())
                          : nullptr;
    }
    for (const size_t place : operands_[0].views) {
      if (scales_values(graph_, graph_.nodes[place])) {
        const Contents& factor = definitions.contents(graph_.nodes[place].operands.inputs[1]);
        problem_.scale *= *reinterpret_cast<const float*>(factor.bytes.data());
      }
    }
    problem_.forbidden_is_nan = true;
    output_ = places_.transpose < places_.end ? graph_.nodes[places_.transpose].operands.output
                                              : on_result_.output();
  }

  Error reshape(const Shapes& shapes) override {
    ET_CHECK_OR_RETURN_ERROR(describe(graph_, places_, operands_, shapes, problem_, offsets_),
                             InvalidArgument,
                             "XNNPACK: queries, keys and values of these sizes do not go together");
    ET_CHECK_OK_OR_RETURN_ERROR(on_scores_.reshape(shapes));
    return on_result_.reshape(shapes);
  }

  Error run(const Addresses& addresses, MemoryAllocator& scratch) override {
    AttentionProblem p = problem_;
    AttentionRows* const rows[] = {&p.query, &p.key, &p.value};
    for (size_t i = 0; i < operands_.size(); ++i) {
      const auto* const data = constants_[i] != nullptr
                                   ? constants_[i]
                                   : static_cast<const float*>(addresses[operands_[i].source]);
      rows[i]->data = data + offsets_[i];
    }
    p.out.data = addresses[output_];
    p.step = on_scores_.bind(addresses) != nullptr ? this : nullptr;
    p.epilogue = on_result_.bind(addresses);
    KernelRuntimeContext context(nullptr, &scratch);
    return kernels::optimized::attend(context, p);
  }

 private:
  void apply(const kernels::optimized::Scores& s) const override {
    const int64_t first = (s.batch * problem_.heads + s.key_head) * problem_.queries;
    on_scores_.finish(
        {first + s.rows.begin, first + s.rows.end, s.keys.begin, s.keys.end, s.data, s.stride});
  }

  const Graph& graph_;
  const Places places_;
  FusedElementwise on_scores_, on_result_;
  Operands3 operands_;
  std::array<const float*, 3> constants_ = {};  // or null
  std::array<int64_t, 3> offsets_ = {};
  uint32_t output_;
  AttentionProblem problem_;
};

/// [batch, heads, rows, depth] and [batch, rows, heads, depth].
bool swaps_heads(const GraphNode& transpose) {
  constexpr uint32_t kOrder[] = {0, 2, 1, 3};
  const auto& perm = *table_of<fb_xnnpack::XNNStaticTranspose>(*transpose.node).perm();
  return std::equal(perm.begin(), perm.end(), std::begin(kOrder), std::end(kOrder));
}

bool suits(const Graph& graph, const GraphNode& node, const OwnChoice& choice) {
  return kOwnBatchMatmul.suits(graph, node, choice);
}

bool follows(const Graph& graph, const GraphNode& before, const GraphNode& node) {
  const Operands& operands = node.operands;
  if (is_kind(before, XNodeUnion::XNNStaticTranspose)) {
    return false;
  }
  switch (node.node->xnode_union_type()) {
    case XNodeUnion::XNNSoftmax:
      return node.table == nullptr && is_plain_float(graph, operands.output);
    case XNodeUnion::XNNBatchMatrixMultiply:
      return operands.inputs[0] == before.operands.output &&
             operands.inputs[1] != before.operands.output && flags_of(node) == 0 &&
             is_plain_float(graph, operands.inputs[1]) && is_plain_float(graph, operands.output);
    case XNodeUnion::XNNStaticTranspose:
      return is_data_movement(graph, node) && swaps_heads(node);
    default:
      return FusedElementwise::takes(graph, before, node);
  }
}

/// The nodes between two places: reshapes alone.
bool are_reshapes(const Graph& graph, size_t begin, size_t end) {
  return std::all_of(graph.nodes.begin() + static_cast<ptrdiff_t>(begin),
                     graph.nodes.begin() + static_cast<ptrdiff_t>(end), [](const GraphNode& node) {
                       return !node.is_needed || is_kind(node, XNodeUnion::XNNStaticReshape);
                     });
}

constexpr auto kNoWriter = [](uint32_t) { return SIZE_MAX; };

bool is_complete(const Graph& graph, size_t begin, size_t end) {
  const Places places(graph, begin, end);
  if (places.values == end ||
      find_kind(graph, places.softmax + 1, end, XNodeUnion::XNNSoftmax) != end ||
      find_kind(graph, places.values + 1, end, XNodeUnion::XNNBatchMatrixMultiply) != end ||
      find_kind(graph, begin, places.values, XNodeUnion::XNNStaticTranspose) != places.values ||
      !are_reshapes(graph, places.softmax + 1, places.values) || is_bounded(graph.nodes[begin]) ||
      is_bounded(graph.nodes[places.values])) {
    return false;
  }
  AttentionProblem unused;
  std::array<int64_t, 3> offsets;
  const Shape& scores = graph.shapes[graph.nodes[begin].operands.output];
  const Shape& weights = graph.shapes[graph.nodes[places.values].operands.inputs[0]];
  return scores.dims[scores.rank - 2] == weights.dims[weights.rank - 2] &&
         describe(graph, places, operands_of(graph, places, kNoWriter), graph.shapes, unused,
                  offsets);
}

/// Of each operand as many nodes as the kernel can do without, from the last one back.
std::vector<size_t> views_of(const Graph& graph, size_t begin, size_t end,
                             const std::function<size_t(uint32_t)>& writer) {
  const Places places(graph, begin, end);
  Operands3 operands = operands_of(graph, places, kNoWriter);
  const Operands3 all = operands_of(graph, places, writer);
  std::vector<size_t> found;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto is_taken = [&](size_t place) {
      const GraphNode& node = graph.nodes[place];
      return is_data_movement(graph, node) || (i == 0 && scales_values(graph, node));
    };
    const Operand whole = operands[i];
    const auto taken =
        std::find_if_not(all[i].views.rbegin(), all[i].views.rend(), is_taken).base();
    for (auto first = taken; first != all[i].views.end(); ++first) {
      operands[i] = {graph.nodes[*first].operands.inputs[0], {first, all[i].views.end()}};
      AttentionProblem unused;
      std::array<int64_t, 3> offsets;
      if (describe(graph, places, operands, graph.shapes, unused, offsets)) {
        break;
      }
      operands[i] = whole;
    }
    const auto& chosen = operands[i].views;
    if (std::all_of(chosen.begin(), chosen.end(), [&](size_t place) {
          return is_kind(graph.nodes[place], XNodeUnion::XNNStaticReshape);
        })) {
      operands[i] = whole;  // a view for any reader
    }
    found.insert(found.end(), operands[i].views.begin(), operands[i].views.end());
  }
  return found;
}

std::unique_ptr<OwnStep> make(const Definitions& definitions, const Segment& segment) {
  return std::make_unique<Attention>(definitions, segment);
}

}  // namespace

const OwnKind kOwnAttention = {"Attention (F32)",       suits,   follows,
                               /*runs_unpacked=*/false, make,    is_complete,
                               &kOwnBatchMatmul,        views_of};

}  // namespace executorch::backends::xnnpack
