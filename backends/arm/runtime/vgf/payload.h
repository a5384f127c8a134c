// SPDX-License-Identifier: BSD-3-Clause
// What VgfBackend runs: the tables of a VGF file, verified once.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace executorch::backends::arm::vgf {

/// What a tensor consists of.
struct Format {
  /// A VkFormat.
  int32_t number;
  const char* name;
  size_t element_size;
  /// Dtypes of arguments, the usual one first; as many as are not Undefined.
  executorch::aten::ScalarType dtypes[3];
};

/// A row of the table of resources.
struct Resource {
  const Format* format = nullptr;
  /// At least one, each at least 1; a tensor without dimensions has one of size 1.
  std::vector<int64_t> sizes;
  size_t num_bytes = 0;
  /// Tensors of one group have the same memory; -1: none.
  int64_t alias_group = -1;
};

/// Of the table of constants. Bytes are the payload's: as many as its resource has.
struct Constant {
  const Resource* resource;
  const uint8_t* data;
  /// Of each four elements along it two are 0; -1: they need not be.
  int64_t sparse_dim;
};

/// Where a graph finds a resource.
struct Binding {
  uint32_t set;
  uint32_t number;
  uint32_t resource;
};

struct SegmentConstant {
  /// By which the graph knows it.
  uint32_t id;
  uint32_t constant;
};

/// A graph, which runs when those before it have.
struct Segment {
  std::string name;
  /// SPIR-V, the payload's.
  runtime::Span<const uint32_t> code;
  std::string entry_point;
  std::vector<Binding> bindings;
  std::vector<SegmentConstant> constants;
};

struct Payload {
  std::vector<Resource> resources;
  std::vector<Constant> constants;
  std::vector<Segment> segments;
  /// Resources, in the order of arguments.
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  /// The bytes, where those that were given are not aligned.
  std::vector<uint64_t> aligned_copy;
};

/// `bytes` must outlive it. Internal for bytes that are no VGF file or do not fit together,
/// NotSupported, with what it is by name, for what this runtime does not run: segments that are
/// shaders, resources that are no tensors, formats that no argument has.
runtime::Result<Payload> open_payload(runtime::Span<const uint8_t> bytes);

}  // namespace executorch::backends::arm::vgf
