// SPDX-License-Identifier: BSD-3-Clause
// What every kernel checks before it computes. Each function returns true, or logs operator,
// argument, what was expected and what was found, marks the call as failed, and returns false.
#pragma once

#include <cstdint>
#include <string_view>

#include <executorch/kernels/portable/loops/element_type.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace executorch {
namespace kernels {

using executorch::aten::ArrayRef;
using executorch::aten::IntArrayRef;
using executorch::aten::OptionalArrayRef;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

// A shape under construction, on the stack. Sizes are computed by the caller with checked or
// bounded arithmetic.
struct Shape {
  static constexpr int kMaxDims = static_cast<int>(executorch::runtime::kTensorDimensionLimit);
  int ndim = 0;
  int64_t sizes[kMaxDims] = {};

  Shape() = default;
  explicit Shape(const Tensor& tensor);

  void push(int64_t size) { sizes[ndim++] = size; }
  int64_t operator[](int dim) const { return sizes[dim]; }
  int64_t numel() const;
  // Removes dimension `dim`, or puts one of `size` before it.
  void erase(int dim);
  void insert(int dim, int64_t size);
};

// A shape as text for a message, such as "[2, 3]"; cut where it is long. Lives as long as the call
// that logs it.
struct ShapeText {
  char text[72];

  explicit ShapeText(const Shape& shape);
  explicit ShapeText(const Tensor& tensor) : ShapeText(Shape(tensor)) {}
};

// The length of a string argument, bounded, for "%.*s".
inline int text_length(std::string_view text) {
  return static_cast<int>(text.size() < 32 ? text.size() : 32);
}

// Where a check is made: the call's context and the operator's name for messages, e.g. "add.out".
struct OpCall {
  KernelRuntimeContext& ctx;
  const char* op;
};

// Resizes `out`; fails when a size is negative, too large, or a static output differs.
bool resize_output(const OpCall& call, const Tensor& out, const Shape& shape);

bool check_dtype(const OpCall& call, const char* name, const Tensor& tensor, ScalarType expected);
bool check_same_dtype(const OpCall& call, const char* name, const Tensor& tensor,
                      const char* other_name, const Tensor& other);
// One of the ten dtypes that arithmetic knows, see is_computable().
bool check_computable(const OpCall& call, const char* name, const Tensor& tensor);
bool check_floating(const OpCall& call, const char* name, const Tensor& tensor);
// One of those ten, or a complex one.
bool check_number(const OpCall& call, const char* name, const Tensor& tensor);
// `type` values may be stored in `out` (as canCast tells).
bool check_castable(const OpCall& call, ScalarType type, const Tensor& out);
// Elements of both, which have one shape, lie in the same order in memory: strides agree where a
// dimension has several.
bool check_same_order(const OpCall& call, const Tensor& self, const Tensor& out);
bool check_rank(const OpCall& call, const char* name, const Tensor& tensor, int64_t rank);
bool check_count(const OpCall& call, const char* name, int64_t found, int64_t expected);

// Makes a negative dimension positive; a 0-dim tensor has dimensions 0 and -1.
bool normalize_dim(const OpCall& call, const char* name, int64_t rank, int64_t& dim);

// The broadcast of two shapes into `shape` (which may be one of them).
bool broadcast_shapes(const OpCall& call, const Shape& a, const Shape& b, Shape& shape);

// True when `shape` broadcasts to `target` without changing it.
bool broadcasts_to(const Shape& shape, const Shape& target);

// The dtype that a tensor and a scalar are computed in, as PyTorch decides: the tensor's unless the
// scalar's kind is higher.
ScalarType promote_with_scalar(ScalarType tensor, const Scalar& scalar);

// A number as an element of `type` has it: integers wrapped around, numbers of Half and BFloat16
// rounded; other types' as they are.
Scalar wrapped_scalar(const Scalar& scalar, ScalarType type);

// Whether `type` can hold the value, rounded: not when an integer would wrap around, nor when a
// finite number would become infinite. Every type holds a bool, and Bool holds every value.
bool fits(const Scalar& scalar, ScalarType type);
bool check_fits(const OpCall& call, const char* name, const Scalar& scalar, ScalarType type);

// Writes `scalar` as one element of `type` to `bytes` (room for 16). Fails when it does not fit.
bool scalar_element(const OpCall& call, const Scalar& scalar, ScalarType type, void* bytes);

// True when the elements lie in row-major order without gaps.
bool is_row_major(const Tensor& tensor);

}  // namespace kernels
}  // namespace executorch
