// SPDX-License-Identifier: BSD-3-Clause
// Kernels of operators.yaml and faster.yaml. Each says in its result that it ran: the general one
// adds 1000 to what it scales, the one for floats 0, and the faster sum 100.
#include <executorch/runtime/kernel/kernel_includes.h>

namespace my_table::native {

using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

namespace {

template <typename T>
void scale(const Tensor& x, double factor, double plus, Tensor& out) {
  for (ssize_t i = 0; i < x.numel(); ++i) {
    out.mutable_data_ptr<T>()[i] = static_cast<T>(x.const_data_ptr<T>()[i] * factor + plus);
  }
}

}  // namespace

Tensor& scale_out(KernelRuntimeContext& context, const Tensor& x, double factor, Tensor& out) {
  ET_KERNEL_CHECK(context,
                  x.scalar_type() == ScalarType::Float || x.scalar_type() == ScalarType::Double,
                  InvalidArgument, out);
  if (x.scalar_type() == ScalarType::Float) {
    scale<float>(x, factor, 1000, out);
  } else {
    scale<double>(x, factor, 1000, out);
  }
  return out;
}

Tensor& scale_float_out(KernelRuntimeContext&, const Tensor& x, double factor, Tensor& out) {
  scale<float>(x, factor, 0, out);
  return out;
}

Tensor& never_called_out(KernelRuntimeContext&, const Tensor&, Tensor& out) {
  return out;
}

Tensor& opt_add_out(KernelRuntimeContext&, const Tensor& a, const Tensor& b, const Scalar& alpha,
                    Tensor& out) {
  for (ssize_t i = 0; i < a.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] =
        a.const_data_ptr<float>()[i] + alpha.to<float>() * b.const_data_ptr<float>()[i] + 100;
  }
  return out;
}

}  // namespace my_table::native
