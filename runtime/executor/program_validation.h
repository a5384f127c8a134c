// SPDX-License-Identifier: BSD-3-Clause
// The one place where bytes of a program file become trusted. What passes here may be used without
// further checks; what only a run can know (values, shapes, the arenas a user gives) is checked
// there.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>

namespace executorch_flatbuffer {
struct ExecutionPlan;
struct Program;
struct Tensor;
}  // namespace executorch_flatbuffer

namespace executorch::runtime {

// Tensor ranks above this are refused everywhere.
inline constexpr size_t kMaxTensorRank = 16;

// What lies outside the program data that its indices refer to.
struct ProgramExtent {
  // Bytes of program data; bounds the number of items that are visited.
  size_t program_size;
  // Bytes after the segment base offset in which all segments must lie.
  uint64_t segment_data_size;
  // Where the program data starts: messages count bytes from here, or from the root table if null.
  const void* data = nullptr;
};

// Structure: every offset, vector, string and union that the root table leads to lies inside the
// data, is aligned, and is of the schema's kinds. Tables that are referred to often are walked as
// often, but no more of them than there are bytes. `data` is aligned to 16. InvalidProgram if not.
ET_NODISCARD Error verify_flatbuffer(const void* data, size_t size);

// The root table and its list of fields lie inside. InvalidProgram if not.
ET_NODISCARD Error verify_root_table(const void* data, size_t size);

// Meaning: every index, size, rank, list, operand, jump target and byte range of a structurally
// sound program. Takes time linear in the program data, allocates nothing. InvalidProgram for the
// first thing that is wrong, which is logged.
ET_NODISCARD Error verify_program(const executorch_flatbuffer::Program* program,
                                  const ProgramExtent& extent);

// verify_program() where the extent is not known: byte ranges are not checked.
ET_NODISCARD Error validate_program(const executorch_flatbuffer::Program* program);

// Rank, sizes, dim order, element type and byte count of one tensor. InvalidProgram.
ET_NODISCARD Error validate_tensor(const executorch_flatbuffer::Tensor* tensor);

// validate_tensor() without the byte count.
ET_NODISCARD Error validate_tensor_shape(const executorch_flatbuffer::Tensor* tensor);

// Bytes of a tensor of a verified shape. A dynamic input may have upper bounds whose product does
// not fit: SIZE_MAX then.
size_t tensor_nbytes(const executorch_flatbuffer::Tensor* tensor);

// A dimension of an input that varies; the schema says what the numbers mean.
struct InputDimension {
  int32_t input;
  int32_t dimension;
  int32_t min;
  int32_t scale;
  int32_t offset;
  int32_t same_n_as;

  // The n of size = scale * n + offset; false if there is none.
  bool solve(int64_t size, int64_t* n) const {
    const int64_t rest = size - offset;
    *n = rest / scale;
    return rest % scale == 0;
  }
};

// The rows of a method; none where the file has no ranges.
Span<const InputDimension> input_dimensions(const executorch_flatbuffer::ExecutionPlan& plan);

}  // namespace executorch::runtime
