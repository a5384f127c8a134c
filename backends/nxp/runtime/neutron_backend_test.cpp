// SPDX-License-Identifier: BSD-3-Clause
// What NXP's driver is asked; each of its functions fails in turn; payloads that are cut or
// changed, arguments, memory and libraries that are refused.
#include <executorch/backends/nxp/runtime/delegate.h>
#include <executorch/backends/nxp/runtime/neutron_backend.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace executorch::backends::neutron {
namespace {

using executorch::aten::ScalarType;
using extension::TensorPtr;
using runtime::Error;
using Bytes = std::vector<uint8_t>;

/// A payload as aot/payload.py writes it; flags and maps: of inputs, then of outputs.
struct Model {
  uint8_t num_inputs = 1, num_outputs = 1, num_arguments = 1;
  Bytes flags = {0, 0}, map = {0, 0};
  uint8_t version = 0;
  std::string weights = "4 > 4 | 16 0 0 0";
  uint32_t scratch = 16, profile = 0, debug = 0, weights_scratch = 0;

  Bytes payload() const {
    Bytes made = {num_inputs, num_outputs, num_arguments};
    made.insert(made.end(), flags.begin(), flags.end());
    made.insert(made.end(), map.begin(), map.end());
    made.push_back(version);
    std::vector<uint32_t> words(16);
    words[0] = 0x64434D6E;
    words[6] = 64;
    words[7] = static_cast<uint32_t>(weights.size() + 1);
    words[9] = scratch;
    const size_t last = version == 0 ? 12 : 14;
    words[10] = version == 0 ? weights_scratch : profile | 0x80000000;
    words[11] = debug;
    words[last - 2] = weights_scratch;
    words[last - 1] = num_inputs;
    words[last] = num_outputs;
    append(made, words.data(), 64);
    append(made, weights.c_str(), weights.size() + 1);
    append(made, "kernels", 8);
    return pad(made);
  }

  static Bytes& pad(Bytes& bytes) {
    bytes.resize((bytes.size() + 15) / 16 * 16);
    return bytes;
  }
  static void append(Bytes& made, const void* data, size_t size) {
    pad(made);
    const auto* bytes = static_cast<const uint8_t*>(data);
    made.insert(made.end(), bytes, bytes + size);
  }
};

/// Of `[2, 3, 2, 2]`: three channels.
constexpr char kImages[] = "24 > 24 | 16 0 0 0";

class NeutronBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    void* library = dlopen(NEUTRON_STAND_IN, RTLD_NOW);
    calls_ = reinterpret_cast<decltype(calls_)>(dlsym(library, "neutron_stand_in_calls"));
    models_ = reinterpret_cast<decltype(models_)>(dlsym(library, "neutron_stand_in_models"));
    calls_("", 0);
    const auto loaded = load_driver(NEUTRON_STAND_IN);
    ASSERT_TRUE(loaded.ok());
    driver_ = *loaded;
    EXPECT_EQ(std::string(calls_("", 0)), "neutronInit\n");
  }
  void TearDown() override {
    delegate_.reset();
    EXPECT_EQ(models_(), 0);
  }

  /// In memory of just as many bytes, so that sanitizers see what is read behind it.
  Error load(const Bytes& payload) {
    delegate_.reset();
    payload_ = std::make_unique<uint8_t[]>(payload.size());
    std::copy(payload.begin(), payload.end(), payload_.get());
    const auto read = Payload::read({payload_.get(), payload.size()});
    if (!read.ok()) {
      return read.error();
    }
    delegate_.emplace(driver_, *read);
    const Error error = delegate_->prepare();
    if (error != Error::Ok) {
      delegate_.reset();
    }
    return error;
  }

  Error run(std::vector<TensorPtr> tensors) {
    std::vector<runtime::EValue> values(tensors.begin(), tensors.end());
    std::vector<runtime::EValue*> pointers;
    for (runtime::EValue& value : values) {
      pointers.push_back(&value);
    }
    runtime::MemoryAllocator allocator(room_, temporary_);
    runtime::BackendExecutionContext context(nullptr, &allocator);
    return delegate_->execute(context, {pointers.data(), pointers.size()});
  }

  template <typename Function>
  void expect_error(Function function, Error error, const std::string& text) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(function(), error);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(text), std::string::npos) << text << ": " << log;
  }

  void expect_refused(const Bytes& payload, const std::string& text) {
    expect_error([&] { return load(payload); }, Error::InvalidProgram,
                 "NeutronBackend payload: expected " + text);
    EXPECT_EQ(std::string(calls_("", 0)), "");
  }

  static TensorPtr bytes(int size, int value) {
    return extension::full({size}, value, ScalarType::Byte);
  }

  /// 0, 1, 2, ... in memory.
  static TensorPtr image(std::vector<executorch::aten::DimOrderType> order = {0, 1, 2, 3}) {
    std::vector<uint8_t> data(24);
    std::iota(data.begin(), data.end(), uint8_t{0});
    return extension::make_tensor_ptr({2, 3, 2, 2}, std::move(data), std::move(order), {},
                                      ScalarType::Byte);
  }

  Driver driver_;
  std::unique_ptr<uint8_t[]> payload_;
  std::optional<Delegate> delegate_;
  alignas(16) uint8_t temporary_[4096] = {};
  uint32_t room_ = sizeof(temporary_);
  const char* (*calls_)(const char*, int) = nullptr;
  int (*models_)() = nullptr;
};

