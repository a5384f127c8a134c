// SPDX-License-Identifier: BSD-3-Clause
// The structures by which libraries of Python hand tensors to each other
// (https://dmlc.github.io/dlpack, version 1.x).
#pragma once

#include <cstdint>

namespace executorch::extension::pybindings::dlpack {

enum DeviceType : int32_t { kCpu = 1 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

constexpr Version kVersion{1, 0};

struct ManagedTensor {
  Version version;
  void* manager;
  void (*deleter)(ManagedTensor* self);
  uint64_t flags;  // 0: its numbers may be written
  Tensor tensor;
};

// What a library's type of tensors has as __dlpack_c_exchange_api__, in a capsule of this name. Its
// functions give 0, or -1 with a Python error.
constexpr const char* kExchangeName = "dlpack_exchange_api";

struct Exchange {
  Version version;
  const Exchange* older;  // of a version before, or null
  void* allocate;
  void* own;
  int (*take)(ManagedTensor* tensor, void** out_object);  // the tensor is the library's then
  int (*look)(void* object, Tensor* out);  // what `out` points to is the object's; may be null
  void* stream;
};

}  // namespace executorch::extension::pybindings::dlpack
