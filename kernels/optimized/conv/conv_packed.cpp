// SPDX-License-Identifier: BSD-3-Clause
// A task is a band of rows of outputs, or a part of their columns or channels.
#include <executorch/kernels/optimized/conv/conv_packed.h>

#include <executorch/kernels/optimized/conv/conv_few.h>
#include <executorch/kernels/optimized/conv/conv_groups.h>
#include <executorch/kernels/optimized/gemm/gemm_panels.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/gemm/gemm_split.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <limits>

namespace executorch::kernels::optimized {

using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kImageFloats = (1 << 18) / sizeof(float);   // that a task copies, about
constexpr int64_t kFilterFloats = (1 << 18) / sizeof(float);  // that stay in a core's own cache
constexpr int64_t kMinWork = 1 << 18;                         // multiply-adds that are worth a task
constexpr int64_t kTasksPerThread = 4;
constexpr int64_t kMinColumns = 32;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The function for groups of so few channels that a vector holds several, or null.
RowOfGroups row_of_groups(const Conv& c) {
  const GroupKernels& kernels = group_kernels();
  const int64_t channels = c.in_channels / c.groups;
  if (c.groups > 1 && c.in_channels == c.out_channels && c.in_channels % kernels.lanes == 0) {
    for (int i = 0; i < kGroupSizes; ++i) {
      if (channels == int64_t{2} << i) {
        return kernels.row[i];
      }
    }
  }
  return nullptr;
}

// At any stride and dilation, so that these convolutions share what is packed.
bool has_few_channels(const Conv& c) {
  return c.groups == 1 && are_few_channels(c.out_channels, c.kernel_h, c.kernel_w * c.in_channels);
}

// Values of the filter that lie together in what is read: a row of taps, or one.
struct Runs {
  int64_t count, length;

  explicit Runs(const Conv& c) : count(c.kernel_h), length(c.kernel_w * c.in_channels / c.groups) {
    if (row_of_groups(c) != nullptr) {  // a tap of all groups
      count *= c.kernel_w;
      length = c.in_channels;
      return;
    }
    if (c.groups > 1 || c.dilation_w > 1) {
      count *= c.kernel_w;
      length /= c.kernel_w;
    }
  }
};

// Values of a block of the packed filter: whole rows of taps, and so whole runs of each kind. That
// strides and dilations do not count lets convolutions share what is packed.
int64_t values_of_block(const Conv& c) {
  const int64_t of_row = c.kernel_w * c.in_channels / c.groups;
  return std::min(c.kernel_h, std::max<int64_t>(1, kPackedBlockK / of_row)) * of_row;
}

// What a task reads, in the input or in a copy.
struct Image {
  const float* data;           // of the first output, the first run
  int64_t row_step, col_step;  // to the next output
  int64_t tap_row, tap_col;    // to the next tap
};

class PackedConv {
 public:
  PackedConv(const Conv& conv, const float* packed, float min, float max, const Epilogue* epilogue)
      : c_(conv),
        runs_(conv),
        packed_(packed),
        min_(min),
        max_(max),
        epilogue_(epilogue),
        row_of_groups_(row_of_groups(conv)),
        has_few_channels_(optimized::has_few_channels(conv)),
        groups_(row_of_groups_ == nullptr ? conv.groups : 1),
        in_group_(conv.in_channels / groups_),
        out_group_(conv.out_channels / groups_),
        kernels_(gemm_kernels()),
        panels_(out_group_, kernels_.lanes),
        width_(panels_.width()) {
    const int64_t outputs = c_.batch * c_.out_h * c_.out_w;
    const int64_t work =
        outputs * c_.out_channels * c_.kernel_h * c_.kernel_w * c_.in_channels / c_.groups;
    const int64_t threads = get_num_threads();
    const int64_t wanted =
        threads == 1 ? 1 : std::clamp<int64_t>(work / kMinWork, 1, kTasksPerThread * threads);
    // What a task reads fits its scratch memory; then there are enough tasks.
    const int64_t of_output = c_.stride_w * in_group_;
    const int64_t fit_columns = kImageFloats / (of_output * extent(c_.kernel_h, c_.dilation_h));
    col_parts_ = div_up(c_.out_w, std::max(kMinColumns, fit_columns));
    const int64_t row_floats = div_up(c_.out_w, col_parts_) * of_output * c_.stride_h;
    const int64_t fit_rows = std::max<int64_t>(1, kImageFloats / row_floats);
    row_parts_ =
        std::min(c_.out_h, std::max(div_up(c_.out_h, fit_rows), wanted / (c_.batch * col_parts_)));
    const auto missing = [&] { return div_up(wanted, c_.batch * row_parts_ * col_parts_); };
    if (missing() > 1) {
      col_parts_ *= std::clamp<int64_t>(c_.out_w / col_parts_ / kMinColumns, 1, missing());
    }
    channel_parts_ =
        has_few_channels_ ? 1 : std::clamp<int64_t>(missing(), 1, div_up(out_group_, width_));
  }

