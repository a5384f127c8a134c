// SPDX-License-Identifier: BSD-3-Clause
// Greedy arena planning. Each strategy is an order of the tensors and a way to choose among the gaps; no single one
// wins everywhere, all are cheap, so all are tried until one meets the lower bound.
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
    throw std::invalid_argument("expected a positive alignment, found " + std::to_string(alignment));
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
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
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

/// Puts each tensor into a gap between those already placed that live with it: the tightest gap, or the lowest.
ArenaPlan place(const std::vector<Lifetime>& tensors, const Order& order, bool tightest) {
  ArenaPlan plan;
  plan.offsets.assign(tensors.size(), 0);
  plan.objects.resize(tensors.size());
  std::iota(plan.objects.begin(), plan.objects.end(), int64_t{0});
  Order placed; // by offset
  for (size_t i : order) {
    uint64_t end_of_previous = 0;
    uint64_t best_gap = std::numeric_limits<uint64_t>::max();
    uint64_t best_offset = 0;
    bool found = false;
    for (size_t other : placed) {
      if (!alive_together(tensors[i], tensors[other])) {
        continue;
      }
      if (plan.offsets[other] >= end_of_previous) {
        const uint64_t gap = plan.offsets[other] - end_of_previous;
        if (gap >= tensors[i].size && gap < best_gap) {
          best_gap = gap;
          best_offset = end_of_previous;
          found = true;
          if (!tightest) {
            break;
          }
        }
      }
      end_of_previous = std::max(end_of_previous, plan.offsets[other] + tensors[other].size);
    }
    plan.offsets[i] = found ? best_offset : end_of_previous;
    plan.size = std::max(plan.size, plan.offsets[i] + tensors[i].size);
    const auto position = std::upper_bound(placed.begin(), placed.end(), plan.offsets[i], [&](uint64_t offset, size_t b) {
      return offset < plan.offsets[b];
    });
    placed.insert(position, i);
  }
  return plan;
}

/// A stretch of the arena that tensors take in turns.
struct Stretch {
  uint64_t size;
  Order users;
};

/// Gives each tensor, largest first, the free stretch of the closest size, or a new one; stretches lie in a row.
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

} // namespace

uint64_t lower_bound(const std::vector<Lifetime>& tensors, uint64_t alignment) {
  uint64_t most = 0;
  for (const auto& [step, bytes] : live_bytes(aligned(tensors, alignment))) {
    most = std::max(most, bytes);
  }
  return most;
}

ArenaPlan plan_arena(const std::vector<Lifetime>& tensors, uint64_t alignment, bool share_stretches) {
  const std::vector<Lifetime> sized = aligned(tensors, alignment);
  ArenaPlan best = take_turns(sized);
  if (!share_stretches) {
    return best;
  }
  const uint64_t bound = lower_bound(sized, alignment);
  for (const auto& order_of : {by_breadth, by_size, by_area, by_length, by_start}) {
    const Order order = order_of(sized);
    for (bool tightest : {true, false}) {
      if (best.size == bound) {
        return best;
      }
      ArenaPlan plan = place(sized, order, tightest);
      if (plan.size < best.size) {
        best = std::move(plan);
      }
    }
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

} // namespace executorch::exir
