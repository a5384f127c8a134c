// SPDX-License-Identifier: BSD-3-Clause
// A library as AOTInductor writes them for CUDA, for tests: y = x * scale[0] + count[0], and count,
// a mutable buffer, is one more behind each run. Its kernel is queued with stand_in/cudart.cpp,
// whose pointers it alone follows. Fails where x is negative, copies to the host where it is 100.
// Constants whose last value is 7 are matrices.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

struct Tensor;
struct Guard;
extern "C" {
int32_t aoti_torch_get_data_ptr(Tensor*, void**);
int32_t aoti_torch_get_sizes(Tensor*, int64_t**);
int32_t aoti_torch_get_numel(Tensor*, int64_t*);
int32_t aoti_torch_get_dim(Tensor*, int64_t*);
int32_t aoti_torch_get_device_index(Tensor*, int32_t*);
int32_t aoti_torch_empty_strided(int64_t, const int64_t*, const int64_t*, int32_t, int32_t, int32_t,
                                 Tensor**);
int32_t aoti_torch_create_tensor_from_blob_v2(void*, int64_t, const int64_t*, const int64_t*,
                                              int64_t, int32_t, int32_t, int32_t, Tensor**, int32_t,
                                              const uint8_t*, int64_t);
int32_t aoti_torch_copy_(Tensor*, Tensor*, int32_t);
int32_t aoti_torch_delete_tensor_object(Tensor*);
int32_t aoti_torch_device_type_cpu();
int32_t aoti_torch_device_type_cuda();
int32_t aoti_torch_dtype_float32();
int32_t aoti_torch_create_cuda_guard(int32_t, Guard**);
int32_t aoti_torch_cuda_guard_set_index(Guard*, int32_t);
int32_t aoti_torch_delete_cuda_guard(Guard*);
int32_t aoti_torch_create_cuda_stream_guard(void*, int32_t, Guard**);
int32_t aoti_torch_delete_cuda_stream_guard(Guard*);
int32_t aoti_torch_get_current_cuda_stream(int32_t, void**);
}

namespace {

constexpr int64_t kElements = 4;
constexpr const char* kNames[] = {"scale", "count"};
constexpr const char* kNamesInModel[] = {"model.scale", "model.count"};

struct Container {
  Tensor* constants[2] = {};
  std::vector<Tensor*> blob;  // what it loaded, to its end
};
struct Entry {
  const char* name;
  Tensor* tensor;
};
std::string last_error;

int32_t fail(const char* text) {
  last_error = text;
  return 1;
}

/// What a kernel sees.
float* on_device(Tensor* tensor) {
  void* data = nullptr;
  aoti_torch_get_data_ptr(tensor, &data);
  return reinterpret_cast<float*>(reinterpret_cast<uintptr_t>(data) & ~(uintptr_t{1} << 50));
}

int32_t load(Container& container, int index, const float* values) {
  const int64_t rank = values[kElements - 1] == 7 ? 2 : 1, dense[] = {kElements}, square[] = {2, 2},
                *sizes = rank == 2 ? square : dense;
  Tensor *host = nullptr, *made = nullptr;
  const int32_t dtype = aoti_torch_dtype_float32();
  if (aoti_torch_empty_strided(rank, sizes, nullptr, dtype, aoti_torch_device_type_cuda(), 0,
                               &made) != 0) {
    return fail("no memory for a constant");
  }
  aoti_torch_create_tensor_from_blob_v2(const_cast<float*>(values), rank, sizes, nullptr, 0, dtype,
                                        aoti_torch_device_type_cpu(), 0, &host, 0, nullptr, 0);
  const int32_t status = aoti_torch_copy_(made, host, 0);
  aoti_torch_delete_tensor_object(host);
  container.blob.push_back(made);
  container.constants[index] = made;
  return status == 0 ? 0 : fail("a constant was not copied");
}

struct Arguments {
  const float *x, *scale;
  float *y, *count;
  int64_t numel;
};

void kernel(const void* arguments) {
  const auto& a = *static_cast<const Arguments*>(arguments);
  for (int64_t i = 0; i < a.numel; ++i) {
    a.y[i] = a.x[i] * a.scale[0] + a.count[0];
  }
  a.count[0] += 1;
}

void launch(void* stream, const Arguments& arguments) {
  void* cuda = dlopen(std::getenv("EXECUTORCH_CUDA_RUNTIME"), RTLD_NOW);
  using Launch = void (*)(void*, void (*)(const void*), const void*, size_t);
  reinterpret_cast<Launch>(dlsym(cuda, "cudart_stand_in_launch"))(stream, kernel, &arguments,
                                                                  sizeof(arguments));
  dlclose(cuda);
}

int32_t copy_to_host(Tensor* input) {
  const int64_t sizes[] = {2};
  Tensor* host = nullptr;
  aoti_torch_empty_strided(1, sizes, nullptr, aoti_torch_dtype_float32(),
                           aoti_torch_device_type_cpu(), 0, &host);
  const int32_t status = aoti_torch_copy_(host, input, 0);
  aoti_torch_delete_tensor_object(host);
  return status == 0 ? 0 : fail("an input was not copied");
}

int32_t compute(Container& container, Tensor* input, Tensor** out, void* stream) {
  int64_t *sizes = nullptr, numel = 0, dim = 0;
  int32_t device = 0;
  aoti_torch_get_sizes(input, &sizes);
  aoti_torch_get_numel(input, &numel);
  aoti_torch_get_dim(input, &dim);
  aoti_torch_get_device_index(input, &device);
  if (aoti_torch_empty_strided(dim, sizes, nullptr, aoti_torch_dtype_float32(),
                               aoti_torch_device_type_cuda(), device, out) != 0) {
    return fail("no memory for the output");
  }
  const float* x = on_device(input);
  if (numel > 0 && x[0] < 0) {
    return fail("a kernel failed");
  }
  launch(stream, {x, on_device(container.constants[0]), on_device(*out),
                  on_device(container.constants[1]), numel});
  return numel > 0 && x[0] == 100 ? copy_to_host(input) : 0;
}

/// Between the guards that inductor's code has.
int32_t run(Container& container, Tensor** inputs, Tensor** outputs, void* stream) {
  Tensor* input = inputs[0];
  inputs[0] = nullptr;
  Guard *device_guard = nullptr, *stream_guard = nullptr;
  int32_t status = 0;
  if (aoti_torch_create_cuda_guard(0, &device_guard) != 0) {
    status = fail("no guard of the device");
  } else if (aoti_torch_create_cuda_stream_guard(stream, 0, &stream_guard) != 0) {
    status = fail("no guard of the stream");
  } else {
    void* current = nullptr;
    aoti_torch_get_current_cuda_stream(0, &current);
    status =
        current == stream ? compute(container, input, &outputs[0], stream) : fail("another stream");
  }
  aoti_torch_delete_tensor_object(input);
  if (stream_guard != nullptr) {
    aoti_torch_delete_cuda_stream_guard(stream_guard);
  }
  if (device_guard != nullptr) {
    aoti_torch_delete_cuda_guard(device_guard);
  }
  return status;
}

}  // namespace

