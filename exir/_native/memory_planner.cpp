// SPDX-License-Identifier: BSD-3-Clause
// Greedy arena planning. Each strategy is an order of the tensors and a way to choose among the
// gaps; no single one wins everywhere, all are cheap, so all are tried until one meets the lower
// bound. When none does, each order is improved for a bounded number of rounds.
#include <executorch/exir/_native/memory_planner.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

namespace executorch::exir {
namespace {

using Order = std::vector<size_t>;

bool alive_together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Copies with sizes rounded up, so that every offset made of their sums is aligned.
std::vector<Lifetime> aligned(const std::vector<Lifetime>& tensors, uint64_t alignment) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (alignment == 0 || alignment > kMax / 2) {
    throw std::invalid_argument("expected a positive alignment, found " +
                                std::to_string(alignment));
  }
  std::vector<Lifetime> result = tensors;
  uint64_t total = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    Lifetime& tensor = result[i];
    if (tensor.last < tensor.first) {
      throw std::invalid_argument("tensor " + std::to_string(i) + " ends before it begins");
    }
    if (tensor.size > kMax - alignment) {
      throw std::invalid_argument("tensor " + std::to_string(i) + " is larger than 2^63 bytes");
    }
    tensor.size = (tensor.size + alignment - 1) / alignment * alignment;
    if (tensor.size > kMax - total) {
      throw std::invalid_argument("the tensors add up to more than 2^63 bytes");
    }
    total += tensor.size;
  }
  return result;
}

