// SPDX-License-Identifier: BSD-3-Clause
// Sums, means and maxima of bags of embedding rows, and the gradient of an embedding table.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/portable/loops/temporary.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <tuple>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

enum class Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

struct Bags {
  const Tensor& weight;
  const Tensor& indices;
  const Tensor& offsets;
  const std::optional<Tensor>& sample_weights;
  Mode mode;
  int64_t padding;  // a row that counts as absent; negative: none
  int64_t count;
};

using BagOutputs = std::tuple<Tensor&, Tensor&, Tensor&, Tensor&>;

bool check_positions(const OpCall& call, const char* name, const Tensor& tensor) {
  ET_KERNEL_CHECK_MSG(
      call.ctx, tensor.scalar_type() == ScalarType::Long || tensor.scalar_type() == ScalarType::Int,
      InvalidArgument, false, "%s: expected %s to be Int or Long, found %s", call.op, name,
      ::executorch::runtime::toString(tensor.scalar_type()));
  return true;
}

bool check_in_range(const OpCall& call, const Tensor& indices, int64_t rows) {
  const StridedReader<int64_t> reader(indices);
  for (int64_t i = 0; i < indices.numel(); ++i) {
    const int64_t row = reader.at(i);
    ET_KERNEL_CHECK_MSG(call.ctx, row >= 0 && row < rows, InvalidArgument, false,
                        "%s: expected indices in range, found %" PRId64 " of [0, %" PRId64 ")",
                        call.op, static_cast<int64_t>(row), static_cast<int64_t>(rows));
  }
  return true;
}

bool check_offsets(const OpCall& call, const Bags& bags) {
  const StridedReader<int64_t> reader(bags.offsets);
  int64_t previous = 0;
  for (int64_t i = 0; i < bags.offsets.numel(); ++i) {
    const int64_t offset = reader.at(i);
    const bool ordered = i == 0 ? offset == 0 : offset >= previous;
    ET_KERNEL_CHECK_MSG(call.ctx, ordered && offset <= bags.indices.numel(), InvalidArgument, false,
                        "%s: expected offsets to rise from 0, found %" PRId64 " at %" PRId64
                        " for %" PRId64 " indices",
                        call.op, static_cast<int64_t>(offset), static_cast<int64_t>(i),
                        static_cast<int64_t>(bags.indices.numel()));
    previous = offset;
  }
  // Eager's modes disagree on what becomes of indices after the last offset.
  ET_KERNEL_CHECK_MSG(
      call.ctx, bags.count == bags.offsets.numel() || previous == bags.indices.numel(),
      InvalidArgument, false,
      "%s: with include_last_offset, expected the last offset to be %" PRId64 ", found %" PRId64,
      call.op, static_cast<int64_t>(bags.indices.numel()), static_cast<int64_t>(previous));
  return true;
}

bool check_bags(const OpCall& call, const Bags& bags) {
  const int64_t mode = static_cast<int64_t>(bags.mode);
  ET_KERNEL_CHECK_MSG(call.ctx, mode >= 0 && mode <= 2, InvalidArgument, false,
                      "%s: expected mode 0, 1 or 2, found %" PRId64, call.op, mode);
  ET_KERNEL_CHECK_MSG(
      call.ctx, !bags.sample_weights.has_value() || bags.mode == Mode::kSum, InvalidArgument, false,
      "%s: expected mode 0 (sum) with per_sample_weights, found %" PRId64, call.op, mode);
  if (bags.sample_weights.has_value() &&
      (!check_same_dtype(call, "per_sample_weights", *bags.sample_weights, "weight", bags.weight) ||
       !check_rank(call, "per_sample_weights", *bags.sample_weights, 1) ||
       !check_count(call, "per_sample_weights", bags.sample_weights->numel(),
                    bags.indices.numel()))) {
    return false;
  }
  return check_rank(call, "weight", bags.weight, 2) &&
         check_floating(call, "weight", bags.weight) &&
         check_rank(call, "indices", bags.indices, 1) &&
         check_rank(call, "offsets", bags.offsets, 1) &&
         check_positions(call, "indices", bags.indices) &&
         check_same_dtype(call, "offsets", bags.offsets, "indices", bags.indices) &&
         check_in_range(call, bags.indices, bags.weight.sizes()[0]) && check_offsets(call, bags);
}

Shape shape_of(int64_t size) {
  Shape shape;
  shape.push(size);
  return shape;
}

