// SPDX-License-Identifier: BSD-3-Clause
// What a call by the C interface costs beside the same call of the C++ Module, in turns:
//
//   call_overhead_bench extension/module/test/resources/add.pte
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <executorch/c/executorch.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

namespace {

using executorch::extension::Module;

constexpr int kRounds = 51;
constexpr int kCalls = 2000;

// Nanoseconds of a call.
template <typename Call>
double time_of(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) {
    call();
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / kCalls;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

ExecuTorchValue tensor_of(const ExecuTorchApi& et, float* data) {
  static const int32_t size = 1;
  ExecuTorchTensorSpec spec{};
  spec.struct_size = sizeof(spec);
  spec.dtype = EXECUTORCH_FLOAT32;
  spec.rank = 1;
  spec.sizes = &size;
  spec.data = data;
  spec.data_size = sizeof(*data);
  ExecuTorchValue value{};
  value.kind = EXECUTORCH_TENSOR;
  return et.tensor_new(&spec, &value.tensor) == 0 ? value : ExecuTorchValue{};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: call_overhead_bench add.pte\n");
    return 2;
  }
  float numbers[] = {1, 2};
  Module module(argv[1]);
  const auto x = executorch::extension::make_tensor_ptr({1}, &numbers[0]);
  const auto y = executorch::extension::make_tensor_ptr({1}, &numbers[1]);
  const ExecuTorchApi& et = *executorch_get_api(EXECUTORCH_API_VERSION);
  ExecuTorchModuleOptions options{};
  options.struct_size = sizeof(options);
  options.program.path = argv[1];
  ExecuTorchModule by_c = 0;
  const ExecuTorchValue inputs[] = {tensor_of(et, &numbers[0]), tensor_of(et, &numbers[1])};
  ExecuTorchValue output{};
  bool is_right = et.module_load(&options, &by_c) == 0;
  std::vector<double> cpp_times, c_times, ratios;
  for (int round = 0; round < kRounds; ++round) {
    cpp_times.push_back(time_of([&] {
      const auto outputs = module.forward({x, y});
      is_right =
          is_right && outputs.ok() && outputs->at(0).toTensor().const_data_ptr<float>()[0] == 3;
    }));
    c_times.push_back(time_of(
        [&] { is_right = is_right && et.execute(by_c, nullptr, inputs, 2, &output, 1) == 0; }));
    ratios.push_back(c_times.back() / cpp_times.back());
  }
  if (!is_right) {
    std::fprintf(stderr, "a call failed\n");
    return 1;
  }
  std::printf("C++ %.0f ns, C %.0f ns a call, ratio %.3f (medians of %d rounds)\n",
              median(cpp_times), median(c_times), median(ratios), kRounds);
  (void)et.release(inputs[0].tensor);
  (void)et.release(inputs[1].tensor);
  return et.release(by_c) == 0 ? 0 : 1;
}
