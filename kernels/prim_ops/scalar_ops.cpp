// SPDX-License-Identifier: BSD-3-Clause
// Operators on symbolic values: Int, Double and Bool.
#include <executorch/kernels/prim_ops/scalar_ops.h>

#include <cmath>
#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::kernels::prim_ops {

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using runtime::Error;

namespace {

void fail(KernelRuntimeContext& context, Error error, [[maybe_unused]] const char* what) {
  ET_LOG(Error, "Symbolic operator: %s", what);
  context.fail(error);
}

void fail_type(KernelRuntimeContext& context) {
  fail(context, Error::InvalidType, "an argument or the result is of a wrong kind");
}

bool is_number(const EValue& value) {
  return value.isInt() || value.isDouble();
}

double to_double(const EValue& value) {
  return value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
}

// Scalars replace scalars only: what a list or a tensor refers to keeps its kind.
void set_result(KernelRuntimeContext& context, EValue* slot, const EValue& result) {
  if (slot->isScalar() || slot->isNone()) {
    *slot = result;
  } else {
    fail_type(context);
  }
}

// Two's complement: overflow wraps.
int64_t wrap(uint64_t value) {
  return static_cast<int64_t>(value);
}

// As in Python: toward minus infinity.
int64_t floor_divide(int64_t a, int64_t b) {
  if (b == -1) {
    return wrap(0 - static_cast<uint64_t>(a));
  }
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

// As in Python: from the remainder, which is exact.
double floor_divide(double a, double b) {
  if (b == 0) {
    return a / b;
  }
  const double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) {
    quotient -= 1;
  }
  if (quotient == 0) {
    return std::copysign(0.0, a / b);
  }
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

template <typename T>
bool compare(Binary op, T a, T b) {
  switch (op) {
    case Binary::kEq:
      return a == b;
    case Binary::kGt:
      return a > b;
    case Binary::kLt:
      return a < b;
    case Binary::kGe:
      return a >= b;
    default:
      return a <= b;
  }
}

bool is_integer_only(Binary op) {
  return op >= Binary::kMax;
}

bool divides_integers(Binary op) {
  return op == Binary::kFloorDiv || op == Binary::kTruncDiv || op == Binary::kRemainder;
}

EValue calculate(Binary op, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  switch (op) {
    case Binary::kAdd:
      return EValue(wrap(ua + ub));
    case Binary::kSub:
      return EValue(wrap(ua - ub));
    case Binary::kMul:
      return EValue(wrap(ua * ub));
    case Binary::kFloorDiv:
      return EValue(floor_divide(a, b));
    case Binary::kTrueDiv:
      return EValue(static_cast<double>(a) / static_cast<double>(b));
    case Binary::kMax:
      return EValue(a > b ? a : b);
    case Binary::kMin:
      return EValue(a < b ? a : b);
    case Binary::kTruncDiv:
      return EValue(b == -1 ? wrap(0 - ua) : a / b);
    case Binary::kRemainder:
      return EValue(b == -1 ? static_cast<int64_t>(0) : a % b);
    default:
      return EValue(compare(op, a, b));
  }
}

EValue calculate(Binary op, double a, double b) {
  switch (op) {
    case Binary::kAdd:
      return EValue(a + b);
    case Binary::kSub:
      return EValue(a - b);
    case Binary::kMul:
      return EValue(a * b);
    case Binary::kFloorDiv:
      return EValue(floor_divide(a, b));
    case Binary::kTrueDiv:
      return EValue(a / b);
    default:
      return EValue(compare(op, a, b));
  }
}

// NaN, infinities and what 64 bits cannot hold have no integer.
void set_integer(KernelRuntimeContext& context, EValue* slot, double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (value >= -kLimit && value < kLimit) {
    set_result(context, slot, EValue(static_cast<int64_t>(value)));
  } else {
    fail(context, Error::InvalidArgument, "the value has no integer");
  }
}

}  // namespace

bool check_count(KernelRuntimeContext& context, Args args, size_t expected) {
  if (args.size() == expected) {
    return true;
  }
  ET_LOG(Error, "Symbolic operator: expected %zu arguments, got %zu", expected, args.size());
  context.fail(Error::InvalidProgram);
  return false;
}

void run_binary(KernelRuntimeContext& context, Args args, Binary op) {
  if (!check_count(context, args, 3)) {
    return;
  }
  const EValue& a = *args[0];
  const EValue& b = *args[1];
  const bool integers = a.isInt() && b.isInt();
  if (!is_number(a) || !is_number(b) || (is_integer_only(op) && !integers)) {
    fail_type(context);
    return;
  }
  if (integers && divides_integers(op) && b.toInt() == 0) {
    fail(context, Error::InvalidArgument, "division by zero");
    return;
  }
  set_result(
      context, args[2],
      integers ? calculate(op, a.toInt(), b.toInt()) : calculate(op, to_double(a), to_double(b)));
}

void run_unary(KernelRuntimeContext& context, Args args, Unary op) {
  if (!check_count(context, args, 2)) {
    return;
  }
  const EValue& a = *args[0];
  EValue* result = args[1];
  const bool converts = op == Unary::kToDouble || op == Unary::kToInt;
  const bool accepted = op == Unary::kNot   ? a.isBool()
                        : op == Unary::kNeg ? is_number(a)
                        : converts          ? is_number(a) || a.isBool()
                                            : a.isDouble();
  if (!accepted) {
    fail_type(context);
    return;
  }
  const double number = a.isBool() ? static_cast<double>(a.toBool()) : to_double(a);
  switch (op) {
    case Unary::kNot:
      set_result(context, result, EValue(!a.toBool()));
      break;
    case Unary::kNeg:
      set_result(context, result,
                 a.isInt() ? EValue(wrap(0 - static_cast<uint64_t>(a.toInt()))) : EValue(-number));
      break;
    case Unary::kToDouble:
      set_result(context, result, EValue(number));
      break;
    case Unary::kToInt:
      if (a.isInt()) {
        set_result(context, result, a);
        break;
      }
      [[fallthrough]];
    case Unary::kTrunc:
      set_integer(context, result, std::trunc(number));
      break;
    case Unary::kCeil:
      set_integer(context, result, std::ceil(number));
      break;
    case Unary::kRound:
      // Half to even, the rounding mode that is in effect unless a program changes it.
      set_integer(context, result, std::nearbyint(number));
      break;
  }
}

void sym_ite(KernelRuntimeContext& context, Args args) {
  if (!check_count(context, args, 4)) {
    return;
  }
  if (!args[0]->isBool() || !args[1]->isScalar() || !args[2]->isScalar()) {
    fail_type(context);
    return;
  }
  set_result(context, args[3], *args[args[0]->toBool() ? 1 : 2]);
}

void sym_size(KernelRuntimeContext& context, Args args) {
  if (!check_count(context, args, 3)) {
    return;
  }
  if (!args[0]->isTensor() || !args[1]->isInt()) {
    fail_type(context);
    return;
  }
  const Tensor tensor = args[0]->toTensor();
  int64_t dim = args[1]->toInt();
  dim += dim < 0 ? tensor.dim() : 0;
  if (dim < 0 || dim >= tensor.dim()) {
    fail(context, Error::InvalidArgument, "the tensor has no such dimension");
    return;
  }
  set_result(context, args[2],
             EValue(static_cast<int64_t>(tensor.size(static_cast<ssize_t>(dim)))));
}

void sym_numel(KernelRuntimeContext& context, Args args) {
  if (!check_count(context, args, 2)) {
    return;
  }
  if (!args[0]->isTensor()) {
    fail_type(context);
    return;
  }
  set_result(context, args[1], EValue(static_cast<int64_t>(args[0]->toTensor().numel())));
}

namespace {

template <typename T>
EValue integer_at(const void* data) {
  return EValue(static_cast<int64_t>(*static_cast<const T*>(data)));
}

template <typename T>
EValue number_at(const void* data) {
  return EValue(static_cast<double>(*static_cast<const T*>(data)));
}

// None for element types that have no scalar.
EValue scalar_at(ScalarType type, const void* data) {
  switch (type) {
    case ScalarType::Byte:
      return integer_at<uint8_t>(data);
    case ScalarType::Char:
      return integer_at<int8_t>(data);
    case ScalarType::Short:
      return integer_at<int16_t>(data);
    case ScalarType::Int:
      return integer_at<int32_t>(data);
    case ScalarType::Long:
      return integer_at<int64_t>(data);
    case ScalarType::UInt16:
      return integer_at<uint16_t>(data);
    case ScalarType::UInt32:
      return integer_at<uint32_t>(data);
    case ScalarType::UInt64:
      return integer_at<uint64_t>(data);
    case ScalarType::Bool:
      return EValue(*static_cast<const uint8_t*>(data) != 0);
    case ScalarType::Half:
      return EValue(static_cast<double>(static_cast<float>(*static_cast<const Half*>(data))));
    case ScalarType::BFloat16:
      return EValue(static_cast<double>(static_cast<float>(*static_cast<const BFloat16*>(data))));
    case ScalarType::Float:
      return number_at<float>(data);
    case ScalarType::Double:
      return number_at<double>(data);
    default:
      return EValue();
  }
}

}  // namespace

void local_scalar_dense(KernelRuntimeContext& context, Args args) {
  if (!check_count(context, args, 2)) {
    return;
  }
  if (!args[0]->isTensor()) {
    fail_type(context);
    return;
  }
  const Tensor tensor = args[0]->toTensor();
  if (tensor.numel() != 1 || tensor.const_data_ptr() == nullptr) {
    fail(context, Error::InvalidArgument, "expected a tensor of one element, with data");
    return;
  }
  const EValue scalar = scalar_at(tensor.scalar_type(), tensor.const_data_ptr());
  if (scalar.isNone()) {
    fail_type(context);
    return;
  }
  set_result(context, args[1], scalar);
}

}  // namespace executorch::kernels::prim_ops