extern "C" {

int32_t AOTInductorModelContainerCreateWithDevice(void** out, size_t, const char* device,
                                                  const char*) {
  if (std::string(device) != "cuda") {
    return fail("an unknown device");
  }
  *out = new Container();
  return 0;
}
int32_t AOTInductorModelContainerDelete(void* handle) {
  auto* container = static_cast<Container*>(handle);
  for (Tensor* each : container->blob) {
    aoti_torch_delete_tensor_object(each);
  }
  delete container;
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
  *out = 2;
  return 0;
}
int32_t AOTInductorModelContainerGetConstantName(void*, size_t index, const char** out) {
  *out = kNames[index];
  return 0;
}
int32_t AOTInductorModelContainerGetConstantOriginalFQN(void*, size_t index, const char** out) {
  *out = kNamesInModel[index];
  return 0;
}
int32_t AOTInductorModelContainerGetConstantsBlobSize(void*, uint64_t* out) {
  *out = 2 * kElements * sizeof(float);
  return 0;
}
int32_t AOTInductorModelUpdateConstantsFromBlob(void* handle, const uint8_t* bytes) {
  const auto* values = reinterpret_cast<const float*>(bytes);
  int32_t status = 0;
  for (int i = 0; i < 2 && status == 0; ++i) {
    status = load(*static_cast<Container*>(handle), i, values + i * kElements);
  }
  return status;
}
int32_t AOTInductorModelContainerExtractConstantsMap(void* handle,
                                                     std::unordered_map<std::string, Tensor*>* out,
                                                     bool) {
  for (int i = 0; i < 2; ++i) {
    (*out)[kNamesInModel[i]] = static_cast<Container*>(handle)->constants[i];
  }
  return 0;
}
int32_t AOTInductorModelContainerUpdateUserManagedConstantBufferPairs(void* handle,
                                                                      const Entry* entries,
                                                                      size_t count, bool,
                                                                      bool are_all) {
  if (are_all && count != 2) {
    return fail("constants are missing");
  }
  for (size_t i = 0; i < count; ++i) {
    const int index = entries[i].name == std::string("count") ? 1 : 0;
    static_cast<Container*>(handle)->constants[index] = entries[i].tensor;
  }
  return 0;
}
int32_t AOTInductorModelContainerRun(void* handle, Tensor** inputs, size_t, Tensor** outputs,
                                     size_t, void* stream, void*) {
  return run(*static_cast<Container*>(handle), inputs, outputs, stream);
}
int32_t AOTInductorGetLastError(const char** out) {
  *out = last_error.c_str();
  return 0;
}

}  // extern "C"
