// SPDX-License-Identifier: BSD-3-Clause
// Prints how long a float32 convolution takes, channels last: by XNNPACK's operator, with what
// makes it faster here, and by ours, Winograd's with filters packed once or the direct one, in
// turns. conv_kernels --help.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/kernels/optimized/conv/conv_packed.h>
#include <executorch/kernels/optimized/conv/depthwise/depthwise.h>
#include <executorch/kernels/optimized/conv/winograd.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/tools/bench/kernel_turns.h>

#include <xnnpack.h>

namespace {

using executorch::extension::MallocMemoryAllocator;
using executorch::kernels::optimized::Conv;
using executorch::kernels::optimized::depthwise_conv;
using executorch::kernels::optimized::packed_conv;
using executorch::kernels::optimized::winograd_conv;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using kernel_turns::numbers;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Shape {
  int64_t height, width, taps_h, taps_w, stride, in, out, groups = 1;
};

// Of the networks of the benchmark suite: 3 x 3 filters of ResNets, VGG, U-Nets and detectors;
// filters along one dimension of codecs, vocoders and keyword spotters.
constexpr Shape kShapes[] = {
    {56, 56, 3, 3, 1, 64, 64},
    {28, 28, 3, 3, 1, 128, 128},
    {14, 14, 3, 3, 1, 256, 256},
    {7, 7, 3, 3, 1, 512, 512},
    {112, 112, 3, 3, 1, 32, 32},
    {112, 112, 3, 3, 1, 32, 64},
    {112, 112, 3, 3, 1, 64, 64},
    {56, 56, 3, 3, 1, 128, 128},
    {28, 28, 3, 3, 1, 256, 256},
    {28, 28, 3, 3, 1, 64, 64},
    {14, 14, 3, 3, 1, 128, 128},
    {7, 7, 3, 3, 1, 256, 256},
    {80, 80, 3, 3, 1, 32, 32},
    {40, 40, 3, 3, 1, 64, 64},
    {20, 20, 3, 3, 1, 128, 128},
    {224, 224, 3, 3, 1, 16, 16},
    {64, 64, 3, 3, 1, 96, 96},
    {32, 32, 3, 3, 1, 192, 192},
    {16, 16, 3, 3, 1, 384, 384},
    {56, 56, 3, 3, 1, 48, 24},
    {13, 13, 3, 3, 1, 512, 1024},
    {1, 12000, 1, 7, 1, 1, 32},
    {1, 12000, 1, 3, 1, 32, 16},
    {1, 12000, 1, 1, 1, 16, 32},
    {1, 12000, 1, 4, 2, 32, 64},
    {1, 6000, 1, 3, 1, 64, 32},
    {1, 6000, 1, 8, 4, 64, 128},
    {1, 1500, 1, 3, 1, 128, 64},
    {1, 1500, 1, 10, 5, 128, 256},
    {1, 300, 1, 3, 1, 256, 128},
    {1, 8000, 1, 7, 1, 64, 64},
    {1, 4000, 1, 7, 1, 128, 128},
    {1, 1000, 1, 7, 1, 256, 256},
    {1, 16000, 1, 16, 8, 1, 128},
    {1, 3000, 1, 3, 1, 80, 384},
    {224, 224, 3, 3, 2, 3, 32},
    {224, 224, 7, 7, 2, 3, 64},
    {56, 56, 3, 3, 2, 128, 128},
    {28, 28, 3, 3, 2, 256, 256},
    {14, 14, 3, 3, 2, 512, 512},
    {56, 56, 1, 1, 2, 256, 512},
    {14, 14, 5, 5, 1, 96, 128},
    {28, 28, 1, 7, 1, 160, 192},
    {224, 224, 4, 4, 4, 3, 96},
    {224, 224, 16, 16, 16, 3, 192},
    {56, 56, 2, 2, 2, 96, 192},
    {28, 28, 3, 3, 1, 8, 12},
    {256, 256, 3, 3, 1, 64, 1},
    {128, 128, 3, 3, 1, 64, 3},
    {56, 56, 5, 5, 1, 32, 2},
    {56, 56, 3, 3, 1, 64, 8},
    {56, 56, 3, 3, 1, 128, 128, 32},
    {28, 28, 3, 3, 1, 256, 256, 32},
    {56, 56, 3, 3, 2, 64, 64, 32},
    {14, 14, 3, 3, 1, 512, 512, 32},
    // Depthwise: MobileNets, EfficientNets, ConvNeXts, conformers, keyword spotters.
    {112, 112, 3, 3, 1, 32, 32, 32},
    {112, 112, 3, 3, 2, 96, 96, 96},
    {56, 56, 3, 3, 1, 144, 144, 144},
    {28, 28, 3, 3, 1, 192, 192, 192},
    {28, 28, 3, 3, 2, 192, 192, 192},
    {14, 14, 3, 3, 1, 384, 384, 384},
    {14, 14, 3, 3, 1, 576, 576, 576},
    {14, 14, 3, 3, 2, 576, 576, 576},
    {7, 7, 3, 3, 1, 960, 960, 960},
    {56, 56, 5, 5, 2, 72, 72, 72},
    {28, 28, 5, 5, 1, 120, 120, 120},
    {14, 14, 5, 5, 1, 672, 672, 672},
    {14, 14, 5, 5, 2, 672, 672, 672},
    {7, 7, 5, 5, 1, 1152, 1152, 1152},
    {56, 56, 7, 7, 1, 96, 96, 96},
    {28, 28, 7, 7, 1, 192, 192, 192},
    {14, 14, 7, 7, 1, 384, 384, 384},
    {7, 7, 7, 7, 1, 768, 768, 768},
    {1, 400, 1, 31, 1, 144, 144, 144},
    {1, 100, 1, 9, 1, 64, 64, 64},
    {56, 56, 3, 3, 2, 24, 24, 24},
    {28, 28, 3, 3, 1, 58, 58, 58},
    {14, 14, 3, 3, 1, 116, 116, 116},
    {7, 7, 3, 3, 1, 232, 232, 232},
    {25, 5, 3, 3, 1, 64, 64, 64},
    {32, 32, 9, 9, 1, 64, 64, 64},
    {30, 30, 3, 3, 1, 20, 20, 20},
};

struct Layer {
  explicit Layer(const Shape& s)
      : x(numbers(static_cast<size_t>(s.height * s.width * s.in) + XNN_EXTRA_BYTES, 0.37f)),
        weights(numbers(static_cast<size_t>(s.taps_h * s.taps_w * s.in / s.groups * s.out), 0.11f)),
        bias(numbers(static_cast<size_t>(s.out), 0.7f)) {
    conv.groups = s.groups;
    conv.batch = conv.in_d = conv.out_d = conv.kernel_d = 1;
    conv.stride_d = conv.dilation_d = conv.dilation_h = conv.dilation_w = 1;
    conv.in_channels = s.in;
    conv.out_channels = s.out;
    conv.in_h = s.height;
    conv.in_w = s.width;
    conv.kernel_h = s.taps_h;
    conv.kernel_w = s.taps_w;
    conv.stride_h = s.taps_h == 1 ? 1 : s.stride;
    conv.stride_w = s.stride;
    conv.pad_h = s.taps_h / 2;
    conv.pad_w = s.taps_w / 2;
    conv.out_h = (s.height + 2 * conv.pad_h - s.taps_h) / conv.stride_h + 1;
    conv.out_w = (s.width + 2 * conv.pad_w - s.taps_w) / s.stride + 1;
    conv.channels_last = conv.weight_channels_last = true;
    theirs.resize(static_cast<size_t>(conv.out_h * conv.out_w * s.out));
    ours.resize(theirs.size());
    conv.input = x.data();
    conv.weight = weights.data();
    conv.bias = bias.data();
    conv.output = ours.data();
  }

