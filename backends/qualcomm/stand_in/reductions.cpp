// SPDX-License-Identifier: BSD-3-Clause
// What folds dimensions, and norms.
#include <executorch/backends/qualcomm/stand_in/operators.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace executorch::backends::qualcomm::stand_in {

namespace {

/// Values that are folded together, and where they stand in the input.
struct Group {
  std::vector<double> numbers;
  Dims places;
};

/// Elements of `x` that are equal in all dimensions but `axes`, in the order of the others.
std::vector<Group> groups_of(const Value& x, const std::vector<int64_t>& axes) {
  const auto is_folded = [&](size_t d) {
    return std::count(axes.begin(), axes.end(), static_cast<int64_t>(d)) > 0;
  };
  size_t count = 1;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    count *= is_folded(d) ? 1 : x.dims[d];
  }
  std::vector<Group> groups(count);
  for_each_place(x.dims, [&](size_t i, const Dims& places) {
    size_t at = 0;
    for (size_t d = 0; d < x.dims.size(); ++d) {
      at = is_folded(d) ? at : at * x.dims[d] + places[d];
    }
    groups[at].numbers.push_back(x.numbers[i]);
    groups[at].places.push_back(i);
  });
  return groups;
}

template <typename Fold>
Results folded(const Call& call, const std::vector<int64_t>& axes, Fold fold) {
  Value out{call.output_dims(), {}};
  for (const Group& group : groups_of(call.input(0), axes)) {
    out.numbers.push_back(fold(group.numbers));
  }
  return {std::move(out)};
}

template <typename Fold>
Results reduced(const Call& call, Fold fold) {
  return folded(call, call.array("axes"), fold);
}

double sum_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) {
    sum += number;
  }
  return sum;
}

double mean_of(const std::vector<double>& numbers) {
  return sum_of(numbers) / static_cast<double>(numbers.size());
}

double most_of(const std::vector<double>& numbers) {
  return *std::max_element(numbers.begin(), numbers.end());
}

double least_of(const std::vector<double>& numbers) {
  return *std::min_element(numbers.begin(), numbers.end());
}

double place_of(const std::vector<double>& numbers, double wanted) {
  return static_cast<double>(std::find(numbers.begin(), numbers.end(), wanted) - numbers.begin());
}

template <typename Fold>
Results placed(const Call& call, Fold fold) {
  return folded(
      call, {static_cast<int64_t>(call.size("axis"))},
      [=](const std::vector<double>& numbers) { return place_of(numbers, fold(numbers)); });
}

/// `change(numbers)` of each group, in place.
template <typename Change>
Results changed(const Call& call, const std::vector<int64_t>& axes, Change change) {
  Value out = call.input(0);
  for (Group& group : groups_of(call.input(0), axes)) {
    change(group.numbers);
    for (size_t i = 0; i < group.places.size(); ++i) {
      out.numbers[group.places[i]] = group.numbers[i];
    }
  }
  return {std::move(out)};
}

Results softmax(const Call& call, bool is_logarithm) {
  const Dims& dims = call.input(0).dims;
  const auto axis = static_cast<int64_t>(call.size("axis", dims.size() - 1));
  const double beta = call.number("beta", 1);
  return changed(call, {axis}, [=](std::vector<double>& numbers) {
    const double most = most_of(numbers);
    double sum = 0;
    for (double& number : numbers) {
      number = beta * (number - most);
      sum += std::exp(number);
    }
    for (double& number : numbers) {
      number = is_logarithm ? number - std::log(sum) : std::exp(number) / sum;
    }
  });
}

/// Of a weight or bias of the dimensions that are normed; `otherwise` where there is none.
double part_of(const Call& call, size_t index, size_t place, double otherwise) {
  return call.num_inputs() > index ? call.input(index).numbers[place] : otherwise;
}

/// Divided by the root of the mean square, of what is left without the mean.
Results norm(const Call& call, bool drops_mean) {
  const double epsilon = call.number("epsilon", 1e-6);
  const Dims& dims = call.input(0).dims;
  const auto axes = call.array("axes", {static_cast<int64_t>(dims.size()) - 1});
  return changed(call, axes, [&](std::vector<double>& numbers) {
    const double mean = drops_mean ? mean_of(numbers) : 0;
    double squares = 0;
    for (const double number : numbers) {
      squares += (number - mean) * (number - mean);
    }
    const double factor = 1 / std::sqrt(squares / static_cast<double>(numbers.size()) + epsilon);
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = (numbers[i] - mean) * factor * part_of(call, 1, i, 1) + part_of(call, 2, i, 0);
    }
  });
}

/// Of statistics that weight and bias have in them.
Results batch_norm(const Call& call) {
  Value out = call.input(0);
  const size_t channels = out.dims.back();
  for (size_t i = 0; i < out.numbers.size(); ++i) {
    out.numbers[i] =
        out.numbers[i] * call.input(1).numbers[i % channels] + call.input(2).numbers[i % channels];
  }
  return {std::move(out)};
}

}  // namespace

const Row kReductions[] = {
    {"ReduceMax", 1, 1, [](const Call& call) { return reduced(call, most_of); }},
    {"ReduceMean", 1, 1, [](const Call& call) { return reduced(call, mean_of); }},
    {"ReduceMin", 1, 1, [](const Call& call) { return reduced(call, least_of); }},
    {"ReduceSum", 1, 1, [](const Call& call) { return reduced(call, sum_of); }},
    {"Argmax", 1, 1, [](const Call& call) { return placed(call, most_of); }},
    {"Argmin", 1, 1, [](const Call& call) { return placed(call, least_of); }},
    {"Softmax", 1, 1, [](const Call& call) { return softmax(call, false); }},
    {"LogSoftmax", 1, 1, [](const Call& call) { return softmax(call, true); }},
    {"LayerNorm", 1, 3, [](const Call& call) { return norm(call, true); }},
    {"RmsNorm", 2, 3, [](const Call& call) { return norm(call, false); }},
    {"Batchnorm", 3, 3, batch_norm},
    {nullptr, 0, 0, nullptr},
};

}  // namespace executorch::backends::qualcomm::stand_in
