// SPDX-License-Identifier: BSD-3-Clause
// Sorting along a dimension: all elements, or the first k of them, with their positions.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/portable/loops/temporary.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <tuple>
#include <type_traits>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

template <typename C>
struct Ranked {
  C value;
  int64_t index;
};

// NaN ranks above all numbers; equal values keep their order.
template <typename C>
bool ranks_before(const Ranked<C>& a, const Ranked<C>& b, bool largest) {
  const bool a_nan = a.value != a.value;
  const bool b_nan = b.value != b.value;
  if (a_nan != b_nan) {
    return largest ? a_nan : b_nan;
  }
  if (!a_nan && a.value != b.value) {
    return largest ? a.value > b.value : a.value < b.value;
  }
  return a.index < b.index;
}

// best_of_line() for a small k: the best so far are in order.
template <typename C, typename At, typename Before>
void few_best_of_line(const At& at, int64_t n, int64_t k, bool largest, const Before& before,
                      Ranked<C>* best) {
  int64_t known = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (known == k) {
      // Nearly all values are passed over here; equal ones come too late.
      const C worst = best[k - 1].value;
      if (largest) {
        for (; i < n && at(i) <= worst; ++i) {
        }
      } else {
        for (; i < n && at(i) >= worst; ++i) {
        }
      }
      if (i == n) {
        return;
      }
    }
    const Ranked<C> candidate{at(i), i};
    if (known == k && !before(candidate, best[k - 1])) {
      continue;
    }
    int64_t place = known < k ? known++ : k - 1;
    for (; place > 0 && before(candidate, best[place - 1]); --place) {
      best[place] = best[place - 1];
    }
    best[place] = candidate;
  }
}

// The first k in rank of the n values at(0) ... at(n - 1), best first. The best so far are a heap
// with the worst of them on top, so that nearly every value is passed over after one comparison. 0
// < k <= n.
template <typename C, typename At>
void best_of_line(const At& at, int64_t n, int64_t k, bool largest, Ranked<C>* best) {
  const auto before = [largest](const Ranked<C>& a, const Ranked<C>& b) {
    return ranks_before(a, b, largest);
  };
  constexpr int64_t kFew = 16;
  if (k <= kFew) {
    return few_best_of_line(at, n, k, largest, before, best);
  }
  for (int64_t i = 0; i < k; ++i) {
    best[i] = {at(i), i};
  }
  std::make_heap(best, best + k, before);
  for (int64_t i = k; i < n; ++i) {
    const Ranked<C> candidate{at(i), i};
    const C worst = best[0].value;
    if ((largest ? candidate.value <= worst : candidate.value >= worst) ||
        !before(candidate, best[0])) {
      continue;
    }
    std::pop_heap(best, best + k, before);
    best[k - 1] = candidate;
    std::push_heap(best, best + k, before);
  }
  std::sort_heap(best, best + k, before);
}

// What sorts like a number when read as an unsigned one: NaN last, both zeros alike.
inline uint32_t sort_key(float value) {
  uint32_t bits;
  value = value == 0 ? 0.0f : value;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t key = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
  return value != value ? UINT32_MAX : key;
}

// All n values in rank, when key and index fit one number: such numbers are compared without
// branches. `keys` has room for n.
template <typename At>
void sort_line(const At& at, int64_t n, bool largest, uint64_t* keys) {
  const uint32_t flip = largest ? UINT32_MAX : 0;
  for (int64_t i = 0; i < n; ++i) {
    keys[i] = uint64_t{sort_key(at(i)) ^ flip} << 32 | static_cast<uint64_t>(i);
  }
  std::sort(keys, keys + n);
}

// The order of one line: the first `k` of all its elements.
struct Order {
  int64_t dim;
  int64_t k;
  bool largest;
};

