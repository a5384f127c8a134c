// SPDX-License-Identifier: BSD-3-Clause
// Sampling of images (batch, channels, height, width): at the points of a grid, and with a filter
// as wide as the shrinking needs (antialiasing). Any dim order.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/portable/resize/resize_bytes.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

enum Interpolation { kBilinear, kNearest, kBicubic };
enum Padding { kZeros, kBorder, kReflection };

// How a coordinate in [-1, 1] becomes a position along one dimension of the image.
struct GridAxis {
  int64_t size;
  Padding padding;
  bool align_corners;

  template <typename C>
  C position(C coordinate) const {
    return align_corners ? (coordinate + 1) / 2 * static_cast<C>(size - 1)
                         : ((coordinate + 1) * static_cast<C>(size) - 1) / 2;
  }

  // The position brought into the image as the padding demands.
  template <typename C>
  C inside(C at) const {
    if (padding == kZeros) {
      return at;
    }
    if (padding == kReflection) {
      at = reflected(at);
    }
    return std::min(static_cast<C>(size - 1), std::max(at, C(0)));
  }

 private:
  template <typename C>
  C reflected(C at) const {
    const C low = align_corners ? C(0) : C(-0.5);
    const C span = static_cast<C>(align_corners ? size - 1 : size);
    if (span <= 0) {
      return 0;
    }
    const C distance = std::fabs(at - low);
    const C extra = std::fmod(distance, span);
    const bool even = std::fmod(std::floor(distance / span), C(2)) == 0;
    return (even ? extra : span - extra) + low;
  }
};

// std::floor() without a call for what positions are.
template <typename C>
C floor_of(C at) {
  if (at > C(-(1 << 22)) && at < C(1 << 22)) {
    const C whole = static_cast<C>(static_cast<int32_t>(at));
    return whole > at ? whole - 1 : whole;
  }
  return std::floor(at);
}

// A whole position; -1 for what no image has, NaN included.
template <typename C>
int64_t whole(C at) {
  return at > C(-1) && at < C(INT32_MAX) ? static_cast<int64_t>(at) : -1;
}

// The neighbours of a position along one dimension and their weights.
template <typename C>
struct Taps {
  int count;
  int64_t at[4];
  C weights[4];
};

