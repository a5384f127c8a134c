// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of NHWC by filters of HWIO, fully connected layers and matmul.
#include <executorch/backends/qualcomm/stand_in/operators.h>

namespace executorch::backends::qualcomm::stand_in {

namespace {

double bias_of(const Call& call, size_t channel) {
  return call.num_inputs() > 2 ? call.input(2).numbers[channel] : 0;
}

/// Rows of the weight are outputs; inputs of more dimensions than two become rows of a matrix.
Results fully_connected(const Call& call) {
  const Value &x = call.input(0), &weight = call.input(1);
  const size_t depth = weight.dims[1], outputs = weight.dims[0], rows = x.numbers.size() / depth;
  Value out{call.output_dims(), {}};
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < outputs; ++column) {
      double sum = bias_of(call, column);
      for (size_t k = 0; k < depth; ++k) {
        sum += x.numbers[row * depth + k] * weight.numbers[column * depth + k];
      }
      out.numbers.push_back(sum);
    }
  }
  return {std::move(out)};
}

/// Of the last two dimensions; those before are batches, of which one may stand for all.
Results matmul(const Call& call) {
  const Value &x = call.input(0), &y = call.input(1);
  Value out{call.output_dims(), std::vector<double>(numel(call.output_dims()))};
  const bool flips_x = call.size("transpose_in0") != 0, flips_y = call.size("transpose_in1") != 0;
  const size_t rank = out.dims.size(), depth = x.dims[x.dims.size() - (flips_x ? 2 : 1)];
  const auto place = [&](const Value& of, const Dims& places, size_t row, size_t column) {
    size_t at = 0;
    const size_t missing = rank - of.dims.size();
    for (size_t d = 0; d + 2 < of.dims.size(); ++d) {
      at = at * of.dims[d] + (of.dims[d] == 1 ? 0 : places[missing + d]);
    }
    return (at * of.dims[of.dims.size() - 2] + row) * of.dims.back() + column;
  };
  for_each_place(out.dims, [&](size_t i, const Dims& places) {
    const size_t row = places[rank - 2], column = places[rank - 1];
    double sum = bias_of(call, column);
    for (size_t k = 0; k < depth; ++k) {
      const size_t left = flips_x ? place(x, places, k, row) : place(x, places, row, k);
      const size_t right = flips_y ? place(y, places, column, k) : place(y, places, k, column);
      sum += x.numbers[left] * y.numbers[right];
    }
    out.numbers[i] = sum;
  });
  return {std::move(out)};
}

/// `groups`: output channels of one read the input channels of one.
Results convolution(const Call& call, size_t groups) {
  const Value &x = call.input(0), &filter = call.input(1);
  Value out{call.output_dims(), std::vector<double>(numel(call.output_dims()))};
  const auto stride = call.array("stride", {1, 1}), pad = call.array("pad_amount", {0, 0, 0, 0});
  const auto dilation = call.array("dilation", {1, 1});
  const size_t inner = filter.dims[2], outputs = out.dims[3], per_group = outputs / groups;
  for_each_place(out.dims, [&](size_t i, const Dims& places) {
    const size_t channel = places[3], first = channel / per_group * inner;
    double sum = bias_of(call, channel);
    for (size_t r = 0; r < filter.dims[0]; ++r) {
      for (size_t c = 0; c < filter.dims[1]; ++c) {
        const int64_t row = static_cast<int64_t>(places[1]) * stride[0] +
                            static_cast<int64_t>(r) * dilation[0] - pad[0];
        const int64_t column = static_cast<int64_t>(places[2]) * stride[1] +
                               static_cast<int64_t>(c) * dilation[1] - pad[2];
        if (row < 0 || column < 0 || row >= static_cast<int64_t>(x.dims[1]) ||
            column >= static_cast<int64_t>(x.dims[2])) {
          continue;
        }
        const size_t at = ((places[0] * x.dims[1] + static_cast<size_t>(row)) * x.dims[2] +
                           static_cast<size_t>(column)) *
                              x.dims[3] +
                          first;
        const size_t weight = (r * filter.dims[1] + c) * inner * outputs + channel;
        for (size_t k = 0; k < inner; ++k) {
          sum += x.numbers[at + k] * filter.numbers[weight + k * outputs];
        }
      }
    }
    out.numbers[i] = sum;
  });
  return {std::move(out)};
}

Results conv2d(const Call& call) {
  return convolution(call, call.size("group", 1));
}

/// Filters of [rows, columns, 1, outputs]; each channel of the input has as many outputs.
Results depthwise(const Call& call) {
  return convolution(call, call.input(0).dims[3]);
}

}  // namespace

const Row kGemm[] = {
    {"Conv2d", 2, 3, conv2d},
    {"DepthWiseConv2d", 2, 3, depthwise},
    {"FullyConnected", 2, 3, fully_connected},
    {"MatMul", 2, 3, matmul},
    {nullptr, 0, 0, nullptr},
};

}  // namespace executorch::backends::qualcomm::stand_in
