// SPDX-License-Identifier: BSD-3-Clause
// Libraries of named data: run, and refused with a reason; a library of ours stands in for one that
// AOTInductor wrote.
#include <executorch/backends/aoti/runtime/aoti_cpu_backend.h>
#include <executorch/backends/aoti/runtime/counting_device.h>
#include <executorch/backends/aoti/runtime/delegate.h>
#include <executorch/backends/aoti/runtime/elf_imports.h>
#include <executorch/backends/aoti/runtime/memory_data.h>
#include <executorch/backends/aoti/runtime/sha256.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <malloc.h>

#include <iterator>
#include <thread>

#include <gtest/gtest.h>

namespace executorch::backends::aoti {
namespace {

using extension::make_tensor_ptr;
using extension::TensorPtr;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;

const std::string& stand_in() {
  static const std::string bytes = text_of_file(AOTI_STAND_IN);
  return bytes;
}

std::string renamed(const std::string& name, const std::string& other) {
  return renamed_in(stand_in(), name, other);
}

std::string constants_of(float scale) {
  const float values[4] = {scale, 0, 0, 0};
  return std::string(reinterpret_cast<const char*>(values), sizeof(values));
}

class LoaderTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime::runtime_init(); }

  Error load(const std::string& library, const std::string& constants,
             const AotiOptions& options = {}) {
    const std::string key = sha256_of(bytes_of(library)) + "_so_blob";
    data_.by_key = {{key, library}, {"weights", constants}};
    return load_payload(key + "\nweights", options);
  }
  Error load_payload(const std::string& payload, const AotiOptions& options = {}) {
    delegate_.reset();
    auto made = Delegate::create(row_, bytes_of(payload), &data_, options);
    if (made.ok()) {
      delegate_ = std::move(*made);
    }
    return made.error();
  }
  Error run(TensorPtr x, TensorPtr y) {
    runtime::EValue values[] = {x, y};
    runtime::EValue* pointers[] = {&values[0], &values[1]};
    return delegate_->execute({pointers, 2});
  }
  template <typename Function>
  void expect_error(Function function, Error error, const std::string& text) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(function(), error);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(text), std::string::npos) << text << ": " << log;
  }

  DeviceRow row_{"AotiCpuBackend", "aoti_cpu_blob.ptd", {tensor_shims(), cpu_shims()}};
  MemoryData data_;
  std::unique_ptr<Delegate> delegate_;
};