template <typename C>
Taps<C> cubic_taps(const GridAxis& axis, C position) {
  const C first = floor_of(position);
  const C t = position - first;
  const C a = C(-0.75);
  const auto near_weight = [a](C x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far_weight = [a](C x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  Taps<C> taps{4, {}, {far_weight(t + 1), near_weight(t), near_weight(1 - t), far_weight(2 - t)}};
  for (int i = 0; i < 4; ++i) {
    taps.at[i] = whole(axis.inside(first + static_cast<C>(i - 1)));
  }
  return taps;
}

template <typename C>
Taps<C> taps_of(const GridAxis& axis, Interpolation mode, C coordinate) {
  const C position = axis.position(coordinate);
  if (mode == kBicubic) {
    return cubic_taps(axis, position);
  }
  const C at = axis.inside(position);
  if (mode == kNearest) {
    return {1, {whole(std::nearbyint(at))}, {C(1)}};
  }
  const C first = floor_of(at);
  return {2, {whole(first), whole(first + 1)}, {first + 1 - at, at - first}};
}

bool check_grid(const OpCall& call, const Tensor& input, const Tensor& grid, int64_t mode,
                int64_t padding) {
  if (!check_floating(call, "input", input) || !check_rank(call, "input", input, 4) ||
      !check_rank(call, "grid", grid, 4) || !check_same_dtype(call, "grid", grid, "input", input)) {
    return false;
  }
  ET_KERNEL_CHECK_MSG(
      call.ctx, mode >= 0 && mode <= 2 && padding >= 0 && padding <= 2, InvalidArgument, false,
      "%s: expected interpolation_mode and padding_mode in [0, 2], found %" PRId64 ", %" PRId64,
      call.op, mode, padding);
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      grid.sizes()[0] == input.sizes()[0] && grid.sizes()[3] == 2 && input.sizes()[1] > 0 &&
          input.sizes()[2] > 0 && input.sizes()[3] > 0,
      InvalidArgument, false,
      "%s: expected grid of [%d, height, width, 2] and input with elements, found %s and %s",
      call.op, static_cast<int>(input.sizes()[0]), ShapeText(grid).text, ShapeText(input).text);
  return true;
}

// The elements of the image that an output position is made of, and their weights.
template <typename C>
struct Samples {
  int count;
  int64_t offsets[16];
  C weights[16];
};

template <typename C>
void set_samples(const Taps<C>& x, const Taps<C>& y, const GridAxis& rows, const GridAxis& columns,
                 const StridedView& in, Samples<C>& samples) {
  samples.count = 0;
  if (x.count == 2 && y.count == 2 && x.at[0] >= 0 && x.at[1] < columns.size && x.at[1] > 0 &&
      y.at[0] >= 0 && y.at[1] < rows.size && y.at[1] > 0) {
    const int64_t corner = y.at[0] * in.strides[2] + x.at[0] * in.strides[3];
    const int64_t right = (x.at[1] - x.at[0]) * in.strides[3];
    const int64_t below = (y.at[1] - y.at[0]) * in.strides[2];
    samples.count = 4;
    for (int i = 0; i < 4; ++i) {
      samples.offsets[i] = corner + (i & 1) * right + (i >> 1) * below;
      samples.weights[i] = y.weights[i >> 1] * x.weights[i & 1];
    }
    return;
  }
  for (int i = 0; i < y.count; ++i) {
    for (int k = 0; k < x.count; ++k) {
      if (y.at[i] >= 0 && y.at[i] < rows.size && x.at[k] >= 0 && x.at[k] < columns.size) {
        samples.offsets[samples.count] = y.at[i] * in.strides[2] + x.at[k] * in.strides[3];
        samples.weights[samples.count++] = y.weights[i] * x.weights[k];
      }
    }
  }
}

// line[i] = the weighted sum of samples[i].
template <typename C, typename At>
void weigh(const Samples<C>* samples, int64_t count, const At& at, C* line) {
  for (int64_t i = 0; i < count; ++i) {
    const Samples<C>& s = samples[i];
    if (s.count == 4) {
      line[i] = (s.weights[0] * at(s.offsets[0]) + s.weights[1] * at(s.offsets[1])) +
                (s.weights[2] * at(s.offsets[2]) + s.weights[3] * at(s.offsets[3]));
      continue;
    }
    C sum = 0;
    for (int k = 0; k < s.count; ++k) {
      sum += s.weights[k] * at(s.offsets[k]);
    }
    line[i] = sum;
  }
}

// Where neighbours are is found once for a few outputs, then used for all channels.
constexpr int64_t kPixels = 32;
constexpr int64_t kChannels = 4;

// weigh() for planes `step` apart: offsets and weights are read once for all of them.
template <typename C>
void weigh_planes(const Samples<C>* samples, int64_t count, const C* first, int64_t step,
                  C (*lines)[kPixels]) {
  for (int64_t i = 0; i < count; ++i) {
    const Samples<C>& s = samples[i];
    if (s.count == 4) {
      const C w0 = s.weights[0], w1 = s.weights[1], w2 = s.weights[2], w3 = s.weights[3];
      const int64_t o0 = s.offsets[0], o1 = s.offsets[1], o2 = s.offsets[2], o3 = s.offsets[3];
      for (int64_t k = 0; k < kChannels; ++k) {
        const C* const in = first + k * step;
        lines[k][i] = (w0 * in[o0] + w1 * in[o1]) + (w2 * in[o2] + w3 * in[o3]);
      }
      continue;
    }
    for (int64_t k = 0; k < kChannels; ++k) {
      C sum = 0;
      for (int t = 0; t < s.count; ++t) {
        sum += s.weights[t] * first[k * step + s.offsets[t]];
      }
      lines[k][i] = sum;
    }
  }
}

template <typename C>
void sample_grid(const Tensor& input, const Tensor& grid, Interpolation mode, const GridAxis& rows,
                 const GridAxis& columns, const Tensor& out) {
  const StridedReader<C> reader(input);
  const StridedReader<C> points(grid);
  const StridedWriter<C> writer(out);
  const StridedView in = StridedView::of(input);
  const StridedView at = StridedView::of(grid);
  const StridedView to = StridedView::of(out);
  const int64_t width = to.sizes[3];
  const int64_t blocks = (width + kPixels - 1) / kPixels;
  ::executorch::extension::parallel_for(
      0, to.sizes[0] * to.sizes[2] * blocks, 8, [&](int64_t begin, int64_t end) {
        for (int64_t block = begin; block < end; ++block) {
          const int64_t n = block / blocks / to.sizes[2];
          const int64_t h = block / blocks % to.sizes[2];
          const int64_t first = block % blocks * kPixels;
          const int64_t count = std::min(kPixels, width - first);
          Samples<C> samples[kPixels];
          for (int64_t i = 0; i < count; ++i) {
            const int64_t point =
                n * at.strides[0] + h * at.strides[1] + (first + i) * at.strides[2];
            const Taps<C> x = taps_of(columns, mode, points.at(point));
            const Taps<C> y = taps_of(rows, mode, points.at(point + at.strides[3]));
            set_samples(x, y, rows, columns, in, samples[i]);
          }
          const int64_t target = n * to.strides[0] + h * to.strides[2] + first * to.strides[3];
          int64_t known = 0;  // channels in `lines`
          C lines[kChannels][kPixels];
          for (int64_t c = 0; c < in.sizes[1]; c += known) {
            const int64_t plane = n * in.strides[0] + c * in.strides[1];
            const C* const data = reader.direct(plane);
            known = data != nullptr && c + kChannels <= in.sizes[1] ? kChannels : 1;
            if (known == kChannels) {
              weigh_planes(samples, count, data, in.strides[1], lines);
            } else {
              weigh(
                  samples, count, [&](int64_t offset) { return reader.at(plane + offset); },
                  lines[0]);
            }
            for (int64_t k = 0; k < known; ++k) {
              writer.write(target + (c + k) * to.strides[1], to.strides[3], count, lines[k]);
            }
          }
        }
      });
}

// The filters of a block of output columns; weights of narrow ones are kept.
template <typename C>
struct ColumnFilters {
  static constexpr int64_t kColumns = 64;
  static constexpr int64_t kKept = 8;
  int64_t count;
  Triangle filters[kColumns];
  C weights[kColumns][kKept];

  ColumnFilters(const Axis& axis, int64_t first, int64_t columns) : count(columns) {
    for (int64_t i = 0; i < count; ++i) {
      filters[i] = triangle(axis, first + i);
      for (int64_t k = 0; k < std::min(kKept, filters[i].count); ++k) {
        weights[i][k] = static_cast<C>(filters[i].weight(k));
      }
    }
  }
  C weight(int64_t i, int64_t k) const {
    return k < kKept ? weights[i][k] : static_cast<C>(filters[i].weight(k));
  }
};

// Input columns of the rows that an output row is made of, filtered down; columns are computed as
// they are asked for.
template <typename C>
class FilteredRow {
 public:
  FilteredRow(const StridedReader<C>& reader, const StridedView& in, int64_t plane,
              const Triangle& rows)
      : reader_(reader), in_(in), offset_(plane + rows.first * in.strides[2]), rows_(rows) {}

  // Filtered values of the columns from `column` to the returned end.
  const C* at(int64_t column, int64_t& end) {
    if (column < begin_ || column >= end_) {
      fill(column);
    }
    end = end_;
    return line_ + (column - begin_);
  }

 private:
  void fill(int64_t column) {
    begin_ = column;
    end_ = std::min(column + kChunk, in_.sizes[3]);
    std::fill(line_, line_ + (end_ - begin_), C(0));
    for (int64_t i = 0; i < rows_.count; ++i) {
      const C weight = static_cast<C>(rows_.weight(i));
      C buffer[kChunk];
      const int64_t from = offset_ + i * in_.strides[2] + column * in_.strides[3];
      const C* const values = reader_.read(from, in_.strides[3], end_ - begin_, buffer);
      for (int64_t k = 0; k < end_ - begin_; ++k) {
        line_[k] += weight * values[k];
      }
    }
  }

  const StridedReader<C>& reader_;
  const StridedView& in_;
  int64_t offset_;
  const Triangle& rows_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  C line_[kChunk];
};

template <typename C>
void shrink(const Tensor& self, const Axis& down, const Axis& across, const Tensor& out) {
  using Filters = ColumnFilters<C>;
  const StridedReader<C> reader(self);
  const StridedWriter<C> writer(out);
  const StridedView in = StridedView::of(self);
  const StridedView to = StridedView::of(out);
  const int64_t rows = to.sizes[0] * to.sizes[1] * to.sizes[2];
  for (int64_t first = 0; first < to.sizes[3]; first += Filters::kColumns) {
    const Filters columns(across, first, std::min(Filters::kColumns, to.sizes[3] - first));
    ::executorch::extension::parallel_for(0, rows, 16, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t h = row % to.sizes[2];
        const int64_t c = row / to.sizes[2] % to.sizes[1];
        const int64_t n = row / to.sizes[2] / to.sizes[1];
        const Triangle y = triangle(down, h);
        FilteredRow<C> filtered(reader, in, n * in.strides[0] + c * in.strides[1], y);
        C line[Filters::kColumns];
        for (int64_t i = 0; i < columns.count; ++i) {
          const Triangle& x = columns.filters[i];
          C sum = 0;
          for (int64_t k = 0; k < x.count;) {
            int64_t known = 0;
            const C* const values = filtered.at(x.first + k, known);
            const int64_t last = std::min(x.count, known - x.first);
            for (const int64_t start = k; k < last; ++k) {
              sum += columns.weight(i, k) * values[k - start];
            }
          }
          const double total = y.total * x.total;
          line[i] = total > 0 ? sum / static_cast<C>(total) : C(0);
        }
        writer.write(
            n * to.strides[0] + c * to.strides[1] + h * to.strides[2] + first * to.strides[3],
            to.strides[3], columns.count, line);
      }
    });
  }
}

