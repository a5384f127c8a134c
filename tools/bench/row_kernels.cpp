// SPDX-License-Identifier: BSD-3-Clause
// Prints how fast one row of bytes goes through 4-bit weights with a scale per block, by XNNPACK's
// kernel and by ours in turns, each on a product as a language model has them. row_kernels --help.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <limits>
#include <optional>
#include <vector>

#include <executorch/backends/xnnpack/library/blocks/rows_vnni.h>
#include <executorch/backends/xnnpack/runtime/weights/weight_pages.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include "xnnpack/hardware-config.h"
#include "xnnpack/math.h"
#include "xnnpack/microparams.h"

namespace {

using executorch::extension::FlagTable;
using executorch::runtime::Error;
using Kernel = decltype(xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni);

constexpr size_t kColumns = 16;  // of a panel

struct Size {
  size_t columns, depth, block;

  size_t of_panel() const {
    return kColumns * (2 * sizeof(float) + depth / 2 + depth / block * sizeof(xnn_bfloat16));
  }
  size_t bytes() const { return columns / kColumns * of_panel(); }
};

constexpr Size kSizes[] = {{2048, 2048, 32}, {8192, 2048, 32}, {8192, 2048, 128}, {2048, 8192, 32},
                           {1536, 576, 32},  {576, 1536, 32},  {128256, 2048, 32}};

/// `weights` holds at least size.bytes(); each thread takes as many panels.
double seconds_of(Kernel& kernel, const Size& size, const uint8_t* weights, int64_t threads) {
  static const std::vector<int8_t> inputs(1 << 14, 3);
  std::vector<float> out(size.columns);
  xnn_f32_qb4w_minmax_params params = {};
  params.scalar.min = -std::numeric_limits<float>::infinity();
  params.scalar.max = std::numeric_limits<float>::infinity();
  params.scalar.blocksize = size.block;
  const xnn_qd8_quantization_params quantization{/*zero_point=*/1, /*inv_scale=*/0.5f};
  const auto panels = static_cast<int64_t>(size.columns / kColumns);
  const auto start = std::chrono::steady_clock::now();
  executorch::extension::parallel_for(0, threads, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      const auto begin = static_cast<size_t>(panels * part / threads);
      const auto end = static_cast<size_t>(panels * (part + 1) / threads);
      kernel(1, (end - begin) * kColumns, size.depth, inputs.data(), size.depth,
             weights + begin * size.of_panel(), out.data() + begin * kColumns, 0,
             kColumns * sizeof(float), &params, &quantization);
    }
  });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

void print(const Size& size, int32_t threads, int32_t rounds, const uint8_t* weights,
           size_t megabytes) {
  // Products one after the other, as layers follow each other: none finds its weights in a cache.
  const size_t products = std::max<size_t>(megabytes * 1000000 / size.bytes(), 1);
  Kernel* const kernels[] = {xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__avx512vnni_prfm,
                             xnn_qd8_f32_qb4w_gemm_minmax_ukernel_1x16c8__vnni};
  double best[] = {1e30, 1e30};
  for (int32_t round = 0; round < rounds; ++round) {
    for (int side = 0; side < 2; ++side) {
      double seconds = 0;
      for (size_t product = 0; product < products; ++product) {
        seconds += seconds_of(*kernels[side], size, weights + product * size.bytes(), threads);
      }
      best[side] = std::min(best[side], seconds);
    }
  }
  const double gigabytes = static_cast<double>(products * size.bytes()) / 1e9;
  std::printf(
      "{\"columns\": %zu, \"depth\": %zu, \"block\": %zu, \"threads\": %d, "
      "\"xnnpack\": %.2f, \"ours\": %.2f, \"unit\": \"GB/s\"}\n",
      size.columns, size.depth, size.block, threads, gigabytes / best[0], gigabytes / best[1]);
}

}  // namespace

int main(int argc, char** argv) {
  int32_t megabytes = 300, rounds = 5;
  const FlagTable table = {
      "row_kernels: how fast one row is multiplied by 4-bit weights, by XNNPACK's kernel and ours.",
      "row_kernels --megabytes=300",
      {{"megabytes", &megabytes, "Weights read by each product's repetitions."},
       {"rounds", &rounds, "Turns, of which the fastest counts."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  const xnn_hardware_config* const hardware = xnn_init_hardware_config();
  if (hardware == nullptr || !hardware->use_x86_avx512vnnigfni) {
    std::cerr << "Expected a processor with AVX-512 VNNI and GFNI: our kernel is for those\n";
    return 1;
  }
  if (megabytes < 1 || rounds < 1) {
    std::cerr << "Expected positive --megabytes and --rounds\n";
    return 1;
  }
  size_t most = static_cast<size_t>(megabytes) * 1000000;
  for (const Size& size : kSizes) {
    most = std::max(most, size.bytes());
  }
  auto* const weights =
      static_cast<uint8_t*>(executorch::backends::xnnpack::allocate_weights(most));
  if (weights == nullptr) {
    std::cerr << "Expected memory of " << megabytes << " MB: give a smaller --megabytes\n";
    return 1;
  }
  std::memset(weights, 0x3C, most);  // scales and biases of 0.01
  const auto cores =
      static_cast<int32_t>(executorch::extension::threadpool::get_threadpool()->get_thread_count());
  for (const Size& size : kSizes) {
    for (const int32_t threads : {1, cores}) {
      print(size, threads, rounds, weights, static_cast<size_t>(megabytes));
    }
  }
  executorch::backends::xnnpack::free_weights(weights);
  return 0;
}