TEST_F(LoaderTest, HashesAreThoseOfTheStandard) {
  // FIPS 180-4's examples, and one where the length needs a block of its own.
  EXPECT_EQ(sha256_of(bytes_of("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of(bytes_of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_F(LoaderTest, RunsAndKeepsItsState) {
  ASSERT_EQ(load(stand_in(), constants_of(3)), Error::Ok);
  const auto y = make_tensor_ptr({2}, std::vector<float>{0, 0});
  ASSERT_EQ(run(make_tensor_ptr({2}, std::vector<float>{1, 2}), y), Error::Ok);
  EXPECT_EQ(y->const_data_ptr<float>()[1], 6);  // 2 * 3 + 0 calls before
  ASSERT_EQ(run(make_tensor_ptr({2}, std::vector<float>{1, 2}), y), Error::Ok);
  EXPECT_EQ(y->const_data_ptr<float>()[1], 7);
}

TEST_F(LoaderTest, FilesBeforeKeysWereOfTheContentsLoad) {
  data_.by_key = {{"prefill_so_blob", stand_in()}, {"prefill_weights_blob", constants_of(1)}};
  AotiOptions options;
  options.method_name = "prefill";
  EXPECT_EQ(load_payload("", options), Error::Ok);
  data_.by_key = {{"so_blob", stand_in()}, {"weights_blob", constants_of(1)}};
  EXPECT_EQ(load_payload(""), Error::Ok);
}

TEST_F(LoaderTest, NativeCodeMayBeRefused) {
  AotiOptions options;
  options.allow_native_code = false;
  expect_error([&] { return load(stand_in(), constants_of(1), options); }, Error::NotSupported,
               "carries native code");
}

TEST_F(LoaderTest, OtherBytesThanTheNameSaysAreNotLoaded) {
  ASSERT_EQ(load(stand_in(), constants_of(1)), Error::Ok);
  const std::string key = sha256_of(bytes_of(stand_in())) + "_so_blob";
  // The system never sees them, wherever they are cut.
  for (size_t size = 0; size < stand_in().size(); size += 1 + stand_in().size() / 50) {
    data_.by_key[key] = stand_in().substr(0, size);
    expect_error([&] { return load_payload(key + "\nweights"); }, Error::InvalidProgram,
                 "has other bytes than its name says");
  }
}

TEST_F(LoaderTest, PayloadsThatAreCutAreRefused) {
  const std::string key = sha256_of(bytes_of(stand_in())) + "_so_blob", payload = key + "\nweights";
  data_.by_key = {{key, stand_in()}, {"weights", constants_of(1)}};
  for (size_t size = 1; size < payload.size(); ++size) {
    EXPECT_NE(load_payload(payload.substr(0, size)), Error::Ok) << size;
  }
  for (const char* bad : {"\n", "a\n", "\nb", "a\nb\nc"}) {
    expect_error([&] { return load_payload(bad); }, Error::Internal, "expected two lines");
  }
  expect_error([&] { return load_payload("a\nweights"); }, Error::Internal,
               "expected the shared library a in the program's named data");
}

TEST_F(LoaderTest, LibrariesThatAreCutAreNoLibraries) {
  const std::string& whole = stand_in();
  ASSERT_TRUE(imports_of(bytes_of(whole)).ok());
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 200) {
    EXPECT_FALSE(imports_of(bytes_of(whole.substr(0, size))).ok()) << size;
  }
  std::string other = whole;
  other[18] = 3;  // e_machine: of another processor
  expect_error([&] { return load(other, constants_of(1)); }, Error::InvalidProgram,
               "expected a shared library for this processor");
  expect_error([&] { return load("text", constants_of(1)); }, Error::InvalidProgram,
               "expected a 64-bit ELF shared library");
  // Each byte of the header and of the tables' places, turned: an error or names, and no crash.
  for (size_t at = 0; at < whole.size(); at += at < 64 ? 1 : 97) {
    other = whole;
    other[at] = static_cast<char>(~other[at]);
    (void)imports_of(bytes_of(other));
  }
}

TEST_F(LoaderTest, AllImportsThatNobodyHasAreNamed) {
  std::string bytes = renamed("aoti_torch_get_dim", "aoti_torch_get_din");
  const std::string from = "aoti_torch_check", to = "aoti_torch_chock";
  bytes.replace(bytes.find(from), from.size(), to);
  expect_error([&] { return load(bytes, constants_of(1)); }, Error::NotSupported,
               "calls what this runtime does not have: ");
  for (const char* name : {"aoti_torch_get_din", "aoti_torch_chock"}) {
    expect_error([&] { return load(bytes, constants_of(1)); }, Error::NotSupported, name);
  }
}

TEST_F(LoaderTest, FunctionsThatALibraryLacksAreNamed) {
  const std::string bytes = renamed("AOTInductorModelContainerRun", "AOTInductorModelContainerRum");
  expect_error([&] { return load(bytes, constants_of(1)); }, Error::Internal,
               "lacks AOTInductorModelContainerRun");
  const std::string of_gpus = renamed("cpu", "xpu");
  expect_error([&] { return load(of_gpus, constants_of(1)); }, Error::Internal,
               "an unknown device");
}

TEST_F(LoaderTest, WeightsThatAreMissingOrOfAnotherExportAreErrors) {
  expect_error([&] { return load(stand_in(), constants_of(1) + "more"); },
               Error::InvalidExternalData, "expected 16 bytes, found 20");
  const std::string key = sha256_of(bytes_of(stand_in())) + "_so_blob";
  data_.by_key.erase("weights");
  expect_error([&] { return load_payload(key + "\nweights"); }, Error::NotFound,
               "aoti_cpu_blob.ptd");
}

TEST_F(LoaderTest, FailuresOfARunAreErrors) {
  ASSERT_EQ(load(stand_in(), constants_of(2)), Error::Ok);
  const auto y = make_tensor_ptr({2}, std::vector<float>{0, 0});
  const std::pair<Error, const char*> expected[] = {
      {Error::Internal, "refused before taking"},      {Error::Internal, "refused behind taking"},
      {Error::Internal, "output 0 was not made"},      {Error::Internal, "index out of bounds"},
      {Error::InvalidArgument, "expected dtype Long"}, {Error::NotSupported, "cannot have sizes"}};
  for (size_t i = 0; i < std::size(expected); ++i) {
    const float ask = -1.0f - static_cast<float>(i);
    expect_error([&] { return run(make_tensor_ptr({2}, std::vector<float>{ask, 0}), y); },
                 expected[i].first, expected[i].second);
  }
  ASSERT_EQ(run(make_tensor_ptr({2}, std::vector<float>{1, 2}), y), Error::Ok);
  EXPECT_EQ(y->const_data_ptr<float>()[1], 4);
  runtime::EValue value(int64_t{1}), *pointers[] = { &value, &value };
  EXPECT_EQ(delegate_->execute({pointers, 2}), Error::InvalidArgument);
  EXPECT_EQ(delegate_->execute({pointers, 1}), Error::InvalidArgument);
}

/// On a device whose memory is the host's.
TEST_F(LoaderTest, MethodsOfADeviceTakeAndGiveItsMemory) {
  CountingDevice& device = CountingDevice::registered();
  row_ = {"CudaBackend", "aoti_cuda_blob.ptd", {tensor_shims()}, {DeviceType::CUDA, 0}};
  ASSERT_EQ(load(stand_in(), constants_of(3)), Error::Ok);
  aten::SizesType sizes[] = {2};
  aten::DimOrderType order[] = {0};
  aten::StridesType strides[] = {1};
  float memory[2][2] = {{1, 2}, {0, 0}};
  const auto tensor = [&](float* data, DeviceType type) {
    return aten::TensorImpl(aten::ScalarType::Float, 1, sizes, data, order, strides,
                            aten::TensorShapeDynamism::STATIC, type);
  };
  aten::TensorImpl x = tensor(memory[0], DeviceType::CUDA), y = tensor(memory[1], DeviceType::CUDA),
                   host = tensor(memory[1], DeviceType::CPU);
  runtime::EValue values[] = {aten::Tensor(&x), aten::Tensor(&y), aten::Tensor(&host)};
  runtime::EValue *right[] = {&values[0], &values[1]}, *wrong[] = {&values[2], &values[1]};
  const int live = device.live;
  ASSERT_EQ(delegate_->execute({right, 2}), Error::Ok);
  EXPECT_EQ(memory[1][1], 6);
  EXPECT_EQ(device.live, live);
  expect_error([&] { return delegate_->execute({wrong, 2}); }, Error::InvalidArgument,
               "expected a tensor on device 1:0, found one on 0:0");
}

size_t heap_bytes() {
  return mallinfo2().uordblks;
}
TEST_F(LoaderTest, WhatIsDestroyedIsGone) {
  const auto once = [&] {
    ASSERT_EQ(load(stand_in(), constants_of(2)), Error::Ok);
    const auto y = make_tensor_ptr({2}, std::vector<float>{0, 0});
    ASSERT_EQ(run(make_tensor_ptr({2}, std::vector<float>{1, 2}), y), Error::Ok);
    EXPECT_EQ(y->const_data_ptr<float>()[1], 4);  // a new library: no calls before
    delegate_.reset();
  };
  for (int i = 0; i < 20; ++i) {
    once();
  }
  const size_t maps = mappings(), heap = heap_bytes();
  for (int i = 0; i < 200; ++i) {
    once();
  }
  EXPECT_LE(mappings(), maps + 2);
  EXPECT_LE(heap_bytes(), heap + 4096);
}

TEST_F(LoaderTest, ThreadsLoadAndRunAtTheSameTime) {
  const std::string key = sha256_of(bytes_of(stand_in())) + "_so_blob";
  data_.by_key = {{key, stand_in()}, {"weights", constants_of(5)}};
  const std::string payload = key + "\nweights";
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        auto made = Delegate::create(row_, bytes_of(payload), &data_, {});
        ASSERT_TRUE(made.ok());
        const auto x = make_tensor_ptr({1}, std::vector<float>{2}),
                   y = make_tensor_ptr({1}, std::vector<float>{0});
        runtime::EValue values[] = {x, y};
        runtime::EValue* pointers[] = {&values[0], &values[1]};
        ASSERT_EQ((*made)->execute({pointers, 2}), Error::Ok);
        EXPECT_EQ(y->const_data_ptr<float>()[0], 10);
      }
    });
  }
  for (auto& each : threads) {
    each.join();
  }
}

