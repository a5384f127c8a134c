// SPDX-License-Identifier: BSD-3-Clause
// The structures by which libraries of Python hand tensors to each other
// (https://dmlc.github.io/dlpack, version 0.x).
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

struct ManagedTensor {
  Tensor tensor;
  void* manager;
  void (*deleter)(ManagedTensor* self);
};

// Of capsules that nobody has taken yet.
constexpr const char* kCapsuleName = "dltensor";

}  // namespace executorch::extension::pybindings::dlpack
