// SPDX-License-Identifier: BSD-3-Clause
// Module: loading in every way, inputs and outputs that are set, several methods, shared programs,
// what goes wrong.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/serialize/serialize.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/module/test/program_files.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/executor/test/program_builder.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::program_files::floats;
using executorch::extension::program_files::write_file;
using executorch::extension::program_files::write_program;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;
using executorch::runtime::testing::ProgramBuilder;

namespace testing_programs = executorch::runtime::testing;

namespace {

// forward(x: [2], y: [2]) = x + y, with an output that the caller must give memory.
ProgramBuilder add_two(bool planned_output) {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  const int32_t y = method.add_tensor({{2}});
  testing_programs::TensorSpec out_spec{{2}};
  out_spec.planned = planned_output;
  const int32_t out = method.add_tensor(out_spec);
  method.call("test::add", "out", {x, y, out, out});
  method.inputs({x, y}).outputs({out});
  return builder;
}

// forward(x: [2]) = x + w, where w is in a data file.
ProgramBuilder add_external() {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  testing_programs::TensorSpec spec{{2}};
  spec.planned = false;
  spec.name = "w";
  spec.external = true;
  const int32_t weight = method.add_tensor(spec);
  const int32_t out = method.add_tensor({{2}});
  method.call("test::add", "out", {x, weight, out, out});
  method.inputs({x}).outputs({out});
  return builder;
}

class ModuleTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    testing_programs::register_test_kernels();
  }

  TensorPtr ones_ = ones({2});
  TensorPtr twos_ = full({2}, 2);
};

TEST_F(ModuleTest, MakingOneReadsNothing) {
  Module module("/nowhere/model.pte");
  EXPECT_FALSE(module.is_loaded());
  EXPECT_EQ(module.load(), Error::AccessFailed);
  EXPECT_EQ(module.forward().error(), Error::AccessFailed);
  EXPECT_FALSE(module.is_loaded());
}

TEST_F(ModuleTest, EveryLoadMode) {
  RecordProperty("req", "EXT-007");
  const std::string path = write_program("module_test_modes.pte", add_two(true));
  using Mode = Module::LoadMode;
  for (Mode mode : {Mode::File, Mode::Mmap, Mode::MmapUseMlockIgnoreErrors, Mode::MmapUseMadvise}) {
    Module module(path, mode);
    const auto result = module.forward({ones_, twos_});
    ASSERT_TRUE(result.ok()) << static_cast<int>(mode);
    EXPECT_EQ(floats(result->at(0)), (std::vector<float>{3, 3}));
  }
  Module locked(path, Mode::MmapUseMlock);
  const Error error = locked.load();
  EXPECT_TRUE(error == Error::Ok || error == Error::NotSupported);
}

TEST_F(ModuleTest, LoadingTwiceHasNoEffect) {
  RecordProperty("req", "EXT-002");
  Module module(write_program("module_test_twice.pte", testing_programs::two_method_program()));
  EXPECT_EQ(module.load_method("one"), Error::Ok);
  EXPECT_TRUE(module.is_loaded());
  EXPECT_TRUE(module.is_method_loaded("one"));
  EXPECT_FALSE(module.is_method_loaded("two"));
  const auto program = module.program();
  EXPECT_EQ(module.load(), Error::Ok);
  EXPECT_EQ(module.load_method("one"), Error::Ok);
  EXPECT_EQ(module.program(), program);
  EXPECT_NE(module.load_method("none"), Error::Ok);
  EXPECT_NE(module.load_forward(), Error::Ok);
  EXPECT_TRUE(module.unload_method("one"));
  EXPECT_FALSE(module.unload_method("one"));
  EXPECT_FALSE(module.is_method_loaded("one"));
  EXPECT_EQ(module.load_method("one"), Error::Ok);
}

