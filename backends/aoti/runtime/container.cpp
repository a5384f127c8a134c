// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/container.h>

#include <new>
#include <utility>

namespace executorch::backends::aoti {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

Result<ContainerApi> api_of(const NativeLibrary& library) {
  ContainerApi api;
  auto functions = library.functions();
  functions.find("AOTInductorModelContainerCreateWithDevice", api.create);
  functions.find("AOTInductorModelContainerDelete", api.destroy);
  functions.find("AOTInductorModelContainerGetNumInputs", api.num_inputs);
  functions.find("AOTInductorModelContainerGetNumOutputs", api.num_outputs);
  functions.find("AOTInductorModelContainerRun", api.run);
  functions.find_optional("AOTInductorModelUpdateConstantsFromBlob", api.load_constants);
  functions.find_optional("AOTInductorModelContainerGetNumConstants", api.num_constants);
  functions.find_optional("AOTInductorModelContainerGetConstantsBlobSize", api.constants_size);
  functions.find_optional("AOTInductorGetLastError", api.last_error);
  functions.find_optional("AOTInductorModelContainerGetConstantName", api.constant_name);
  functions.find_optional("AOTInductorModelContainerGetConstantOriginalFQN", api.constant_fqn);
  functions.find_optional("AOTInductorModelContainerExtractConstantsMap", api.constants_map);
  functions.find_optional("AOTInductorModelContainerUpdateUserManagedConstantBufferPairs",
                          api.use_constants);
  ET_CHECK_OK_OR_RETURN_ERROR(functions.check(
      Error::Internal, "expected a library that AOTInductor of torch 2.9 or later wrote"));
  return api;
}

}  // namespace

Result<std::unique_ptr<Container>> Container::create(std::unique_ptr<NativeLibrary> library,
                                                     const char* device) {
  std::unique_ptr<Container> made(new (std::nothrow) Container(std::move(library)));
  ET_CHECK_OR_RETURN_ERROR(made != nullptr, MemoryAllocationFailed, "no memory for a method");
  made->api_ = ET_UNWRAP(api_of(*made->library_));
  const ContainerApi& api = made->api_;
  ET_CHECK_OK_OR_RETURN_ERROR(
      made->check(api.create(&made->handle_, 1, device, nullptr), "making a method"));
  ET_CHECK_OR_RETURN_ERROR(made->handle_ != nullptr, Internal, "AOTInductor made no method");
  ET_CHECK_OK_OR_RETURN_ERROR(
      made->check(api.num_inputs(made->handle_, &made->num_inputs_), "counting inputs"));
  ET_CHECK_OK_OR_RETURN_ERROR(
      made->check(api.num_outputs(made->handle_, &made->num_outputs_), "counting outputs"));
  return made;
}

Container::~Container() {
  if (handle_ != nullptr) {
    (void)check(api_.destroy(handle_), "deleting a method");
  }
}

Error Container::check(int32_t status, const char* what) const {
  const char* reason = nullptr;
  if (status != 0 && api_.last_error != nullptr) {
    (void)api_.last_error(&reason);
  }
  ET_CHECK_OR_RETURN_ERROR(status == 0, Internal, "AOTInductor: %s: error %d: %s", what, status,
                           reason == nullptr || *reason == '\0' ? "no reason given" : reason);
  return Error::Ok;
}

Result<size_t> Container::constants_size() const {
  if (api_.num_constants == nullptr || api_.constants_size == nullptr) {
    return Error::NotSupported;
  }
  size_t count = 0;
  uint64_t size = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check(api_.num_constants(handle_, &count), "counting constants"));
  if (count > 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(check(api_.constants_size(handle_, &size), "sizing constants"));
  }
  return static_cast<size_t>(size);
}

Error Container::load_constants(Span<const uint8_t> bytes) {
  ET_CHECK_OR_RETURN_ERROR(api_.load_constants != nullptr, Internal,
                           "the shared library lacks AOTInductorModelUpdateConstantsFromBlob");
  return check(api_.load_constants(handle_, bytes.data()), "loading constants");
}

Result<std::map<std::string, std::string>> Container::constant_names() const {
  ET_CHECK_OR_RETURN_ERROR(api_.num_constants != nullptr && api_.constant_name != nullptr &&
                               api_.constant_fqn != nullptr && api_.constants_map != nullptr &&
                               api_.use_constants != nullptr,
                           NotSupported,
                           "AOTInductor: the library of this method does not name its constants: "
                           "export again with torch "
                           "2.9 or later");
  size_t count = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check(api_.num_constants(handle_, &count), "counting constants"));
  std::map<std::string, std::string> names;
  for (size_t i = 0; i < count; ++i) {
    const char *name = nullptr, *in_model = nullptr;
    ET_CHECK_OK_OR_RETURN_ERROR(check(api_.constant_name(handle_, i, &name), "naming a constant"));
    ET_CHECK_OK_OR_RETURN_ERROR(
        check(api_.constant_fqn(handle_, i, &in_model), "naming a constant"));
    // Those that are computed from others have no name in the model, and are no one else's.
    if (name != nullptr && in_model != nullptr && *in_model != '\0') {
      names[in_model] = name;
    }
  }
  return names;
}

Result<ConstantMap> Container::constants() const {
  ConstantMap map;
  ET_CHECK_OR_RETURN_ERROR(api_.constants_map != nullptr, NotSupported,
                           "the shared library lacks AOTInductorModelContainerExtractConstantsMap");
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api_.constants_map(handle_, &map, /*use_inactive=*/false), "listing constants"));
  return map;
}

Error Container::use_constants(const std::vector<ConstantEntry>& entries, bool are_all) {
  return check(
      api_.use_constants(handle_, entries.data(), entries.size(), /*use_inactive=*/false, are_all),
      "taking constants");
}

Result<Container::Tensors> Container::run(Tensors inputs, void* stream) {
  std::vector<SlimTensor*> taken, given(num_outputs_, nullptr);
  for (auto& input : inputs) {
    taken.push_back(input.release());
  }
  const int32_t status =
      api_.run(handle_, taken.data(), taken.size(), given.data(), given.size(), stream, nullptr);
  // It sets to null what it took over; where it failed before that, they are still ours.
  for (SlimTensor* left : taken) {
    delete left;
  }
  Tensors outputs;
  for (SlimTensor* each : given) {
    outputs.emplace_back(each);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(check(status, "running a method"));
  return outputs;
}

}  // namespace executorch::backends::aoti
