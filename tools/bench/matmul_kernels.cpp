// SPDX-License-Identifier: BSD-3-Clause
// Prints how long a float32 layer takes whose weights are packed once: by XNNPACK's operator, with
// what makes it faster here, and by our matmul, in turns. matmul_kernels --help.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/tools/bench/kernel_turns.h>

#include <xnnpack.h>

namespace {

using executorch::kernels::optimized::Gemm;
using executorch::kernels::optimized::gemm;
using executorch::runtime::Error;
using kernel_turns::numbers;

struct Shape {
  size_t rows, columns, depth;
};

// Of the networks of the benchmark suite: 1x1 convolutions of MobileNets and ResNets, layers of
// transformers of 1, 16 and 197 tokens, classifiers.
constexpr Shape kShapes[] = {
    {1, 1000, 1280},  {1, 1000, 2048},  {1, 768, 768},    {1, 3072, 768},   {1, 768, 3072},
    {1, 2048, 2048},  {1, 8192, 2048},  {16, 768, 768},   {16, 3072, 768},  {16, 768, 3072},
    {49, 320, 960},   {49, 1280, 320},  {49, 2048, 512},  {49, 512, 2048},  {128, 768, 768},
    {128, 3072, 768}, {128, 768, 3072}, {196, 96, 576},   {196, 576, 96},   {196, 1024, 256},
    {196, 256, 1024}, {197, 768, 768},  {197, 3072, 768}, {197, 768, 3072}, {784, 32, 192},
    {784, 192, 32},   {784, 512, 128},  {784, 128, 512},  {3136, 24, 144},  {3136, 144, 24},
    {3136, 256, 64},  {3136, 64, 256},  {12544, 16, 96},  {12544, 96, 16},
};

struct Layer {
  explicit Layer(const Shape& given)
      : shape(given),
        x(numbers(given.rows * given.depth + XNN_EXTRA_BYTES, 0.37f)),
        weights(numbers(given.columns * given.depth, 0.11f)),
        bias(numbers(given.columns, 0.7f)),
        theirs(given.rows * given.columns),
        ours(theirs.size()) {}

  bool prepare() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    xnn_operator_t made = nullptr;
    if (xnn_create_fully_connected_nc_f32(shape.depth, shape.columns, shape.depth, shape.columns,
                                          weights.data(), bias.data(), -kInfinity, kInfinity,
                                          /*flags=*/0, nullptr, nullptr,
                                          &made) != xnn_status_success) {
      return false;
    }
    op.reset(made);
    problem.m = static_cast<int64_t>(shape.rows);
    problem.n = static_cast<int64_t>(shape.columns);
    problem.k = static_cast<int64_t>(shape.depth);
    problem.a = x.data();
    problem.lda = problem.k;
    problem.pack = executorch::kernels::optimized::pack_columns;
    problem.b = weights.data();
    problem.ldb = problem.k;
    problem.c = ours.data();
    problem.ldc = problem.n;
    problem.col_bias = bias.data();
    float* const to = packed.make(executorch::kernels::optimized::num_packed(problem.n, problem.k));
    executorch::kernels::optimized::pack_matrix(problem, to);
    problem.packed = to;
    pthreadpool_t pool = executorch::extension::threadpool::get_pthreadpool();
    return xnn_reshape_fully_connected_nc_f32(made, shape.rows, pool) == xnn_status_success &&
           xnn_setup_fully_connected_nc_f32(made, x.data(), theirs.data()) == xnn_status_success;
  }

  void run_ours() const {
    executorch::runtime::KernelRuntimeContext context;
    if (gemm(context, 1, [&](int64_t) { return problem; }) != Error::Ok) {
      std::abort();
    }
  }

  Shape shape;
  std::vector<float> x, weights, bias, theirs, ours;
  kernel_turns::Packed packed;
  std::unique_ptr<xnn_operator, kernel_turns::DeleteOperator> op;
  Gemm problem;
};

}  // namespace

int main(int argc, char** argv) {
  int32_t threads = 1;
  int32_t turns = 200;
  if (const std::optional<int> code =
          kernel_turns::begin("matmul_kernels: times of float32 layers with packed weights, "
                              "XNNPACK's and ours in turns.",
                              "matmul_kernels --threads=2", argc, argv, threads, turns)) {
    return *code;
  }
  std::printf("%8s %8s %8s %12s %12s %8s %10s\n", "rows", "columns", "depth", "XNNPACK us",
              "ours us", "ratio", "difference");
  kernel_turns::Summary summary;
  for (const Shape& shape : kShapes) {
    Layer layer(shape);
    if (!layer.prepare()) {
      return 1;
    }
    const kernel_turns::Times times = kernel_turns::times_of(
        turns, [&] { kernel_turns::run_operator(layer.op.get()); }, [&] { layer.run_ours(); });
    summary.add(times);
    std::printf("%8zu %8zu %8zu %12.1f %12.1f %8.2f %10.1e\n", shape.rows, shape.columns,
                shape.depth, times.theirs, times.ours, times.ratio(),
                kernel_turns::difference(layer.theirs, layer.ours));
  }
  summary.print(threads);
  return 0;
}
