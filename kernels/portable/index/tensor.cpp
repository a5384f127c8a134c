// SPDX-License-Identifier: BSD-3-Clause
// self[indices] and self[indices] = values. A row is what lies at one index tuple; rows are moved a
// block of tuples at a time.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/binary.h>
#include <executorch/kernels/portable/index/positions.h>
#include <executorch/kernels/portable/index/shares.h>
#include <executorch/kernels/portable/index/tuples.h>
#include <executorch/kernels/portable/loops/columns.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/elementwise.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// Where rows come from and where they go: the same sizes.
struct Rows {
  StridedView from;
  StridedView to;

  // Without dimensions of one element, neighbours merged where both sides allow it.
  Rows merged() const {
    Rows rows = *this;
    int ndim = 0;
    for (int d = 0; d < to.ndim; ++d) {
      if (to.sizes[d] != 1) {
        ndim = append_dim(ndim, rows.to.sizes, rows.from.strides, rows.to.strides, to.sizes[d],
                          from.strides[d], to.strides[d]);
      }
    }
    rows.from.ndim = rows.to.ndim = ndim;
    std::copy_n(rows.to.sizes, ndim, rows.from.sizes);
    return rows;
  }

  int64_t columns() const { return to.ndim == 0 ? 1 : to.sizes[to.ndim - 1]; }
  int64_t lines() const { return columns() == 0 ? 0 : to.numel() / columns(); }

  // Positions [begin, end) of the last dimension; all of rows of one element.
  Rows sliced(int64_t begin, int64_t end) const {
    const int last = to.ndim - 1;
    return last < 0
               ? *this
               : Rows{from.sliced(last, begin, end - begin), to.sliced(last, begin, end - begin)};
  }
};

// The rows of a block of index tuples, in elements of the views.
struct RowOffsets {
  const int64_t* from;
  const int64_t* to;
  int count;
};

// Calls each(from, to) with where a line of each row starts, for the positions of a row's first
// `outer` dimensions one after the other: what many tuples read there are neighbours, or nearly so.
template <typename Each>
void for_each_line(const Rows& rows, int outer, const RowOffsets& offsets, const Each& each) {
  const int64_t size = rows.to.element_size;
  Odometer<2> odometer(outer, rows.to.sizes);
  odometer.set_strides(0, rows.from.strides);
  odometer.set_strides(1, rows.to.strides);
  int64_t lines = 1;
  for (int d = 0; d < outer; ++d) {
    lines *= rows.to.sizes[d];
  }
  for (; lines > 0; --lines, odometer.next()) {
    const char* const from = rows.from.data + odometer.offset(0) * size;
    char* const to = rows.to.data + odometer.offset(1) * size;
    for (int k = 0; k < offsets.count; ++k) {
      each(from + offsets.from[k] * size, to + offsets.to[k] * size);
    }
  }
}

template <size_t kBytes>
void copy_lines(const Rows& rows, int outer, const RowOffsets& offsets) {
  for_each_line(rows, outer, offsets,
                [](const char* from, char* to) { std::memmove(to, from, kBytes); });
}

// A line is the last dimension where it is dense on both sides, or else an element.
void copy_rows(const Rows& rows, const RowOffsets& offsets) {
  const int last = rows.to.ndim - 1;
  const bool dense = last >= 0 && rows.from.strides[last] == 1 && rows.to.strides[last] == 1;
  const int outer = dense ? last : rows.to.ndim;
  const int64_t line = (dense ? rows.columns() : 1) * rows.to.element_size;
  switch (line) {
    case 1:
      return copy_lines<1>(rows, outer, offsets);
    case 2:
      return copy_lines<2>(rows, outer, offsets);
    case 4:
      return copy_lines<4>(rows, outer, offsets);
    case 8:
      return copy_lines<8>(rows, outer, offsets);
    case 16:
      return copy_lines<16>(rows, outer, offsets);
    default:
      return for_each_line(rows, outer, offsets, [line](const char* from, char* to) {
        std::memmove(to, from, static_cast<size_t>(line));
      });
  }
}

constexpr int64_t kAddedAtOnce = 64;

template <typename C>
void add_dense(const C* __restrict added, C* __restrict sums, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    sums[i] = wrap_add(added[i], sums[i]);
  }
}

// Lines of n values of the compute type, a number that the compiler knows or any.
template <typename C, typename Count>
void add_lines(const Rows& rows, int outer, const RowOffsets& offsets, Count n) {
  for_each_line(rows, outer, offsets, [n](const char* from, char* to) {
    add_dense<C>(reinterpret_cast<const C*>(from), reinterpret_cast<C*>(to), n);
  });
}

