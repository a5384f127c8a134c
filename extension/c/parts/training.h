// SPDX-License-Identifier: BSD-3-Clause
// Steps of training. Builds without EXECUTORCH_BUILD_EXTENSION_TRAINING refuse (no_training.cpp).
#pragma once

#include <memory>

#include <executorch/c/executorch.h>
#include <executorch/extension/module/module.h>

namespace executorch::extension::c {

// A module whose methods compute gradients; the data loader may be null.
runtime::Result<std::unique_ptr<Module>> make_training_module(
    std::unique_ptr<runtime::DataLoader> program,
    std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
    std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
    std::unique_ptr<runtime::EventTracer> event_tracer, std::unique_ptr<runtime::DataLoader> data);

ExecuTorchStatus train_step(ExecuTorchModule module, const char* method,
                            const ExecuTorchValue* inputs, size_t num_inputs,
                            ExecuTorchValue* outputs, size_t num_outputs,
                            size_t* out_count) noexcept;
ExecuTorchStatus trained_tensor(ExecuTorchModule module, const char* method, int32_t which,
                                size_t index, const char** out_name,
                                ExecuTorchTensor* out_tensor) noexcept;
ExecuTorchStatus optimizer_new(ExecuTorchModule module, const char* method, const char* kind,
                               const ExecuTorchSetting* settings, size_t num_settings,
                               ExecuTorchOptimizer* out_optimizer) noexcept;
ExecuTorchStatus optimizer_step(ExecuTorchOptimizer optimizer) noexcept;
ExecuTorchStatus checkpoint_save(ExecuTorchOptimizer optimizer, const char* path) noexcept;
ExecuTorchStatus checkpoint_load(ExecuTorchOptimizer optimizer, const char* path) noexcept;

}  // namespace executorch::extension::c
