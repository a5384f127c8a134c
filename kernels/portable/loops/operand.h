// SPDX-License-Identifier: BSD-3-Clause
// An argument of a binary operator: a tensor or a scalar, so that `op.Tensor` and `op.Scalar` are
// one kernel.
#pragma once

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_promotion.h>

namespace executorch {
namespace kernels {

class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor) {}  // NOLINT: arguments convert by intent
  Operand(const Scalar& scalar) : scalar_(&scalar) {}  // NOLINT

  bool is_tensor() const { return tensor_ != nullptr; }
  const Tensor& tensor() const { return *tensor_; }
  const Scalar& scalar() const { return *scalar_; }
  Shape shape() const { return tensor_ != nullptr ? Shape(*tensor_) : Shape(); }
  bool check(const OpCall& call, const char* name, bool complex_too = false) const {
    return tensor_ == nullptr || (complex_too && is_complex(tensor_->scalar_type())) ||
           check_computable(call, name, *tensor_);
  }
  // `common`: the dtype that a tensor's elements become first.
  RangeReader reader(const Tensor& like, ComputeType type,
                     ScalarType common = ScalarType::Undefined) const {
    return tensor_ != nullptr ? RangeReader(*tensor_, like, type, common)
                              : RangeReader(*scalar_, type);
  }

 private:
  const Tensor* tensor_ = nullptr;
  const Scalar* scalar_ = nullptr;
};

// The dtype two checked operands are computed in; at least one is a tensor.
inline ScalarType promote(const Operand& a, const Operand& b) {
  if (!a.is_tensor()) {
    return promote_with_scalar(b.tensor().scalar_type(), a.scalar());
  }
  if (!b.is_tensor()) {
    return promote_with_scalar(a.tensor().scalar_type(), b.scalar());
  }
  return executorch::runtime::promoteTypes(a.tensor().scalar_type(), b.tensor().scalar_type());
}

// Integers and Bool become Float.
inline ScalarType float_of(ScalarType type) {
  return executorch::runtime::isIntegralType(type, /*includeBool=*/true) ? ScalarType::Float : type;
}

}  // namespace kernels
}  // namespace executorch