  Error run(runtime::KernelRuntimeContext& ctx) const {
    const int64_t parts = groups_ * channel_parts_ * col_parts_ * row_parts_;
    const int64_t tasks = c_.batch * parts;
    const int64_t threads = std::min(get_num_threads(), tasks);
    const int64_t floats = scratch_floats();
    auto* const copies = scratch<float>(ctx, threads * std::max<int64_t>(floats, 1));
    auto* const offsets = scratch<int64_t>(ctx, threads * runs_.count);
    if (copies == nullptr || offsets == nullptr) {
      return Error::MemoryAllocationFailed;
    }
    parallel_for(0, tasks, 1, [&](int64_t first, int64_t last) {
      for (int64_t task = first; task < last; ++task) {
        compute(task, copies + get_thread_num() * floats, offsets + get_thread_num() * runs_.count);
      }
    });
    return Error::Ok;
  }

 private:
  static int64_t extent(int64_t taps, int64_t dilation) { return (taps - 1) * dilation + 1; }

  struct Task {
    int64_t image, group;
    Range rows, cols, channels;
  };

  Task task_of(int64_t index) const {
    Task task;
    const int64_t panels = div_up(out_group_, width_);
    const Range of_panels = part_of(panels, channel_parts_, index % channel_parts_);
    task.channels = {of_panels.begin * width_, std::min(of_panels.end * width_, out_group_)};
    index /= channel_parts_;
    task.group = index % groups_;
    index /= groups_;
    task.cols = part_of(c_.out_w, col_parts_, index % col_parts_);
    index /= col_parts_;
    task.rows = part_of(c_.out_h, row_parts_, index % row_parts_);
    task.image = index / row_parts_;
    return task;
  }

  // What outputs of a range read, beyond the image, too.
  Range input_rows(const Range& rows) const {
    const int64_t begin = rows.begin * c_.stride_h - c_.pad_h;
    return {begin, begin + (rows.size() - 1) * c_.stride_h + extent(c_.kernel_h, c_.dilation_h)};
  }
  Range input_cols(const Range& cols) const {
    const int64_t begin = cols.begin * c_.stride_w - c_.pad_w;
    return {begin, begin + (cols.size() - 1) * c_.stride_w + extent(c_.kernel_w, c_.dilation_w)};
  }

  // Zeros beside it, unless they are left out.
  bool copies_image() const {
    return !(has_few_channels_ && c_.dilation_w == 1) &&
           (c_.pad_w > 0 || input_cols({0, c_.out_w}).end > c_.in_w);
  }
  int64_t scratch_floats() const {
    const Range rows = {0, div_up(c_.out_h, row_parts_)};
    const Range cols = {0, div_up(c_.out_w, col_parts_)};
    return copies_image() ? input_rows(rows).size() * input_cols(cols).size() * in_group_ : 0;
  }

