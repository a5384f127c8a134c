// SPDX-License-Identifier: BSD-3-Clause
// Matmuls of activations, quantized row by row to 8 bits, with weights of 1 to 8 bits.
#include <executorch/kernels/torchao/CustomOpsNativeFunctions.h>

#include <algorithm>

#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/portable/loops/temporary.h>
#include <executorch/kernels/torchao/low_bits.h>
#include <executorch/kernels/torchao/weights.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

namespace {

using namespace ::executorch::kernels;
using namespace ::executorch::kernels::torchao;
using ::executorch::extension::get_num_threads;
using ::executorch::extension::get_thread_num;
using ::executorch::extension::parallel_for;

constexpr int64_t kActivationRows = 64;  // at a time, to bound scratch memory
constexpr int64_t kWorkPerTask = 1 << 16;
constexpr int64_t kLine = 64;

int64_t lines(int64_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

// Scratch memory of a call: activations of some rows, and what each thread needs.
struct Layout {
  int64_t codes, sums, parameters, thread, threads;

  Layout(const LinearWeight& weight, int64_t rows)
      : codes(lines(rows * weight.k)),
        sums(lines(rows * weight.groups() * 4)),
        parameters(lines(rows * static_cast<int64_t>(sizeof(QuantizedRow)))),
        thread(lines(block_scratch_bytes(weight))),
        threads(get_num_threads()) {}
  int64_t bytes() const { return codes + sums + parameters + thread * threads; }
};

void multiply(const LinearWeight& weight, const float* x, int64_t rows, const Layout& layout,
              uint8_t* memory, float* out) {
  auto* codes = reinterpret_cast<int8_t*>(memory);
  auto* sums = reinterpret_cast<int32_t*>(memory + layout.codes);
  auto* parameters = reinterpret_cast<QuantizedRow*>(memory + layout.codes + layout.sums);
  uint8_t* own = memory + layout.codes + layout.sums + layout.parameters;
  const int64_t row_grain = std::max<int64_t>(1, kWorkPerTask / weight.k);
  parallel_for(0, rows, row_grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      parameters[i] = quantize_row(x + i * weight.k, weight.k, weight.group_size,
                                   codes + i * weight.k, sums + i * weight.groups());
    }
  });
  const Activations activations{rows, codes, sums, parameters};
  const int64_t blocks = (weight.n + kRows - 1) / kRows;
  const int64_t grain =
      std::max<int64_t>(1, kWorkPerTask / (weight.k * std::max<int64_t>(rows, 4)));
  parallel_for(0, blocks, grain, [&](int64_t first, int64_t last) {
    uint8_t* scratch = own + get_thread_num() * layout.thread;
    for (int64_t block = first; block < last; ++block) {
      const int64_t row = block * kRows;
      multiply_block(weight, block, activations, std::min(kRows, weight.n - row), scratch,
                     out + row, weight.n);
    }
  });
}

Tensor& linear(const OpCall& call, int bits, const Tensor& activations, const Tensor& packed,
               int64_t group_size, int64_t n, int64_t k, Tensor& out) {
  LinearWeight weight;
  if (!check_rank(call, "activations", activations, 2) ||
      !check_dtype(call, "activations", activations, ScalarType::Float) ||
      !check_count(call, "columns of activations", activations.size(1), k) ||
      !check_dtype(call, "out", out, ScalarType::Float) ||
      !read_linear_weight(call, packed, bits, group_size, n, k, weight)) {
    return out;
  }
  const int64_t m = activations.size(0);
  Shape shape;
  shape.push(m);
  shape.push(n);
  if (!resize_output(call, out, shape)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, is_row_major(activations) && is_row_major(out), InvalidArgument,
                      out, "%s: expected activations and out in row-major order, found another",
                      call.op);
  if (m == 0) {
    return out;
  }
  const Layout layout(weight, std::min(m, kActivationRows));
  Temporary temporary;
  auto* const memory =
      static_cast<uint8_t*>(temporary.allocate(call, static_cast<size_t>(layout.bytes()), kLine));
  if (memory == nullptr) {
    return out;
  }
  const float* x = activations.const_data_ptr<float>();
  auto* results = out.mutable_data_ptr<float>();
  for (int64_t first = 0; first < m; first += kActivationRows) {
    multiply(weight, x + first * k, std::min(kActivationRows, m - first), layout, memory,
             results + first * n);
  }
  return out;
}

}  // namespace

#define LINEAR(BITS)                                                                      \
  Tensor& torchao_linear_8bit_act_##BITS##bit_weight_out(                                 \
      KernelRuntimeContext& ctx, const Tensor& activations, const Tensor& packed_weights, \
      int64_t group_size, int64_t n, int64_t k, Tensor& out) {                            \
    return linear({ctx, "_linear_8bit_act_" #BITS "bit_weight.out"}, BITS, activations,   \
                  packed_weights, group_size, n, k, out);                                 \
  }

LINEAR(1)
LINEAR(2)
LINEAR(3)
LINEAR(4)
LINEAR(5)
LINEAR(6)
LINEAR(7)
LINEAR(8)

#undef LINEAR

}  // namespace torch::executor::native
