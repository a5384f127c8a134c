// SPDX-License-Identifier: BSD-3-Clause
// Cuts where everything that lies across has memory of its own.
#include <executorch/backends/xnnpack/runtime/plan/own_step.h>
#include <executorch/backends/xnnpack/runtime/plan/segments.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;

namespace {

constexpr size_t kNever = std::numeric_limits<size_t>::max();

/// Of a value that a node writes.
struct Life {
  size_t written = kNever;  // by this node
  size_t last_read = 0;     // by this node
  size_t num_reads = 0;
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
      for_each_read(graph.nodes[place], [&](uint32_t id) {
        lives[id].last_read = place;
        ++lives[id].num_reads;
      });
    }
  }
  for (const External& external : graph.externals) {
    lives[external.value].is_argument = external.is_output;
  }
  return lives;
}

/// By place: whether the nodes before it and those from it on may be of two segments. Only kernels
/// of ours, `own`, write and read rows of int8.
std::vector<bool> places_to_cut(const Graph& graph, const std::vector<Life>& lives,
                                const std::vector<const OwnKind*>& own) {
  std::vector<bool> may_cut(graph.nodes.size() + 1, true);
  for (uint32_t id = 0; id < lives.size(); ++id) {
    const Value& value = graph.values[id];
    const bool is_rounded = value.is_widened && lives[id].is_argument;  // for the caller alone
    const bool are_own_rows = value.type() == XNNDatatype::xnn_datatype_qdint8 &&
                              lives[id].written != kNever && own[lives[id].written] != nullptr;
    if (lives[id].written != kNever && !are_own_rows &&
        (is_rounded || !has_memory_between(value))) {
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
  const GraphNode* before = &graph.nodes[begin];
  const auto is_between = [&](uint32_t id) {
    return lives[id].written != kNever && lives[id].written >= begin;
  };
  size_t end = begin + 1;
  size_t last_read = lives[before->operands.output].last_read;
  bool is_for_others = lives[before->operands.output].is_argument;
  size_t count = 0;
  for (size_t place = begin + 1; place < graph.nodes.size() && !is_for_others; ++place) {
    const GraphNode& node = graph.nodes[place];
    if (!node.is_needed) {
      continue;
    }
    bool reads_result = false;
    for_each_read(node, [&](uint32_t id) { reads_result = reads_result || is_between(id); });
    if (++count > kMaxFollowing || !reads_result || !kind.follows(graph, *before, node)) {
      break;
    }
    end = last_read <= place ? place + 1 : end;
    last_read = std::max(last_read, lives[node.operands.output].last_read);
    is_for_others = lives[node.operands.output].is_argument;
    before = &node;
  }
  return end;
}

struct OwnNodes {
  const OwnKind* kind = nullptr;
  size_t end = 0;
  std::vector<size_t> views = {};
};

/// What computes the node at `begin`, and to where.
OwnNodes own_nodes_at(const Graph& graph, const std::vector<Life>& lives, const OwnKind* kind,
                      size_t begin) {
  while (kind != nullptr) {
    const size_t end = end_of_own(graph, lives, *kind, begin);
    if (kind->is_complete == nullptr || kind->is_complete(graph, begin, end)) {
      return {kind, end};
    }
    kind = kind->otherwise;
  }
  return {};
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

class Cutter {
 public:
  Cutter(const Graph& graph, const std::vector<const OwnKind*>& own, size_t max_nodes)
      : graph_(graph),
        max_nodes_(max_nodes),
        lives_(lives_of(graph)),
        may_cut_(places_to_cut(graph, lives_, own)),
        own_(graph.nodes.size()),
        is_own_(graph.nodes.size()),
        is_viewed_(graph.nodes.size()) {
    for (size_t place = 0; place < own.size(); ++place) {
      if (graph.nodes[place].is_needed && own[place] != nullptr) {
        find_own(own[place], place);
        place = own_[place].kind != nullptr ? own_[place].end - 1 : place;
      }
    }
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (uint32_t id = 0; id < lives_.size(); ++id) {
        has_changed = keep_rows_together(id) || has_changed;
      }
    }
  }

  std::vector<Segment> cut() {
    for (size_t place = 0; place < graph_.nodes.size(); ++place) {
      if (!graph_.nodes[place].is_needed) {
        continue;
      }
      const OwnNodes& own = own_[place];
      const bool is_alone = own.kind != nullptr || is_viewed_[place];
      if (is_alone || (max_nodes_ > 0 && num_nodes_ >= max_nodes_ && may_cut_[place])) {
        add_rest(place);
      }
      if (is_alone || (num_nodes_ == 0 && is_view(place))) {
        add(place, own.kind != nullptr ? own.end : place + 1, own.kind, own.kind == nullptr);
        begin_ = segments_.back().end;
        place = begin_ - 1;
      } else {
        ++num_nodes_;
      }
    }
    add_rest(graph_.nodes.size());
    return std::move(segments_);
  }

 private:
  void find_own(const OwnKind* kind, size_t place) {
    const OwnNodes own = own_nodes_at(graph_, lives_, kind, place);
    if (own.kind == nullptr || !may_cut_[place] || !may_cut_[own.end]) {
      return;
    }
    own_[place] = own;
    has_own_ = true;
    std::fill(is_own_.begin() + static_cast<ptrdiff_t>(place),
              is_own_.begin() + static_cast<ptrdiff_t>(own.end), true);
    if (own.kind->views == nullptr) {
      return;
    }
    own_[place].views = own.kind->views(graph_, place, own.end, [&](uint32_t id) {
      const Life& life = lives_[id];
      const bool is_for_one = life.written != kNever && life.num_reads == 1 && !life.is_argument &&
                              !is_own_[life.written] && may_cut_[life.written] &&
                              may_cut_[life.written + 1];
      return is_for_one ? life.written : graph_.nodes.size();
    });
    for (const size_t viewed : own_[place].views) {
      is_viewed_[viewed] = true;
    }
  }

  /// Rows of int8 that XNNPACK writes or reads at one end lie within a segment of its own. Whether
  /// kernels of ours lost nodes for that.
  bool keep_rows_together(uint32_t id) {
    if (graph_.values[id].type() != XNNDatatype::xnn_datatype_qdint8 ||
        lives_[id].written == kNever) {
      return false;
    }
    std::vector<size_t> places = {lives_[id].written};
    for (size_t place = lives_[id].written + 1; place <= lives_[id].last_read; ++place) {
      bool reads = false;
      for_each_read(graph_.nodes[place], [&](uint32_t read) { reads = reads || read == id; });
      if (reads && graph_.nodes[place].is_needed) {
        places.push_back(place);
      }
    }
    if (std::all_of(places.begin(), places.end(),
                    [&](size_t place) { return own_[place].kind != nullptr; })) {
      return false;
    }
    bool has_changed = false;
    for (size_t place = places.front(); place <= places.back(); ++place) {
      has_changed = has_changed || own_[place].kind != nullptr;
      for (const size_t viewed : own_[place].views) {
        is_viewed_[viewed] = false;
      }
      own_[place] = {};
    }
    std::fill(may_cut_.begin() + static_cast<ptrdiff_t>(places.front()) + 1,
              may_cut_.begin() + static_cast<ptrdiff_t>(places.back()) + 1, false);
    return has_changed;
  }

  bool is_view(size_t place) const {
    return has_own_ && may_cut_[place] && may_cut_[place + 1] &&
           can_be_view(graph_, graph_.nodes[place]);
  }

  void add(size_t begin, size_t end, const OwnKind* kind, bool is_view) {
    segments_.push_back({begin, end, arguments_of(graph_, lives_, begin, end), kind, is_view,
                         std::move(own_[begin].views)});
  }

  /// From begin_ on; views at its end by themselves.
  void add_rest(size_t end) {
    size_t last = end;  // behind what is no view
    while (last > begin_ && (!graph_.nodes[last - 1].is_needed || is_view(last - 1))) {
      --last;
    }
    if (num_nodes_ > 0 && last > begin_) {
      add(begin_, last, nullptr, false);
    }
    for (size_t place = last; num_nodes_ > 0 && place < end; ++place) {
      if (graph_.nodes[place].is_needed) {
        add(place, place + 1, nullptr, true);
      }
    }
    begin_ = end;
    num_nodes_ = 0;
  }

  const Graph& graph_;
  const size_t max_nodes_;
  const std::vector<Life> lives_;
  std::vector<bool> may_cut_;
  std::vector<OwnNodes> own_;  // by the place of the first node
  bool has_own_ = false;
  std::vector<bool> is_own_;     // by place
  std::vector<bool> is_viewed_;  // by place: a step of ours does what the node would have done
  std::vector<Segment> segments_;
  size_t begin_ = 0;
  size_t num_nodes_ = 0;  // needed, from begin_ on
};

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
  return Cutter(graph, own, max_nodes).cut();
}

}  // namespace executorch::backends::xnnpack
