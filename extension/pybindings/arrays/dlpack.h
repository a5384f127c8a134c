// SPDX-License-Identifier: BSD-3-Clause
// The structures by which libraries of Python hand tensors to each other
// (https://dmlc.github.io/dlpack, version 0.x), and our types in them.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

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

struct Type {
  executorch::aten::ScalarType type;
  uint8_t code;
  uint8_t bits;
};

constexpr Type kTypes[] = {
    {executorch::aten::ScalarType::Byte, 1, 8},
    {executorch::aten::ScalarType::Char, 0, 8},
    {executorch::aten::ScalarType::Short, 0, 16},
    {executorch::aten::ScalarType::Int, 0, 32},
    {executorch::aten::ScalarType::Long, 0, 64},
    {executorch::aten::ScalarType::Half, 2, 16},
    {executorch::aten::ScalarType::Float, 2, 32},
    {executorch::aten::ScalarType::Double, 2, 64},
    {executorch::aten::ScalarType::ComplexHalf, 5, 32},
    {executorch::aten::ScalarType::ComplexFloat, 5, 64},
    {executorch::aten::ScalarType::ComplexDouble, 5, 128},
    {executorch::aten::ScalarType::Bool, 6, 8},
    {executorch::aten::ScalarType::BFloat16, 4, 16},
    {executorch::aten::ScalarType::Float8_e5m2, 12, 8},
    {executorch::aten::ScalarType::Float8_e4m3fn, 10, 8},
    {executorch::aten::ScalarType::Float8_e5m2fnuz, 13, 8},
    {executorch::aten::ScalarType::Float8_e4m3fnuz, 11, 8},
    {executorch::aten::ScalarType::UInt16, 1, 16},
    {executorch::aten::ScalarType::UInt32, 1, 32},
    {executorch::aten::ScalarType::UInt64, 1, 64},
};

}  // namespace executorch::extension::pybindings::dlpack
