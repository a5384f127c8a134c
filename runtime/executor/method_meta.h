// SPDX-License-Identifier: BSD-3-Clause
// What can be known about a method of a program without loading it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch_flatbuffer {
struct ExecutionPlan;
struct Tensor;
}  // namespace executorch_flatbuffer

namespace executorch::ET_RUNTIME_NAMESPACE {

// Shape, type and place of a tensor. Points into the program and must not outlive it.
class TensorInfo final {
 public:
  TensorInfo() = delete;
  TensorInfo(const TensorInfo&) = default;
  TensorInfo(TensorInfo&&) = default;
  TensorInfo& operator=(const TensorInfo&) = default;
  TensorInfo& operator=(TensorInfo&& other) = default;
  ~TensorInfo() = default;

  // Sizes, or upper bounds if the shape is dynamic.
  Span<const int32_t> sizes() const;

  // Dimensions from outermost to innermost.
  Span<const uint8_t> dim_order() const;

  executorch::aten::ScalarType scalar_type() const;

  // Whether the memory plan or a constant gives the tensor its memory. If not, its user must.
  bool is_memory_planned() const;

  // Bytes of a tensor of these sizes; SIZE_MAX if the product of the upper bounds does not fit.
  size_t nbytes() const;

  // Fully qualified name of a parameter or buffer; empty if the program does not say.
  std::string_view name() const;

 private:
  friend class MethodMeta;

  explicit TensorInfo(const executorch_flatbuffer::Tensor* tensor) : tensor_(tensor) {}

  const executorch_flatbuffer::Tensor* tensor_;
};

// The sizes that one dimension may have, both ends included.
struct SizeRange {
  int32_t min;
  int32_t max;
};

// Points into the program and must not outlive it. Indices that are out of range give
// InvalidArgument.
class MethodMeta final {
 public:
  MethodMeta() = delete;
  MethodMeta(const MethodMeta&) = default;
  MethodMeta(MethodMeta&&) = default;
  MethodMeta& operator=(const MethodMeta&) = default;
  MethodMeta& operator=(MethodMeta&& other) = default;
  ~MethodMeta() = default;

  const char* name() const;

  size_t num_inputs() const;

  // None, Tensor, Int, Double, Bool or String; Internal for any other kind.
  Result<Tag> input_tag(size_t index) const;

  // InvalidArgument if the input is not a tensor.
  Result<TensorInfo> input_tensor_meta(size_t index) const;

  // Its name in the model's signature; those of nested inputs are joined by dots ("state.hidden",
  // "boxes.0"). Empty if the program does not say, or has no such input.
  std::string_view input_name(size_t index) const;

  // The sizes that the input may have in a dimension. Where the program says no more than that the
  // tensor varies, the least is 0. InvalidArgument if there is no such tensor or dimension.
  Result<SizeRange> input_size_range(size_t index, size_t dimension) const;

  // As of inputs. An output's name is its key in the dict, or its field in the dataclass or named
  // tuple, that the model returns; an input that the method changes is an output of that name.
  size_t num_outputs() const;
  Result<Tag> output_tag(size_t index) const;
  Result<TensorInfo> output_tensor_meta(size_t index) const;
  std::string_view output_name(size_t index) const;
  Result<SizeRange> output_size_range(size_t index, size_t dimension) const;

  // Attributes are tensors that carry a name.
  size_t num_attributes() const;
  Result<TensorInfo> attribute_tensor_meta(size_t index) const;

  // Buffers that a HierarchicalAllocator for this method must have, in order.
  size_t num_memory_planned_buffers() const;

  // Bytes that planned buffer `index` must have at least.
  Result<int64_t> memory_planned_buffer_size(size_t index) const;

  // Where planned buffer `index` must be.
  Result<etensor::Device> memory_planned_buffer_device(size_t index) const;

  // Whether any delegate of the method is of this backend.
  bool uses_backend(const char* backend_name) const;

  // Number of different backends of the method, and their names in order of first use.
  size_t num_backends() const;
  Result<const char*> get_backend_name(size_t index) const;

  ET_EXPERIMENTAL size_t num_instructions() const;

  // Older names.
  ET_DEPRECATED size_t num_non_const_buffers() const { return num_memory_planned_buffers(); }
  Result<int64_t> non_const_buffer_size(size_t index) const {
    return memory_planned_buffer_size(index);
  }

 private:
  friend class Method;
  friend class Program;

  explicit MethodMeta(const executorch_flatbuffer::ExecutionPlan* plan) : plan_(plan) {}

  const executorch_flatbuffer::ExecutionPlan* plan_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::MethodMeta;
using ::executorch::runtime::TensorInfo;
}  // namespace torch::executor
