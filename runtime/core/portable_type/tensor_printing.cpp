// SPDX-License-Identifier: BSD-3-Clause
// Portable tensors as text, for tests; PyTorch's print themselves.
#include <type_traits>

#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>

namespace executorch {
namespace runtime {
namespace etensor {

std::ostream& operator<<(std::ostream& os, const ScalarType& t) {
  if (t != ScalarType::Undefined && !isValid(t)) {
    return os << "Unknown(" << static_cast<int>(t) << ")";
  }
  return os << toString(t);
}

namespace {

// One-byte numbers are numbers, not characters.
template <typename T>
void print_element(std::ostream& os, const T& element) {
  if constexpr (std::is_arithmetic_v<T>) {
    os << +element;
  } else {
    os << static_cast<float>(element);
  }
}
template <typename T>
void print_element(std::ostream& os, const complex<T>& element) {
  print_element(os, element.real());
  os << " + ";
  print_element(os, element.imag());
  os << "j";
}

}  // namespace

std::ostream& operator<<(std::ostream& os, const Tensor& t) {
  os << "ETensor(sizes={";
  for (ssize_t i = 0; i < t.dim(); ++i) {
    os << (i == 0 ? "" : ", ") << t.size(i);
  }
  os << "}, dtype=" << t.scalar_type() << ", data={";
  const auto print = [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (ssize_t i = 0; i < t.numel(); ++i) {
      os << (i == 0 ? "" : ", ");
      print_element(os, t.const_data_ptr<T>()[i]);
    }
  };
  const bool is_known = dispatch_real_hb_bf16_uint(t.scalar_type(), print) ||
                        dispatch_complex_h(t.scalar_type(), print);
  ET_CHECK_MSG(is_known, "elements of type %s are not printed", toString(t.scalar_type()));
  return os << "})";
}

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch
