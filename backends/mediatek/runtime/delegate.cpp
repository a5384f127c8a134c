// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/mediatek/runtime/delegate.h>
#include <executorch/runtime/backend/payload_blocks.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

namespace executorch::backends::neuron {

using runtime::BytePort;
using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;
using runtime::Span;

namespace {

constexpr char kBackend[] = "NeuropilotBackend";
constexpr uint8_t kVersion = 1;
// A compiled network as an operand, and the operation that runs it.
constexpr char kExtension[] = "com.mediatek.compiled_network";
constexpr uint16_t kCompiledNetwork = 0x0100, kRun = 0x0000;

#define CALL(function, error, ...) \
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(api_, api_.function(__VA_ARGS__), #function, error))

uint32_t number_at(Span<const uint8_t> payload, uint32_t at) {
  return static_cast<uint32_t>(runtime::number_at(payload, {at, 4}));
}

/// Places from `begin`, as ids of operands.
std::vector<uint32_t> ids(size_t begin, size_t count) {
  std::vector<uint32_t> made(count);
  std::iota(made.begin(), made.end(), static_cast<uint32_t>(begin));
  return made;
}

/// Read once for all delegates of a program.
Result<std::shared_ptr<FreeableBuffer>> weights_of(const NamedDataMap* data,
                                                   const std::string& key) {
  static std::mutex mutex;
  static std::map<std::pair<const NamedDataMap*, std::string>, std::weak_ptr<FreeableBuffer>> all;
  const std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<FreeableBuffer>& place = all[{data, key}];
  std::shared_ptr<FreeableBuffer> found = place.lock();
  if (found == nullptr) {
    Result<FreeableBuffer> read =
        data == nullptr ? Result<FreeableBuffer>(Error::NotFound) : data->get_data(key);
    ET_CHECK_OR_RETURN_ERROR(read.ok(), Internal,
                             "%s: expected shared weights \"%s\" in the program's named data: "
                             "error %d",
                             kBackend, key.c_str(), static_cast<int>(read.error()));
    found = std::make_shared<FreeableBuffer>(std::move(*read));
    place = found;
  }
  return found;
}

}  // namespace

Result<Header> Header::read(Span<const uint8_t> payload) {
  ET_CHECK_OR_RETURN_ERROR(payload.size() >= kNumBytes, InvalidProgram,
                           "%s payload: expected a header of %zu bytes, found %zu", kBackend,
                           kNumBytes, payload.size());
  ET_CHECK_OR_RETURN_ERROR(payload[0] == kVersion, InvalidProgram,
                           "%s payload: expected version %d, found %d", kBackend, kVersion,
                           payload[0]);
  const size_t size = number_at(payload, 9), rest = payload.size() - kNumBytes;
  ET_CHECK_OR_RETURN_ERROR(size == rest, InvalidProgram,
                           "%s payload: expected a model of %zu bytes, found %zu", kBackend, size,
                           rest);
  return Header{number_at(payload, 1), number_at(payload, 5), {payload.data() + kNumBytes, size}};
}

Result<std::unique_ptr<Delegate>> Delegate::create(const Api& api, Span<const uint8_t> payload,
                                                   const NamedDataMap* named_data,
                                                   const NeuronOptions& options) {
  const Header header = ET_UNWRAP(Header::read(payload));
  // Each argument is an operand: more than there are bytes are none.
  const size_t num_arguments = size_t{header.num_inputs} + header.num_outputs;
  ET_CHECK_OR_RETURN_ERROR(num_arguments <= payload.size(), InvalidProgram,
                           "%s payload: %zu arguments of a model of %zu bytes", kBackend,
                           num_arguments, header.model.size());
  std::unique_ptr<Delegate> made(new (std::nothrow) Delegate(api));
  ET_CHECK_OR_RETURN_ERROR(made != nullptr, MemoryAllocationFailed, "no memory for a delegate");
  if (!options.shared_weights.empty()) {
    made->shared_weights_ = ET_UNWRAP(weights_of(named_data, options.shared_weights));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(made->load(header, options));
  return made;
}

Error Delegate::load(const Header& header, const NeuronOptions& options) {
  ET_CHECK_OK_OR_RETURN_ERROR(build(header));
  ET_CHECK_OK_OR_RETURN_ERROR(compile(options.text()));
  return find_sizes(header);
}

/// Inputs, among them shared weights; the model itself; outputs. Sizes are the model's: operands
/// have none.
Error Delegate::build(const Header& header) {
  constexpr Error kError = Error::InvalidProgram;
  CALL(NeuronModel_create, kError, &model_);
  const size_t num_inputs = header.num_inputs + (shared_weights_ == nullptr ? 0 : 1);
  NeuronOperandType operand = {};
  operand.type = NEURON_FLOAT32;
  NeuronOperandType network = {};
  CALL(NeuronModel_getExtensionOperandType, kError, model_, kExtension, kCompiledNetwork,
       &network.type);
  for (size_t i = 0; i < num_inputs; ++i) {
    CALL(NeuronModel_addOperand, kError, model_, &operand);
  }
  CALL(NeuronModel_addOperand, kError, model_, &network);
  for (size_t i = 0; i < header.num_outputs; ++i) {
    CALL(NeuronModel_addOperand, kError, model_, &operand);
  }
  CALL(NeuronModel_setOperandValue, kError, model_, static_cast<int32_t>(num_inputs),
       header.model.data(), header.model.size());
  int32_t run = 0;
  CALL(NeuronModel_getExtensionOperationType, kError, model_, kExtension, kRun, &run);
  const auto inputs = ids(0, num_inputs + 1), outputs = ids(num_inputs + 1, header.num_outputs);
  CALL(NeuronModel_addOperation, kError, model_, run, static_cast<uint32_t>(inputs.size()),
       inputs.data(), header.num_outputs, outputs.data());
  CALL(NeuronModel_identifyInputsAndOutputs, kError, model_, static_cast<uint32_t>(num_inputs),
       inputs.data(), header.num_outputs, outputs.data());
  CALL(NeuronModel_finish, kError, model_);
  return Error::Ok;
}

Error Delegate::compile(const std::string& options) {
  constexpr Error kError = Error::InvalidProgram;
  CALL(NeuronCompilation_createWithOptions, kError, model_, &compilation_, options.c_str());
  CALL(NeuronCompilation_setPreference, kError, compilation_, NEURON_PREFER_TURBO_BOOST);
  CALL(NeuronCompilation_setPriority, kError, compilation_, NEURON_PRIORITY_HIGH);
  CALL(NeuronCompilation_finish, kError, compilation_);
  CALL(NeuronExecution_create, kError, compilation_, &execution_);
  return Error::Ok;
}

Error Delegate::find_sizes(const Header& header) {
  inputs_.resize(header.num_inputs);
  outputs_.resize(header.num_outputs);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    CALL(NeuronCompilation_getInputPaddedSize, Error::InvalidProgram, compilation_,
         static_cast<int32_t>(i), &inputs_[i].num_bytes);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    CALL(NeuronCompilation_getOutputPaddedSize, Error::InvalidProgram, compilation_,
         static_cast<int32_t>(i), &outputs_[i].num_bytes);
  }
  return Error::Ok;
}

Delegate::~Delegate() {
  if (execution_ != nullptr) {
    api_.NeuronExecution_free(execution_);
  }
  if (compilation_ != nullptr) {
    api_.NeuronCompilation_free(compilation_);
  }
  if (model_ != nullptr) {
    api_.NeuronModel_free(model_);
  }
}

Error Delegate::execute(Span<EValue*> args) {
  const size_t num_inputs = inputs_.size();
  ET_CHECK_OK_OR_RETURN_ERROR(
      runtime::TensorArguments::of(kBackend, args, num_inputs, outputs_.size()).error());
  for (size_t i = 0; i < num_inputs; ++i) {
    const auto bytes = ET_UNWRAP(inputs_[i].to_read({kBackend, "input", i}, *args[i]));
    CALL(NeuronExecution_setInput, Error::Internal, execution_, static_cast<int32_t>(i), nullptr,
         bytes.data(), bytes.size());
  }
  if (shared_weights_ != nullptr) {
    CALL(NeuronExecution_setInput, Error::Internal, execution_, static_cast<int32_t>(num_inputs),
         nullptr, shared_weights_->data(), shared_weights_->size());
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const auto bytes =
        ET_UNWRAP(outputs_[i].to_write({kBackend, "output", i}, *args[num_inputs + i]));
    CALL(NeuronExecution_setOutput, Error::Internal, execution_, static_cast<int32_t>(i), nullptr,
         bytes.data(), bytes.size());
  }
  CALL(NeuronExecution_compute, Error::InvalidState, execution_);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].store(*args[num_inputs + i]);
  }
  return Error::Ok;
}

}  // namespace executorch::backends::neuron