  Image image_of(const Task& task, float* copy) const {
    const int64_t pixel = c_.in_channels, in_row = c_.in_w * pixel;
    const float* const image = c_.input + task.image * c_.in_h * in_row + task.group * in_group_;
    const Range rows = input_rows(task.rows), cols = input_cols(task.cols);
    const auto strided = [&](const float* data, int64_t row_stride, int64_t pixel_stride) {
      return Image{data, c_.stride_h * row_stride, c_.stride_w * pixel_stride,
                   c_.dilation_h * row_stride, c_.dilation_w * pixel_stride};
    };
    if ((cols.begin >= 0 && cols.end <= c_.in_w) || !copies_image()) {
      return strided(image + rows.begin * in_row + cols.begin * pixel, in_row, pixel);
    }
    const int64_t row_stride = cols.size() * in_group_;
    for (int64_t row = std::max<int64_t>(rows.begin, 0); row < std::min(rows.end, c_.in_h); ++row) {
      copy_pixels(image + row * in_row, cols, copy + (row - rows.begin) * row_stride);
    }
    return strided(copy, row_stride, in_group_);
  }

  // Columns of a row of the input, zeros beside it.
  void copy_pixels(const float* row, const Range& cols, float* to) const {
    const Range inside = {std::clamp<int64_t>(cols.begin, 0, c_.in_w),
                          std::clamp<int64_t>(cols.end, 0, c_.in_w)};
    const int64_t before = std::min(std::max<int64_t>(-cols.begin, 0), cols.size());
    to = std::fill_n(to, before * in_group_, 0.0f);
    if (groups_ == 1) {
      to = std::copy(row + inside.begin * in_group_, row + inside.end * in_group_, to);
    } else {
      for (int64_t col = inside.begin; col < inside.end; ++col) {
        to = std::copy_n(row + col * c_.in_channels, in_group_, to);
      }
    }
    std::fill_n(to, (cols.size() - before - inside.size()) * in_group_, 0.0f);
  }

  // `offsets` has room for all runs.
  void compute(int64_t index, float* copy, int64_t* offsets) const {
    const Task task = task_of(index);
    const Image image = image_of(task, copy);
    const int64_t of_row = std::max<int64_t>(1, runs_.count / c_.kernel_h);
    for (int64_t i = 0; i < runs_.count; ++i) {
      offsets[i] = i / of_row * image.tap_row + i % of_row * image.tap_col;
    }
    if (row_of_groups_ != nullptr || has_few_channels_) {
      for (int64_t row = task.rows.begin; row < task.rows.end; ++row) {
        if (has_few_channels_) {
          compute_few(task, image, row, offsets);
        } else {
          compute_groups(task, image, row, offsets);
        }
        finish(task, row, task.channels);
      }
      return;
    }
    const int64_t in_block = values_of_block(c_) / runs_.length;
    const int64_t step =
        std::max<int64_t>(1, kFilterFloats / (in_block * runs_.length * width_)) * width_;
    for (int64_t n = task.channels.begin; n < task.channels.end; n += step) {
      const Range channels = {n, std::min(n + step, task.channels.end)};
      for (int64_t block = 0; block < runs_.count; block += in_block) {
        const Range runs = {block, std::min(block + in_block, runs_.count)};
        for (int64_t row = task.rows.begin; row < task.rows.end; ++row) {
          compute_row(task, image, row, channels, runs, offsets);
        }
      }
    }
  }

  // Runs that are not of zeros alone.
  Range runs_inside(int64_t row) const {
    const Range taps =
        taps_inside(row * c_.stride_h - c_.pad_h, c_.dilation_h, c_.kernel_h, c_.in_h);
    const int64_t of_tap = runs_.count / c_.kernel_h;
    return {taps.begin * of_tap, taps.end * of_tap};
  }

