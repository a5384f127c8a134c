// SPDX-License-Identifier: BSD-3-Clause
// Bundled programs: inputs of test cases, and outputs held against the expected ones.
#include <executorch/devtools/bundled_program/bundled_program.h>
#include <executorch/devtools/bundled_program/schema/bundled_program_schema_generated.h>
#include <executorch/devtools/bundled_program/self_test.h>
#include <executorch/extension/module/bundled_module.h>
#include <executorch/extension/testing_util/temp_file.h>
#include <executorch/runtime/executor/test/program_builder.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace executorch::bundled_program;
using executorch::extension::Module;
using executorch::extension::bundled_module::BundledModule;
using executorch::extension::testing::TempFile;
using executorch::runtime::Error;
using executorch::runtime::testing::ProgramBuilder;
namespace fb = bundled_program_flatbuffer;

// forward(x: [2], y: [2]) = x + y
std::vector<uint8_t> sum_program() {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  const int32_t y = method.add_tensor({{2}});
  const int32_t out = method.add_tensor({{2}});
  method.call("test::add", "out", {x, y, out, out});
  method.inputs({x, y}).outputs({out});
  return builder.build();
}

struct Case {
  std::vector<float> x;
  std::vector<float> expected;  // empty: none
  int32_t num_declared = 2;     // of x
};

flatbuffers::Offset<fb::Value> value(flatbuffers::FlatBufferBuilder& builder,
                                     const std::vector<float>& data, int32_t size) {
  builder.ForceVectorAlignment(data.size() * sizeof(float), 1, 16);
  const auto bytes = builder.CreateVector(reinterpret_cast<const uint8_t*>(data.data()),
                                          data.size() * sizeof(float));
  const auto sizes = builder.CreateVector(std::vector<int32_t>{size});
  const auto order = builder.CreateVector(std::vector<uint8_t>{0});
  const auto tensor =
      fb::CreateTensor(builder, executorch_flatbuffer::ScalarType::FLOAT, sizes, bytes, order);
  return fb::CreateValue(builder, fb::ValueUnion::Tensor, tensor.Union());
}

std::string bundle(const std::vector<Case>& cases, const char* method = "forward") {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::BundledMethodTestCase>> made;
  for (const Case& each : cases) {
    const std::vector<flatbuffers::Offset<fb::Value>> inputs = {
        value(builder, each.x, each.num_declared), value(builder, {10, 20}, 2)};
    std::vector<flatbuffers::Offset<fb::Value>> outputs;
    if (!each.expected.empty()) {
      outputs.push_back(value(builder, each.expected, static_cast<int32_t>(each.expected.size())));
    }
    made.push_back(fb::CreateBundledMethodTestCase(builder, builder.CreateVector(inputs),
                                                   builder.CreateVector(outputs)));
  }
  const auto suite = fb::CreateBundledMethodTestSuite(builder, builder.CreateString(method),
                                                      builder.CreateVector(made));
  const auto suites = builder.CreateVector(&suite, 1);
  const std::vector<uint8_t> program = sum_program();
  builder.ForceVectorAlignment(program.size(), 1, 32);
  const auto bytes = builder.CreateVector(program);
  fb::FinishBundledProgramBuffer(builder, fb::CreateBundledProgram(builder, 2, suites, bytes));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

class BundledModuleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    executorch::runtime::testing::register_test_kernels();
  }
};