TEST_F(NeutronBackendTest, LoadsRunsAndReleases) {
  ASSERT_EQ(load(Model{}.payload()), Error::Ok);
  const auto out = bytes(4, 0);
  for (uint8_t value = 1; value <= 2; ++value) {
    ASSERT_EQ(run({bytes(4, value), out}), Error::Ok);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(out->const_data_ptr<uint8_t>()[i], value * (i + 1));
    }
  }
  delegate_.reset();
  EXPECT_EQ(std::string(calls_("", 0)),
            "neutronModelPrepare 60\nneutronRunBlocking\nneutronRunBlocking\n"
            "neutronModelUnprepare\n");
}

TEST_F(NeutronBackendTest, PortsAreFoundByTheirMaps) {
  Model model;
  model.num_inputs = model.num_outputs = 2;
  model.num_arguments = 3;
  model.flags = {0, 0, 0, 0};
  model.map = {2, 0, 1, 0};
  model.weights = "2 1 > 3 1 | 16 0 0 0";
  ASSERT_EQ(load(model.payload()), Error::Ok);
  const auto first = bytes(1, 0), second = bytes(3, 0);
  // 4 of argument 2 and 5 of argument 0 at byte 0.
  ASSERT_EQ(run({bytes(1, 5), bytes(9, 9), bytes(2, 4), first, second}), Error::Ok);
  EXPECT_EQ(first->const_data_ptr<uint8_t>()[0], 9);
  const uint8_t* found = second->const_data_ptr<uint8_t>();
  EXPECT_EQ(Bytes(found, found + 3), (Bytes{9, 8, 0}));
}

TEST_F(NeutronBackendTest, AllTemporaryMemoryIsAlignedAndLargeEnough) {
  Model model;
  model.version = 1;
  model.scratch = 40;
  model.profile = 24;
  model.debug = 8;
  model.weights_scratch = 100;
  model.weights = "4 > 4 | 40 24 8 100";
  ASSERT_EQ(load(model.payload()), Error::Ok);
  ASSERT_EQ(run({bytes(4, 1), bytes(4, 0)}), Error::Ok);
  model.scratch = 5000;
  ASSERT_EQ(load(model.payload()), Error::Ok);
  expect_error([&] { return run({bytes(4, 1), bytes(4, 0)}); }, Error::MemoryAllocationFailed,
               "expected 5000 bytes of temporary memory for scratch, found none");
}

