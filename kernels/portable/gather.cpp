// SPDX-License-Identifier: BSD-3-Clause
// Element-wise gathering and scattering along a dimension, and operators whose result's size
// depends on the data.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/binary.h>
#include <executorch/kernels/portable/loops/columns.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/portable/loops/temporary.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>

#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// A 0-dim tensor is treated as one of one dimension.
StridedView at_least_1d(const Tensor& tensor) {
  const StridedView view = StridedView::of(tensor);
  return view.ndim == 0 ? view.inserted(0, 1, 1) : view;
}

// `index` has the rank of the others and is nowhere larger, but along `dim`.
bool check_index(const OpCall& call, const Tensor& index, const StridedView& at,
                 const StridedView& other, int dim, bool whole) {
  const ScalarType type = index.scalar_type();
  ET_KERNEL_CHECK_MSG(call.ctx, type == ScalarType::Long || type == ScalarType::Int,
                      InvalidArgument, false, "%s: expected index to be Long or Int, found %s",
                      call.op, ::executorch::runtime::toString(type));
  if (index.numel() == 0) {
    return true;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, at.ndim == other.ndim, InvalidArgument, false,
                      "%s: expected %d dims for index, found %d", call.op, other.ndim, at.ndim);
  for (int d = 0; d < at.ndim; ++d) {
    ET_KERNEL_CHECK_MSG(
        call.ctx, at.sizes[d] <= other.sizes[d] || (d == dim && !whole), InvalidArgument, false,
        "%s: expected a smaller index, found size %" PRId64 " at dimension %d of at most %" PRId64,
        call.op, static_cast<int64_t>(at.sizes[d]), d, static_cast<int64_t>(other.sizes[d]));
  }
  return true;
}

// Whether two lines of the index may be visited at once.
enum class Lines { kInOrder, kInParallel };

// Calls run(positions, distance of two of them, first of them in the line, count) for the parts of
// a line of indices; 32-bit ones are widened a chunk at a time. False as soon as run gives false.
template <typename Run>
bool for_each_part(const Tensor& index, const StridedView& at, int64_t offset, int64_t length,
                   const Run& run) {
  const int64_t step = at.strides[at.ndim - 1];
  if (index.scalar_type() == ScalarType::Long) {
    return run(reinterpret_cast<const int64_t*>(at.data) + offset, step, 0, length);
  }
  const int32_t* const narrow = reinterpret_cast<const int32_t*>(at.data) + offset;
  int64_t wide[kChunk];
  for (int64_t first = 0; first < length; first += kChunk) {
    const int64_t count = std::min(kChunk, length - first);
    for (int64_t i = 0; i < count; ++i) {
      wide[i] = narrow[(first + i) * step];
    }
    if (!run(wide, 1, first, count)) {
      return false;
    }
  }
  return true;
}

// Whether all of position(0..count) lie in [0, size): the sign of either term below says that one
// does not, without a comparison for each.
template <typename Position>
bool are_within(int64_t size, int64_t count, const Position& position) {
  uint64_t signs = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint64_t>(position(i));
    signs |= at | (static_cast<uint64_t>(size) - 1 - at);
  }
  return static_cast<int64_t>(signs) >= 0;
}