template <int64_t kCount>
using Fixed = std::integral_constant<int64_t, kCount>;

template <typename C>
void accumulate_dense(const Rows& rows, const RowOffsets& offsets) {
  const int outer = std::max(rows.to.ndim - 1, 0);
  switch (const int64_t n = rows.columns()) {
    case 1:
      return add_lines<C>(rows, outer, offsets, Fixed<1>());
    case 4:
      return add_lines<C>(rows, outer, offsets, Fixed<4>());
    case 8:
      return add_lines<C>(rows, outer, offsets, Fixed<8>());
    default:
      return add_lines<C>(rows, outer, offsets, n);
  }
}

// to[i] += from[i] along a line of n, in the compute type C.
template <typename C>
void accumulate_line(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t n,
                     ScalarType type) {
  const LoadRun load = loader(type, compute_type_v<C>);
  const StoreRun store = storer(compute_type_v<C>, type);
  const auto size = static_cast<int64_t>(::executorch::runtime::elementSize(type));
  const int64_t at_once = to_stride == 1 ? kAddedAtOnce : 1;
  for (int64_t i = 0; i < n; i += at_once) {
    const int64_t count = std::min(n - i, at_once);
    char* target = to + i * to_stride * size;
    C added[kAddedAtOnce], sum[kAddedAtOnce];
    load(from + i * from_stride * size, from_stride, count, added);
    load(target, 1, count, sum);
    for (int64_t k = 0; k < count; ++k) {
      sum[k] = wrap_add(added[k], sum[k]);
    }
    store(sum, count, target);
  }
}

// `type` is that of the rows' elements, or of their parts where they are complex.
template <typename C>
void accumulate_rows(const Rows& rows, const RowOffsets& offsets, ScalarType type) {
  const auto part_size = static_cast<int64_t>(::executorch::runtime::elementSize(type));
  const int64_t parts = rows.to.element_size / part_size;
  const int last = rows.to.ndim - 1;
  const int64_t n = rows.columns();
  const int64_t from_stride = last < 0 ? 1 : rows.from.strides[last] * parts;
  const int64_t to_stride = last < 0 ? 1 : rows.to.strides[last] * parts;
  const bool direct = type == ::executorch::runtime::CppTypeToScalarType<C>::value && parts == 1;
  if (direct && from_stride == 1 && to_stride == 1) {
    return accumulate_dense<C>(rows, offsets);
  }
  for_each_line(rows, std::max(last, 0), offsets, [&](const char* from, char* to) {
    for (int64_t part = 0; part < parts; ++part) {
      accumulate_line<C>(from + part * part_size, from_stride, to + part * part_size, to_stride, n,
                         type);
    }
  });
}

constexpr int64_t kTupleCost = 4;  // of finding a row, in elements

}  // namespace

Tensor& index_Tensor_out(KernelRuntimeContext& ctx, const Tensor& self, OptionalTensors indices,
                         Tensor& out) {
  const OpCall call{ctx, "index.Tensor_out"};
  IndexTuples tuples;
  Shape shape;
  if (!check_same_dtype(call, "out", out, "self", self) || !tuples.resolve(call, self, indices) ||
      !tuples.result_shape(call, shape) || !resize_output(call, out, shape)) {
    return out;
  }
  const StridedView result = StridedView::of(out);
  const Rows rows =
      Rows{tuples.row_of_self(StridedView::of(self)), tuples.row_of_result(result)}.merged();
  std::atomic<ptrdiff_t> wrong{-1};  // not int64_t: small processors store 32 bits at once
  const int64_t grain = std::max<int64_t>(1, kThreadGrain / (rows.to.numel() + kTupleCost));
  ::executorch::extension::parallel_for(0, tuples.count(), grain, [&](int64_t first, int64_t last) {
    TupleBlocks block(tuples, result, first, last);
    while (block.next()) {
      copy_rows(rows, {block.self_offsets(), block.result_offsets(), block.count()});
    }
    if (block.wrong_size() >= 0) {
      wrong.store(static_cast<ptrdiff_t>(block.wrong_size()));
    }
  });
  if (wrong.load() >= 0) {
    fail_index(call, wrong.load());
  }
  return out;
}