TEST_F(ModuleTest, MetadataLoadsTheProgram) {
  RecordProperty("req", "EXT-003");
  const std::string path =
      write_program("module_test_meta.pte", testing_programs::two_method_program());
  Module module(path);
  const auto names = module.method_names();
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names.get(), (std::unordered_set<std::string>{"one", "two"}));
  EXPECT_TRUE(module.is_loaded());
  EXPECT_EQ(Module(path).num_methods().get(), 2u);
  EXPECT_STREQ(Module(path).method_meta("one").error() == Error::Ok ? "one" : "", "one");
  EXPECT_EQ(module.method_meta("none").error(), Error::InvalidArgument);
}

TEST_F(ModuleTest, EveryWayToCall) {
  RecordProperty("req", "EXT-004");
  Module module(write_program("module_test_call.pte", add_two(true)));
  EXPECT_EQ(floats(module.execute("forward", {ones_, twos_})->at(0)), (std::vector<float>{3, 3}));
  EXPECT_EQ(floats(module.forward({twos_, twos_})->at(0)), (std::vector<float>{4, 4}));
  EXPECT_EQ(floats(module.get("forward", {ones_, ones_}).get()), (std::vector<float>{2, 2}));
  EXPECT_EQ(floats(module.get_output().get()), (std::vector<float>{2, 2}));
  EXPECT_EQ(module.get_outputs()->size(), 1u);
  EXPECT_EQ(module.get_output(1).error(), Error::InvalidArgument);
}

TEST_F(ModuleTest, InputsThatAreSetStay) {
  RecordProperty("req", "EXT-005");
  Module module(write_program("module_test_inputs.pte", add_two(true)));
  EXPECT_EQ(module.forward().error(), Error::InvalidArgument);
  EXPECT_EQ(module.set_input(ones_, 1), Error::Ok);
  EXPECT_EQ(module.forward().error(), Error::InvalidArgument);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(floats(module.forward(twos_)->at(0)), (std::vector<float>{3, 3}));
  }
  EXPECT_EQ(module.set_inputs({twos_, twos_}), Error::Ok);
  EXPECT_EQ(floats(module.forward()->at(0)), (std::vector<float>{4, 4}));
  // One that is passed counts for this call only.
  EXPECT_EQ(floats(module.forward(ones_)->at(0)), (std::vector<float>{3, 3}));
  EXPECT_EQ(floats(module.forward()->at(0)), (std::vector<float>{4, 4}));
  EXPECT_EQ(module.set_input(EValue(), 1), Error::Ok);
  EXPECT_EQ(module.forward(ones_).error(), Error::InvalidArgument);
}

TEST_F(ModuleTest, InputsThatDoNotFit) {
  Module module(write_program("module_test_unfit.pte", add_two(true)));
  EXPECT_EQ(module.set_input(ones_, 2), Error::InvalidArgument);
  EXPECT_EQ(module.set_inputs({ones_}), Error::InvalidArgument);
  EXPECT_EQ(module.forward({ones_, ones_, ones_}).error(), Error::InvalidArgument);
  EXPECT_NE(module.set_input(ones({3}), 0), Error::Ok);
  EXPECT_NE(module.set_input(ones({2, 1}), 0), Error::Ok);
  EXPECT_NE(module.set_input(ones({2}, ScalarType::Int), 0), Error::Ok);
  EXPECT_NE(module.set_input(3.5, 0), Error::Ok);
  EXPECT_FALSE(module.forward({ones({3}), ones_}).ok());
  EXPECT_TRUE(module.forward({ones_, ones_}).ok());
}

TEST_F(ModuleTest, OutputsThatAreSet) {
  RecordProperty("req", "EXT-005");
  Module module(write_program("module_test_outputs.pte", add_two(false)));
  auto output = zeros({2});
  EXPECT_EQ(module.set_output(EValue(3.0)), Error::InvalidArgument);
  EXPECT_EQ(module.set_output(zeros({2}, ScalarType::Int)), Error::InvalidArgument);
  EXPECT_EQ(module.set_output(zeros({1})), Error::InvalidArgument);
  EXPECT_NE(module.set_output(output, 1), Error::Ok);
  EXPECT_EQ(module.set_outputs({output, output}), Error::InvalidArgument);
  ASSERT_EQ(module.set_output(output), Error::Ok);
  ASSERT_TRUE(module.forward({ones_, twos_}).ok());
  EXPECT_EQ(output->const_data_ptr<float>()[1], 3);
  ASSERT_TRUE(module.forward({twos_, twos_}).ok());
  EXPECT_EQ(output->const_data_ptr<float>()[1], 4);
  Module planned(write_program("module_test_planned.pte", add_two(true)));
  EXPECT_EQ(planned.set_output(output), Error::InvalidState);
}