template <typename Less>
Order sorted_by(size_t count, Less less) {
  Order order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

Order by_size(const std::vector<Lifetime>& t) {
  return sorted_by(t.size(), [&](size_t a, size_t b) {
    return t[a].size != t[b].size ? t[a].size > t[b].size : t[a].first < t[b].first;
  });
}

Order by_start(const std::vector<Lifetime>& t) {
  return sorted_by(t.size(), [&](size_t a, size_t b) {
    return t[a].first != t[b].first ? t[a].first < t[b].first : t[a].size > t[b].size;
  });
}

Order by_area(const std::vector<Lifetime>& t) {
  const auto area = [&](size_t i) {
    return static_cast<double>(t[i].size) * static_cast<double>(t[i].last - t[i].first + 1);
  };
  return sorted_by(t.size(), [&](size_t a, size_t b) { return area(a) > area(b); });
}

Order by_length(const std::vector<Lifetime>& t) {
  return sorted_by(t.size(), [&](size_t a, size_t b) {
    const int64_t la = t[a].last - t[a].first;
    const int64_t lb = t[b].last - t[b].first;
    return la != lb ? la > lb : t[a].size > t[b].size;
  });
}

/// Bytes alive at each step where something begins: step -> bytes.
std::map<int64_t, uint64_t> live_bytes(const std::vector<Lifetime>& tensors) {
  std::map<int64_t, int64_t> change;
  for (const Lifetime& tensor : tensors) {
    change[tensor.first] += static_cast<int64_t>(tensor.size);
    if (tensor.last < std::numeric_limits<int64_t>::max()) {
      change[tensor.last + 1] -= static_cast<int64_t>(tensor.size);
    }
  }
  std::map<int64_t, uint64_t> result;
  int64_t alive = 0;
  for (const auto& [step, bytes] : change) {
    alive += bytes;
    result[step] = static_cast<uint64_t>(alive);
  }
  return result;
}

/// The fullest steps first; at each, what is alive there, the largest first.
Order by_breadth(const std::vector<Lifetime>& t) {
  std::vector<std::pair<uint64_t, int64_t>> steps;
  for (const auto& [step, bytes] : live_bytes(t)) {
    steps.emplace_back(bytes, step);
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Order largest_first = by_size(t);
  Order order;
  for (const auto& [bytes, step] : steps) {
    Order rest;
    for (size_t i : largest_first) {
      (t[i].first <= step && step <= t[i].last ? order : rest).push_back(i);
    }
    largest_first.swap(rest);
    if (largest_first.empty()) {
      break;
    }
  }
  return order;
}

/// Unused bytes between placed tensors, or behind them up to `kOpen`.
struct Gap {
  uint64_t begin;
  uint64_t end;
};
constexpr uint64_t kOpen = std::numeric_limits<uint64_t>::max();

/// Chooses an offset for `size` bytes among the gaps in which they fit; the last of these is open.
using Choice = uint64_t (*)(const std::vector<Gap>& gaps, uint64_t size, uint64_t bound,
                            size_t turn);

uint64_t lowest(const std::vector<Gap>& gaps, uint64_t, uint64_t, size_t) {
  return gaps.front().begin;
}

uint64_t tightest(const std::vector<Gap>& gaps, uint64_t, uint64_t, size_t) {
  return std::min_element(
             gaps.begin(), gaps.end(),
             [](const Gap& a, const Gap& b) { return a.end - a.begin < b.end - b.begin; })
      ->begin;
}

/// The two ends of an arena of `bound` bytes by turns: of a chain, where only neighbours live
/// together, any two fit.
uint64_t either_end(const std::vector<Gap>& gaps, uint64_t size, uint64_t bound, size_t turn) {
  const Gap& last = gaps.back();
  const bool at_end = turn % 2 == 1 && bound >= size && last.begin <= bound - size;
  return at_end ? bound - size : gaps.front().begin;
}

/// Places the tensors in the given order, each into a gap between those already placed that live
/// with it.
ArenaPlan place(const std::vector<Lifetime>& tensors, const Order& order, Choice choose,
                uint64_t bound) {
  ArenaPlan plan;
  plan.offsets.assign(tensors.size(), 0);
  plan.objects.resize(tensors.size());
  std::iota(plan.objects.begin(), plan.objects.end(), int64_t{0});
  Order placed;  // by offset
  std::vector<Gap> gaps;
  for (size_t turn = 0; turn < order.size(); ++turn) {
    const size_t i = order[turn];
    uint64_t begin = 0;
    gaps.clear();
    for (size_t other : placed) {
      if (!alive_together(tensors[i], tensors[other])) {
        continue;
      }
      const uint64_t end = plan.offsets[other];
      if (end >= begin && end - begin >= tensors[i].size) {
        gaps.push_back({begin, end});
      }
      begin = std::max(begin, end + tensors[other].size);
    }
    gaps.push_back({begin, kOpen});
    plan.offsets[i] = choose(gaps, tensors[i].size, bound, turn);
    plan.size = std::max(plan.size, plan.offsets[i] + tensors[i].size);
    const auto position =
        std::upper_bound(placed.begin(), placed.end(), plan.offsets[i],
                         [&](uint64_t offset, size_t b) { return offset < plan.offsets[b]; });
    placed.insert(position, i);
  }
  return plan;
}

/// Squeaky wheel: what lies at the top of a plan comes first in the next one, a bounded number of
/// times; the best plan counts.
void improve(const std::vector<Lifetime>& tensors, Order order, Choice choose, uint64_t bound,
             ArenaPlan& best) {
  constexpr size_t kMaxRounds = 200;
  constexpr size_t kMaxSteps = 4000000;  // pairs of tensors looked at, about 20 milliseconds
  const size_t pairs = std::max<size_t>(tensors.size() * tensors.size(), 1);
  const size_t rounds = std::min(kMaxRounds, kMaxSteps / pairs);
  for (size_t round = 0; round < rounds && best.size > bound; ++round) {
    ArenaPlan plan = place(tensors, order, choose, bound);
    std::stable_partition(order.begin(), order.end(),
                          [&](size_t i) { return plan.offsets[i] + tensors[i].size == plan.size; });
    if (plan.size < best.size) {
      best = std::move(plan);
    }
  }
}

/// A stretch of the arena that tensors take in turns.
struct Stretch {
  uint64_t size;
  Order users;
};

/// Gives each tensor, largest first, the free stretch of the closest size, or a new one; stretches
/// lie in a row.
ArenaPlan take_turns(const std::vector<Lifetime>& tensors) {
  ArenaPlan plan;
  plan.offsets.resize(tensors.size());
  plan.objects.resize(tensors.size());
  std::vector<Stretch> stretches;
  for (size_t i : by_size(tensors)) {
    Stretch* best = nullptr;
    for (Stretch& stretch : stretches) {
      const bool free = std::none_of(stretch.users.begin(), stretch.users.end(), [&](size_t other) {
        return alive_together(tensors[i], tensors[other]);
      });
      if (free && (best == nullptr || stretch.size < best->size)) {
        best = &stretch;
      }
    }
    if (best == nullptr) {
      best = &stretches.emplace_back(Stretch{tensors[i].size, {}});
    }
    best->users.push_back(i);
  }
  for (size_t number = 0; number < stretches.size(); ++number) {
    for (size_t i : stretches[number].users) {
      plan.offsets[i] = plan.size;
      plan.objects[i] = static_cast<int64_t>(number);
    }
    plan.size += stretches[number].size;
  }
  return plan;
}

}  // namespace

uint64_t lower_bound(const std::vector<Lifetime>& tensors, uint64_t alignment) {
  uint64_t most = 0;
  for (const auto& [step, bytes] : live_bytes(aligned(tensors, alignment))) {
    most = std::max(most, bytes);
  }
  return most;
}

ArenaPlan plan_arena(const std::vector<Lifetime>& tensors, uint64_t alignment,
                     bool share_stretches) {
  const std::vector<Lifetime> sized = aligned(tensors, alignment);
  ArenaPlan best = take_turns(sized);
  if (!share_stretches) {
    return best;
  }
  const uint64_t bound = lower_bound(sized, alignment);
  const std::pair<Order (*)(const std::vector<Lifetime>&), Choice> strategies[] = {
      {by_breadth, tightest}, {by_breadth, lowest}, {by_size, tightest},    {by_size, lowest},
      {by_area, tightest},    {by_area, lowest},    {by_length, tightest},  {by_length, lowest},
      {by_start, tightest},   {by_start, lowest},   {by_start, either_end},
  };
  for (const auto& [order_of, choose] : strategies) {
    if (best.size == bound) {
      break;
    }
    ArenaPlan plan = place(sized, order_of(sized), choose, bound);
    if (plan.size < best.size) {
      best = std::move(plan);
    }
  }
  for (const auto& [order_of, choose] : strategies) {
    improve(sized, order_of(sized), choose, bound, best);
  }
  return best;
}

ArenaPlan plan_linear(const std::vector<Lifetime>& tensors, uint64_t alignment) {
  ArenaPlan plan;
  for (const Lifetime& tensor : aligned(tensors, alignment)) {
    plan.objects.push_back(static_cast<int64_t>(plan.offsets.size()));
    plan.offsets.push_back(plan.size);
    plan.size += tensor.size;
  }
  return plan;
}

}  // namespace executorch::exir
