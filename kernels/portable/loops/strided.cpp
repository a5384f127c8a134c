// SPDX-License-Identifier: BSD-3-Clause
// The copy between strided views: dimensions are ordered by the output's strides and merged, then
// one of three inner loops runs: memcpy, a blocked transpose, or element by element.
#include <executorch/kernels/portable/loops/strided.h>

#include <algorithm>
#include <cstring>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch {
namespace kernels {

using executorch::extension::parallel_for;

StridedView StridedView::of(const Tensor& tensor) {
  StridedView view{};
  view.data = const_cast<char*>(static_cast<const char*>(tensor.const_data_ptr()));
  view.ndim = static_cast<int>(tensor.dim());
  view.element_size = tensor.element_size();
  for (int d = 0; d < view.ndim; ++d) {
    view.sizes[d] = tensor.sizes()[d];
    view.strides[d] = tensor.strides()[d];
  }
  return view;
}

StridedView StridedView::line(char* data, int64_t element_size, int64_t count) {
  StridedView view{};
  view.data = data;
  view.ndim = 1;
  view.element_size = element_size;
  view.sizes[0] = count;
  view.strides[0] = 1;
  return view;
}

int64_t StridedView::numel() const {
  int64_t count = 1;
  for (int d = 0; d < ndim; ++d) {
    count *= sizes[d];
  }
  return count;
}

StridedView StridedView::sliced(int dim, int64_t start, int64_t size, int64_t step) const {
  StridedView view = *this;
  view.data += start * strides[dim] * element_size;
  view.sizes[dim] = size;
  view.strides[dim] = size > 1 ? strides[dim] * step : strides[dim];  // step may be any number
  return view;
}

StridedView StridedView::selected(int dim, int64_t index) const {
  StridedView view = *this;
  view.data += index * strides[dim] * element_size;
  view.ndim -= 1;
  for (int d = dim; d < view.ndim; ++d) {
    view.sizes[d] = sizes[d + 1];
    view.strides[d] = strides[d + 1];
  }
  return view;
}

StridedView StridedView::inserted(int dim, int64_t size, int64_t stride) const {
  StridedView view = *this;
  view.ndim += 1;
  for (int d = ndim; d > dim; --d) {
    view.sizes[d] = sizes[d - 1];
    view.strides[d] = strides[d - 1];
  }
  view.sizes[dim] = size;
  view.strides[dim] = stride;
  return view;
}

StridedView StridedView::parts() const {
  StridedView view = inserted(ndim, 2, 1);
  view.element_size /= 2;
  for (int d = 0; d < ndim; ++d) {
    view.strides[d] *= 2;
  }
  return view;
}

int append_dim(int ndim, int64_t* sizes, int64_t* from, int64_t* to, int64_t size,
               int64_t from_stride, int64_t to_stride) {
  const int last = ndim - 1;
  const bool goes_on =
      last >= 0 && from[last] == from_stride * size && to[last] == to_stride * size;
  const int d = goes_on ? last : ndim;
  sizes[d] = goes_on ? sizes[d] * size : size;
  from[d] = from_stride;
  to[d] = to_stride;
  return d + 1;
}

namespace {

// Both views over common sizes, outermost first, innermost the one that is closest together in the
// output.
struct Plan {
  int ndim = 0;
  int64_t sizes[kMaxViewDims];
  int64_t in[kMaxViewDims];
  int64_t out[kMaxViewDims];
};

Plan make_plan(const StridedView& from, const StridedView& to) {
  int order[kMaxViewDims];
  int count = 0;
  for (int d = 0; d < to.ndim; ++d) {
    if (to.sizes[d] != 1) {
      order[count++] = d;
    }
  }
  std::sort(order, order + count, [&](int a, int b) {
    const int64_t stride_a = to.strides[a] < 0 ? -to.strides[a] : to.strides[a];
    const int64_t stride_b = to.strides[b] < 0 ? -to.strides[b] : to.strides[b];
    return stride_a != stride_b ? stride_a > stride_b : a < b;
  });
  Plan plan;
  for (int i = 0; i < count; ++i) {
    const int d = order[i];
    plan.ndim = append_dim(plan.ndim, plan.sizes, plan.in, plan.out, to.sizes[d], from.strides[d],
                           to.strides[d]);
  }
  if (plan.ndim == 0) {
    plan.sizes[0] = 1;
    plan.in[0] = plan.out[0] = 1;
    plan.ndim = 1;
  }
  return plan;
}

template <int kSize>
struct Element {
  char bytes[kSize];
};

// Long runs go by copies of a block in first-level cache: the C library's copy has the widest
// registers of the processor, and aligned pieces of 512 bytes took 44 us for 4 MB where stores of
// 16 bytes took 71.
template <typename T>
void fill_run(const T value, T* to, int64_t n) {
  constexpr int64_t kBlock = 512 / static_cast<int64_t>(sizeof(T));
  constexpr uintptr_t kLine = 64;
  if (n >= 4 * kBlock) {
    alignas(kLine) T block[kBlock];
    std::fill(block, block + kBlock, value);
    const uintptr_t past = reinterpret_cast<uintptr_t>(to) % kLine;
    const auto head = static_cast<int64_t>((past == 0 ? 0 : kLine - past) / sizeof(T));
    std::memcpy(to, block, kLine);
    to += head;
    n -= head;
    // Of a size that it knows, the compiler would expand the copy in narrow registers.
    const volatile int64_t hidden = kBlock;
    const int64_t piece = hidden;
    for (int64_t i = 0; i < n; i += piece) {
      std::memcpy(to + i, block, static_cast<size_t>(std::min(piece, n - i)) * sizeof(T));
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    to[i] = value;
  }
}

template <typename T>
void copy_run(const char* in, int64_t in_stride, char* out, int64_t out_stride, int64_t n) {
  const T* from = reinterpret_cast<const T*>(in);
  T* to = reinterpret_cast<T*>(out);
  if (in_stride == 0 && out_stride == 1) {
    return fill_run<T>(from[0], to, n);
  }
  if (in_stride == 1 && out_stride == 1) {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = from[i];
    }
    return;
  }
  if (in_stride == -1 && out_stride == 1) {
    const T* const first = from - (n - 1);
    for (int64_t i = 0; i < n; ++i) {
      to[i] = first[n - 1 - i];
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    to[i * out_stride] = from[i * in_stride];
  }
}

constexpr int64_t kBlock = 16;          // rows and columns that are transposed together
constexpr int64_t kBandColumns = 1024;  // of a band of kBlock rows, the unit that threads share

// to[c][r] = from[r][c] of 4 x 4 elements, which compilers turn in registers.
template <typename T>
void transpose_4x4(const T* from, int64_t from_row, T* to, int64_t to_row) {
  T rows[4][4];
  T columns[4][4];
  for (int r = 0; r < 4; ++r) {
    std::memcpy(rows[r], from + r * from_row, sizeof(rows[r]));
  }
  for (int c = 0; c < 4; ++c) {
    for (int r = 0; r < 4; ++r) {
      columns[c][r] = rows[r][c];
    }
  }
  for (int c = 0; c < 4; ++c) {
    std::memcpy(to + c * to_row, columns[c], sizeof(columns[c]));
  }
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
// In eight shuffles, which take half of the time of what compilers find.
template <>
void transpose_4x4(const uint32_t* from, int64_t from_row, uint32_t* to, int64_t to_row) {
  typedef uint32_t Row __attribute__((vector_size(16)));
  Row rows[4];
  for (int r = 0; r < 4; ++r) {
    std::memcpy(&rows[r], from + r * from_row, sizeof(Row));
  }
  const Row low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Row high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Row low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Row high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const Row columns[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                          __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                          __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                          __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int c = 0; c < 4; ++c) {
    std::memcpy(to + c * to_row, &columns[c], sizeof(Row));
  }
}
#endif
#endif

// out[c][r] = in[r][c] where `in` has rows `in_row` apart and dense columns, `out` dense rows
// `out_col` apart. At most kBlock rows, which are read from their beginning to their end.
// Not inlined: the caller's stack would have a block of each element size.
template <typename T>
ET_NOINLINE void transpose_band(const T* in, int64_t in_row, T* out, int64_t out_col, int64_t rows,
                                int64_t cols) {
  int64_t c0 = 0;
  for (; rows == kBlock && c0 + kBlock <= cols; c0 += kBlock) {
    T turned[kBlock * kBlock];  // in first-level cache, whence whole lines are written
    for (int64_t r = 0; r < kBlock; r += 4) {
      for (int64_t c = 0; c < kBlock; c += 4) {
        transpose_4x4(in + r * in_row + c0 + c, in_row, turned + c * kBlock + r, kBlock);
      }
    }
    for (int64_t c = 0; c < kBlock; ++c) {
      std::memcpy(out + (c0 + c) * out_col, turned + c * kBlock, sizeof(T) * kBlock);
    }
  }
  for (; sizeof(T) <= 4 && rows >= 4 && c0 + 4 <= cols; c0 += 4) {
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      transpose_4x4(in + r * in_row + c0, in_row, out + c0 * out_col + r, out_col);
    }
    for (; r < rows; ++r) {
      for (int64_t c = c0; c < c0 + 4; ++c) {
        out[c * out_col + r] = in[r * in_row + c];
      }
    }
  }
  for (int64_t c = c0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      out[c * out_col + r] = in[r * in_row + c];
    }
  }
}

// One thread's share of the lines along the innermost dimension.
template <typename T>
void copy_lines(const Plan& plan, const char* in, char* out, int64_t first, int64_t last) {
  constexpr int64_t kSize = sizeof(T);
  const int d = plan.ndim - 1;
  Odometer<2> odometer(d, plan.sizes);
  odometer.set_strides(0, plan.in);
  odometer.set_strides(1, plan.out);
  odometer.seek(first);
  const bool dense = plan.in[d] == 1 && plan.out[d] == 1;
  const bool long_run = dense && plan.sizes[d] * kSize >= 64;
  for (int64_t i = first; i < last; ++i, odometer.next()) {
    const char* from = in + odometer.offset(0) * kSize;
    char* to = out + odometer.offset(1) * kSize;
    if (long_run) {
      std::memmove(to, from, plan.sizes[d] * kSize);
    } else {
      copy_run<T>(from, plan.in[d], to, plan.out[d], plan.sizes[d]);
    }
  }
}

// Transposes the two innermost dimensions: the last is dense in the output, the one before it in
// the input. Threads share bands, of one transpose, too.
template <typename T>
void transpose_matrices(const Plan& plan, const T* in, T* out, int64_t grain_bytes) {
  const int outer = plan.ndim - 2;
  const int64_t rows = plan.sizes[outer + 1], cols = plan.sizes[outer];
  const int64_t row_bands = (rows + kBlock - 1) / kBlock;
  const int64_t column_bands = (cols + kBandColumns - 1) / kBandColumns;
  int64_t matrices = 1;
  for (int d = 0; d < outer; ++d) {
    matrices *= plan.sizes[d];
  }
  const int64_t band = std::min(rows, kBlock) * std::min(cols, kBandColumns);
  const int64_t grain =
      std::max<int64_t>(1, grain_bytes / (band * static_cast<int64_t>(sizeof(T))));
  parallel_for(0, matrices * row_bands * column_bands, grain, [&](int64_t first, int64_t last) {
    Odometer<2> odometer(outer, plan.sizes);
    odometer.set_strides(0, plan.in);
    odometer.set_strides(1, plan.out);
    odometer.seek(first / (row_bands * column_bands));
    int64_t row = first / column_bands % row_bands * kBlock;
    int64_t col = first % column_bands * kBandColumns;
    for (int64_t i = first; i < last; ++i) {
      transpose_band(in + odometer.offset(0) + row * plan.in[outer + 1] + col, plan.in[outer + 1],
                     out + odometer.offset(1) + col * plan.out[outer] + row, plan.out[outer],
                     std::min(kBlock, rows - row), std::min(kBandColumns, cols - col));
      col = col + kBandColumns < cols ? col + kBandColumns : 0;
      row += col == 0 ? kBlock : 0;
      if (row >= rows) {
        row = 0;
        odometer.next();
      }
    }
  });
}

// Brings the dimension that is dense in the input next to the innermost one, when the two make a
// transpose.
bool arrange_transpose(Plan& plan) {
  const int inner = plan.ndim - 1;
  if (plan.out[inner] != 1 || plan.in[inner] == 1 || plan.in[inner] == 0 || plan.sizes[inner] < 2) {
    return false;
  }
  for (int d = inner - 1; d >= 0; --d) {
    if (plan.in[d] == 1 && plan.sizes[d] >= 2) {
      for (int k = d; k + 1 < inner; ++k) {
        std::swap(plan.sizes[k], plan.sizes[k + 1]);
        std::swap(plan.in[k], plan.in[k + 1]);
        std::swap(plan.out[k], plan.out[k + 1]);
      }
      return true;
    }
  }
  return false;
}

template <typename T>
void copy_elements(Plan& plan, const char* in, char* out, int64_t numel) {
  constexpr int64_t kGrainBytes = 1 << 17;
  constexpr int64_t kSize = sizeof(T);
  if (arrange_transpose(plan)) {
    return transpose_matrices(plan, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out),
                              kGrainBytes);
  }
  // A single long run is cut so that threads can share it.
  if (plan.ndim == 1) {
    const bool dense = plan.in[0] == 1 && plan.out[0] == 1;
    parallel_for(0, numel, kGrainBytes / kSize, [&](int64_t first, int64_t last) {
      const char* const from = in + first * plan.in[0] * kSize;
      char* const to = out + first * plan.out[0] * kSize;
      if (dense) {
        std::memmove(to, from, (last - first) * kSize);
      } else {
        copy_run<T>(from, plan.in[0], to, plan.out[0], last - first);
      }
    });
    return;
  }
  const int64_t inner = plan.sizes[plan.ndim - 1];
  const int64_t grain = std::max<int64_t>(1, kGrainBytes / (inner * kSize));
  parallel_for(0, numel / inner, grain,
               [&](int64_t first, int64_t last) { copy_lines<T>(plan, in, out, first, last); });
}

}  // namespace

void copy_view(const StridedView& from, const StridedView& to) {
  const int64_t numel = to.numel();
  if (numel == 0) {
    return;
  }
  Plan plan = make_plan(from, to);
  switch (to.element_size) {
    case 1:
      return copy_elements<uint8_t>(plan, from.data, to.data, numel);
    case 2:
      return copy_elements<uint16_t>(plan, from.data, to.data, numel);
    case 4:
      return copy_elements<uint32_t>(plan, from.data, to.data, numel);
    case 8:
      return copy_elements<uint64_t>(plan, from.data, to.data, numel);
    default:
      return copy_elements<Element<16>>(plan, from.data, to.data, numel);
  }
}

void fill_view(const void* element, const StridedView& to) {
  StridedView from = to;
  from.data = const_cast<char*>(static_cast<const char*>(element));
  for (int d = 0; d < to.ndim; ++d) {
    from.strides[d] = 0;
  }
  copy_view(from, to);
}

}  // namespace kernels
}  // namespace executorch