// Eager tells the bag of each index only where a mode needs it later.
bool has_bag_rows(const Bags& bags) {
  return bags.mode != Mode::kSum || bags.padding >= 0 ||
         bags.weight.scalar_type() == ScalarType::Double;
}

bool resize_outputs(const OpCall& call, const Bags& bags, const BagOutputs& outs) {
  Tensor* const rest[] = {&std::get<1>(outs), &std::get<2>(outs), &std::get<3>(outs)};
  for (const Tensor* out : rest) {
    if (!check_same_dtype(call, "out", *out, "indices", bags.indices)) {
      return false;
    }
  }
  Shape rows = shape_of(bags.count);
  rows.push(bags.weight.sizes()[1]);
  const bool resized =
      check_same_dtype(call, "out0", std::get<0>(outs), "weight", bags.weight) &&
      resize_output(call, std::get<0>(outs), rows) &&
      resize_output(call, *rest[0], shape_of(has_bag_rows(bags) ? bags.indices.numel() : 0)) &&
      resize_output(call, *rest[1], shape_of(bags.count)) &&
      resize_output(call, *rest[2], bags.mode == Mode::kMax ? rows : shape_of(bags.count));
  ET_KERNEL_CHECK_MSG(call.ctx,
                      resized && is_row_major(std::get<0>(outs)) && is_row_major(*rest[2]),
                      InvalidArgument, false,
                      "%s: expected outputs in row-major order, found another order", call.op);
  return true;
}

// Some columns of a bag's result, and the indices they came from (mode max).
template <typename C>
struct Reduced {
  C values[kChunk];
  int64_t indices[kChunk];
};

constexpr int kRowsAtOnce = 4;

// sums[k] += factors[0] * rows[0][k] + ..., one row after the other; `start` sets instead of adds.
template <typename C>
void add_rows(const C* const (&rows)[kRowsAtOnce], const C (&factors)[kRowsAtOnce], int num_rows,
              bool start, int64_t count, C* __restrict sums) {
  if (start) {
    for (int64_t k = 0; k < count; ++k) {
      sums[k] = rows[0][k] * factors[0];
    }
  }
  int r = start ? 1 : 0;
  for (; r + 2 < num_rows; r += 3) {
    const C *const x = rows[r], *const y = rows[r + 1], *const z = rows[r + 2];
    const C a = factors[r], b = factors[r + 1], c = factors[r + 2];
    for (int64_t k = 0; k < count; ++k) {
      sums[k] = ((sums[k] + x[k] * a) + y[k] * b) + z[k] * c;
    }
  }
  for (; r < num_rows; ++r) {
    for (int64_t k = 0; k < count; ++k) {
      sums[k] += rows[r][k] * factors[r];
    }
  }
}

template <typename C>
struct Table {
  StridedReader<C> weights;
  StridedReader<int64_t> indices;
  StridedReader<C> factors;  // read only where there are sample weights
};

// Sums columns [first, first + count) over the indices [begin, end).
template <typename C>
void sum_bag(const Bags& bags, const Table<C>& table, int64_t begin, int64_t end, int64_t first,
             int64_t count, C* sums) {
  const auto strides = bags.weight.strides();
  C buffers[kRowsAtOnce][kChunk];
  const C* rows[kRowsAtOnce];
  C factors[kRowsAtOnce];
  bool start = true;
  for (int64_t i = begin; i < end;) {
    int num_rows = 0;
    for (; i < end && num_rows < kRowsAtOnce; ++i) {
      const int64_t row = table.indices.at(i);
      if (row != bags.padding) {
        rows[num_rows] = table.weights.read(row * strides[0] + first * strides[1], strides[1],
                                            count, buffers[num_rows]);
        factors[num_rows++] = bags.sample_weights.has_value() ? table.factors.at(i) : C(1);
      }
    }
    if (num_rows > 0) {
      add_rows(rows, factors, num_rows, start, count, sums);
      start = false;
    }
  }
  if (start) {
    std::fill_n(sums, count, C(0));
  }
}

// The largest of columns [first, first + count) over the indices [begin, end).
template <typename C>
void max_bag(const Bags& bags, const Table<C>& table, int64_t begin, int64_t end, int64_t first,
             int64_t count, Reduced<C>& reduced) {
  std::fill_n(reduced.values, count, C(0));
  std::fill_n(reduced.indices, count, int64_t{0});
  const auto strides = bags.weight.strides();
  bool empty = true;
  C buffer[kChunk];
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = table.indices.at(i);
    if (row == bags.padding) {
      continue;
    }
    const C* const values =
        table.weights.read(row * strides[0] + first * strides[1], strides[1], count, buffer);
    for (int64_t k = 0; k < count; ++k) {
      if (empty || values[k] > reduced.values[k]) {
        reduced.values[k] = values[k];
        reduced.indices[k] = row;
      }
    }
    empty = false;
  }
}