// An axis whose size stays is not resampled, whatever its factor.
bool make_axis(const OpCall& call, int64_t in, int64_t out, bool align_corners,
               std::optional<double> factor, Axis& axis) {
  const bool given = factor.has_value() && *factor > 0;
  const double scale =
      in == out       ? 1
      : align_corners ? (out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0)
      : given         ? 1 / *factor
                      : static_cast<double>(in) / static_cast<double>(out);
  ET_KERNEL_CHECK_MSG(
      call.ctx, in > 0 && out > 0 && out <= INT32_MAX && scale <= INT32_MAX, InvalidArgument, false,
      "%s: expected a size in range, found %" PRId64 " resized to %" PRId64, call.op, in, out);
  axis = {in, out, scale};
  return true;
}

}  // namespace

Tensor& grid_sampler_2d_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& grid,
                            int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                            Tensor& out) {
  const OpCall call{ctx, "grid_sampler_2d.out"};
  if (!check_grid(call, input, grid, interpolation_mode, padding_mode) ||
      !check_same_dtype(call, "out", out, "input", input)) {
    return out;
  }
  Shape shape(input);
  shape.sizes[2] = grid.sizes()[1];
  shape.sizes[3] = grid.sizes()[2];
  if (!resize_output(call, out, shape)) {
    return out;
  }
  const Padding padding = static_cast<Padding>(padding_mode);
  const GridAxis rows{input.sizes()[2], padding, align_corners};
  const GridAxis columns{input.sizes()[3], padding, align_corners};
  with_float_compute_type(compute_type_of(input.scalar_type()), [&](auto zero) {
    sample_grid<decltype(zero)>(input, grid, static_cast<Interpolation>(interpolation_mode), rows,
                                columns, out);
  });
  return out;
}