TEST_F(ModuleTest, DataFiles) {
  const std::string program = write_program("module_test_external.pte", add_external());
  auto weight = full({2}, 10);
  const std::string data = testing::TempDir() + "/module_test_external.ptd";
  const std::string other = testing::TempDir() + "/module_test_other.ptd";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // marked experimental
  ASSERT_EQ(flat_tensor::save_ptd(data, {{"w", *weight}}, 16), Error::Ok);
  ASSERT_EQ(flat_tensor::save_ptd(other, {{"unused", *weight}}, 16), Error::Ok);
#pragma GCC diagnostic pop
  Module module(program, data);
  EXPECT_EQ(floats(module.forward(ones_)->at(0)), (std::vector<float>{11, 11}));
  Module several(program, std::vector<std::string>{other, data}, Module::LoadMode::Mmap);
  EXPECT_EQ(floats(several.forward(ones_)->at(0)), (std::vector<float>{11, 11}));
  EXPECT_FALSE(Module(program).forward(ones_).ok());
  EXPECT_EQ(Module(program, "/nowhere/x.ptd").load(), Error::AccessFailed);
  EXPECT_EQ(Module(program, program).load(), Error::InvalidExternalData);
  EXPECT_EQ(Module(program, std::vector<std::string>{data, data}).load(), Error::InvalidArgument);
  auto loader = FileDataLoader::from(program.c_str());
  auto data_loader = FileDataLoader::from(data.c_str());
  Module from_loaders(std::make_unique<FileDataLoader>(std::move(loader.get())), nullptr, nullptr,
                      nullptr, std::make_unique<FileDataLoader>(std::move(data_loader.get())));
  EXPECT_EQ(floats(from_loaders.forward(ones_)->at(0)), (std::vector<float>{11, 11}));
}

TEST_F(ModuleTest, CorruptedFilesAreRefusedByDefault) {
  std::vector<uint8_t> bytes = add_two(true).build();
  for (size_t size = 0; size < bytes.size(); size += 7) {
    Module module(write_file("module_test_cut.pte",
                             std::vector<uint8_t>(bytes.begin(), bytes.begin() + size)));
    EXPECT_NE(module.load(), Error::Ok) << size;
    EXPECT_FALSE(module.is_loaded());
  }
}

TEST_F(ModuleTest, StateLivesAsLongAsTheMethod) {
  Module module(write_program("module_test_state.pte", testing_programs::stateful_program()));
  const std::vector<float> first = floats(module.forward(ones_)->at(0));
  const std::vector<float> second = floats(module.forward(ones_)->at(0));
  EXPECT_EQ(second[0], first[0] + 1);
  module.unload_forward();
  EXPECT_EQ(floats(module.forward(ones_)->at(0)), first);
}

