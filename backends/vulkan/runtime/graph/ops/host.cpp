// SPDX-License-Identifier: BSD-3-Clause
// Numbers: sizes, arithmetic of SymInts, elements of inputs. Nothing of it runs on the device.
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

enum HostCode : int32_t { kAdd, kSub, kMul, kFloorDiv, kLt, kLe, kGt, kGe, kEq, kNe };

Error sym_size(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const size_t dim = ET_UNWRAP(call.dim(1, x.shape.rank));
  return call.set_output(x.shape.rank == 0 ? 1 : x.shape[dim]);
}

/// Of 32 bits: they wrap no one's memory.
Error arithmetic(Call& call) {
  const auto a = static_cast<int32_t>(ET_UNWRAP(call.integer(0)));
  const auto b = static_cast<int32_t>(ET_UNWRAP(call.integer(1)));
  const int64_t u = a;
  const int64_t v = b;
  switch (call.code()) {
    case kAdd:
      return call.set_output(u + v);
    case kSub:
      return call.set_output(u - v);
    case kMul:
      return call.set_output(u * v);
    case kFloorDiv:
      if (v == 0) {
        return call.is_loading() ? call.set_output(0) : call.mismatch("division by zero");
      }
      return call.set_output(u / v - (u % v != 0 && (u < 0) != (v < 0) ? 1 : 0));
    case kLt:
      return call.set_output(u < v ? 1 : 0);
    case kLe:
      return call.set_output(u <= v ? 1 : 0);
    case kGt:
      return call.set_output(u > v ? 1 : 0);
    case kGe:
      return call.set_output(u >= v ? 1 : 0);
    case kEq:
      return call.set_output(u == v ? 1 : 0);
    default:
      return call.set_output(u != v ? 1 : 0);
  }
}

Error select_as_symint(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const size_t dim = ET_UNWRAP(call.dim(1, x.shape.rank));
  int64_t index = ET_UNWRAP(call.integer(2));
  const int64_t size = x.shape.rank == 0 ? 1 : x.shape[dim];
  index += index < 0 ? size : 0;
  if (x.numel() != size || index < 0 || index >= size) {
    return call.mismatch("expected an element of a tensor of one dimension");
  }
  return call.set_output(ET_UNWRAP(call.read_number(x, index)));
}

constexpr Operator kRows[] = {
    {"sym_size.int", sym_size},
    {"aten.sym_size.int", sym_size},
    {"add", arithmetic, kAdd},
    {"sub", arithmetic, kSub},
    {"mul", arithmetic, kMul},
    {"floordiv", arithmetic, kFloorDiv},
    {"lt", arithmetic, kLt},
    {"le", arithmetic, kLe},
    {"gt", arithmetic, kGt},
    {"ge", arithmetic, kGe},
    {"eq", arithmetic, kEq},
    {"ne", arithmetic, kNe},
    {"et_vk.select_as_symint.default", select_as_symint},
};

}  // namespace

Operators host_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
