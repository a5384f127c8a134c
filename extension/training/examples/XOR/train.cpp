// SPDX-License-Identifier: BSD-3-Clause
// Trains the program of export_model.py on exclusive or: train_xor --help.
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/training/checkpoint/checkpoint.h>
#include <executorch/extension/training/module/training_module.h>
#include <executorch/extension/training/optimizer/sgd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // training is experimental

using namespace executorch::extension;
using executorch::extension::training::TrainingModule;
using executorch::extension::training::optimizer::SGD;
using executorch::extension::training::optimizer::SGDOptions;
using executorch::runtime::DataLoader;
using executorch::runtime::Error;
using executorch::runtime::Result;

namespace {

struct Options {
  std::string model_path = "xor.pte";
  std::string ptd_path;
  std::string checkpoint_path;
  uint32_t steps = 1000;
  double lr = 0.5;
  double momentum = 0.9;
};

struct Row {
  TensorPtr bits;
  TensorPtr label;
};

Result<std::unique_ptr<DataLoader>> open(const std::string& path) {
  return std::unique_ptr<DataLoader>(
      std::make_unique<FileDataLoader>(ET_UNWRAP(FileDataLoader::from(path.c_str()))));
}

Error train(const Options& options) {
  std::unique_ptr<DataLoader> data;
  if (!options.ptd_path.empty()) {
    data = ET_UNWRAP(open(options.ptd_path));
  }
  TrainingModule module(ET_UNWRAP(open(options.model_path)), nullptr, nullptr, nullptr,
                        std::move(data));
  const auto parameters = ET_UNWRAP(module.named_parameters("forward"));
  SGD optimizer(parameters, SGDOptions(options.lr, options.momentum));
  const bool saves = !options.checkpoint_path.empty();
  if (saves && std::ifstream(options.checkpoint_path).good()) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        training::load_checkpoint(options.checkpoint_path, parameters, optimizer.state_dict()));
    std::printf("Goes on from %s\n", options.checkpoint_path.c_str());
  }

  std::vector<Row> rows;
  for (const int64_t a : {0, 1}) {
    for (const int64_t b : {0, 1}) {
      rows.push_back({make_tensor_ptr<float>({1, 2}, {float(a), float(b)}),
                      make_tensor_ptr<int64_t>({1}, {a ^ b})});
    }
  }
  for (uint32_t step = 0; step < options.steps; ++step) {
    const Row& row = rows[step % rows.size()];
    const auto outputs =
        ET_UNWRAP(module.execute_forward_backward("forward", {*row.bits, *row.label}));
    ET_CHECK_OK_OR_RETURN_ERROR(optimizer.step(ET_UNWRAP(module.named_gradients("forward"))));
    if (step % 500 == 0 || step + rows.size() >= options.steps) {
      std::printf("Step %u, loss %f, input [%.0f, %.0f], predicted %lld, label %lld\n", step,
                  outputs[0].toTensor().const_data_ptr<float>()[0],
                  row.bits->const_data_ptr<float>()[0], row.bits->const_data_ptr<float>()[1],
                  static_cast<long long>(outputs[1].toTensor().const_data_ptr<int64_t>()[0]),
                  static_cast<long long>(row.label->const_data_ptr<int64_t>()[0]));
    }
  }
  return saves ? training::save_checkpoint(options.checkpoint_path, parameters,
                                           optimizer.state_dict())
               : Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const FlagTable table{
      "train_xor: trains a network on exclusive or.",
      "train_xor --model_path=xor.pte --checkpoint_path=xor_checkpoint.ptd",
      {{"model_path", &options.model_path, "The program (xor.pte of export_model.py)."},
       {"ptd_path", &options.ptd_path, "Its data file, if its weights are in one."},
       {"checkpoint_path", &options.checkpoint_path,
        "Written at the end; if it is there, training goes on from it."},
       {"steps", &options.steps, "Steps to train, of one row each."},
       {"lr", &options.lr, "Learning rate."},
       {"momentum", &options.momentum, "Momentum."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  return train(options) == Error::Ok ? 0 : 1;
}