  bool prepare() {
    const auto u32 = [](int64_t value) { return static_cast<uint32_t>(value); };
    const auto size = [](int64_t value) { return static_cast<size_t>(value); };
    xnn_operator_t made = nullptr;
    if (xnn_create_convolution2d_nhwc_f32(
            u32(conv.pad_h), u32(conv.pad_w), u32(conv.pad_h), u32(conv.pad_w), u32(conv.kernel_h),
            u32(conv.kernel_w), u32(conv.stride_h), u32(conv.stride_w), 1, 1, u32(conv.groups),
            size(conv.in_channels / conv.groups), size(conv.out_channels / conv.groups),
            size(conv.in_channels), size(conv.out_channels), weights.data(), bias.data(),
            -kInfinity, kInfinity, 0, nullptr, nullptr, &made) != xnn_status_success) {
      return false;
    }
    op.reset(made);
    if (is_depthwise(conv)) {
      float* const to = packed.make(weights.size());
      const auto taps = size(conv.kernel_h * conv.kernel_w), channels = size(conv.in_channels);
      for (size_t i = 0; i < weights.size(); ++i) {
        to[i] = weights[i % channels * taps + i / channels];
      }
    } else if (is_winograd(conv)) {
      KernelRuntimeContext context(nullptr, &memory);
      if (pack_winograd(context, conv, packed.make(num_winograd_packed(conv))) != Error::Ok) {
        return false;
      }
      memory.reset();
    } else {
      pack_conv(conv, packed.make(num_conv_packed(conv)));
    }
    size_t workspace_size = 0, alignment = 0;
    if (xnn_reshape_convolution2d_nhwc_f32(
            made, 1, size(conv.in_h), size(conv.in_w), &workspace_size, &alignment, nullptr,
            nullptr, executorch::extension::threadpool::get_pthreadpool()) != xnn_status_success) {
      return false;
    }
    workspace.resize(workspace_size + 64);
    void* aligned = workspace.data();
    size_t left = workspace.size();
    std::align(64, workspace_size, aligned, left);
    return xnn_setup_convolution2d_nhwc_f32(made, aligned, x.data(), theirs.data()) ==
           xnn_status_success;
  }

