// SPDX-License-Identifier: BSD-3-Clause
// The documents' ways to make a Module, one of them with an ETDumpGen, which the Module then gives.
#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/testing_util/temp_file.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/executor/test/program_builder.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

using namespace ::executorch::extension;
using executorch::etdump::ETDumpGen;
using executorch::extension::testing::TempFile;
using executorch::runtime::Error;

namespace {

std::vector<uint8_t> sum_program() {
  executorch::runtime::testing::ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  const int32_t out = method.add_tensor({{2}});
  method.call("test::add", "out", {x, x, out, out});
  method.inputs({x}).outputs({out});
  return builder.build();
}

class ModuleEtdump : public ::testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    executorch::runtime::testing::register_test_kernels();
  }
  std::vector<uint8_t> bytes_ = sum_program();
  TempFile file_{bytes_.data(), bytes_.size()};
};

TEST_F(ModuleEtdump, MakingOneReadsNothing) {
  RecordProperty("req", "EXT-001");
  Module absent("/path/model.pte");
  EXPECT_FALSE(absent.is_loaded());
  EXPECT_EQ(absent.forward().error(), Error::AccessFailed);
  Module with_data("model.pte", "model.ptd");
  EXPECT_FALSE(with_data.is_loaded());
  Module module(file_.path(), Module::LoadMode::MmapUseMlock, std::make_unique<ETDumpGen>());
  EXPECT_FALSE(module.is_loaded());
  EXPECT_EQ(module.load_forward(), Error::Ok);
  EXPECT_TRUE(module.is_loaded());
}

TEST_F(ModuleEtdump, TheTracerIsTheETDumpGen) {
  RecordProperty("req", "DT-020 DT-014");
  Module module(file_.path(), Module::LoadMode::MmapUseMlock, std::make_unique<ETDumpGen>());
  ASSERT_EQ(module.load_forward(), Error::Ok);
  if (auto* etdump = dynamic_cast<ETDumpGen*>(module.event_tracer())) {
    const auto trace = etdump->get_etdump_data();
    EXPECT_EQ(trace.buf != nullptr, executorch::runtime::internal::kIsEventTracerCompiledIn);
    std::free(trace.buf);
  } else {
    FAIL() << "the Module gives another tracer than it was given";
  }
}

}  // namespace