Tensor& _upsample_bilinear2d_aa_out(KernelRuntimeContext& ctx, const Tensor& self,
                                    IntArrayRef output_size, bool align_corners,
                                    std::optional<double> scales_h, std::optional<double> scales_w,
                                    Tensor& out) {
  const OpCall call{ctx, "_upsample_bilinear2d_aa.out"};
  const bool is_bytes = self.scalar_type() == ScalarType::Byte;
  if (!(is_bytes || check_floating(call, "self", self)) || !check_rank(call, "self", self, 4) ||
      !check_same_dtype(call, "out", out, "self", self) ||
      !check_count(call, "entries of output_size", static_cast<int64_t>(output_size.size()), 2)) {
    return out;
  }
  Shape shape(self);
  shape.sizes[2] = output_size[0];
  shape.sizes[3] = output_size[1];
  Axis down;
  Axis across;
  if (!make_axis(call, self.sizes()[2], shape[2], align_corners, scales_h, down) ||
      !make_axis(call, self.sizes()[3], shape[3], align_corners, scales_w, across) ||
      !resize_output(call, out, shape)) {
    return out;
  }
  if (is_bytes) {
    resize_bytes(call, self, down, across, out);
    return out;
  }
  with_float_compute_type(compute_type_of(self.scalar_type()),
                          [&](auto zero) { shrink<decltype(zero)>(self, down, across, out); });
  return out;
}

}  // namespace torch::executor::native