// Calls visit(offset in `target` of the indexed element, offset in `other` at the index's own
// place).
template <typename Visit>
bool for_each_index(const OpCall& call, Lines order, const Tensor& index, const StridedView& at,
                    const StridedView& target, const StridedView& other, int dim,
                    const Visit& visit) {
  const int64_t size = target.sizes[dim];
  const int64_t stride = target.strides[dim];
  StridedView stepped = target;
  stepped.strides[dim] = 0;
  const int inner = at.ndim - 1;
  const int64_t length = at.sizes[inner];
  if (index.numel() == 0) {
    return true;
  }
  std::atomic<int> is_wrong{0};  // a word: gcc calls a library for bytes of RISC-V
  int64_t wrong = 0;  // one of the indices out of range: of the thread that sets is_wrong
  const int64_t from_step = stepped.strides[inner];
  const int64_t to_step = other.strides[inner];
  const bool dense = dim == inner && stride == 1 && to_step == 1;
  // Copies of what the loop reads: the compiler need not reload them after each store.
  const auto run_part = [&, from_step, to_step, size, stride, dense, visit](
                            const int64_t* positions, int64_t step, int64_t from, int64_t to,
                            int64_t count) {
    // Spelled twice: the compiler makes vectors of neighbours only.
    const bool in_range =
        step == 1 ? are_within(size, count, [&](int64_t i) { return positions[i]; })
                  : are_within(size, count, [&](int64_t i) { return positions[i * step]; });
    if (!in_range) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t position = positions[i * step];
        if ((position < 0 || position >= size) && is_wrong.exchange(1) == 0) {
          wrong = position;
        }
      }
      return false;
    }
    if (dense && step == 1) {
      for (int64_t i = 0; i < count; ++i) {
        visit(from + positions[i], to + i);
      }
      return true;
    }
    for (int64_t i = 0; i < count; ++i) {
      visit(from + i * from_step + positions[i * step] * stride, to + i * to_step);
    }
    return true;
  };
  // Columns [begin, end) of lines [first, last).
  const auto run = [&](int64_t first, int64_t last, int64_t begin, int64_t end) {
    Odometer<3> odometer(inner, at.sizes);
    odometer.set_strides(0, at.strides);
    odometer.set_strides(1, stepped.strides);
    odometer.set_strides(2, other.strides);
    odometer.seek(first);
    for (int64_t line = first; line < last; ++line, odometer.next()) {
      const bool done = for_each_part(
          index, at, odometer.offset(0) + begin * at.strides[inner], end - begin,
          [&](const int64_t* positions, int64_t step, int64_t from, int64_t count) {
            return run_part(positions, step, odometer.offset(1) + (begin + from) * from_step,
                            odometer.offset(2) + (begin + from) * to_step, count);
          });
      if (!done) {
        return;
      }
    }
  };
  const int64_t lines = index.numel() / length;
  if (order == Lines::kInParallel) {
    ::executorch::extension::parallel_for(
        0, lines, std::max<int64_t>(1, kThreadGrain / length),
        [&](int64_t first, int64_t last) { run(first, last, 0, length); });
  } else if (dim != inner) {
    parallel_for_columns(length, lines,
                         [&](int64_t begin, int64_t end) { run(0, lines, begin, end); });
  } else {
    run(0, lines, 0, length);
  }
  ET_KERNEL_CHECK_MSG(call.ctx, is_wrong.load() == 0, InvalidArgument, false,
                      "%s: expected index to be in [0, %" PRId64 "), found %" PRId64, call.op, size,
                      wrong);
  return true;
}

bool start_from_self(const OpCall& call, const Tensor& self, Tensor& out) {
  return check_same_dtype(call, "out", out, "self", self) &&
         resize_output(call, out, Shape(self)) && copy_converted(call, self, out);
}

}  // namespace

Tensor& gather_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, const Tensor& index,
                   bool sparse_grad, Tensor& out) {
  (void)sparse_grad;  // about gradients only
  const OpCall call{ctx, "gather.out"};
  if (!normalize_dim(call, "dim", self.dim(), dim) ||
      !check_same_dtype(call, "out", out, "self", self)) {
    return out;
  }
  const StridedView from = at_least_1d(self);
  const StridedView at = at_least_1d(index);
  if (!check_index(call, index, at, from, static_cast<int>(dim), /*whole=*/false) ||
      !resize_output(call, out, Shape(index))) {
    return out;
  }
  const StridedView to = at_least_1d(out);
  ::executorch::runtime::dispatch_by_element_size(self.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const source = reinterpret_cast<const T*>(from.data);
    T* const target = reinterpret_cast<T*>(to.data);
    for_each_index(call, Lines::kInParallel, index, at, from, to, static_cast<int>(dim),
                   [=](int64_t i, int64_t k) { target[k] = source[i]; });
  });
  return out;
}

