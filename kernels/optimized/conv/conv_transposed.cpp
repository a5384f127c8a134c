// SPDX-License-Identifier: BSD-3-Clause
// Transposed convolution (NCHW): along each axis, the outputs of one remainder modulo the stride, a
// phase, are a plain convolution of stride 1 by every stride-th tap in reverse. Phases that read
// the same inputs are further output channels of one convolution; the phases are then interleaved.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kInterleaveGrain = 1 << 14;  // values worth a thread
constexpr int kAxes = 3;

struct Axis {
  int64_t in, out, kernel, stride, pad, dilation;

  int64_t phase_size() const { return (out + stride - 1) / stride; }
};

struct Axes {
  Axis axis[kAxes];

  explicit Axes(const Conv& c)
      : axis{{c.in_d, c.out_d, c.kernel_d, c.stride_d, c.pad_d, c.dilation_d},
             {c.in_h, c.out_h, c.kernel_h, c.stride_h, c.pad_h, c.dilation_h},
             {c.in_w, c.out_w, c.kernel_w, c.stride_w, c.pad_w, c.dilation_w}} {}

  int64_t phases() const { return axis[0].stride * axis[1].stride * axis[2].stride; }
  int64_t phase_plane() const {
    return axis[0].phase_size() * axis[1].phase_size() * axis[2].phase_size();
  }
};

// Phases [first, end) of an axis, which read through equally many taps from the same inputs on.
struct Run {
  int64_t first, end, taps, pad;

  int64_t count() const { return end - first; }
};

int64_t taps_of(const Axis& a, int64_t phase) {
  return (a.kernel - (phase + a.pad) % a.stride + a.stride - 1) / a.stride;
}

Run run_from(const Axis& a, int64_t first) {
  if (a.stride == 1) {
    return {0, 1, a.kernel, a.dilation * (a.kernel - 1) - a.pad};
  }
  const int64_t taps = taps_of(a, first);
  const int64_t shift = (first + a.pad) / a.stride;
  int64_t end = first + 1;
  while (end < a.stride && taps_of(a, end) == taps && (end + a.pad) / a.stride == shift) {
    ++end;
  }
  return {first, end, taps, taps - 1 - shift};
}

// The filter's tap that tap `tap` of a phase's convolution is.
int64_t filter_tap(const Axis& a, const Run& run, int64_t phase, int64_t tap) {
  return (phase + a.pad) % a.stride + a.stride * (run.taps - 1 - tap);
}

// One convolution for the phases of three runs: values [group][phase][out channel][position].
struct Part {
  Run run[kAxes];

  int64_t phases() const { return run[0].count() * run[1].count() * run[2].count(); }
  int64_t taps() const { return run[0].taps * run[1].taps * run[2].taps; }
};

template <typename Visit>
void for_each_part(const Axes& axes, const Visit& visit) {
  Part part;
  for (int64_t d = 0; d < axes.axis[0].stride; d = part.run[0].end) {
    part.run[0] = run_from(axes.axis[0], d);
    for (int64_t h = 0; h < axes.axis[1].stride; h = part.run[1].end) {
      part.run[1] = run_from(axes.axis[1], h);
      for (int64_t w = 0; w < axes.axis[2].stride; w = part.run[2].end) {
        part.run[2] = run_from(axes.axis[2], w);
        visit(part);
      }
    }
  }
}

// Where in the filter each tap of each phase of a part lies: [phase][tap].
void list_taps(const Axes& axes, const Part& part, int64_t* list) {
  const Run* run = part.run;
  int64_t at[2 * kAxes];  // phase and tap along each axis
  for (int64_t i = 0; i < part.phases() * part.taps(); ++i) {
    int64_t tap = i % part.taps(), phase = i / part.taps();
    for (int axis = kAxes - 1; axis >= 0; --axis) {
      at[kAxes + axis] = tap % run[axis].taps;
      at[axis] = run[axis].first + phase % run[axis].count();
      tap /= run[axis].taps;
      phase /= run[axis].count();
    }
    list[i] = 0;
    for (int axis = 0; axis < kAxes; ++axis) {
      const Axis& a = axes.axis[axis];
      list[i] = list[i] * a.kernel + filter_tap(a, run[axis], at[axis], at[kAxes + axis]);
    }
  }
}

// [in][out][tap] of each group to [phase][out][in][tap of the phase].
void turn_filters(const Conv& c, const Part& part, const int64_t* list, float* out) {
  const int64_t filter = c.kernel_d * c.kernel_h * c.kernel_w;
  const int64_t taps = part.taps(), phases = part.phases();
  const int64_t ins = c.in_channels / c.groups, outs = c.out_channels / c.groups;
  const int64_t grain = std::max<int64_t>(1, kInterleaveGrain / (ins * taps * phases));
  parallel_for(0, c.out_channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      const int64_t group = channel / outs, o = channel % outs;
      for (int64_t i = 0; i < ins; ++i) {
        const float* from = c.weight + ((group * ins + i) * outs + o) * filter;
        for (int64_t phase = 0; phase < phases; ++phase) {
          float* to = out + (((group * phases + phase) * outs + o) * ins + i) * taps;
          for (int64_t tap = 0; tap < taps; ++tap) {
            to[tap] = from[list[phase * taps + tap]];
          }
        }
      }
    }
  });
}

