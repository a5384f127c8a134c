// SPDX-License-Identifier: BSD-3-Clause
// What a user writes first: load a program, give it ones, print the first number of each output.
#include <cstdio>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

using namespace ::executorch::extension;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: consumer model.pte\n");
    return 2;
  }
  Module module(argv[1]);
  const auto meta = module.method_meta("forward");
  if (!meta.ok()) {
    std::fprintf(stderr, "no forward: error %d\n", static_cast<int>(meta.error()));
    return 1;
  }
  std::vector<TensorPtr> tensors;
  std::vector<executorch::runtime::EValue> inputs;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    tensors.push_back(ones({info->sizes().begin(), info->sizes().end()}, info->scalar_type()));
    inputs.emplace_back(tensors.back());
  }
  const auto outputs = module.forward(inputs);
  if (!outputs.ok()) {
    std::fprintf(stderr, "forward failed: error %d\n", static_cast<int>(outputs.error()));
    return 1;
  }
  for (const auto& output : *outputs) {
    std::printf("%f\n", output.toTensor().const_data_ptr<float>()[0]);
  }
  return 0;
}
