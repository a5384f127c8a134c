// SPDX-License-Identifier: BSD-3-Clause
// Inputs that are prepared, flags, and the runner from end to end.
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/module/module.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/inputs.h>
#include <executorch/extension/runner_util/model_runner.h>
#ifdef ET_USE_THREADPOOL
#include <executorch/extension/threadpool/threadpool.h>
#endif
#include <executorch/runtime/executor/test/program_builder.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // Module::method()

using namespace executorch::extension;
using executorch::runtime::Error;
using executorch::runtime::testing::ProgramBuilder;
using executorch::runtime::testing::TensorSpec;

namespace {

std::string write_file(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/runner_util_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// forward(x: [2, 3], y: [2, 3]) = x + y
std::string add_model(bool planned_output = true) {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2, 3}});
  const int32_t y = method.add_tensor({{2, 3}});
  TensorSpec spec{{2, 3}};
  spec.planned = planned_output;
  const int32_t out = method.add_tensor(spec);
  method.call("test::add", "out", {x, y, out, out});
  method.inputs({x, y}).outputs({out});
  const auto bytes = builder.build();
  return write_file("runner.pte", std::string(bytes.begin(), bytes.end()));
}

std::string raw(std::vector<float> numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
}

class RunnerUtil : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    executorch::runtime::testing::register_test_kernels();
  }
};

TEST_F(RunnerUtil, InputsAreOnes) {
  RecordProperty("req", "EXT-026");
  Module module(add_model());
  Method* method = module.method("forward").get();
  auto cleanup = prepare_input_tensors(*method);
  ASSERT_TRUE(cleanup.ok());
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[5], 2);
}

TEST_F(RunnerUtil, InputsFromBuffers) {
  Module module(add_model());
  Method* method = module.method("forward").get();
  std::string x = raw({1, 2, 3, 4, 5, 6});
  auto cleanup = prepare_input_tensors(*method, {}, {{x.data(), x.size()}, {x.data(), x.size()}});
  ASSERT_TRUE(cleanup.ok());
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[5], 12);
  EXPECT_EQ(prepare_input_tensors(*method, {}, {{x.data(), x.size()}}).error(),
            Error::InvalidArgument);
  EXPECT_EQ(prepare_input_tensors(*method, {}, {{x.data(), x.size()}, {x.data(), 23}}).error(),
            Error::InvalidArgument);
}

TEST_F(RunnerUtil, MemoryOfTheCaller) {
  Module module(add_model());
  Method* method = module.method("forward").get();
  auto info = method->method_meta().input_tensor_meta(0);
  ASSERT_TRUE(info.ok());
  float x[6] = {1, 2, 3, 4, 5, 6};
  float y[6] = {};
  using executorch::extension::internal::fill_and_set_input;
  ASSERT_EQ(fill_and_set_input(*method, *info, 0, x, /*fill_tensor=*/false), Error::Ok);
  ASSERT_EQ(fill_and_set_input(*method, *info, 1, y), Error::Ok);
  EXPECT_EQ(y[5], 1);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[5], 7);
}

TEST_F(RunnerUtil, Limits) {
  Module module(add_model());
  Method* method = module.method("forward").get();
  PrepareInputTensorsOptions options;
  options.max_inputs = 1;
  EXPECT_EQ(prepare_input_tensors(*method, options).error(), Error::InvalidProgram);
  options.max_inputs = 2;
  options.max_total_allocation_size = 47;
  EXPECT_EQ(prepare_input_tensors(*method, options).error(), Error::InvalidProgram);
  options.max_total_allocation_size = 48;
  EXPECT_TRUE(prepare_input_tensors(*method, options).ok());
}

TEST_F(RunnerUtil, RunsAModelAndWritesItsOutputs) {
  for (bool planned : {true, false}) {
    ModelRunnerOptions options;
    options.model_path = add_model(planned);
    options.inputs = {write_file("x", raw({1, 2, 3, 4, 5, 6})),
                      write_file("y", raw({1, 1, 1, 1, 1, 1}))};
    options.output_file = testing::TempDir() + "/runner_util_out";
    options.num_executions = 3;
    testing::internal::CaptureStdout();
    const Error error = run_model(options);
    const std::string text = testing::internal::GetCapturedStdout();
    ASSERT_EQ(error, Error::Ok);
    EXPECT_EQ(text, "OutputX 0: tensor(sizes=[2, 3], [2., 3., 4., 5., 6., 7.])\n");
    std::ifstream file(options.output_file + "-0.bin", std::ios::binary);
    std::stringstream written;
    written << file.rdbuf();
    EXPECT_EQ(written.str(), raw({2, 3, 4, 5, 6, 7}));
  }
}