template <typename C>
void fill_bags(const Bags& bags, const BagOutputs& outs) {
  const Table<C> table{
      StridedReader<C>(bags.weight), StridedReader<int64_t>(bags.indices),
      StridedReader<C>(bags.sample_weights.has_value() ? *bags.sample_weights : bags.weight)};
  const StridedReader<int64_t> offsets(bags.offsets);
  const StridedWriter<C> values(std::get<0>(outs));
  const StridedWriter<int64_t> bag_of(std::get<1>(outs));
  const StridedWriter<int64_t> sizes(std::get<2>(outs));
  const StridedWriter<int64_t> origins(std::get<3>(outs));
  const int64_t width = bags.weight.sizes()[1];
  // Whole rows where the table and the sums are arrays of C, else pieces that buffers hold.
  const StridedReader<C> direct_out(std::get<0>(outs));
  const bool in_place = bags.mode != Mode::kMax && direct_out.direct(0) != nullptr &&
                        table.weights.direct(0) != nullptr && bags.weight.strides()[1] == 1;
  const int64_t piece = in_place ? std::max<int64_t>(1, width) : kChunk;
  const auto fill = [&](int64_t bag, Reduced<C>& reduced) {
    const int64_t begin = offsets.at(bag);
    const int64_t end = bag + 1 < bags.offsets.numel() ? offsets.at(bag + 1) : bags.indices.numel();
    int64_t size = 0;
    for (int64_t i = begin; i < end; ++i) {
      size += table.indices.at(i) != bags.padding;
      if (has_bag_rows(bags)) {
        bag_of.put(i, bag);
      }
    }
    for (int64_t first = 0; first < width; first += piece) {
      const int64_t count = std::min(piece, width - first);
      const int64_t at = bag * width + first;
      if (bags.mode == Mode::kMax) {
        max_bag<C>(bags, table, begin, end, first, count, reduced);
        values.write(at, 1, count, reduced.values);
        origins.write(at, 1, count, reduced.indices);
        continue;
      }
      C* const sums = in_place ? const_cast<C*>(direct_out.direct(at)) : reduced.values;
      sum_bag<C>(bags, table, begin, end, first, count, sums);
      for (int64_t k = 0; bags.mode == Mode::kMean && size > 0 && k < count; ++k) {
        sums[k] /= static_cast<C>(size);
      }
      if (!in_place) {
        values.write(at, 1, count, sums);
      }
    }
    const int64_t row = bags.mode == Mode::kSum ? 0 : size;
    sizes.put(bag, row);
    if (bags.mode != Mode::kMax) {
      origins.put(bag, row);
    }
  };
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, width));
  ::executorch::extension::parallel_for(0, bags.count, grain, [&](int64_t first, int64_t last) {
    Reduced<C> reduced;
    for (int64_t bag = first; bag < last; ++bag) {
      fill(bag, reduced);
    }
  });
}

}  // namespace

BagOutputs _embedding_bag_out(KernelRuntimeContext& ctx, const Tensor& weight,
                              const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                              int64_t mode, bool sparse,
                              const std::optional<Tensor>& per_sample_weights,
                              bool include_last_offset, int64_t padding_idx, Tensor& out0,
                              Tensor& out1, Tensor& out2, Tensor& out3) {
  (void)scale_grad_by_freq;  // these two are about gradients only
  (void)sparse;
  const OpCall call{ctx, "_embedding_bag.out"};
  const BagOutputs outs{out0, out1, out2, out3};
  const int64_t count = offsets.numel() - (include_last_offset ? 1 : 0);
  ET_KERNEL_CHECK_MSG(ctx, count >= 0, InvalidArgument, outs,
                      "%s: expected at least 1 offset with include_last_offset, found none",
                      call.op);
  const Bags bags{weight,      indices, offsets, per_sample_weights, static_cast<Mode>(mode),
                  padding_idx, count};
  if (check_bags(call, bags) && resize_outputs(call, bags, outs)) {
    with_float_compute_type(compute_type_of(weight.scalar_type()),
                            [&](auto zero) { fill_bags<decltype(zero)>(bags, outs); });
  }
  return outs;
}

