// SPDX-License-Identifier: BSD-3-Clause
// What MediaTek's library is asked; each of its functions fails in turn; payloads, arguments and
// libraries that are refused.
#include <executorch/backends/mediatek/runtime/delegate.h>
#include <executorch/backends/mediatek/runtime/neuron_backend.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace executorch::backends::neuron {
namespace {

using executorch::aten::ScalarType;
using extension::full;
using runtime::Error;

/// Weights of two bytes, under "weights".
class Weights final : public runtime::NamedDataMap {
 public:
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(std::string_view) const override {
    return Error::NotImplemented;
  }
  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    ++num_reads;
    ET_CHECK_OR_RETURN_ERROR(key == "weights", NotFound, "no such data");
    return runtime::FreeableBuffer(bytes, sizeof(bytes), nullptr);
  }
  Error load_data_into(std::string_view, void*, size_t) const override {
    return Error::NotImplemented;
  }
  runtime::Result<uint32_t> get_num_keys() const override { return 1; }
  runtime::Result<const char*> get_key(uint32_t) const override { return "weights"; }

  uint8_t bytes[2] = {100, 50};
  mutable int num_reads = 0;
};

std::string payload_of(uint8_t num_inputs, uint8_t num_outputs, const std::string& model) {
  std::string bytes(13, '\0');
  bytes[0] = 1;
  bytes[1] = static_cast<char>(num_inputs);
  bytes[5] = static_cast<char>(num_outputs);
  bytes[9] = static_cast<char>(model.size());
  return bytes + model;
}

class NeuronBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    auto loaded = load_library({"libnone.so", NEURON_STAND_IN});
    ASSERT_TRUE(loaded.ok());
    api_ = *loaded;
    void* library = dlopen(NEURON_STAND_IN, RTLD_NOW);
    calls_ = reinterpret_cast<decltype(calls_)>(dlsym(library, "neuron_stand_in_calls"));
    objects_ = reinterpret_cast<decltype(objects_)>(dlsym(library, "neuron_stand_in_objects"));
    calls_("");
  }
  void TearDown() override {
    delegate_.reset();
    EXPECT_EQ(objects_(), 0);
  }

  Error load(const std::string& payload, const NeuronOptions& options = {}) {
    payload_ = payload;
    auto made =
        Delegate::create(api_, {reinterpret_cast<const uint8_t*>(payload_.data()), payload_.size()},
                         &weights_, options);
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

  /// The error's text, with what must be in it.
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
  Weights weights_;
  std::string payload_;
  std::unique_ptr<Delegate> delegate_;
  const char* (*calls_)(const char*) = nullptr;
  int (*objects_)() = nullptr;
};

constexpr char kLoads[] =
    "NeuronModel_create\n"
    "NeuronModel_getExtensionOperandType com.mediatek.compiled_network 256\n"
    "NeuronModel_addOperand 100 0\n"
    "NeuronModel_addOperand 100 0\n"
    "NeuronModel_addOperand 200 0\n"
    "NeuronModel_addOperand 100 0\n"
    "NeuronModel_setOperandValue 2 7\n"
    "NeuronModel_getExtensionOperationType com.mediatek.compiled_network 0\n"
    "NeuronModel_addOperation 201 [0 1 2] [3]\n"
    "NeuronModel_identifyInputsAndOutputs [0 1] [3]\n"
    "NeuronModel_finish\n"
    "NeuronCompilation_createWithOptions \n"
    "NeuronCompilation_setPreference 101\n"
    "NeuronCompilation_setPriority 102\n"
    "NeuronCompilation_finish\n"
    "NeuronExecution_create\n";