namespace {

// Calls put(indexed element of out, element of src) for all indices; T is the type of an element,
// or char for any.
template <typename T, typename Put>
Tensor& scatter(const OpCall& call, const Tensor& self, int64_t dim, const Tensor& index,
                const Tensor* src, Tensor& out, const Put& put) {
  if (!normalize_dim(call, "dim", self.dim(), dim) ||
      (src != nullptr && !check_same_dtype(call, "src", *src, "self", self))) {
    return out;
  }
  const int d = static_cast<int>(dim);
  const StridedView at = at_least_1d(index);
  const StridedView from = at_least_1d(src != nullptr ? *src : self);
  if (!check_index(call, index, at, at_least_1d(self), d, /*whole=*/false) ||
      (src != nullptr && !check_index(call, index, at, from, d, /*whole=*/true))) {
    return out;
  }
  if (!start_from_self(call, self, out)) {
    return out;
  }
  const StridedView to = at_least_1d(out);
  // Lines along `dim` stay in their own line of out; lines across it may meet.
  const Lines order = d == at.ndim - 1 ? Lines::kInParallel : Lines::kInOrder;
  for_each_index(
      call, order, index, at, to, from, d,
      [put, to = reinterpret_cast<T*>(to.data), from = reinterpret_cast<const T*>(from.data),
       element_size = to.element_size](int64_t target, int64_t source) {
        const int64_t step = std::is_same<T, char>::value ? element_size : 1;
        put(to + target * step, from + source * step);
      });
  return out;
}

}  // namespace

Tensor& scatter_src_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                        const Tensor& index, const Tensor& src, Tensor& out) {
  ::executorch::runtime::dispatch_by_element_size(self.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    scatter<T>({ctx, "scatter.src_out"}, self, dim, index, &src, out,
               [](T* to, const T* from) { *to = *from; });
  });
  return out;
}

Tensor& scatter_value_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                          const Tensor& index, const Scalar& value, Tensor& out) {
  const OpCall call{ctx, "scatter.value_out"};
  alignas(16) char element[16];
  if (!scalar_element(call, value, self.scalar_type(), element)) {
    return out;
  }
  const int64_t size = self.element_size();
  return scatter<char>(call, self, dim, index, nullptr, out,
                       [&](char* to, const char*) { std::memcpy(to, element, size); });
}

