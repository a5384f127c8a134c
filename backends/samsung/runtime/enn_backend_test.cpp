// SPDX-License-Identifier: BSD-3-Clause
// What Samsung's library is asked; each of its functions fails in turn; arguments and libraries
// that are refused.
#include <executorch/backends/samsung/runtime/delegate.h>
#include <executorch/backends/samsung/runtime/enn_backend.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace executorch::backends::enn {
namespace {

using executorch::aten::ScalarType;
using extension::full;
using runtime::Error;

class EnnBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    auto loaded = load_library({"libnone.so", ENN_STAND_IN});
    ASSERT_TRUE(loaded.ok());
    api_ = *loaded;
    void* library = dlopen(ENN_STAND_IN, RTLD_NOW);
    calls_ = reinterpret_cast<decltype(calls_)>(dlsym(library, "enn_stand_in_calls"));
    models_ = reinterpret_cast<decltype(models_)>(dlsym(library, "enn_stand_in_models"));
    calls_("", 0);
  }
  void TearDown() override {
    delegate_.reset();
    EXPECT_EQ(models_(), 0);
  }

  Error load(const std::string& payload) {
    payload_ = payload;
    auto made = Delegate::create(
        api_, {reinterpret_cast<const uint8_t*>(payload_.data()), payload_.size()});
    delegate_ = made.ok() ? std::move(*made) : nullptr;
    return made.error();
  }

  Error run(std::vector<extension::TensorPtr> tensors) {
    std::vector<runtime::EValue> values(tensors.begin(), tensors.end());
    std::vector<runtime::EValue*> pointers;
    for (runtime::EValue& value : values) {
      pointers.push_back(&value);
    }
    return delegate_->execute({pointers.data(), pointers.size()});
  }

  template <typename Function>
  void expect_error(Function function, Error error, const std::string& text) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(function(), error);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(text), std::string::npos) << text << ": " << log;
  }

  static extension::TensorPtr bytes(int size, int value) {
    return full({size}, value, ScalarType::Byte);
  }

  Api api_;
  std::string payload_;
  std::unique_ptr<Delegate> delegate_;
  const char* (*calls_)(const char*, int) = nullptr;
  int (*models_)() = nullptr;
};

TEST_F(EnnBackendTest, LoadsRunsAndCloses) {
  ASSERT_EQ(load("2 3 > 2 3"), Error::Ok);
  EXPECT_EQ(std::string(calls_("", 0)),
            "EnnInitialize\nEnnOpenModelFromMemory 9\nEnnAllocateAllBuffersWithSessionId 0 1\n");
  const auto first = bytes(2, 0), second = bytes(3, 0);
  for (int run_number = 1; run_number <= 2; ++run_number) {
    ASSERT_EQ(run({bytes(2, run_number), bytes(3, 4), first, second}), Error::Ok);
    EXPECT_EQ(first->const_data_ptr<uint8_t>()[1], 4 + run_number);
    EXPECT_EQ(second->const_data_ptr<uint8_t>()[2], 4);
  }
  EXPECT_EQ(std::string(calls_("", 0)), "EnnExecuteModel\nEnnExecuteModel\n");
  delegate_.reset();
  EXPECT_EQ(std::string(calls_("", 0)), "EnnReleaseBuffers 4\nEnnCloseModel\n");
}

TEST_F(EnnBackendTest, BuffersMayBeLarger) {
  ASSERT_EQ(load("8 > 8"), Error::Ok);
  const auto out = bytes(3, 0);
  ASSERT_EQ(run({bytes(2, 7), out}), Error::Ok);
  EXPECT_EQ(out->const_data_ptr<uint8_t>()[1], 7);
  EXPECT_EQ(out->const_data_ptr<uint8_t>()[2], 0);
}

TEST_F(EnnBackendTest, EachFunctionFailsInTurn) {
  const std::pair<const char*, const char*> failures[] = {
      {"EnnInitialize", "EnnInitialize"},
      {"EnnOpenModelFromMemory", "EnnOpenModelFromMemory"},
      {"EnnAllocateAllBuffersWithSessionId", "EnnAllocateAllBuffersWithSessionId"},
      {"EnnExecuteModel", "EnnExecuteModel"}};
  for (const auto& [function, name] : failures) {
    calls_(function, 6);
    expect_error(
        [&] {
          const Error loaded = load("2 > 2");
          return loaded == Error::Ok ? run({bytes(2, 1), bytes(2, 0)}) : loaded;
        },
        Error::Internal,
        std::string("EnnBackend: ") + name +
            " of " ENN_STAND_IN " failed with error 6 (no memory)");
    delegate_.reset();
    EXPECT_EQ(models_(), 0) << function;
    calls_("", 0);
  }
  for (const auto& [status, text] :
       {std::pair{1, "1 (failed)"}, {12, "12 (the service"}, {0xFF, "255 (not supported)"}}) {
    calls_("EnnInitialize", status);
    expect_error([&] { return load("2 > 2"); }, Error::Internal,
                 std::string("failed with error ") + text);
  }
  calls_("", 0);
  ASSERT_EQ(load("2 > 2"), Error::Ok);
  ASSERT_EQ(run({bytes(2, 1), bytes(2, 0)}), Error::Ok);
}

TEST_F(EnnBackendTest, ArgumentsThatAreOthers) {
  ASSERT_EQ(load("2 > 2"), Error::Ok);
  expect_error([&] { return run({bytes(2, 0)}); }, Error::InvalidArgument, "EnnBackend");
  expect_error([&] { return run({bytes(3, 0), bytes(2, 0)}); }, Error::InvalidArgument,
               "EnnBackend: input 0: expected at most 2 bytes, found 3");
  expect_error([&] { return run({bytes(2, 0), bytes(3, 0)}); }, Error::InvalidArgument,
               "EnnBackend: output 0: expected at most 2 bytes, found 3");
  runtime::EValue number(int64_t{1});
  runtime::EValue* args[] = {&number, &number};
  expect_error([&] { return delegate_->execute({args, 2}); }, Error::InvalidArgument,
               "EnnBackend: input 0");
  calls_("", 0);
  EXPECT_EQ(std::string(calls_("", 0)), "");
}

TEST_F(EnnBackendTest, APayloadWithoutBytesIsNone) {
  expect_error([&] { return load(""); }, Error::InvalidProgram, "expected a binary of the NPU");
}

TEST_F(EnnBackendTest, LibrariesThatAreMissingOrOthers) {
  ASSERT_EQ(register_enn_backend(), Error::Ok);
  const runtime::BackendInterface* backend = runtime::get_backend_class("EnnBackend");
  ASSERT_NE(backend, nullptr);
  expect_error([&] { return backend->is_available() ? Error::Ok : Error::NotFound; },
               Error::NotFound,
               "Samsung's ENN library was not loaded (libenn_public_api_cpp.so: not found): "
               "LD_LIBRARY_PATH");
  expect_error([&] { return load_library({"libm.so.6"}).error(); }, Error::NotFound,
               "libm.so.6 lacks EnnInitialize, EnnOpenModelFromMemory");
  runtime::BackendInitContext context(nullptr);
  runtime::FreeableBuffer none(nullptr, 0, nullptr);
  EXPECT_EQ(backend->init(context, &none, {}).error(), Error::NotFound);
}

}  // namespace
}  // namespace executorch::backends::enn
