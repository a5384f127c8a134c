// SPDX-License-Identifier: BSD-3-Clause
// Cuts where everything that lies across has memory of its own.
#include <executorch/backends/xnnpack/runtime/plan/own_step.h>
#include <executorch/backends/xnnpack/runtime/plan/segments.h>

#include <algorithm>
#include <limits>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;

namespace {

constexpr size_t kNever = std::numeric_limits<size_t>::max();

/// Of a value that a node writes.
struct Life {
  size_t written = kNever;   // by this node
  size_t last_read = 0;      // by this node
  bool is_argument = false;  // an output of the delegate
};

bool has_memory_between(const Value& value) {
  switch (value.type()) {
    case XNNDatatype::xnn_datatype_fp32:
    case XNNDatatype::xnn_datatype_fp16:
    case XNNDatatype::xnn_datatype_qint8:
    case XNNDatatype::xnn_datatype_quint8:
      return true;
    default:
      return false;
  }
}

std::vector<Life> lives_of(const Graph& graph) {
  std::vector<Life> lives(graph.values.size());
  for (size_t place = 0; place < graph.nodes.size(); ++place) {
    if (graph.nodes[place].is_needed) {
      lives[graph.nodes[place].operands.output].written = place;
      for_each_read(graph.nodes[place], [&](uint32_t id) { lives[id].last_read = place; });
    }
  }
  for (const External& external : graph.externals) {
    lives[external.value].is_argument = external.is_output;
  }
  return lives;
}

/// By place: whether the nodes before it and those from it on may be of two segments.
std::vector<bool> places_to_cut(const Graph& graph, const std::vector<Life>& lives) {
  std::vector<bool> may_cut(graph.nodes.size() + 1, true);
  for (uint32_t id = 0; id < lives.size(); ++id) {
    const Value& value = graph.values[id];
    const bool is_rounded = value.is_widened && lives[id].is_argument;  // for the caller alone
    if (lives[id].written != kNever && (is_rounded || !has_memory_between(value))) {
      for (size_t place = lives[id].written + 1; place <= lives[id].last_read; ++place) {
        may_cut[place] = false;
      }
    }
  }
  return may_cut;
}

/// The end of what the kernel of the node at `begin` computes: nodes that follow, as many as leave
/// nothing of what lies between to others.
size_t end_of_own(const Graph& graph, const std::vector<Life>& lives, const OwnKind& kind,
                  size_t begin) {
  const uint32_t result = graph.nodes[begin].operands.output;
  const auto is_between = [&](uint32_t id) {
    return lives[id].written != kNever && lives[id].written >= begin;
  };
  size_t end = begin + 1;
  size_t last_read = lives[result].last_read;
  bool is_for_others = lives[result].is_argument;
  size_t count = 0;
  for (size_t place = begin + 1; place < graph.nodes.size() && !is_for_others; ++place) {
    const GraphNode& node = graph.nodes[place];
    if (!node.is_needed) {
      continue;
    }
    bool reads_result = false;
    for_each_read(node, [&](uint32_t id) { reads_result = reads_result || is_between(id); });
    if (++count > kMaxFollowing || !reads_result || !kind.follows(graph, result, node)) {
      break;
    }
    end = last_read <= place ? place + 1 : end;
    last_read = std::max(last_read, lives[node.operands.output].last_read);
    is_for_others = lives[node.operands.output].is_argument;
  }
  return end;
}

std::vector<SegmentArgument> arguments_of(const Graph& graph, const std::vector<Life>& lives,
                                          size_t begin, size_t end) {
  std::vector<SegmentArgument> arguments;
  std::vector<bool> is_read(lives.size());
  for (size_t place = begin; place < end; ++place) {
    if (!graph.nodes[place].is_needed) {
      continue;
    }
    for_each_read(graph.nodes[place], [&](uint32_t id) {
      const bool is_inside = lives[id].written != kNever && lives[id].written >= begin;
      if (!graph.values[id].is_constant() && !is_inside && !is_read[id]) {
        is_read[id] = true;
        arguments.push_back({id, false});
      }
    });
    const uint32_t output = graph.nodes[place].operands.output;
    if (lives[output].is_argument || lives[output].last_read >= end) {
      arguments.push_back({output, true});
    }
  }
  return arguments;
}

/// Whether a segment of this node alone may be a view.
bool can_be_view(const Graph& graph, const GraphNode& node) {
  const Operands& operands = node.operands;
  const uint32_t input = operands.inputs[0];
  return node.node->xnode_union_type() == fb_xnnpack::XNodeUnion::XNNStaticReshape &&
         node.table == nullptr && !graph.values[input].is_constant() &&
         !graph.is_converted(input) &&
         std::none_of(graph.externals.begin(), graph.externals.end(),
                      [&](const External& external) { return external.value == operands.output; });
}

}  // namespace

Segment whole_graph(const Graph& graph) {
  Segment segment{0, graph.nodes.size(), {}};
  for (const External& external : graph.externals) {
    segment.arguments.push_back({external.value, external.is_output});
  }
  return segment;
}

std::vector<Segment> cut_into_segments(const Graph& graph, const std::vector<const OwnKind*>& own,
                                       size_t max_nodes) {
  const bool has_own =
      std::any_of(own.begin(), own.end(), [](auto* kind) { return kind != nullptr; });
  if (max_nodes == 0 && !has_own) {
    return {whole_graph(graph)};
  }
  const std::vector<Life> lives = lives_of(graph);
  const std::vector<bool> may_cut = places_to_cut(graph, lives);
  std::vector<Segment> segments;
  const auto add = [&](size_t begin, size_t end, const OwnKind* kind, bool is_view) {
    segments.push_back({begin, end, arguments_of(graph, lives, begin, end), kind, is_view});
  };
  const auto is_view = [&](size_t place) {
    return has_own && may_cut[place] && may_cut[place + 1] &&
           can_be_view(graph, graph.nodes[place]);
  };
  const auto add_rest = [&](size_t begin, size_t end) {
    size_t last = end;  // behind what is no view
    while (last > begin && (!graph.nodes[last - 1].is_needed || is_view(last - 1))) {
      --last;
    }
    if (last > begin) {
      add(begin, last, nullptr, false);
    }
    for (size_t place = last; place < end; ++place) {
      if (graph.nodes[place].is_needed) {
        add(place, place + 1, nullptr, true);
      }
    }
  };
  size_t begin = 0;
  size_t num_nodes = 0;  // needed, from `begin` on
  for (size_t place = 0; place < graph.nodes.size(); ++place) {
    if (!graph.nodes[place].is_needed) {
      continue;
    }
    const OwnKind* const kind = place < own.size() ? own[place] : nullptr;
    const size_t end = kind == nullptr ? place + 1 : end_of_own(graph, lives, *kind, place);
    const bool is_own = kind != nullptr && may_cut[place] && may_cut[end];
    if (num_nodes > 0 && (is_own || (max_nodes > 0 && num_nodes >= max_nodes && may_cut[place]))) {
      add_rest(begin, place);
      begin = place;
      num_nodes = 0;
    }
    if (is_own || (num_nodes == 0 && is_view(place))) {
      add(place, end, is_own ? kind : nullptr, !is_own);
      begin = end;
      place = end - 1;
    } else {
      ++num_nodes;
    }
  }
  if (num_nodes > 0) {
    add_rest(begin, graph.nodes.size());
  }
  return segments;
}

}  // namespace executorch::backends::xnnpack