namespace {

enum class Reduce { kSum, kProd, kMean, kMax, kMin };

bool parse_reduce(const OpCall& call, std::string_view name, Reduce& reduce) {
  const std::string_view names[] = {"sum", "prod", "mean", "amax", "amin"};
  for (size_t i = 0; i < 5; ++i) {
    if (name == names[i]) {
      reduce = static_cast<Reduce>(i);
      return true;
    }
  }
  ET_KERNEL_CHECK_MSG(call.ctx, false, InvalidArgument, false,
                      "%s: expected reduce to be sum, prod, mean, amax or amin, found %.*s",
                      call.op, text_length(name), name.data());
  return false;
}

template <typename C>
C reduce_pair(Reduce reduce, C a, C b) {
  switch (reduce) {
    case Reduce::kProd:
      return wrap_mul(a, b);
    case Reduce::kMax:
      return Maximum()(a, b);
    case Reduce::kMin:
      return Minimum()(a, b);
    default:
      return wrap_add(a, b);
  }
}

// One counter for each element of `out`, starting at `start`; null when there is no memory.
int64_t* make_counters(const OpCall& call, const Tensor& out, int64_t start, Temporary& memory) {
  const size_t bytes = static_cast<size_t>(out.numel() + 1) * sizeof(int64_t);
  auto* const counters = static_cast<int64_t*>(memory.allocate(call, bytes, alignof(int64_t)));
  if (counters != nullptr) {
    std::fill_n(counters, out.numel(), start);
  }
  return counters;
}

// scatter_reduce's arguments, checked.
struct Reduction {
  Reduce kind;
  int64_t dim;
  const Tensor& index;
  const Tensor& src;
  bool include_self;
};

// The reductions that need neither conversion nor counters: false for the others.
template <typename C>
bool reduce_directly(const OpCall& call, const Tensor& self, const Reduction& r, Tensor& out) {
  if (!is_stored_as(self.scalar_type(), compute_type_v<C>) || !r.include_self ||
      r.kind == Reduce::kMean) {
    return false;
  }
  const auto run = [&](const auto& pair) {
    scatter<C>(call, self, r.dim, r.index, &r.src, out,
               [pair](C* to, const C* from) { *to = pair(*to, *from); });
  };
  switch (r.kind) {
    case Reduce::kProd:
      run([](C a, C b) { return wrap_mul(a, b); });
      return true;
    case Reduce::kMax:
      run(Maximum());
      return true;
    case Reduce::kMin:
      run(Minimum());
      return true;
    default:
      run([](C a, C b) { return wrap_add(a, b); });
      return true;
  }
}

// Divides each element by its count.
template <typename C, typename Get, typename Put>
void divide_by(const int64_t* counters, int64_t numel, const Get& get, const Put& put) {
  for (int64_t i = 0; i < numel; ++i) {
    if (counters[i] > 1) {
      const C value = get(i), count = static_cast<C>(counters[i]);
      put(i, is_int_v<C> ? FloorDiv()(value, count) : value / count);
    }
  }
}

// The elements of `out` as C, which 16-bit floats are added up in, so that a sum does not stop
// growing at 256 times what is added; null where the dtype does not ask for it or there is no
// memory, and then each step rounds.
template <typename C>
C* make_wide(const OpCall& call, const Tensor& out, Temporary& memory) {
  const ScalarType type = out.scalar_type();
  if (type != ScalarType::Half && type != ScalarType::BFloat16) {
    return nullptr;
  }
  C* const wide = static_cast<C*>(
      memory.try_allocate(call.ctx, static_cast<size_t>(out.numel() + 1) * sizeof(C), alignof(C)));
  if (wide == nullptr) {
    return nullptr;
  }
  loader(type, compute_type_v<C>)(out.const_data_ptr(), 1, out.numel(), wide);
  return wide;
}

// Any reduction of any dtype, in two passes.
template <typename C>
void reduce_in_passes(const OpCall& call, const Tensor& self, const Reduction& r, Tensor& out) {
  // The first pass checks everything and clears what must not count: a maximum or minimum starts
  // at one of its numbers.
  const bool clears = r.kind != Reduce::kMax && r.kind != Reduce::kMin;
  const C start = r.kind == Reduce::kProd ? C(1) : C(0);
  const StoreRun store = storer(compute_type_v<C>, self.scalar_type());
  scatter<char>(call, self, r.dim, r.index, &r.src, out, [&](char* to, const char* from) {
    if (!r.include_self && clears) {
      store(&start, 1, to);
    } else if (!r.include_self) {
      std::memcpy(to, from, static_cast<size_t>(out.element_size()));
    }
  });
  Temporary memory;
  int64_t* counters = r.kind != Reduce::kMean || call.ctx.failure_state() != Error::Ok
                          ? nullptr
                          : make_counters(call, out, r.include_self ? 1 : 0, memory);
  if (call.ctx.failure_state() != Error::Ok) {
    return;
  }
  const StridedView to = at_least_1d(out);
  const StridedReader<C> sums(out), values(r.src);
  const StridedWriter<C> writer(out);
  Temporary wide_memory;
  C* const wide = make_wide<C>(call, out, wide_memory);
  const auto get = [&](int64_t i) { return wide != nullptr ? wide[i] : sums.at(i); };
  const auto put = [&](int64_t i, C value) {
    if (wide != nullptr) {
      wide[i] = value;
    } else {
      writer.put(i, value);
    }
  };
  const int d = static_cast<int>(r.dim < 0 ? r.dim + to.ndim : r.dim);
  for_each_index(call, Lines::kInOrder, r.index, at_least_1d(r.index), to, at_least_1d(r.src), d,
                 [&](int64_t target, int64_t at) {
                   put(target, reduce_pair(r.kind, get(target), values.at(at)));
                   if (counters != nullptr) {
                     ++counters[target];
                   }
                 });
  if (counters != nullptr) {
    divide_by<C>(counters, out.numel(), get, put);
  }
  if (wide != nullptr) {
    store(wide, out.numel(), out.mutable_data_ptr());
  }
}

}  // namespace