namespace {

// out[row] = the sum of the gradients at the places of `row` in the indices, over its count where
// there are counts. Threads share the rows of out, so that each sum has one order.
template <typename C>
void add_gradients(const Tensor& grad_output, const Tensor& indices, int64_t padding,
                   const int64_t* counts, Tensor& out) {
  const StridedReader<int64_t> rows(indices);
  const StridedReader<C> grads(grad_output);
  const StridedReader<C> sums(out);
  const StridedWriter<C> writer(out);
  const int64_t width = out.sizes()[1];
  const int64_t strides[2] = {out.strides()[0], out.strides()[1]};
  const auto add = [&](int64_t row, int64_t from) {
    const C scale = counts == nullptr ? C(1) : C(1) / static_cast<C>(counts[row]);
    C buffers[3][kChunk];
    for (int64_t first = 0; first < width; first += kChunk) {
      const int64_t count = std::min(kChunk, width - first);
      const int64_t target = row * strides[0] + first * strides[1];
      const C* const added = grads.read(from + first, 1, count, buffers[0]);
      const C* const before = sums.read(target, strides[1], count, buffers[1]);
      // In place where out is an array of C: lines do not overlap the gradients.
      C* const after = before == buffers[1] ? buffers[2] : const_cast<C*>(before);
      for (int64_t k = 0; k < count; ++k) {
        after[k] = before[k] + added[k] * scale;
      }
      if (after == buffers[2]) {
        writer.write(target, strides[1], count, after);
      }
    }
  };
  const auto clear = [&](int64_t begin, int64_t end) {
    const C zeros[kChunk] = {};
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t first = 0; first < width; first += kChunk) {
        writer.write(row * strides[0] + first * strides[1], strides[1],
                     std::min(kChunk, width - first), zeros);
      }
    }
  };
  const int64_t per_row =
      std::max<int64_t>(1, grad_output.numel() / std::max<int64_t>(1, out.sizes()[0]));
  const int64_t grain = std::max<int64_t>(1, (1 << 15) / std::max(per_row, width + 1));
  ::executorch::extension::parallel_for(0, out.sizes()[0], grain, [&](int64_t begin, int64_t end) {
    clear(begin, end);
    for (int64_t i = 0; i < indices.numel(); ++i) {
      const int64_t row = rows.at(i);
      if (row >= begin && row < end && row != padding) {
        add(row, i * width);
      }
    }
  });
}

}  // namespace

Tensor& embedding_dense_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_output,
                                     const Tensor& indices, int64_t num_weights,
                                     int64_t padding_idx, bool scale_grad_by_freq, Tensor& out) {
  const OpCall call{ctx, "embedding_dense_backward.out"};
  bool fits = grad_output.dim() == indices.dim() + 1;
  for (int64_t d = 0; fits && d < indices.dim(); ++d) {
    fits = grad_output.sizes()[d] == indices.sizes()[d];
  }
  ET_KERNEL_CHECK_MSG(
      ctx, fits && is_row_major(grad_output) && is_row_major(indices), InvalidArgument, out,
      "%s: expected grad_output to have a row for each of indices %s in order, found %s", call.op,
      ShapeText(indices).text, ShapeText(grad_output).text);
  const int64_t width = grad_output.sizes()[indices.dim()];
  Shape shape = shape_of(num_weights);
  shape.push(width);
  if (!check_floating(call, "grad_output", grad_output) ||
      !check_same_dtype(call, "out", out, "grad_output", grad_output) ||
      !check_positions(call, "indices", indices) || !check_in_range(call, indices, num_weights) ||
      !resize_output(call, out, shape)) {
    return out;
  }
  int64_t* counts = nullptr;
  Temporary memory;
  if (scale_grad_by_freq) {
    const size_t bytes = static_cast<size_t>(num_weights + 1) * sizeof(int64_t);
    counts = static_cast<int64_t*>(memory.allocate(call, bytes, alignof(int64_t)));
    if (counts == nullptr) {
      return out;
    }
    std::fill_n(counts, num_weights, int64_t{0});
    const StridedReader<int64_t> rows(indices);
    for (int64_t i = 0; i < indices.numel(); ++i) {
      ++counts[rows.at(i)];
    }
  }
  with_float_compute_type(compute_type_of(out.scalar_type()), [&](auto zero) {
    add_gradients<decltype(zero)>(grad_output, indices, padding_idx, counts, out);
  });
  return out;
}

}  // namespace torch::executor::native