TEST_F(NeuronBackendTest, LoadsAndRuns) {
  ASSERT_EQ(load(payload_of(2, 1, "2 2 > 2")), Error::Ok);
  EXPECT_EQ(std::string(calls_("")), std::string(kLoads) +
                                         "NeuronCompilation_getInputPaddedSize 0\n"
                                         "NeuronCompilation_getInputPaddedSize 1\n"
                                         "NeuronCompilation_getOutputPaddedSize 0\n");
  const auto out = bytes(2, 0);
  ASSERT_EQ(run({bytes(2, 3), bytes(2, 4), out}), Error::Ok);
  EXPECT_EQ(std::string(calls_("")),
            "NeuronExecution_setInput 0 2\nNeuronExecution_setInput 1 2\n"
            "NeuronExecution_setOutput 0 2\nNeuronExecution_compute\n");
  EXPECT_EQ(out->const_data_ptr<uint8_t>()[1], 7);
}

TEST_F(NeuronBackendTest, PaddedMemoryIsACopy) {
  ASSERT_EQ(load(payload_of(1, 1, "8 > 8")), Error::Ok);
  const auto out = bytes(3, 1);
  ASSERT_EQ(run({bytes(3, 5), out}), Error::Ok);
  EXPECT_EQ(out->const_data_ptr<uint8_t>()[2], 5);
  const std::string calls = calls_("");
  EXPECT_NE(calls.find("NeuronExecution_setInput 0 8\nNeuronExecution_setOutput 0 8\n"),
            std::string::npos);
}

TEST_F(NeuronBackendTest, ModelsShareWeights) {
  NeuronOptions options;
  options.shared_weights = "weights";
  ASSERT_EQ(load(payload_of(1, 1, "2 2 > 2"), options), Error::Ok);
  const auto first = std::move(delegate_);
  const std::string kept = payload_;
  ASSERT_EQ(load(payload_of(1, 1, "2 2 > 2"), options), Error::Ok);
  EXPECT_EQ(weights_.num_reads, 1);
  const auto out = bytes(2, 0);
  ASSERT_EQ(run({bytes(2, 3), out}), Error::Ok);
  EXPECT_EQ(out->const_data_ptr<uint8_t>()[0], 103);
  EXPECT_EQ(out->const_data_ptr<uint8_t>()[1], 53);
  EXPECT_NE(std::string(calls_("")).find("NeuronExecution_setInput 1 2\n"), std::string::npos);
  options.shared_weights = "others";
  expect_error([&] { return load(payload_of(1, 1, "2 2 > 2"), options); }, Error::Internal,
               "expected shared weights \"others\"");
}

TEST_F(NeuronBackendTest, EachFunctionFailsInTurn) {
  const std::string payload = payload_of(1, 1, "2 > 2");
  ASSERT_EQ(load(payload), Error::Ok);
  ASSERT_EQ(run({bytes(2, 1), bytes(2, 0)}), Error::Ok);
  std::vector<std::string> functions;
#define NEURON_NAME(function) functions.push_back(#function);
  NEURON_FUNCTIONS(NEURON_NAME)
#undef NEURON_NAME
  for (const std::string& function : functions) {
    if (function.find("_free") != std::string::npos) {
      continue;
    }
    const bool runs = function.find("NeuronExecution_set") == 0;
    Error expected = runs ? Error::Internal : Error::InvalidProgram;
    if (function == "NeuronExecution_compute") {
      expected = Error::InvalidState;
    }
    calls_(function.c_str());
    expect_error(
        [&] {
          const Error loaded = load(payload);
          return loaded == Error::Ok ? run({bytes(2, 1), bytes(2, 0)}) : loaded;
        },
        expected,
        "NeuropilotBackend: " + function + " of " NEURON_STAND_IN " 7.2.4 failed with error 4");
    delegate_.reset();
    EXPECT_EQ(objects_(), 0) << function;
    calls_("");
  }
  ASSERT_EQ(load(payload), Error::Ok);
}

