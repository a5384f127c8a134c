// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/parts/training.h>

#include <executorch/extension/c/status.h>

namespace executorch::extension::c {
namespace {

runtime::Error refuse() {
  ET_LOG(Error, "training: this library was built without EXECUTORCH_BUILD_EXTENSION_TRAINING");
  return runtime::Error::NotSupported;
}

}  // namespace

runtime::Result<std::unique_ptr<Module>> make_training_module(
    std::unique_ptr<runtime::DataLoader>, std::unique_ptr<runtime::MemoryAllocator>,
    std::unique_ptr<runtime::MemoryAllocator>, std::unique_ptr<runtime::EventTracer>,
    std::unique_ptr<runtime::DataLoader>) {
  return refuse();
}

ExecuTorchStatus train_step(ExecuTorchModule, const char*, const ExecuTorchValue*, size_t,
                            ExecuTorchValue*, size_t, size_t*) noexcept {
  return guard("train_step", refuse);
}
ExecuTorchStatus trained_tensor(ExecuTorchModule, const char*, int32_t, size_t, const char**,
                                ExecuTorchTensor*) noexcept {
  return guard("trained_tensor", refuse);
}
ExecuTorchStatus optimizer_new(ExecuTorchModule, const char*, const char*, const ExecuTorchSetting*,
                               size_t, ExecuTorchOptimizer*) noexcept {
  return guard("optimizer_new", refuse);
}
ExecuTorchStatus optimizer_step(ExecuTorchOptimizer) noexcept {
  return guard("optimizer_step", refuse);
}
ExecuTorchStatus checkpoint_save(ExecuTorchOptimizer, const char*) noexcept {
  return guard("checkpoint_save", refuse);
}
ExecuTorchStatus checkpoint_load(ExecuTorchOptimizer, const char*) noexcept {
  return guard("checkpoint_load", refuse);
}

}  // namespace executorch::extension::c
