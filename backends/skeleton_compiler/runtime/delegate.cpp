// SPDX-License-Identifier: BSD-3-Clause
// Takes this device's context binary, and runs it on the tensors' memory, or on copies of it.
#include <executorch/backends/skeleton_compiler/runtime/delegate.h>
#include <executorch/backends/skeleton_compiler/skeleton_compiler_generated.h>

#include <new>

namespace executorch::backends::skeleton_compiler {

using executorch::aten::ScalarType;
using runtime::Elements;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;

namespace {

/// Once, at load.
Result<const fb_skeleton_compiler::Payload*> open_payload(Span<const uint8_t> bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  ET_CHECK_OR_RETURN_ERROR(
      fb_skeleton_compiler::VerifyPayloadBuffer(verifier), DelegateInvalidCompatibility,
      "SkeletonCompilerBackend: %zu bytes: expected a flatbuffer SC00", bytes.size());
  return fb_skeleton_compiler::GetPayload(bytes.data());
}

/// The key of the binary for a device; NotSupported, with those that there are.
Result<std::string> key_for(const std::string& device,
                            const fb_skeleton_compiler::Payload& payload) {
  std::string devices;
  for (const fb_skeleton_compiler::Binary* binary : *payload.binaries()) {
    if (binary->device()->str() == device && binary->key() != nullptr) {
      return binary->key()->str();
    }
    devices += (devices.empty() ? "" : ", ") + binary->device()->str();
  }
  ET_LOG(Error,
         "SkeletonCompilerBackend: this device is %s, the program was compiled for %s: export it "
         "with %s among the option devices",
         device.c_str(), devices.c_str(), device.c_str());
  return Error::NotSupported;
}

Result<ScalarType> dtype_of(vendor_dtype dtype) {
  switch (dtype) {
    case VENDOR_FLOAT32:
      return ScalarType::Float;
    case VENDOR_INT16:
      return ScalarType::Short;
    default:
      ET_LOG(Error, "SkeletonCompilerBackend: an input or output of dtype %d", dtype);
      return Error::NotSupported;
  }
}

}  // namespace

Result<std::unique_ptr<Delegate>> Delegate::create(const Api& api, Span<const uint8_t> bytes,
                                                   const runtime::NamedDataMap* named_data,
                                                   const SkeletonCompilerOptions& options) {
  const fb_skeleton_compiler::Payload& payload = *ET_UNWRAP(open_payload(bytes));
  ET_CHECK_OK_OR_RETURN_ERROR(check_version(api, payload.version(), "the payload"));
  const std::string key = ET_UNWRAP(key_for(api.vendor_device(), payload));
  ET_CHECK_OR_RETURN_ERROR(named_data != nullptr, InvalidArgument,
                           "SkeletonCompilerBackend: a program without named data");
  std::unique_ptr<Delegate> made(new (std::nothrow) Delegate(api, payload.graph()->str()));
  ET_CHECK_OR_RETURN_ERROR(made != nullptr, MemoryAllocationFailed, "no memory for a delegate");
  made->binary_ = ET_UNWRAP(named_data->get_data(key));
  ET_CHECK_OK_OR_RETURN_ERROR(made->load(options));
  return made;
}

Error Delegate::load(const SkeletonCompilerOptions& options) {
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(api_,
                   api_.vendor_context_create(binary_.data(), binary_.size(),
                                              options.runtime.performance, &context_),
                   Error::DelegateInvalidCompatibility, "loading a context"));
  const vendor_tensor* ports = nullptr;
  size_t num_inputs = 0, num_outputs = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(
      api_, api_.vendor_context_ports(context_, graph_.c_str(), &ports, &num_inputs, &num_outputs),
      Error::DelegateInvalidCompatibility, "asking for a graph's inputs and outputs"));
  for (size_t i = 0; i < num_inputs + num_outputs; ++i) {
    runtime::Port port;
    port.dtype = ET_UNWRAP(dtype_of(ports[i].dtype));
    port.sizes = runtime::PortSizes::fixed({ports[i].sizes, ports[i].sizes + ports[i].rank});
    (i < num_inputs ? ports_.inputs : ports_.outputs).push_back(std::move(port));
  }
  return Error::Ok;
}

Delegate::~Delegate() {
  if (context_ != nullptr) {
    api_.vendor_context_free(context_);
  }
}

Error Delegate::execute(Span<EValue*> args) {
  ET_CHECK_OK_OR_RETURN_ERROR(ports_.check_count(args));
  const size_t num_inputs = ports_.inputs.size();
  std::vector<const void*> inputs;
  for (size_t i = 0; i < num_inputs; ++i) {
    inputs.push_back(ET_UNWRAP(ports_.prepare_input(i, *args[i])).data);
  }
  std::vector<Elements> results;
  std::vector<void*> outputs;
  for (size_t i = 0; i < ports_.outputs.size(); ++i) {
    results.push_back(ET_UNWRAP(ports_.prepare_output(i, *args[num_inputs + i])));
    outputs.push_back(results.back().data);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(
      api_, api_.vendor_context_run(context_, graph_.c_str(), inputs.data(), outputs.data()),
      Error::Internal, "running a graph"));
  for (size_t i = 0; i < results.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(ports_.store_output(i, results[i], *args[num_inputs + i]));
  }
  return Error::Ok;
}

}  // namespace executorch::backends::skeleton_compiler