TEST_F(NeuronBackendTest, PayloadsThatAreCutOrWrong) {
  const std::string payload = payload_of(1, 1, "2 > 2");
  for (size_t size = 0; size < payload.size(); ++size) {
    expect_error([&] { return load(payload.substr(0, size)); }, Error::InvalidProgram,
                 size < 13 ? "expected a header of 13 bytes" : "expected a model of 5 bytes");
  }
  std::string wrong = payload;
  wrong[0] = 2;
  expect_error([&] { return load(wrong); }, Error::InvalidProgram, "expected version 1, found 2");
  expect_error([&] { return load(payload + "?"); }, Error::InvalidProgram, "found 6");
  wrong = payload;
  wrong[4] = '\x7f';
  expect_error([&] { return load(wrong); }, Error::InvalidProgram, "2130706434 arguments");
}

TEST_F(NeuronBackendTest, ArgumentsThatAreOthers) {
  ASSERT_EQ(load(payload_of(1, 1, "2 > 2")), Error::Ok);
  expect_error([&] { return run({bytes(2, 0)}); }, Error::InvalidArgument, "NeuropilotBackend");
  expect_error([&] { return run({bytes(3, 0), bytes(2, 0)}); }, Error::InvalidArgument,
               "NeuropilotBackend: input 0: expected at most 2 bytes, found 3");
  expect_error([&] { return run({bytes(2, 0), bytes(3, 0)}); }, Error::InvalidArgument,
               "NeuropilotBackend: output 0: expected at most 2 bytes, found 3");
  runtime::EValue number(int64_t{1});
  runtime::EValue* args[] = {&number, &number};
  expect_error([&] { return delegate_->execute({args, 2}); }, Error::InvalidArgument,
               "NeuropilotBackend: input 0");
}

TEST_F(NeuronBackendTest, OptionsAreTexts) {
  NeuronOptions options;
  EXPECT_EQ(options.text(), "");
  options.import_forever = true;
  EXPECT_EQ(options.text(), "--apusys-config \"{ \"import_forever\": true }\"");
  options.high_address = true;
  EXPECT_EQ(options.text(),
            "--apusys-config \"{ \"high_addr\": true, \"import_forever\": true }\"");
  ASSERT_EQ(load(payload_of(1, 1, "2 > 2"), options), Error::Ok);
  EXPECT_NE(std::string(calls_("")).find("createWithOptions " + options.text() + "\n"),
            std::string::npos);
}

TEST_F(NeuronBackendTest, CompileSpecsOfTheCompilerArePassedOver) {
  uint8_t on = 1;
  char text[] = "LTS", key[] = "weights";
  const runtime::CompileSpec specs[] = {{"platform-config", {text, 3}},
                                        {"gno", {text, 3}},
                                        {"HighAddr", {&on, 1}},
                                        {"ExtractSharedBlobKey", {key, 7}}};
  NeuronOptions options;
  ASSERT_EQ(runtime::read_compile_specs(kNeuronTable, {specs, 4}, options), Error::Ok);
  EXPECT_TRUE(options.high_address && !options.import_forever);
  EXPECT_EQ(options.shared_weights, "weights");
}

TEST_F(NeuronBackendTest, LibrariesThatAreMissingOrOthers) {
  RecordProperty("req", "NPU-028");
  ASSERT_EQ(register_neuron_backend(), Error::Ok);
  const runtime::BackendInterface* backend = runtime::get_backend_class("NeuropilotBackend");
  ASSERT_NE(backend, nullptr);
  for (const char* name : {"libneuronusdk_adapter.mtk.so: ", "libneuron_adapter_mgvi.so: ",
                           "libneuron_adapter.so: ", "LD_LIBRARY_PATH"}) {
    expect_error([&] { return backend->is_available() ? Error::Ok : Error::NotFound; },
                 Error::NotFound, name);
  }
  expect_error([&] { return load_library({"libm.so.6"}).error(); }, Error::NotFound,
               "libm.so.6 lacks NeuronModel_create, NeuronModel_free");
  runtime::BackendInitContext context(nullptr);
  runtime::FreeableBuffer none(nullptr, 0, nullptr);
  EXPECT_EQ(backend->init(context, &none, {}).error(), Error::NotFound);
}

}  // namespace
}  // namespace executorch::backends::neuron