TEST_F(NeutronBackendTest, ChannelsAreLastInside) {
  Model model;
  model.flags = {1, 1};
  model.weights = kImages;
  ASSERT_EQ(load(model.payload()), Error::Ok);
  const auto out = extension::zeros({2, 3, 2, 2}, ScalarType::Byte);
  ASSERT_EQ(run({image(), out}), Error::Ok);
  for (size_t image_number = 0; image_number < 2; ++image_number) {
    for (size_t channel = 0; channel < 3; ++channel) {
      for (size_t pixel = 0; pixel < 4; ++pixel) {
        const size_t outside = image_number * 12 + channel * 4 + pixel;
        const size_t inside = image_number * 12 + pixel * 3 + channel;
        EXPECT_EQ(out->const_data_ptr<uint8_t>()[outside],
                  static_cast<uint8_t>(outside * (inside + 1)));
      }
    }
  }
}

TEST_F(NeutronBackendTest, WhatHasChannelsLastInMemoryIsNotCopied) {
  Model model;
  model.flags = {1, 1};
  model.weights = kImages;
  ASSERT_EQ(load(model.payload()), Error::Ok);
  room_ = 64;  // pointers and scratch alone
  const auto out = image({0, 2, 3, 1});
  ASSERT_EQ(run({image({0, 2, 3, 1}), out}), Error::Ok);
  for (size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(out->const_data_ptr<uint8_t>()[i], static_cast<uint8_t>(i * (i + 1)));
  }
  // One channel is first and last.
  model.weights = "4 > 4 | 16 0 0 0";
  ASSERT_EQ(load(model.payload()), Error::Ok);
  const auto one = [] { return extension::ones({1, 1, 2, 2}, ScalarType::Byte); };
  EXPECT_EQ(run({one(), one()}), Error::Ok);
  room_ = 32;
  expect_error([&] { return run({one(), one()}); }, Error::MemoryAllocationFailed, "for outputs");
}

TEST_F(NeutronBackendTest, EachFunctionFailsInTurn) {
  for (const char* function : {"neutronModelPrepare", "neutronRunBlocking"}) {
    calls_(function, 0x2B03);
    expect_error(
        [&] {
          const Error loaded = load(Model{}.payload());
          return loaded == Error::Ok ? run({bytes(4, 1), bytes(4, 0)}) : loaded;
        },
        Error::InvalidProgram,
        std::string("NeutronBackend: ") + function +
            " failed with error 0x2b03 (driver: generic, code 43)");
    delegate_.reset();
    EXPECT_EQ(models_(), 0) << function;
    calls_("", 0);
  }
  calls_("neutronInit", 0x4A);
  expect_error([] { return load_driver(NEUTRON_STAND_IN).error(); }, Error::Internal,
               "neutronInit failed with error 0x4a (firmware: timeout, code 0)");
  ASSERT_EQ(load(Model{}.payload()), Error::Ok);
  calls_("neutronModelUnprepare", -1);
  testing::internal::CaptureStderr();
  delegate_.reset();
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "neutronModelUnprepare failed with error 0xffffffff (?: ?, code 16777215)"),
            std::string::npos);
}

TEST_F(NeutronBackendTest, PayloadsThatAreCut) {
  Model model;
  model.version = 1;
  const Bytes whole = model.payload();
  const size_t kernels = whole.size() - 16;
  for (size_t size = 0; size < whole.size(); ++size) {
    // Nobody says how large kernels are: what is cut between multiples of 16 is noticed.
    if (size != kernels) {
      expect_refused(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)), "");
    }
  }
  ASSERT_EQ(load(whole), Error::Ok);
}

TEST_F(NeutronBackendTest, PayloadsThatContradictThemselves) {
  const Bytes whole = Model{}.payload();
  const struct {
    size_t at;
    uint8_t value;
    const char* text;
  } changes[] = {
      {0, 2, "as many inputs as the header has, 2, found 1"},
      {2, 0, "one of 0 arguments"},  // for input 0
      {3, 2, "flag 0 or 1, found 2"},
      {5, 1, "one of 1 arguments, found 1"},
      {7, 2, "version 0 or 1, found 2"},
      {16, 0, "microcode that begins with 0x64434D6E"},
      {16 + 44, 3, "as many inputs as the header has, 1, found 3"},
      {16 + 48, 0, "as many outputs as the header has, 1, found 0"},
      {16 + 24, 51, "microcode of 52 bytes or more"},
      {16 + 27, 255, "microcode of 52 bytes or more, and kernels from byte 4278"},
      {16 + 31, 255, "kernels from byte 4278"},
  };
  for (const auto& change : changes) {
    Bytes payload = whole;
    payload[change.at] = change.value;
    testing::internal::CaptureStderr();
    EXPECT_EQ(load(payload), Error::InvalidProgram) << change.at;
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(change.text), std::string::npos) << change.at << ": " << log;
  }
}

