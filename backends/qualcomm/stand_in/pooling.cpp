// SPDX-License-Identifier: BSD-3-Clause
// Pools over rows and columns of NHWC, and sizes that channels and positions exchange.
#include <executorch/backends/qualcomm/stand_in/operators.h>

#include <algorithm>
#include <limits>

namespace executorch::backends::qualcomm::stand_in {

namespace {

/// `fold(whole window, elements of it that the input has)` for each window.
template <typename Fold>
Results pooled(const Call& call, Fold fold) {
  const Value& x = call.input(0);
  Value out{call.output_dims(), std::vector<double>(numel(call.output_dims()))};
  const auto filter = call.array("filter_size"), stride = call.array("stride");
  const auto pad = call.array("pad_amount", {0, 0, 0, 0});
  const auto size = [&](size_t d) { return static_cast<int64_t>(x.dims[d]); };
  std::vector<double> found;
  for_each_place(out.dims, [&](size_t i, const Dims& places) {
    found.clear();
    const int64_t top = static_cast<int64_t>(places[1]) * stride[0] - pad[0];
    const int64_t left = static_cast<int64_t>(places[2]) * stride[1] - pad[2];
    for (int64_t row = std::max<int64_t>(top, 0); row < std::min(top + filter[0], size(1)); ++row) {
      for (int64_t column = std::max<int64_t>(left, 0);
           column < std::min(left + filter[1], size(2)); ++column) {
        const auto place = (static_cast<int64_t>(places[0]) * size(1) + row) * size(2) + column;
        found.push_back(x.numbers[static_cast<size_t>(place) * x.dims[3] + places[3]]);
      }
    }
    // Of the padded input, which ends behind its last pad.
    const int64_t rows = std::min(top + filter[0], size(1) + pad[1]) - top;
    const int64_t columns = std::min(left + filter[1], size(2) + pad[3]) - left;
    out.numbers[i] = fold(static_cast<double>(rows * columns), found);
  });
  return {std::move(out)};
}

Results average(const Call& call) {
  const bool counts_edges = call.size("count_pad_for_edges") != 0;
  return pooled(call, [=](double area, const std::vector<double>& found) {
    double sum = 0;
    for (const double number : found) {
      sum += number;
    }
    return sum / (counts_edges ? area : static_cast<double>(found.size()));
  });
}

/// Padding is 0.
Results largest(const Call& call) {
  return pooled(call, [](double area, const std::vector<double>& found) {
    double most =
        static_cast<double>(found.size()) < area ? 0 : -std::numeric_limits<double>::infinity();
    for (const double number : found) {
      most = number > most || number != number ? number : most;
    }
    return most;
  });
}

}  // namespace

const Row kPooling[] = {
    {"PoolAvg2d", 1, 1, average},
    {"PoolMax2d", 1, 1, largest},
    {nullptr, 0, 0, nullptr},
};

}  // namespace executorch::backends::qualcomm::stand_in
