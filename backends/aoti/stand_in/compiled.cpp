// SPDX-License-Identifier: BSD-3-Clause
// A library as AOTInductor writes them, for tests: one method, y = x * constants[0] + calls, where
// `calls` counts runs of the container. The first element of x may ask for a failure.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

struct Tensor;
extern "C" {
int32_t aoti_torch_get_data_ptr(Tensor*, void**);
int32_t aoti_torch_get_sizes(Tensor*, int64_t**);
int32_t aoti_torch_get_numel(Tensor*, int64_t*);
int32_t aoti_torch_get_dim(Tensor*, int64_t*);
int32_t aoti_torch_get_device_type(Tensor*, int32_t*);
int32_t aoti_torch_empty_strided(int64_t, const int64_t*, const int64_t*, int32_t, int32_t, int32_t,
                                 Tensor**);
int32_t aoti_torch_delete_tensor_object(Tensor*);
int32_t aoti_torch_dtype_float32();
int32_t aoti_torch_dtype_int64();
void aoti_torch_check(bool, const char*, const char*, uint32_t, const char*);
}

namespace {

struct Container {
  float constants[4] = {};
  int calls = 0;
};
std::string last_error;

enum Failure { kNone, kBeforeTaking, kBehindTaking, kNoOutput, kCheck, kOtherDtype, kTooLarge };

int32_t fail(const char* text) {
  last_error = text;
  return 1;
}

int32_t run(Container& container, Tensor** inputs, Tensor** outputs) {
  void* data = nullptr;
  int64_t *sizes = nullptr, numel = 0, dim = 0;
  if (aoti_torch_get_data_ptr(inputs[0], &data) != 0 ||
      aoti_torch_get_sizes(inputs[0], &sizes) != 0 ||
      aoti_torch_get_numel(inputs[0], &numel) != 0 || aoti_torch_get_dim(inputs[0], &dim) != 0) {
    return fail("the input cannot be read");
  }
  int32_t device = 0;
  aoti_torch_get_device_type(inputs[0], &device);
  const auto* x = static_cast<const float*>(data);
  const int failure = numel > 0 && x[0] < 0 ? static_cast<int>(-x[0]) : 0;
  if (failure == kBeforeTaking) {
    return fail("refused before taking");
  }
  Tensor* input = inputs[0];
  inputs[0] = nullptr;
  const int64_t more[] = {numel * 100};
  Tensor* output = nullptr;
  if (failure != kNoOutput && failure != kBehindTaking && failure != kCheck) {
    aoti_torch_empty_strided(
        failure == kTooLarge ? 1 : dim, failure == kTooLarge ? more : sizes, nullptr,
        failure == kOtherDtype ? aoti_torch_dtype_int64() : aoti_torch_dtype_float32(), device, 0,
        &output);
  }
  if (failure == kNone) {
    void* result = nullptr;
    aoti_torch_get_data_ptr(output, &result);
    for (int64_t i = 0; i < numel; ++i) {
      static_cast<float*>(result)[i] =
          x[i] * container.constants[0] + static_cast<float>(container.calls);
    }
    ++container.calls;
  }
  aoti_torch_delete_tensor_object(input);
  outputs[0] = output;
  aoti_torch_check(failure != kCheck, "run", "compiled.cpp", 1, "index out of bounds");
  return failure == kBehindTaking ? fail("refused behind taking") : 0;
}

}  // namespace

extern "C" {

int32_t AOTInductorModelContainerCreateWithDevice(void** out, size_t, const char* device,
                                                  const char*) {
  if (std::string(device) != "cpu" && std::string(device) != "cuda") {
    return fail("an unknown device");
  }
  *out = new Container();
  return 0;
}
int32_t AOTInductorModelContainerDelete(void* container) {
  delete static_cast<Container*>(container);
  return 0;
}
int32_t AOTInductorModelContainerGetNumInputs(void*, size_t* out) {
  *out = 1;
  return 0;
}
int32_t AOTInductorModelContainerGetNumOutputs(void*, size_t* out) {
  *out = 1;
  return 0;
}
int32_t AOTInductorModelContainerGetNumConstants(void*, size_t* out) {
  *out = 4;
  return 0;
}
int32_t AOTInductorModelContainerGetConstantsBlobSize(void*, uint64_t* out) {
  *out = sizeof(Container::constants);
  return 0;
}
int32_t AOTInductorModelUpdateConstantsFromBlob(void* container, const uint8_t* bytes) {
  for (size_t i = 0; i < sizeof(Container::constants); ++i) {
    reinterpret_cast<uint8_t*>(static_cast<Container*>(container)->constants)[i] = bytes[i];
  }
  return 0;
}
int32_t AOTInductorModelContainerRun(void* container, Tensor** inputs, size_t, Tensor** outputs,
                                     size_t, void*, void*) {
  try {
    return run(*static_cast<Container*>(container), inputs, outputs);
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
int32_t AOTInductorGetLastError(const char** out) {
  *out = last_error.c_str();
  return 0;
}

}  // extern "C"
