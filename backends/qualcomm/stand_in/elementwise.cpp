// SPDX-License-Identifier: BSD-3-Clause
// Of one element, or of elements at one place; and what changes types and encodings, which storing
// does.
#include <executorch/backends/qualcomm/stand_in/operators.h>

#include <algorithm>
#include <cmath>

namespace executorch::backends::qualcomm::stand_in {

namespace {

template <typename Of>
Results each(const Call& call, Of of) {
  Value value = call.input(0);
  for (double& number : value.numbers) {
    number = of(number);
  }
  return {std::move(value)};
}

/// Element `i` of a result of `dims` is made of the elements where `value`, whose dimensions line
/// up at the end, has them.
size_t broadcast_place(const Value& value, const Dims& places) {
  size_t at = 0;
  const size_t missing = places.size() - value.dims.size();
  for (size_t d = 0; d < value.dims.size(); ++d) {
    at = at * value.dims[d] + (value.dims[d] == 1 ? 0 : places[missing + d]);
  }
  return at;
}

template <typename Of>
Results both(const Call& call, Of of) {
  const Value &x = call.input(0), &y = call.input(1);
  Value out{call.output_dims(), {}};
  out.numbers.resize(numel(out.dims));
  for_each_place(out.dims, [&](size_t i, const Dims& places) {
    out.numbers[i] =
        of(x.numbers[broadcast_place(x, places)], y.numbers[broadcast_place(y, places)]);
  });
  return {std::move(out)};
}

bool is_integer(const TensorSpec& spec) {
  return spec.encoding == nullptr && spec.dtype != QNN_DATATYPE_FLOAT_32 &&
         spec.dtype != QNN_DATATYPE_FLOAT_16;
}

Results divide(const Call& call) {
  if (is_integer(call.input_spec(0))) {
    return both(call, [](double x, double y) { return std::trunc(x / y); });
  }
  return both(call, [](double x, double y) { return x / y; });
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Half of x, times what lies below it of a normal distribution, twice.
double gelu(double x) {
  return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
}

double sign(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : x;
}

Results elu(const Call& call) {
  const double alpha = call.number("alpha", 1);
  return each(call, [=](double x) { return x > 0 ? x : alpha * std::expm1(x); });
}

Results relu_min_max(const Call& call) {
  const double least = call.number("min_value"), most = call.number("max_value");
  return each(call,
              [=](double x) { return std::isnan(x) ? x : std::min(std::max(x, least), most); });
}

/// Operation 2 of the general operator is the hard sigmoid; others are not here.
Results neuron(const Call& call) {
  if (call.size("operation") != 2) {
    return {};
  }
  const double alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  return each(call, [=](double x) { return std::min(std::max(alpha * x + beta, 0.0), 1.0); });
}

Results select(const Call& call) {
  const Value &condition = call.input(0), &x = call.input(1), &y = call.input(2);
  Value out{call.output_dims(), {}};
  out.numbers.resize(numel(out.dims));
  for_each_place(out.dims, [&](size_t i, const Dims& places) {
    const bool is_x = condition.numbers[broadcast_place(condition, places)] != 0;
    const Value& of = is_x ? x : y;
    out.numbers[i] = of.numbers[broadcast_place(of, places)];
  });
  return {std::move(out)};
}

#define UNARY(type, expression) \
  {type, 1, 1,                  \
   [](const Call& call) { return each(call, [](double x) -> double { return expression; }); }}
#define BINARY(type, expression)                                                 \
  {type, 2, 2, [](const Call& call) {                                            \
     return both(call, [](double x, double y) -> double { return expression; }); \
   }}

}  // namespace

// clang-format off: one row, one line
const Row kElementwise[] = {
  UNARY("ElementWiseAbs", std::fabs(x)),
  UNARY("ElementWiseCeil", std::ceil(x)),
  UNARY("ElementWiseCos", std::cos(x)),
  UNARY("ElementWiseExp", std::exp(x)),
  UNARY("ElementWiseFloor", std::floor(x)),
  UNARY("ElementWiseLog", std::log(x)),
  UNARY("ElementWiseNeg", -x),
  UNARY("ElementWiseNot", x == 0),
  UNARY("ElementWiseRound", std::nearbyint(x)),
  UNARY("ElementWiseRsqrt", 1 / std::sqrt(x)),
  UNARY("ElementWiseSign", sign(x)),
  UNARY("ElementWiseSin", std::sin(x)),
  UNARY("ElementWiseSquareRoot", std::sqrt(x)),
  UNARY("Gelu", gelu(x)),
  UNARY("HardSwish", x * std::min(std::max(x + 3, 0.0), 6.0) / 6),
  UNARY("Relu", std::isnan(x) ? x : std::max(x, 0.0)),
  UNARY("Sigmoid", sigmoid(x)),
  UNARY("Tanh", std::tanh(x)),
  UNARY("Cast", x),
  UNARY("Convert", x),
  UNARY("Dequantize", x),
  UNARY("Quantize", x),
  BINARY("ElementWiseAdd", x + y),
  BINARY("ElementWiseAnd", x != 0 && y != 0),
  BINARY("ElementWiseEqual", x == y),
  BINARY("ElementWiseGreater", x > y),
  BINARY("ElementWiseGreaterEqual", x >= y),
  BINARY("ElementWiseLess", x < y),
  BINARY("ElementWiseLessEqual", x <= y),
  BINARY("ElementWiseMaximum", std::isnan(x) ? x : std::isnan(y) ? y : std::max(x, y)),
  BINARY("ElementWiseMinimum", std::isnan(x) ? x : std::isnan(y) ? y : std::min(x, y)),
  BINARY("ElementWiseMultiply", x * y),
  BINARY("ElementWiseNotEqual", x != y),
  BINARY("ElementWiseOr", x != 0 || y != 0),
  BINARY("ElementWisePower", std::pow(x, y)),
  BINARY("ElementWiseSubtract", x - y),
  BINARY("ElementWiseXor", (x != 0) != (y != 0)),
  BINARY("Prelu", x < 0 ? x * y : x),
  {"ElementWiseDivide", 2, 2, divide},
  {"ElementWiseNeuron", 1, 1, neuron},
  {"ElementWiseSelect", 3, 3, select},
  {"Elu", 1, 1, elu},
  {"ReluMinMax", 1, 1, relu_min_max},
  {nullptr, 0, 0, nullptr},
};
// clang-format on

}  // namespace executorch::backends::qualcomm::stand_in
