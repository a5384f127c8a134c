// SPDX-License-Identifier: BSD-3-Clause
// What a Module does where it is used wrongly or at its limits, as upstream does it but for what
// docs/compatibility.md lists.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/serialize/serialize.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/module/test/program_files.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/executor/test/program_builder.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension;
using executorch::aten::Tensor;
using executorch::extension::program_files::floats;
using executorch::extension::program_files::write_program;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;
using executorch::runtime::testing::ProgramBuilder;
using executorch::runtime::testing::TensorSpec;

namespace {

// forward(x: [2]) = x + w, where w is in a data file.
ProgramBuilder add_external() {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  TensorSpec spec{{2}};
  spec.planned = false;
  spec.name = "w";
  spec.external = true;
  const int32_t weight = method.add_tensor(spec);
  const int32_t out = method.add_tensor({{2}});
  method.call("test::add", "out", {x, weight, out, out});
  method.inputs({x}).outputs({out});
  return builder;
}

class ModuleEdges : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    executorch::runtime::testing::register_test_kernels();
  }

  TensorPtr ones_ = ones({2});
  TensorPtr twos_ = full({2}, 2);
};

TEST_F(ModuleEdges, WhatAMethodWithoutOutputsGives) {
  ProgramBuilder builder;
  builder.add_method("forward");
  Module module(write_program("module_edges_test_no_outputs.pte", std::move(builder)));
  EXPECT_TRUE(module.forward().ok());
  EXPECT_EQ(module.get("forward").error(), Error::InvalidArgument);
}

// The count of threads that the backend was initialised with.
class OptionBackend final : public executorch::runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<executorch::runtime::DelegateHandle*> init(
      executorch::runtime::BackendInitContext& context, executorch::runtime::FreeableBuffer*,
      executorch::runtime::ArrayRef<executorch::runtime::CompileSpec>) const override {
    threads = context.get_runtime_spec<int>("threads").ok()
                  ? *context.get_runtime_spec<int>("threads")
                  : -1;
    return static_cast<executorch::runtime::DelegateHandle*>(nullptr);
  }
  Error execute(executorch::runtime::BackendExecutionContext&, executorch::runtime::DelegateHandle*,
                executorch::runtime::Span<EValue*>) const override {
    return Error::Ok;
  }

  mutable int threads = 0;
};

TEST_F(ModuleEdges, OptionsAreCopiedOnceTheProgramIsLoaded) {
  static OptionBackend backend;
  ASSERT_EQ(executorch::runtime::register_backend({"OptionBackend", &backend}), Error::Ok);
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const uint8_t blob = 0;
  method.call_delegate(
      method.add_delegate("OptionBackend", executorch_flatbuffer::DataLocation::INLINE,
                          builder.add_inline_delegate_data(&blob, 1)),
      {});
  Module module(write_program("module_edges_test_options.pte", std::move(builder)));
  const auto load_with = [&module](int threads) {
    executorch::runtime::BackendOptions<1> options;  // gone before the method is loaded
    EXPECT_EQ(options.set_option("threads", threads), Error::Ok);
    LoadBackendOptionsMap map;
    EXPECT_EQ(map.set_options("OptionBackend", options.view()), Error::Ok);
    return module.load(map);
  };
  ASSERT_EQ(load_with(3), Error::Ok);
  ASSERT_EQ(load_with(4), Error::Ok);
  ASSERT_EQ(module.load_forward(), Error::Ok);
  EXPECT_EQ(backend.threads, 4) << "the later options replace the earlier ones";

  executorch::runtime::BackendOptions<1> own;
  EXPECT_EQ(own.set_option("threads", 7), Error::Ok);
  LoadBackendOptionsMap map;
  EXPECT_EQ(map.set_options("OptionBackend", own.view()), Error::Ok);
  EXPECT_EQ(module.load_forward(nullptr, nullptr, &map), Error::Ok);
  EXPECT_EQ(backend.threads, 4) << "a loaded method ignores arguments";
  EXPECT_TRUE(module.unload_forward());
  EXPECT_EQ(module.load_forward(nullptr, nullptr, &map), Error::Ok);
  EXPECT_EQ(backend.threads, 7) << "options of the call win";

  Module missing("/nowhere/model.pte");
  EXPECT_EQ(missing.load(map), Error::AccessFailed);
  EXPECT_EQ(missing.backend_options().size(), 0u);
}

// Buffers behind the second are not shared; those of another device cannot be.
TEST_F(ModuleEdges, TwoBuffersOfAPlanAreShared) {
  const auto program = [](uint32_t memory_id, bool on_device) {
    ProgramBuilder builder;
    for (const char* name : {"set", "get"}) {
      auto& method = builder.add_method(name);
      const int32_t state = method.add_tensor({{2}});
      method.tensor(state).allocation_info->memory_id = memory_id;
      if (name[0] == 's') {
        const int32_t x = method.add_tensor({{2}});
        method.call("test::copy_", "", {state, x, state});
        method.inputs({x});
      }
      method.outputs({state});
      method.plan().non_const_buffer_sizes = {0, 64, 64, 64};
      if (on_device) {
        auto device = std::make_unique<executorch_flatbuffer::NonConstBufferDeviceT>();
        device->buffer_idx = 2;
        device->device_type = executorch_flatbuffer::DeviceType::CUDA;
        method.plan().non_const_buffer_device.push_back(std::move(device));
      }
    }
    return builder;
  };
  for (const uint32_t memory_id : {1u, 2u, 3u}) {
    Module module(write_program("module_edges_test_buffers.pte", program(memory_id, false)),
                  Module::LoadMode::File, nullptr, nullptr, nullptr, /*share_memory_arenas=*/true);
    ASSERT_TRUE(module.execute("set", twos_).ok());
    EXPECT_EQ(floats(module.execute("get")->at(0)),
              (std::vector<float>(2, memory_id <= 2 ? 2 : 0)));
  }
  Module on_device(write_program("module_edges_test_device.pte", program(1, true)),
                   Module::LoadMode::File, nullptr, nullptr, nullptr, /*share_memory_arenas=*/true);
  EXPECT_EQ(on_device.load_method("set"), Error::NotSupported);
}

// A loader that cannot be opened at first, as a file that is still being copied.
TEST_F(ModuleEdges, LoadingMayBeTriedAgain) {
  const std::string data = testing::TempDir() + "/module_edges_test_retry.ptd";
  const std::string late = testing::TempDir() + "/module_edges_test_late.pte";
  std::remove(late.c_str());
  auto weight = full({2}, 10);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // marked experimental
  ASSERT_EQ(flat_tensor::save_ptd(data, {{"w", *weight}}, 16), Error::Ok);
#pragma GCC diagnostic pop
  Module module(late, data);
  EXPECT_EQ(module.load(), Error::AccessFailed);
  write_program("module_edges_test_late.pte", add_external());
  EXPECT_EQ(floats(module.forward(ones_)->at(0)), (std::vector<float>{11, 11}));
  // A Module that shares the program reads data files of its own.
  auto loader = FileDataLoader::from(data.c_str());
  Module sharing(module.program(), nullptr, nullptr, nullptr,
                 std::make_unique<FileDataLoader>(std::move(loader.get())));
  EXPECT_EQ(floats(sharing.forward(ones_)->at(0)), (std::vector<float>{11, 11}));
  EXPECT_FALSE(Module(module.program()).forward(ones_).ok());
}

}  // namespace
