// SPDX-License-Identifier: BSD-3-Clause
// What a delegate's bytes say, verified: after open_payload() every number of a value is in range,
// every tensor's size fits 31 bits of elements, constants have their bytes, and what a call reads
// is an input, a constant, or written by a call before it.
#pragma once

#include <executorch/backends/vulkan/vulkan_generated.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <cstdint>
#include <string>
#include <vector>

namespace executorch::backends::vulkan {

using vkgraph::GraphTypes;
using vkgraph::VkDataType;

constexpr size_t kMaxRank = 8;

/// Sizes of a tensor, the outermost first.
struct Shape {
  size_t rank = 0;
  int32_t sizes[kMaxRank] = {};

  Shape() = default;
  Shape(std::initializer_list<int64_t> list) {
    for (const int64_t size : list) {
      push(size);
    }
  }
  void push(int64_t size) {
    if (rank < kMaxRank) {
      sizes[rank++] = static_cast<int32_t>(size);
    }
  }
  /// Of shapes that open_payload() or Call::resize() let pass it fits 31 bits.
  int64_t numel() const {
    int64_t product = 1;
    for (size_t i = 0; i < rank; ++i) {
      product *= sizes[i];
    }
    return product;
  }
  /// Size of dimension `dim`, which may count from the end, below zero.
  int32_t at(int64_t dim) const { return sizes[dim < 0 ? dim + static_cast<int64_t>(rank) : dim]; }
  int32_t& operator[](size_t dim) { return sizes[dim]; }
  int32_t operator[](size_t dim) const { return sizes[dim]; }
  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }
  /// "[2, 3]".
  std::string text() const;
};

struct PayloadTensor {
  VkDataType dtype = VkDataType::FLOAT32;
  /// Of the method's tensor.
  VkDataType staging = VkDataType::FLOAT32;
  /// Upper bounds.
  Shape bound;
  /// Index; -1: not a constant.
  int32_t constant = -1;
};

struct PayloadValue {
  GraphTypes kind = GraphTypes::Null;
  int64_t integer = 0;          // Int, Bool, SymInt
  double number = 0;            // Double
  std::vector<int64_t> items;   // IntList, BoolList, ValueList
  std::vector<double> numbers;  // DoubleList
  std::string text;             // String
  PayloadTensor tensor;         // VkTensor
};

struct PayloadCall {
  uint32_t node_id = 0;
  std::string name;
  /// Values; the last one is the output, or a list of them.
  std::vector<int32_t> args;
};

struct PayloadConstant {
  runtime::Span<const uint8_t> bytes;
  /// Where bytes of the program's named data are held.
  runtime::FreeableBuffer held;
};

struct Payload {
  std::vector<PayloadValue> values;
  std::vector<PayloadCall> calls;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  std::vector<PayloadConstant> constants;
};

/// Bytes of an element; 0 for a dtype that is none.
size_t size_of(VkDataType dtype);

/// Reads and verifies. The bytes must outlive what is returned. Errors: NotFound for another magic
/// or a constant's key that the program does not have; InvalidArgument for a bad header;
/// DelegateInvalidCompatibility for what is no flatbuffer VK00, or newer than this runtime;
/// NotSupported for tensors of more than kMaxRank dimensions or 2^31 elements; InvalidProgram for
/// all else that is wrong.
runtime::Result<Payload> open_payload(const void* data, size_t size,
                                      const runtime::NamedDataMap* named_data);

}  // namespace executorch::backends::vulkan
