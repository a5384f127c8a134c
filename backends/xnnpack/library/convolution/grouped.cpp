// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK: convolutions of groups of few channels (grouped.h). A part of the work is
// some positions of the output, in the order of memory, and all of their channels.
#include <executorch/backends/xnnpack/library/convolution/grouped.h>
#include <executorch/backends/xnnpack/library/convolution/own_operator.h>

#include "xnnpack/hardware-config.h"
#include "xnnpack/math.h"

#include <algorithm>
#include <new>

extern "C" {
#include "xnnpack/operator-utils.h"  // says that it is C of a part of itself
}

namespace executorch::backends::xnnpack {

const GroupedKernels kGroupedAny{compute_grouped<4, 1, 2, 4>,
                                 compute_grouped<4, 1, 4, 4>,
                                 compute_grouped<4, 2, 2, 4>,
                                 compute_grouped<4, 4, 4, 4>,
                                 nullptr,
                                 nullptr};

namespace {

constexpr size_t kMaxPositions = 32;  // of a part
constexpr size_t kMaxTaps = kMaxPointers / 8;
constexpr size_t kPartsPerThread = 4;

const GroupedKernels& kernels() {
#if XNN_ARCH_X86_64
  const xnn_hardware_config& hardware = *xnn_init_hardware_config();
  if (hardware.use_x86_avx512skx) {
    return kGroupedAvx512;
  }
  if (hardware.use_x86_avx2 && hardware.use_x86_fma3) {
    return kGroupedAvx2;
  }
#endif
  return kGroupedAny;
}

/// The operator holds it, where threads find it.
struct Plan : OwnCall {
  const xnn_operator* op;
  GroupedKernel* kernel;
  const float* weights;
  size_t positions, part;  // of the output, and of a part of the work

  size_t num_positions(size_t index) const { return std::min(part, positions - index * part); }
  const float* input_at(size_t image, size_t y, size_t x) const {
    return y < op->input_height && x < op->input_width  // wraps around ahead of the image
               ? input +
                     ((image * op->input_height + y) * op->input_width + x) * op->input_pixel_stride
               : static_cast<const float*>(op->zero_buffer);
  }
};

void find_taps(const Plan& plan, size_t position, const float** taps) {
  const xnn_operator& op = *plan.op;
  const size_t x = position % op.output_width * op.stride_width - op.padding_left;
  const size_t row = position / op.output_width;
  const size_t y = row % op.output_height * op.stride_height - op.padding_top;
  for (size_t i = 0; i < op.kernel_height; ++i) {
    for (size_t j = 0; j < op.kernel_width; ++j) {
      *taps++ = plan.input_at(row / op.output_height, y + i * op.dilation_height,
                              x + j * op.dilation_width);
    }
  }
}

void run_part(const Plan* plan, size_t /*thread*/, size_t index) {
  const xnn_operator& op = *plan->op;
  const size_t taps = op.kernel_height * op.kernel_width;
  const size_t first = index * plan->part, positions = plan->num_positions(index);
  const float* inputs[kMaxPointers];
  for (size_t i = 0; i < positions; ++i) {
    find_taps(*plan, first + i, inputs + i * taps);
  }
  plan->kernel({inputs, taps, positions, op.groups * op.group_output_channels, plan->weights,
                plan->output + first * op.output_pixel_stride, op.output_pixel_stride,
                op.params.f32_minmax.scalar.min, op.params.f32_minmax.scalar.max});
}

bool suits(const Filter& f, float min, float max, uint32_t flags) {
  const uint32_t any = kNoTable | XNN_FLAG_DEPTHWISE_CONVOLUTION;
  return f.groups > 1 && kernels().of(f.inputs, f.outputs) != nullptr &&
         f.height * f.width <= kMaxTaps && min < max && (flags & ~any) == 0 &&
         (!f.is_tap_by_tap || f.inputs == 1) && f.input_stride >= f.groups * f.inputs &&
         f.output_stride >= f.groups * f.outputs;
}

size_t packed_floats(const Filter& f) {
  return divide_round_up(f.groups * f.outputs, kGroupedBlock) * kGroupedBlock *
         (1 + f.height * f.width * f.inputs);
}

bool pack(const Filter& f, const float* filters, const float* bias, float* packed) {
  const size_t channels = f.groups * f.outputs, terms = f.height * f.width * f.inputs;
  for (size_t channel = 0; channel < channels; ++channel) {
    float* const block = packed + channel / kGroupedBlock * kGroupedBlock * (1 + terms);
    float* const lane = block + channel % kGroupedBlock;
    *lane = bias != nullptr ? bias[channel] : 0;
    for (size_t i = 0; i < terms; ++i) {
      lane[(1 + i) * kGroupedBlock] =
          filters[f.is_tap_by_tap ? i * channels + channel : channel * terms + i];
    }
  }
  return true;
}

size_t plan_parts(xnn_operator& op, size_t num_threads) {
  Plan plan{};
  plan.op = &op;
  plan.kernel = kernels().of(op.group_input_channels, op.group_output_channels);
  plan.weights = static_cast<const float*>(packed_weights(&op));
  plan.positions = op.batch_size * op.output_height * op.output_width;
  const size_t fit = std::min(kMaxPositions, kMaxPointers / (op.kernel_height * op.kernel_width));
  const size_t fair = divide_round_up(plan.positions, kPartsPerThread * num_threads);
  plan.part = std::min(fit, std::max<size_t>(8, fair));
  static_assert(sizeof(Plan) <= sizeof(op.context));
  new (&op.context) Plan(plan);
  op.compute[0].type = xnn_parallelization_type_1d_with_thread;
  op.compute[0].task_1d_with_thread = reinterpret_cast<pthreadpool_task_1d_with_thread_t>(run_part);
  op.compute[0].range[0] = divide_round_up(plan.positions, plan.part);
  return 0;
}

void for_each_run(const xnn_operator& op, size_t part,
                  const std::function<void(size_t first, size_t elements)>& use) {
  const Plan& plan = *reinterpret_cast<const Plan*>(&op.context);
  const size_t channels = op.groups * op.group_output_channels;
  use(part * plan.part * channels, plan.num_positions(part) * channels);
}

}  // namespace

const OwnConvolution kGroupedConvolution{0x47524F55, suits,      packed_floats,
                                         pack,       plan_parts, for_each_run};

}  // namespace executorch::backends::xnnpack