Tensor& scatter_add_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                        const Tensor& index, const Tensor& src, Tensor& out) {
  const OpCall call{ctx, "scatter_add.out"};
  if (!check_number(call, "self", self)) {
    return out;
  }
  const ScalarType type = self.scalar_type();
  if (type == ScalarType::Half || type == ScalarType::BFloat16) {
    reduce_in_passes<float>(call, self, {Reduce::kSum, dim, index, src, /*include_self=*/true},
                            out);
    return out;
  }
  with_number_type<true>(compute_type_of(type), [&](auto zero) {
    using C = decltype(zero);
    if (is_stored_as(type, compute_type_v<C>)) {
      scatter<C>(call, self, dim, index, &src, out,
                 [](C* to, const C* from) { *to = wrap_add(*to, *from); });
      return;
    }
    const LoadRun load = loader(type, compute_type_v<C>);
    const StoreRun store = storer(compute_type_v<C>, type);
    scatter<char>(call, self, dim, index, &src, out, [&](char* to, const char* from) {
      C values[2];
      load(to, 1, 1, &values[0]);
      load(from, 1, 1, &values[1]);
      values[0] = wrap_add(values[0], values[1]);
      store(values, 1, to);
    });
  });
  return out;
}

Tensor& scatter_reduce_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                           const Tensor& index, const Tensor& src, std::string_view reduce,
                           bool include_self, Tensor& out) {
  const OpCall call{ctx, "scatter_reduce.two_out"};
  Reduce kind = Reduce::kSum;
  if (!parse_reduce(call, reduce, kind) || !check_computable(call, "self", self)) {
    return out;
  }
  const Reduction reduction{kind, dim, index, src, include_self};
  with_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    if (!reduce_directly<C>(call, self, reduction, out)) {
      reduce_in_passes<C>(call, self, reduction, out);
    }
  });
  return out;
}

Tensor& repeat_interleave_Tensor_out(KernelRuntimeContext& ctx, const Tensor& repeats,
                                     std::optional<int64_t> output_size, Tensor& out) {
  const OpCall call{ctx, "repeat_interleave.Tensor_out"};
  const ScalarType type = repeats.scalar_type();
  ET_KERNEL_CHECK_MSG(ctx, type == ScalarType::Long || type == ScalarType::Int, InvalidArgument,
                      out,
                      "repeat_interleave.Tensor_out: expected repeats to be Int or Long, found %s",
                      ::executorch::runtime::toString(type));
  if (!check_rank(call, "repeats", repeats, 1) ||
      !check_same_dtype(call, "out", out, "repeats", repeats)) {
    return out;
  }
  const StridedReader<int64_t> reader(repeats);
  int64_t total = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    const int64_t count = reader.at(i);
    ET_KERNEL_CHECK_MSG(
        ctx, count >= 0 && count <= INT32_MAX, InvalidArgument, out,
        "repeat_interleave.Tensor_out: expected repeats in [0, 2^31), found %" PRId64, count);
    total += count;
  }
  ET_KERNEL_CHECK_MSG(ctx, repeats.numel() == 0 || output_size.value_or(total) == total,
                      InvalidArgument, out,
                      "repeat_interleave.Tensor_out: expected output_size to be the sum %" PRId64
                      ", found %" PRId64,
                      total, static_cast<int64_t>(output_size.value_or(total)));
  Shape shape;
  shape.push(total);
  if (!resize_output(call, out, shape)) {
    return out;
  }
  const StridedWriter<int64_t> writer(out);
  int64_t position = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    for (int64_t k = reader.at(i); k > 0; --k) {
      writer.put(position++, i);
    }
  }
  return out;
}

}  // namespace torch::executor::native