  void compute_row(const Task& task, const Image& image, int64_t row, const Range& channels,
                   const Range& block, const int64_t* offsets) const {
    const Range inside = runs_inside(row);
    const Range runs = {std::max(block.begin, inside.begin), std::min(block.end, inside.end)};
    const bool has_none = inside.size() == 0;
    if (runs.size() <= 0 && !(has_none && block.begin == 0)) {
      return;
    }
    const int64_t position = position_of(task, row);
    const int64_t channel = task.group * out_group_;
    const bool is_first = has_none || runs.begin == inside.begin;
    const bool is_last = has_none || runs.end == inside.end;
    GemmTile tile{};
    tile.k = runs_.length;
    tile.lda = image.col_step;
    tile.pieces = std::max<int64_t>(runs.size(), 0);
    tile.offsets = offsets + runs.begin;
    tile.ldb = width_;
    tile.ldc = c_.out_channels;
    tile.accumulate = !is_first;
    tile.is_bounded = is_last && (min_ > -kInfinity || max_ < kInfinity);
    tile.min = min_;
    tile.max = max_;
    const float* const a = image.data + (row - task.rows.begin) * image.row_step;
    float* const c = c_.output + position * c_.out_channels + channel;
    const float* const filter = packed_ + task.group * size_of_group();
    for (int64_t n = channels.begin; n < channels.end;) {
      const int64_t end = std::min(panels_.end_of(n), channels.end);
      const int64_t vectors = div_up(end - n, kernels_.lanes);
      tile.tail = end - n - (vectors - 1) * kernels_.lanes;
      tile.col_bias = is_first && c_.bias != nullptr ? c_.bias + channel + n : nullptr;
      tile.b = filter +
               place_of(panels_, block.begin * runs_.length, block.size() * runs_.length, n) +
               (runs.begin - block.begin) * runs_.length * width_;
      for_each_tile(kernels_, task.cols.size(), [&](int64_t at, int64_t rows, int64_t count) {
        tile.count = count;
        tile.a = a + at * tile.lda;
        tile.c = c + at * tile.ldc + n;
        kernels_.tile[rows - 1][vectors - 1](tile);
      });
      n = end;
    }
    if (is_last) {
      finish(task, row, channels);
    }
  }

  void compute_groups(const Task& task, const Image& image, int64_t row,
                      const int64_t* offsets) const {
    const int64_t position = position_of(task, row);
    const Range runs = runs_inside(row);
    const int64_t of_tap = in_group_ / c_.groups * kernels_.lanes;
    GroupRow r;
    r.outputs = task.cols.size();
    r.offsets = offsets + runs.begin;
    r.taps = runs.size();
    r.step = image.col_step;
    r.output_step = c_.out_channels;
    r.min = min_;
    r.max = max_;
    for (int64_t n = task.channels.begin; n < task.channels.end; n += kernels_.lanes) {
      r.input = image.data + (row - task.rows.begin) * image.row_step + n;
      r.weights = packed_ + (n / kernels_.lanes * runs_.count + runs.begin) * of_tap;
      r.bias = c_.bias == nullptr ? nullptr : c_.bias + n;
      r.output = c_.output + position * c_.out_channels + n;
      row_of_groups_(r);
    }
  }

  // Where runs are rows of taps, what they would read beside the image is left out.
  void compute_few(const Task& task, const Image& image, int64_t row,
                   const int64_t* offsets) const {
    const Range runs = runs_inside(row);
    FewRow f;
    f.channels = f.output_step = c_.out_channels;
    f.step = image.col_step;
    f.offsets = offsets + runs.begin;
    f.pieces = runs.size();
    f.piece_step = runs_.length;
    f.weight_step = runs_.count * runs_.length;
    f.bias = c_.bias;
    f.min = min_;
    f.max = max_;
    const int64_t taps = runs_.length / in_group_;  // of a run
    const auto compute_columns = [&](const Range& cols, const Range& seen) {
      const int64_t first = seen.begin * in_group_, col = cols.begin - task.cols.begin;
      f.outputs = cols.size();
      f.length = seen.size() * in_group_;
      f.input = image.data + (row - task.rows.begin) * image.row_step + col * f.step + first;
      f.weights = packed_ + runs.begin * runs_.length + first;
      f.output = c_.output + (position_of(task, row) + col) * c_.out_channels;
      few_row(f);
    };
    if (copies_image()) {
      compute_columns(task.cols, {0, taps});
      return;
    }
    for (int64_t col = task.cols.begin; col < task.cols.end; col += f.outputs) {
      const int64_t first = col * c_.stride_w - c_.pad_w;
      const Range seen = taps_inside(first, 1, taps, c_.in_w);
      const int64_t whole = seen.size() == taps ? (c_.in_w - taps - first) / c_.stride_w + 1 : 1;
      compute_columns({col, std::min(col + whole, task.cols.end)}, seen);
    }
  }