TEST_F(RunnerUtil, SaysHowLongItTook) {
  ModelRunnerOptions options;
  options.model_path = add_model();
  options.print = ModelRunnerOptions::Print::All;
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const Error error = run_model(options);
  const std::string out = testing::internal::GetCapturedStdout();
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_EQ(error, Error::Ok);
  EXPECT_NE(log.find("Model executed successfully 1 time(s) in "), std::string::npos) << log;
  EXPECT_NE(log.find("1 outputs:"), std::string::npos) << log;
  EXPECT_NE(log.find(" executorch:executor_runner.cpp:"), std::string::npos) << log;
  EXPECT_NE(out.find("Output[0][5]: (float) 2.000000\n"), std::string::npos) << out;
}

#ifdef ET_USE_THREADPOOL
TEST_F(RunnerUtil, OneThreadIsWithoutThePoolFromLoadingOn) {
  ModelRunnerOptions options;
  options.model_path = add_model();
  options.print = ModelRunnerOptions::Print::None;
  bool has_pool = true;
  options.when_loaded = [&] {  // called where delegates have just taken the pool
    has_pool = threadpool::get_pthreadpool() != nullptr;
    return Error::Ok;
  };
  options.cpu_threads = 1;
  ASSERT_EQ(run_model(options), Error::Ok);
  EXPECT_FALSE(has_pool);
  options.cpu_threads = 2;
  ASSERT_EQ(run_model(options), Error::Ok);
  EXPECT_TRUE(has_pool);
}
#endif

TEST_F(RunnerUtil, MistakesAreFoundBeforeAnythingIsWritten) {
  ModelRunnerOptions good;
  good.model_path = add_model();
  ModelRunnerOptions options = good;
  options.model_path = "/nowhere/x.pte";
  EXPECT_EQ(run_model(options), Error::AccessFailed);
  options = good;
  options.output_file = testing::TempDir() + "/no_such_folder/out";
  EXPECT_EQ(run_model(options), Error::AccessFailed);
  options = good;
  options.method_name = "none";
  EXPECT_EQ(run_model(options), Error::InvalidArgument);
  options = good;
  options.output_file = testing::TempDir() + "/runner_util_unwritten";
  options.inputs = {write_file("short", "12345"), write_file("short", "12345")};
  EXPECT_EQ(run_model(options), Error::InvalidArgument);
  EXPECT_FALSE(std::ifstream(options.output_file + "-0.bin").good());
  options.inputs = {"/nowhere/x", "/nowhere/y"};
  EXPECT_EQ(run_model(options), Error::AccessFailed);
  options.inputs = {testing::TempDir(), testing::TempDir()};
  EXPECT_EQ(run_model(options), Error::AccessFailed);
  options = good;
  options.num_executions = 0;
  EXPECT_EQ(run_model(options), Error::InvalidArgument);
  options = good;
  options.server_mode = true;
  EXPECT_EQ(run_model(options), Error::InvalidArgument);
}

class Flags : public testing::Test {
 protected:
  Error parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "program");
    errors_.str("");
    const FlagTable table{"program",
                          "example",
                          {{"text", &text_, "some text"},
                           {"count", &count_, "a count"},
                           {"signed", &signed_, "a number"},
                           {"mode", &mode_, "a mode"}}};
    print_help(table, help_);
    return parse_flags(table, static_cast<int>(arguments.size()), arguments.data(), &wants_help_,
                       errors_);
  }

  std::string text_ = "default";
  uint32_t count_ = 1;
  int32_t signed_ = -1;
  bool mode_ = false;
  bool wants_help_ = false;
  std::ostringstream errors_;
  std::ostringstream help_;
};

TEST_F(Flags, EverySpelling) {
  EXPECT_EQ(parse({"--text=a=b", "-count", "7", "--signed", "-3", "--mode"}), Error::Ok);
  EXPECT_EQ(text_, "a=b");
  EXPECT_EQ(count_, 7u);
  EXPECT_EQ(signed_, -3);
  EXPECT_TRUE(mode_);
  EXPECT_EQ(parse({"--nomode", "-text", "x", "--help"}), Error::Ok);
  EXPECT_FALSE(mode_);
  EXPECT_TRUE(wants_help_);
  EXPECT_EQ(parse({"--mode=true", "--count=4294967295"}), Error::Ok);
  EXPECT_EQ(count_, 4294967295u);
}

TEST_F(Flags, WrongFlagsSayWhatWasExpected) {
  for (const char* argument :
       {"--none", "--none=1", "text", "--count=x", "--count=-1", "--count=4294967296",
        "--count=", "--signed=1.5", "--mode=maybe", "--text"}) {
    EXPECT_EQ(parse({argument}), Error::InvalidArgument) << argument;
    EXPECT_NE(errors_.str().find("--help"), std::string::npos) << argument;
  }
  EXPECT_NE(help_.str().find("--count (number, default 1)"), std::string::npos) << help_.str();
}

}  // namespace