namespace {

// Values as they are broadcast to the result's shape.
StridedView broadcast_view(const Tensor& values, const Shape& shape) {
  StridedView view = StridedView::of(values);
  while (view.ndim < shape.ndim) {
    view = view.inserted(0, 1, 0);
  }
  for (int d = 0; d < shape.ndim; ++d) {
    view.strides[d] = view.sizes[d] == shape[d] ? view.strides[d] : 0;
  }
  return view;
}

bool check_indices(const OpCall& call, const IndexTuples& tuples, const StridedView& result,
                   TargetShares& shares) {
  TupleBlocks block(tuples, result, 0, tuples.count());
  while (block.next()) {
    shares.add(block.self_offsets(), block.count());
  }
  return block.wrong_size() < 0 || fail_index(call, block.wrong_size());
}

// Calls move(rows, offsets) for the tuples whose rows of `to` begin in [begin, end), in order.
template <typename Move>
void move_share(const IndexTuples& tuples, const StridedView& source, const Rows& rows,
                int64_t begin, int64_t end, const Move& move) {
  int64_t from[TupleBlocks::kMax], to[TupleBlocks::kMax];
  TupleBlocks block(tuples, source, 0, tuples.count());
  while (block.next()) {
    int count = 0;
    for (int i = 0; i < block.count(); ++i) {
      const int64_t target = block.self_offsets()[i];
      from[count] = block.result_offsets()[i];
      to[count] = target;
      count += target >= begin && target < end ? 1 : 0;
    }
    move(rows, RowOffsets{from, to, count});
  }
}

void put(const OpCall& call, OptionalTensors indices, const Tensor& values, bool accumulate,
         Tensor& out) {
  IndexTuples tuples;
  Shape shape;
  if (!check_same_dtype(call, "values", values, "self", out) ||
      !tuples.resolve(call, out, indices) || !tuples.result_shape(call, shape)) {
    return;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, broadcasts_to(Shape(values), shape), InvalidArgument, ,
                      "%s: expected values to broadcast to %s, found %s", call.op,
                      ShapeText(shape).text, ShapeText(values).text);
  const bool is_number = is_computable(out.scalar_type()) || is_complex(out.scalar_type());
  ET_KERNEL_CHECK_MSG(call.ctx, !accumulate || is_number, InvalidArgument, ,
                      "%s: expected a number type to accumulate, found %s", call.op,
                      ::executorch::runtime::toString(out.scalar_type()));
  const StridedView source = broadcast_view(values, shape);
  // Indices are checked first, so that a failing call leaves out as it was.
  TargetShares shares(out.numel());
  if (!check_indices(call, tuples, source, shares)) {
    return;
  }
  const Rows rows =
      Rows{tuples.row_of_result(source), tuples.row_of_self(StridedView::of(out))}.merged();
  const int64_t work = tuples.count() * (rows.to.numel() + kTupleCost);
  const auto threads = static_cast<int>(std::min<int64_t>(
      {::executorch::extension::get_num_threads(), work / kThreadGrain, TargetShares::kMax}));
  const bool by_targets = threads > 1 && shares.cut(threads);
  // Where tuples are equal, the later one comes later: threads share targets or columns, not
  // tuples.
  const auto in_order = [&](const auto& move) {
    if (by_targets) {
      ::executorch::extension::parallel_for(0, threads, 1, [&](int64_t first, int64_t last) {
        move_share(tuples, source, rows, shares.begin(first), shares.end(last - 1), move);
      });
      return;
    }
    parallel_for_columns(
        rows.columns(), tuples.count() * rows.lines(), [&](int64_t begin, int64_t end) {
          const Rows share = rows.sliced(begin, end);
          TupleBlocks block(tuples, source, 0, tuples.count());
          while (block.next()) {
            move(share, RowOffsets{block.result_offsets(), block.self_offsets(), block.count()});
          }
        });
  };
  if (!accumulate) {
    return in_order(copy_rows);
  }
  const ScalarType type = ::executorch::runtime::isComplexType(out.scalar_type())
                              ? ::executorch::runtime::toRealValueType(out.scalar_type())
                              : out.scalar_type();
  with_compute_type(compute_type_of(type), [&](auto zero) {
    using C = decltype(zero);
    in_order([type](const Rows& share, const RowOffsets& offsets) {
      accumulate_rows<C>(share, offsets, type);
    });
  });
}

}  // namespace

Tensor& index_put_out(KernelRuntimeContext& ctx, const Tensor& self, OptionalTensors indices,
                      const Tensor& values, bool accumulate, Tensor& out) {
  const OpCall call{ctx, "index_put.out"};
  if (check_same_dtype(call, "out", out, "self", self) && resize_output(call, out, Shape(self)) &&
      copy_converted(call, self, out)) {
    put(call, indices, values, accumulate, out);
  }
  return out;
}

Tensor& index_put_(KernelRuntimeContext& ctx, Tensor& self, OptionalTensors indices,
                   const Tensor& values, bool accumulate) {
  put({ctx, "index_put_"}, indices, values, accumulate, self);
  return self;
}

}  // namespace torch::executor::native