Conv part_convolution(const Conv& c, const Axes& axes, const Part& part) {
  Conv p = c;
  p.out_channels = c.out_channels * part.phases();
  p.out_d = axes.axis[0].phase_size();
  p.out_h = axes.axis[1].phase_size();
  p.out_w = axes.axis[2].phase_size();
  p.kernel_d = part.run[0].taps;
  p.kernel_h = part.run[1].taps;
  p.kernel_w = part.run[2].taps;
  p.stride_d = p.stride_h = p.stride_w = 1;
  p.pad_d = part.run[0].pad;
  p.pad_h = part.run[1].pad;
  p.pad_w = part.run[2].pad;
  return p;
}

Error convolve(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  const bool same_size = c.in_d == c.out_d && c.in_h == c.out_h && c.in_w == c.out_w;
  return same_size && is_pointwise(c) ? pointwise_conv(ctx, c) : direct_conv(ctx, c);
}

// Where the values of a phase lie: of group g from first + g * group_step on, a plane a channel.
struct Phase {
  const float* first;
  int64_t group_step;
};

void interleave(const Conv& c, const Axes& axes, const Phase* phases) {
  const int64_t plane = axes.phase_plane(), outs = c.out_channels / c.groups;
  const int64_t stride = c.stride_w, width = axes.axis[2].phase_size();
  const int64_t rows = c.batch * c.out_channels * c.out_d * c.out_h;
  const int64_t grain = std::max<int64_t>(1, kInterleaveGrain / c.out_w);
  parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t h = row % c.out_h, d = row / c.out_h % c.out_d;
      const int64_t channel = row / (c.out_h * c.out_d);
      const int64_t group = channel / outs;  // of all images
      const int64_t at = channel % outs * plane +
                         (d / c.stride_d * axes.axis[1].phase_size() + h / c.stride_h) * width;
      const Phase* of_row = phases + (d % c.stride_d * c.stride_h + h % c.stride_h) * stride;
      float* out = c.output + row * c.out_w;
      if (stride == 2) {
        conv_kernels().interleave_pairs(of_row[0].first + group * of_row[0].group_step + at,
                                        of_row[1].first + group * of_row[1].group_step + at,
                                        c.out_w, out);
        continue;
      }
      for (int64_t w = 0; w < stride; ++w) {
        const float* from = of_row[w].first + group * of_row[w].group_step + at;
        for (int64_t x = w; x < c.out_w; x += stride) {
          out[x] = *from++;
        }
      }
    }
  });
}

bool has_phases(const Axis& a) {
  return a.stride == 1 || (a.dilation == 1 && a.kernel >= a.stride);
}

// Few positions by many weights: to read the weights in place saves more than the sums cost.
bool prefers_sums(const Conv& c) {
  return c.batch * c.in_d * c.in_h * c.in_w < c.in_channels / c.groups;
}

Error convolve_phases(runtime::KernelRuntimeContext& ctx, const Conv& c, const Axes& axes) {
  const int64_t filter = c.kernel_d * c.kernel_h * c.kernel_w;
  const int64_t plane = axes.phase_plane(), outs = c.out_channels / c.groups;
  const int64_t count = axes.phases();
  auto* weight = scratch<float>(ctx, c.in_channels * outs * filter);
  auto* list = scratch<int64_t>(ctx, filter);
  auto* phases = scratch<Phase>(ctx, count);
  auto* bias = scratch<float>(ctx, c.out_channels * count);
  float* values =
      count == 1 ? c.output : scratch<float>(ctx, c.batch * c.out_channels * count * plane);
  if (weight == nullptr || list == nullptr || phases == nullptr || bias == nullptr ||
      values == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  Error error = Error::Ok;
  for_each_part(axes, [&](const Part& part) {
    if (error != Error::Ok) {
      return;
    }
    const int64_t channels = part.phases() * outs;  // of a group
    list_taps(axes, part, list);
    turn_filters(c, part, list, weight);
    Conv conv = part_convolution(c, axes, part);
    conv.weight = weight;
    conv.output = values;
    if (c.bias != nullptr) {
      conv.bias = bias;
      for (int64_t i = 0; i < c.groups * channels; ++i) {
        bias[i] = c.bias[i / channels * outs + i % outs];
      }
    }
    error = convolve(ctx, conv);
    const Run *run = part.run, *h = run + 1, *w = run + 2;
    for (int64_t i = 0; i < part.phases(); ++i) {
      const int64_t at = ((run->first + i / (h->count() * w->count())) * c.stride_h + h->first +
                          i / w->count() % h->count()) *
                             c.stride_w +
                         w->first + i % w->count();
      phases[at] = {values + i * outs * plane, channels * plane};
    }
    values += c.batch * c.groups * channels * plane;
  });
  if (error == Error::Ok && count > 1) {
    interleave(c, axes, phases);
  }
  return error;
}

}  // namespace

Error transposed_conv(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  const Axes axes(c);
  const bool phased = std::all_of(axes.axis, axes.axis + kAxes, has_phases);
  return phased && !prefers_sums(c) ? convolve_phases(ctx, c, axes) : transposed_sums(ctx, c);
}

}  // namespace executorch::kernels::optimized