template <typename C>
void sort_lines(const OpCall& call, const Tensor& self, const Order& order, Tensor& values,
                Tensor& indices) {
  const StridedView from = StridedView::of(self).ndim == 0 ? StridedView::of(self).inserted(0, 1, 1)
                                                           : StridedView::of(self);
  const StridedView to = from.ndim == values.dim() ? StridedView::of(values)
                                                   : StridedView::of(values).inserted(0, 1, 1);
  const StridedView positions = from.ndim == indices.dim()
                                    ? StridedView::of(indices)
                                    : StridedView::of(indices).inserted(0, 1, 1);
  const int d = static_cast<int>(order.dim);
  const int64_t size = from.sizes[d];
  const StridedView lines = from.selected(d, 0);
  const int64_t threads = ::executorch::extension::get_num_threads();
  constexpr size_t kLine = 64;  // threads share no cache line
  const size_t share =
      (static_cast<size_t>(order.k) * sizeof(Ranked<C>) + kLine - 1) / kLine * kLine;
  const size_t bytes = static_cast<size_t>(threads) * share;
  Temporary temporary;
  char* const memory = static_cast<char*>(temporary.allocate(call, bytes, kLine));
  if (memory == nullptr) {
    return;
  }
  const StridedReader<C> reader(self);
  const StridedWriter<C> writer(values);
  const StridedView value_lines = to.selected(d, 0);
  const StridedView index_lines = positions.selected(d, 0);
  int64_t* const index_data = indices.mutable_data_ptr<int64_t>();
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / size);
  ::executorch::extension::parallel_for(0, lines.numel(), grain, [&](int64_t first, int64_t last) {
    char* const own =
        memory + static_cast<size_t>(::executorch::extension::get_thread_num()) * share;
    auto* const best = reinterpret_cast<Ranked<C>*>(own);
    Odometer<3> odometer(lines.ndim, lines.sizes);
    odometer.set_strides(0, lines.strides);
    odometer.set_strides(1, value_lines.strides);
    odometer.set_strides(2, index_lines.strides);
    odometer.seek(first);
    for (int64_t line = first; line < last; ++line, odometer.next()) {
      const int64_t start = odometer.offset(0);
      const int64_t step = from.strides[d];
      if constexpr (std::is_same_v<C, float>) {
        if (order.k == size) {
          auto* const keys = reinterpret_cast<uint64_t*>(own);
          const auto value_at = [&](int64_t i) { return reader.at(start + i * step); };
          sort_line(value_at, size, order.largest, keys);
          for (int64_t i = 0; i < size; ++i) {
            const auto index = static_cast<int64_t>(keys[i] & UINT32_MAX);
            writer.put(odometer.offset(1) + i * to.strides[d], value_at(index));
            index_data[odometer.offset(2) + i * positions.strides[d]] = index;
          }
          continue;
        }
      }
      if (const C* const values_of_line = reader.direct(start)) {
        best_of_line([=](int64_t i) { return values_of_line[i * step]; }, size, order.k,
                     order.largest, best);
      } else {
        best_of_line([&](int64_t i) { return reader.at(start + i * step); }, size, order.k,
                     order.largest, best);
      }
      for (int64_t i = 0; i < order.k; ++i) {
        writer.put(odometer.offset(1) + i * to.strides[d], best[i].value);
        index_data[odometer.offset(2) + i * positions.strides[d]] = best[i].index;
      }
    }
  });
}

// `k` absent: all elements of the dimension.
void sort(const OpCall& call, const Tensor& self, int64_t dim, std::optional<int64_t> k,
          bool largest, Tensor& values, Tensor& indices) {
  if (!check_computable(call, "self", self) || !normalize_dim(call, "dim", self.dim(), dim) ||
      !check_same_dtype(call, "values", values, "self", self) ||
      !check_dtype(call, "indices", indices, ScalarType::Long)) {
    return;
  }
  Shape shape(self);
  const int64_t size = shape.ndim == 0 ? 1 : shape[static_cast<int>(dim)];
  Order order{dim, k.value_or(size), largest};
  ET_KERNEL_CHECK_MSG(call.ctx, order.k >= 0 && order.k <= size, InvalidArgument, ,
                      "%s: expected k in [0, %" PRId64 "], found %" PRId64, call.op, size,
                      static_cast<int64_t>(order.k));
  if (shape.ndim > 0) {
    shape.sizes[dim] = order.k;
  } else {
    order.k = 1;  // a scalar's first 0 are the scalar, as in eager
  }
  if (!resize_output(call, values, shape) || !resize_output(call, indices, shape) ||
      values.numel() == 0) {
    return;
  }
  with_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    sort_lines<decltype(zero)>(call, self, order, values, indices);
  });
}

}  // namespace

std::tuple<Tensor&, Tensor&> topk_values(KernelRuntimeContext& ctx, const Tensor& self, int64_t k,
                                         int64_t dim, bool largest, bool sorted, Tensor& values,
                                         Tensor& indices) {
  (void)sorted;  // a sorted result is a valid unsorted one
  sort({ctx, "topk.values"}, self, dim, k, largest, values, indices);
  return {values, indices};
}

std::tuple<Tensor&, Tensor&> sort_values(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                                         bool descending, Tensor& values, Tensor& indices) {
  sort({ctx, "sort.values"}, self, dim, std::nullopt, descending, values, indices);
  return {values, indices};
}

std::tuple<Tensor&, Tensor&> sort_values_stable(KernelRuntimeContext& ctx, const Tensor& self,
                                                std::optional<bool> stable, int64_t dim,
                                                bool descending, Tensor& values, Tensor& indices) {
  (void)stable;  // equal values always keep their order
  sort({ctx, "sort.values_stable"}, self, dim, std::nullopt, descending, values, indices);
  return {values, indices};
}

}  // namespace torch::executor::native
