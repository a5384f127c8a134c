// SPDX-License-Identifier: BSD-3-Clause
// Comparison of tensors for tests.
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>

#include <cmath>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>

namespace executorch {
namespace runtime {
namespace testing {

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;

template <typename T>
bool is_close(T a, T b, double rtol, double atol) {
  const double x = static_cast<double>(a);
  const double y = static_cast<double>(b);
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) && std::isnan(y);
  }
  if (std::isinf(x) || std::isinf(y)) {
    return x == y;
  }
  return a == b || std::abs(x - y) <= atol + rtol * std::abs(y);
}

double default_atol(ScalarType dtype) {
  return dtype == ScalarType::Half       ? internal::kDefaultHalfAtol
         : dtype == ScalarType::BFloat16 ? internal::kDefaultBFloat16Atol
                                         : internal::kDefaultAtol;
}

}  // namespace

bool tensor_data_is_close(const Tensor& a, const Tensor& b, double rtol,
                          std::optional<double> opt_atol) {
  if (a.scalar_type() != b.scalar_type() || a.numel() != b.numel()) {
    return false;
  }
  if (a.numel() == 0) {
    return true;
  }
  const double atol = opt_atol.value_or(default_atol(a.scalar_type()));
  bool all_close = true;
  ET_CHECK_MSG(a.const_data_ptr() != nullptr && b.const_data_ptr() != nullptr,
               "a tensor to compare has no data");
  const bool is_floating = dispatch_float_h_bf16(a.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (ssize_t i = 0; i < a.numel(); ++i) {
      all_close =
          all_close && is_close<T>(a.const_data_ptr<T>()[i], b.const_data_ptr<T>()[i], rtol, atol);
    }
  });
  const bool is_complex = dispatch_complex_h(a.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (ssize_t i = 0; i < a.numel(); ++i) {
      const T x = a.const_data_ptr<T>()[i];
      const T y = b.const_data_ptr<T>()[i];
      all_close = all_close && is_close(x.real(), y.real(), rtol, atol) &&
                  is_close(x.imag(), y.imag(), rtol, atol);
    }
  });
  return is_floating || is_complex
             ? all_close
             : std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

bool tensors_are_close(const Tensor& a, const Tensor& b, double rtol,
                       std::optional<double> opt_atol) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    return false;
  }
  ET_CHECK_MSG(a.strides() == b.strides(), "cannot compare tensors of different strides");
  return tensor_data_is_close(a, b, rtol, opt_atol);
}

bool tensor_lists_are_close(const Tensor* tensors_a, size_t num_tensors_a, const Tensor* tensors_b,
                            size_t num_tensors_b, double rtol, std::optional<double> opt_atol) {
  if (num_tensors_a != num_tensors_b) {
    return false;
  }
  for (size_t i = 0; i < num_tensors_a; ++i) {
    if (!tensors_are_close(tensors_a[i], tensors_b[i], rtol, opt_atol)) {
      return false;
    }
  }
  return true;
}

}  // namespace testing

}  // namespace runtime
}  // namespace executorch