TEST_F(BundledModuleTest, RunsAndVerifiesCases) {
  RecordProperty("req", "DT-007");
  const TempFile file(bundle({{{1, 2}, {11, 22}}, {{1, 2}, {11, 22.1f}}, {{5, 6}, {}}}));
  auto module = BundledModule::from_file(file.path());
  ASSERT_TRUE(module.ok());
  const auto outputs = (*module)->execute("forward", 0);
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(outputs->at(0).toTensor().const_data_ptr<float>()[1], 22.0f);
  EXPECT_EQ((*module)->verify_method_outputs("forward", 0), Error::Ok);
  EXPECT_EQ((*module)->verify_method_outputs("forward", 1), Error::NotFound);
  EXPECT_EQ((*module)->verify_method_outputs("forward", 1, 0, 0.2), Error::Ok);
  EXPECT_EQ((*module)->verify_method_outputs("forward", 1, 0.01, 0), Error::Ok);
  EXPECT_EQ((*module)->verify_method_outputs("forward", 2), Error::NotSupported);
  EXPECT_EQ((*module)->verify_method_outputs("forward", 3), Error::InvalidArgument);
  EXPECT_EQ((*module)->execute("forward", 3).error(), Error::InvalidArgument);
  ASSERT_TRUE((*module)->execute("forward", 2).ok());
  EXPECT_EQ((*module)->verify_method_outputs("forward", 0), Error::NotFound);
}

TEST_F(BundledModuleTest, ErrorsAreCounted) {
  const TempFile file(bundle({{{1, 2}, {11, 24}}, {{1, 2}, {11}}, {{1, 2}, {}}}));
  auto module = BundledModule::from_file(file.path());
  ASSERT_TRUE((*module)->execute("forward", 0).ok());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  auto* method = (*module)->method("forward").get();
#pragma GCC diagnostic pop
  std::string bytes = bundle({{{1, 2}, {11, 24}}, {{1, 2}, {11}}, {{1, 2}, {}}});
  std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const ErrorStats stats = compute_method_output_error_stats(*method, aligned.data(), 0);
  EXPECT_EQ(stats.status, Error::Ok);
  EXPECT_DOUBLE_EQ(stats.mean_abs_error, 1.0);
  EXPECT_DOUBLE_EQ(stats.max_abs_error, 2.0);
  EXPECT_DOUBLE_EQ(stats.max_relative_error, 2.0 / 24);
  EXPECT_DOUBLE_EQ(stats.mean_relative_error, 1.0 / 24);
  EXPECT_EQ(compute_method_output_error_stats(*method, aligned.data(), 1).status,
            Error::InvalidArgument);
  EXPECT_EQ(compute_method_output_error_stats(*method, aligned.data(), 2).status,
            Error::InvalidArgument);
}

TEST_F(BundledModuleTest, WhatIsNoNumberIsCompared) {
  const float nan = NAN, inf = INFINITY;
  const TempFile file(
      bundle({{{nan, inf}, {nan, inf}}, {{inf, 2}, {-inf, 22}}, {{1, 2}, {nan, 22}}}));
  auto module = BundledModule::from_file(file.path());
  const Error expected[] = {Error::Ok, Error::NotFound, Error::NotFound};
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE((*module)->execute("forward", i).ok());
    EXPECT_EQ((*module)->verify_method_outputs("forward", i), expected[i]) << i;
  }
}

TEST_F(BundledModuleTest, WhatDoesNotFitIsRefused) {
  const TempFile short_data(bundle({{{1}, {11, 22}}}));
  EXPECT_EQ((*BundledModule::from_file(short_data.path()))->execute("forward", 0).error(),
            Error::NotSupported);
  const TempFile long_input(bundle({{{1, 2, 3}, {11, 22}, 3}}));
  EXPECT_EQ((*BundledModule::from_file(long_input.path()))->execute("forward", 0).error(),
            Error::NotSupported);
  const TempFile other(bundle({{{1, 2}, {11, 22}}}, "other"));
  EXPECT_EQ((*BundledModule::from_file(other.path()))->execute("forward", 0).error(),
            Error::InvalidArgument);
}