TEST_F(ModuleTest, SharedProgramOutlivesItsModule) {
  std::shared_ptr<Program> program;
  {
    Module module(write_program("module_test_shared.pte", add_two(true)));
    ASSERT_EQ(module.load(), Error::Ok);
    program = module.program();
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&program] {
      auto one = ones({2});
      for (int round = 0; round < 20; ++round) {
        Module module(program);
        EXPECT_EQ(floats(module.forward({one, one})->at(0)), (std::vector<float>{2, 2}));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// Two methods with state at the same place of their plans: set(x) stores x, get() reads it.
TEST_F(ModuleTest, SharedArenasKeepStateAcrossMethods) {
  ProgramBuilder builder;
  auto& set = builder.add_method("set");
  const int32_t set_state = set.add_tensor({{2}});
  const int32_t set_x = set.add_tensor({{2}});
  set.call("test::copy_", "", {set_state, set_x, set_state});
  set.inputs({set_x}).outputs({set_state});
  auto& get = builder.add_method("get");
  const int32_t get_state = get.add_tensor({{2}});
  get.inputs({}).outputs({get_state});
  const std::string path = write_program("module_test_arenas.pte", std::move(builder));
  for (bool share : {false, true}) {
    Module module(path, Module::LoadMode::File, nullptr, nullptr, nullptr, share);
    ASSERT_TRUE(module.execute("set", twos_).ok());
    const auto result = module.execute("get");
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(floats(result->at(0)), (std::vector<float>(2, share ? 2 : 0)));
  }
}

// Buffer `total` starts at {10, 20} in both methods: add(x) adds x to it, get() reads it; `own`,
// which only get() has, starts at {7, 8}.
TEST_F(ModuleTest, SharedStateIsNotStartedAgainByTheNextMethod) {
  ProgramBuilder builder;
  const uint32_t start = builder.add_initial_data(std::vector<float>{10, 20});
  const uint32_t own_start = builder.add_initial_data(std::vector<float>{7, 8});
  testing_programs::TensorSpec total{{2}};
  total.data_buffer_idx = start;
  total.name = "total";
  auto& add = builder.add_method("add");
  const int32_t add_total = add.add_tensor(total);
  const int32_t x = add.add_tensor({{2}});
  add.call("test::add", "out", {add_total, x, add_total, add_total});
  add.inputs({x}).outputs({add_total});
  auto& get = builder.add_method("get");
  const int32_t get_total = get.add_tensor(total);
  const int32_t unused = get.add_tensor({{2}});
  testing_programs::TensorSpec own{{2}};
  own.data_buffer_idx = own_start;
  own.name = "own";
  const int32_t get_own = get.add_tensor(own);
  get.inputs({unused}).outputs({get_total, get_own});
  Module module(write_program("module_test_state.pte", std::move(builder)), Module::LoadMode::File,
                nullptr, nullptr, nullptr, /*share_memory_arenas=*/true);
  auto amount = full({2}, 5.3);
  ASSERT_TRUE(module.execute("add", amount).ok());
  const auto result = module.execute("get", ones_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(floats(result->at(0)), (std::vector<float>{10 + 5.3f, 20 + 5.3f}));
  EXPECT_EQ(floats(result->at(1)), (std::vector<float>{7, 8}));
}

// A corrupted size of a plan costs nothing while no tensor uses the bytes; an impossible one is an
// error.
TEST_F(ModuleTest, ArenasCostWhatTensorsUse) {
  for (const int64_t size : {int64_t{1} << 32, int64_t{1} << 62}) {
    for (const bool share : {false, true}) {
      ProgramBuilder builder;
      auto& method = builder.add_method("forward");
      const int32_t x = method.add_tensor({{2}});
      const int32_t y = method.add_tensor({{2}});
      method.call("test::add", "out", {x, x, y, y});
      method.inputs({x}).outputs({y});
      method.plan().non_const_buffer_sizes = {0, size};
      Module module(write_program("module_test_huge.pte", std::move(builder)),
                    Module::LoadMode::File, nullptr, nullptr, nullptr, share);
      rusage before{};
      getrusage(RUSAGE_SELF, &before);
      const auto result = module.forward(ones_);
      rusage after{};
      getrusage(RUSAGE_SELF, &after);
// These sanitizers note every byte of an allocation in memory of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
      EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10) << "kilobytes";
#endif
      if (size == int64_t{1} << 32) {
        ASSERT_TRUE(result.ok());
        EXPECT_EQ(floats(result->at(0)), (std::vector<float>{2, 2}));
      } else {
        EXPECT_EQ(result.error(), Error::MemoryAllocationFailed);
      }
    }
  }
}

TEST_F(ModuleTest, AMissingOperatorIsAnError) {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  method.call("test::nowhere", "out", {x, x});
  method.inputs({x}).outputs({x});
  Module module(write_program("module_test_missing.pte", std::move(builder)));
  EXPECT_EQ(module.forward(ones_).error(), Error::OperatorMissing);
}

}  // namespace