TEST_F(LoaderTest, TheBackendIsThere) {
  ASSERT_EQ(register_aoti_cpu_backend(), Error::Ok);
  auto* backend = runtime::get_backend_class("AotiCpuBackend");
  ASSERT_NE(backend, nullptr);
  EXPECT_TRUE(backend->is_available());
  runtime::BackendOption option{"allow_native_code", false};
  ASSERT_EQ(runtime::set_option("AotiCpuBackend", {&option, 1}), Error::Ok);
  const std::string key = sha256_of(bytes_of(stand_in())) + "_so_blob", text = key + "\nweights";
  data_.by_key = {{key, stand_in()}, {"weights", constants_of(5)}};
  runtime::BackendInitContext context(nullptr, nullptr, "forward", &data_);
  const auto init = [&] {
    FreeableBuffer payload(text.data(), text.size(), nullptr);
    const auto made = backend->init(context, &payload, {});
    if (made.ok()) {
      backend->destroy(*made);
    }
    return made.error();
  };
  EXPECT_EQ(init(), Error::NotSupported);
  option.value = true;
  ASSERT_EQ(runtime::set_option("AotiCpuBackend", {&option, 1}), Error::Ok);
  EXPECT_EQ(init(), Error::Ok);
  runtime::BackendOption wrong{"allow_native_code", 1};
  EXPECT_EQ(runtime::set_option("AotiCpuBackend", {&wrong, 1}), Error::InvalidArgument);
}

}  // namespace
}  // namespace executorch::backends::aoti