  void run_ours() {
    if (is_depthwise(conv)) {
      return depthwise_conv({conv, packed.data()});
    }
    KernelRuntimeContext context(nullptr, &memory);
    const auto run = is_winograd(conv) ? winograd_conv : packed_conv;
    const Error error = run(context, conv, packed.data(), -kInfinity, kInfinity, nullptr);
    memory.reset();
    if (error != Error::Ok) {
      std::abort();
    }
  }

  Conv conv = {};
  std::vector<float> x, weights, bias, theirs, ours;
  kernel_turns::Packed packed;
  std::vector<uint8_t> workspace;
  std::unique_ptr<xnn_operator, kernel_turns::DeleteOperator> op;
  MallocMemoryAllocator memory;
};

}  // namespace

int main(int argc, char** argv) {
  int32_t threads = 1;
  int32_t turns = 50;
  if (const std::optional<int> code = kernel_turns::begin(
          "conv_kernels: times of float32 convolutions, XNNPACK's and ours in turns.",
          "conv_kernels --threads=2", argc, argv, threads, turns)) {
    return *code;
  }
  std::printf("%22s %5s %5s %12s %12s %8s %8s %10s\n", "convolution", "in", "out", "XNNPACK us",
              "ours us", "ratio", "foretold", "difference");
  kernel_turns::Summary summary;
  for (const Shape& s : kShapes) {
    Layer layer(s);
    if (!layer.prepare()) {
      return 1;
    }
    const kernel_turns::Times times = kernel_turns::times_of(
        turns, [&] { kernel_turns::run_operator(layer.op.get()); }, [&] { layer.run_ours(); });
    summary.add(times);
    std::printf("%3lldx%-6lld %lldx%-2lld /%lld  %5lld %5lld %12.1f %12.1f %8.2f %8.2f %10.1e\n",
                static_cast<long long>(s.height), static_cast<long long>(s.width),
                static_cast<long long>(s.taps_h), static_cast<long long>(s.taps_w),
                static_cast<long long>(s.stride), static_cast<long long>(s.in),
                static_cast<long long>(s.out), times.theirs, times.ours, times.ratio(),
                is_winograd(layer.conv) ? cost_of_winograd(layer.conv) : 1.0,
                kernel_turns::difference(layer.theirs, layer.ours));
  }
  summary.print(threads);
  return 0;
}