  // In the output, of the first column of a row of a task.
  int64_t position_of(const Task& task, int64_t row) const {
    return (task.image * c_.out_h + row) * c_.out_w + task.cols.begin;
  }

  // What the caller does with channels of a group, of a row of a task.
  void finish(const Task& task, int64_t row, const Range& channels) const {
    if (epilogue_ != nullptr) {
      const int64_t position = position_of(task, row), first = task.group * out_group_;
      epilogue_->finish(
          {position, position + task.cols.size(), first + channels.begin, first + channels.end});
    }
  }

  int64_t size_of_group() const {
    return static_cast<int64_t>(num_packed(out_group_, runs_.count * runs_.length));
  }

  const Conv& c_;
  const Runs runs_;
  const float* const packed_;
  const float min_, max_;
  const Epilogue* const epilogue_;
  const RowOfGroups row_of_groups_;
  const bool has_few_channels_;
  const int64_t groups_;                // each by itself
  const int64_t in_group_, out_group_;  // channels
  const GemmKernels& kernels_;
  const Panels panels_;  // of a group's packed filter
  const int64_t width_;
  int64_t row_parts_, col_parts_, channel_parts_;
};

}  // namespace

bool is_packable(const Conv& c) {
  constexpr int64_t kMinChannels = 16;  // of a group
  return c.channels_last && c.weight_channels_last && c.in_d == 1 && c.kernel_d == 1 &&
         c.pad_d == 0 &&
         (c.groups == 1 || c.out_channels / c.groups >= kMinChannels ||
          row_of_groups(c) != nullptr);
}

size_t num_conv_packed(const Conv& c) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  if (row_of_groups(c) != nullptr || has_few_channels(c)) {
    return static_cast<size_t>(taps * c.in_channels / c.groups * c.out_channels);
  }
  return static_cast<size_t>(c.groups) *
         num_packed(c.out_channels / c.groups, taps * c.in_channels / c.groups);
}

namespace {

// By vectors of outputs, taps and channels of a group.
void pack_groups(const Conv& c, float* packed) {
  const int64_t lanes = group_kernels().lanes;
  const int64_t taps = c.kernel_h * c.kernel_w, channels = c.in_channels / c.groups;
  for (int64_t n = 0; n < c.out_channels; n += lanes) {
    for (int64_t i = 0; i < taps * channels; ++i) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        *packed++ = c.weight[(n + lane) * taps * channels + i];
      }
    }
  }
}

}  // namespace

// Each group is a matrix of all taps, in blocks of whole runs.
void pack_conv(const Conv& c, float* packed) {
  if (row_of_groups(c) != nullptr) {
    pack_groups(c, packed);
    return;
  }
  if (has_few_channels(c)) {
    std::copy_n(c.weight, num_conv_packed(c), packed);
    return;
  }
  Gemm g;
  g.n = c.out_channels / c.groups;
  g.k = g.ldb = c.kernel_h * c.kernel_w * c.in_channels / c.groups;
  const Panels panels(g.n, gemm_kernels().lanes);
  const int64_t of_group = num_panels(g.n);
  const int64_t step = values_of_block(c);
  parallel_for(0, c.groups * of_group, 1, [&](int64_t first, int64_t last) {
    for (int64_t index = first; index < last; ++index) {
      const int64_t group = index / of_group;
      Gemm source = g;
      source.b = c.weight + group * g.n * g.k;
      float* const to = packed + group * static_cast<int64_t>(num_packed(g.n, g.k));
      GemmPanel panel = panel_of(g, index % of_group);
      for (int64_t k = 0; k < g.k; k += step) {
        panel.k_begin = k;
        panel.k_end = std::min(k + step, g.k);
        pack_columns(source, panel, to + place_of(panels, k, panel.k_end - k, panel.n_begin));
      }
    }
  });
}

Error packed_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv, const float* packed,
                  float min, float max, const Epilogue* epilogue) {
  return PackedConv(conv, packed, min, max, epilogue).run(ctx);
}

}  // namespace executorch::kernels::optimized