/// No change of a byte makes the backend read or write where it must not, under sanitizers.
TEST_F(NeutronBackendTest, PayloadsWithAChangedByte) {
  const Bytes whole = Model{}.payload();
  testing::internal::CaptureStderr();
  for (size_t at = 0; at < 80; ++at) {
    for (const int value : {0, 1, 2, 127, 128, 255}) {
      Bytes payload = whole;
      payload[at] = static_cast<uint8_t>(value);
      const auto read = Payload::read({payload.data(), payload.size()});
      if (read.ok()) {
        EXPECT_LE(read->kernels, payload.data() + payload.size());
        EXPECT_LE(read->weights, read->kernels);
        EXPECT_LT(read->microcode, read->weights);
      } else {
        EXPECT_EQ(read.error(), Error::InvalidProgram);
      }
    }
  }
  testing::internal::GetCapturedStderr();
}

TEST_F(NeutronBackendTest, ArgumentsThatAreOthers) {
  Model model;
  model.flags = {1, 0};
  model.weights = kImages;
  ASSERT_EQ(load(model.payload()), Error::Ok);
  const auto out = image();
  calls_("", 0);
  expect_error([&] { return run({image()}); }, Error::InvalidArgument,
               "NeutronBackend: expected 2 arguments or more, found 1");
  expect_error([&] { return run({image({0, 1, 3, 2}), out}); }, Error::InvalidProgram,
               "input 0: expected a contiguous tensor or channels last in memory");
  expect_error([&] { return run({bytes(24, 0), out}); }, Error::InvalidProgram,
               "input 0: expected channels, rows and columns, found 1 dimensions");
  expect_error([&] { return run({image(), image({0, 2, 3, 1})}); }, Error::InvalidArgument,
               "output 0 (2, 3, 2, 2): expected a contiguous tensor");
  runtime::EValue number(int64_t{1});
  runtime::EValue* args[] = {&number, &number};
  runtime::MemoryAllocator allocator(room_, temporary_);
  runtime::BackendExecutionContext context(nullptr, &allocator);
  expect_error([&] { return delegate_->execute(context, {args, 2}); }, Error::InvalidArgument,
               "NeutronBackend: input 0: expected a tensor");
  runtime::BackendExecutionContext none;
  expect_error([&] { return delegate_->execute(none, {args, 2}); }, Error::MemoryAllocationFailed,
               "temporary memory for inputs");
  EXPECT_EQ(std::string(calls_("", 0)), "");
}

TEST_F(NeutronBackendTest, LibrariesThatAreMissingOrOthers) {
  ASSERT_EQ(register_neutron_backend(), Error::Ok);
  const runtime::BackendInterface* backend = runtime::get_backend_class("NeutronBackend");
  ASSERT_NE(backend, nullptr);
  expect_error([&] { return backend->is_available() ? Error::Ok : Error::NotFound; },
               Error::NotFound,
               "NXP's Neutron driver was not loaded (libNeutronDriver.so: not found): "
               "LD_LIBRARY_PATH");
  expect_error([&] { return load_driver("libm.so.6").error(); }, Error::NotFound,
               "libm.so.6 lacks neutronInit, neutronModelPrepare");
  runtime::MemoryAllocator allocator(room_, temporary_);
  runtime::BackendInitContext context(&allocator);
  const Bytes payload = Model{}.payload();
  runtime::FreeableBuffer whole(payload.data(), payload.size(), nullptr);
  EXPECT_EQ(backend->init(context, &whole, {}).error(), Error::NotFound);
  runtime::FreeableBuffer none(nullptr, 0, nullptr);
  EXPECT_EQ(backend->init(context, &none, {}).error(), Error::InvalidProgram);
}

}  // namespace
}  // namespace executorch::backends::neutron