TEST_F(BundledModuleTest, FilesOfOtherKinds) {
  EXPECT_EQ(BundledModule::from_file("/nowhere").error(), Error::AccessFailed);
  const std::vector<uint8_t> program = sum_program();
  const TempFile plain(program.data(), program.size());
  EXPECT_EQ(BundledModule::from_file(plain.path()).error(), Error::NotSupported);
  const std::string whole = bundle({{{1, 2}, {11, 22}}});
  const TempFile cut(whole.substr(0, whole.size() / 2));
  EXPECT_EQ(BundledModule::from_file(cut.path()).error(), Error::InvalidProgram);
  const TempFile empty(std::string(""));
  EXPECT_EQ(BundledModule::from_file(empty.path()).error(), Error::NotSupported);
  BundledModule none(program.data());
  EXPECT_NE(none.load(), Error::Ok);
}

// Every bit of the tables, without the program in them: refused, or run to an end.
TEST_F(BundledModuleTest, CorruptedFiles) {
  const std::string whole = bundle({{{1, 2}, {11, 22}}});
  size_t refused = 0;
  std::vector<uint64_t> aligned(whole.size() / 8 + 8);
  char* const bytes = reinterpret_cast<char*>(aligned.data());
  for (size_t bit = 0; bit < whole.size() * 8; bit += 3) {
    std::memcpy(bytes, whole.data(), whole.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const void* program = nullptr;
    size_t size = 0;
    if (get_program_data(bytes, whole.size(), &program, &size) != Error::Ok) {
      ++refused;
      continue;
    }
    BundledModule module(bytes);
    (void)module.execute("forward", 0);
    if (module.is_method_loaded("forward")) {
      (void)module.verify_method_outputs("forward", 0);
    }
  }
  EXPECT_GT(refused, 0u);
}

constexpr int kMutants = 10000;

// Up to four flipped bits or replaced words, sometimes cut; never inside of `spared`.
std::string corrupt(const std::string& whole, std::mt19937& random, size_t spared_begin,
                    size_t spared_end) {
  const auto below = [&random](size_t limit) { return random() % limit; };
  std::string mutant = whole;
  for (size_t i = 0; i <= below(4); ++i) {
    const size_t at = below(whole.size() - 4);
    if (at + 4 > spared_begin && at < spared_end) {
      continue;
    }
    if (below(2) == 0) {
      mutant[at] = static_cast<char>(mutant[at] ^ (1 << below(8)));
      continue;
    }
    const uint32_t words[] = {0,
                              1,
                              0x7FFFFFFF,
                              0xFFFFFFFF,
                              static_cast<uint32_t>(below(300)),
                              static_cast<uint32_t>(random())};
    std::memcpy(&mutant[at & ~size_t{3}], &words[below(6)], 4);
  }
  return below(10) == 0 ? mutant.substr(0, below(mutant.size())) : mutant;
}

// What the sanitizers see the end of.
struct Aligned {
  explicit Aligned(const std::string& bytes) : memory(bytes.size() / 8 + 1) {
    std::memcpy(memory.data(), bytes.data(), bytes.size());
  }
  std::vector<uint64_t> memory;
};

TEST_F(BundledModuleTest, TenThousandMutants) {
  const std::string whole = bundle({{{1, 2}, {11, 22}}, {{5, 6}, {15, 26}}});
  const std::vector<uint8_t> program = sum_program();
  const size_t begin =
      whole.find(std::string(reinterpret_cast<const char*>(program.data()), program.size()));
  ASSERT_NE(begin, std::string::npos);
  std::mt19937 random(11);
  size_t refused = 0;
  size_t passed = 0;
  for (int i = 0; i < kMutants; ++i) {
    const std::string mutant = corrupt(whole, random, begin, begin + program.size());
    Aligned bytes(mutant);
    const void* data = nullptr;
    size_t size = 0;
    if (get_program_data(bytes.memory.data(), mutant.size(), &data, &size) != Error::Ok) {
      ++refused;
      continue;
    }
    BundledModule module(bytes.memory.data());
    for (size_t testcase = 0; testcase < 2; ++testcase) {
      if (module.execute("forward", testcase).ok()) {
        passed += module.verify_method_outputs("forward", testcase) == Error::Ok ? 1 : 0;
      }
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(passed, 1000u);
}

// ---- Self-tests: cases in the named data of a program ----

std::vector<uint8_t> self_tested_program(const std::string& cases, double rtol, double atol) {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  const int32_t y = method.add_tensor({{2}});
  const int32_t out = method.add_tensor({{2}});
  method.call("test::add", "out", {x, y, out, out});
  method.inputs({x, y}).outputs({out});
  const double tolerances[] = {rtol, atol};
  builder.add_named_data(kSelfTestCases, builder.add_segment(cases.data(), cases.size()));
  builder.add_named_data(kSelfTestTolerances, builder.add_segment(tolerances, sizeof(tolerances)));
  return builder.build();
}

/// The errors of the cases of "forward", or the one error of loading.
std::vector<Error> run_self_test(const std::string& cases, double rtol = 0, double atol = 0) {
  const std::vector<uint8_t> bytes = self_tested_program(cases, rtol, atol);
  const TempFile file(bytes.data(), bytes.size());
  Module module(file.path());
  EXPECT_EQ(module.load_method("forward"), Error::Ok);
  const auto test = SelfTest::load(*module.program());
  if (!test.ok()) {
    return {test.error()};
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  auto* const method = module.method("forward").get();
#pragma GCC diagnostic pop
  std::vector<Error> errors;
  for (size_t i = 0; i < test->num_methods(); ++i) {
    EXPECT_NE(test->method_name(i), nullptr);
    for (size_t k = 0; k < test->num_cases(i); ++k) {
      errors.push_back(test->run(*method, k));
      (void)test->error_stats(*method, k);
    }
  }
  return errors;
}

TEST_F(BundledModuleTest, ASelfTestSaysWhichCasesPass) {
  const std::string cases = bundle({{{1, 2}, {11, 22}}, {{1, 2}, {11, 22.1f}}});
  EXPECT_EQ(run_self_test(cases), (std::vector<Error>{Error::Ok, Error::NotFound}));
  EXPECT_EQ(run_self_test(cases, 0, 0.2), (std::vector<Error>{Error::Ok, Error::Ok}));
  EXPECT_EQ(run_self_test(cases, 0.01, 0), (std::vector<Error>{Error::Ok, Error::Ok}));
  EXPECT_EQ(run_self_test(bundle({{{1, 2}, {}}})), (std::vector<Error>{Error::NotSupported}));
  EXPECT_EQ(run_self_test(bundle({{{1, 2}, {11, 22}}}, "other")),
            (std::vector<Error>{Error::InvalidArgument}));
}

TEST_F(BundledModuleTest, ACorruptedSelfTestIsRefused) {
  const std::vector<Error> refused = {Error::InvalidProgram};
  const std::string cases = bundle({{{1, 2}, {11, 22}}});
  EXPECT_EQ(run_self_test(cases, -1, 0), refused);
  EXPECT_EQ(run_self_test(cases, 0, NAN), refused);
  EXPECT_EQ(run_self_test(cases.substr(0, cases.size() / 2)), refused);
  EXPECT_EQ(run_self_test("no cases"), refused);
  const std::vector<uint8_t> plain = sum_program();
  const TempFile file(plain.data(), plain.size());
  Module module(file.path());
  ASSERT_EQ(module.load(), Error::Ok);
  EXPECT_EQ(SelfTest::load(*module.program()).error(), Error::NotFound);
  std::mt19937 random(13);
  size_t passed = 0;
  size_t not_loaded = 0;
  for (int i = 0; i < kMutants; ++i) {
    const std::vector<Error> errors = run_self_test(corrupt(cases, random, 0, 0));
    passed += errors == std::vector<Error>{Error::Ok} ? 1 : 0;
    not_loaded += errors == refused ? 1 : 0;
  }
  EXPECT_GT(passed, 100u);
  EXPECT_GT(not_loaded, 1000u);
}

}  // namespace
