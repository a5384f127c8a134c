// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <algorithm>

namespace executorch::backends::vulkan {

namespace {

using Family = Operators (*)();
constexpr Family kFamilies[] = {
    unary_operators,     binary_operators,  copy_operators,     host_operators,
    matmul_operators,    norm_operators,    index_operators,    convolution_operators,
    reduction_operators, pooling_operators, resample_operators, quantized_operators,
    attention_operators,
};

template <typename Act>
void each_operator(Act act) {
  for (const Family family : kFamilies) {
    for (const Operator& row : family()) {
      act(row);
    }
  }
}

}  // namespace

const Operator* find_operator(std::string_view name) {
  const Operator* found = nullptr;
  each_operator([&](const Operator& row) { found = name == row.name ? &row : found; });
  return found;
}

std::vector<std::string_view> operator_names() {
  std::vector<std::string_view> names;
  each_operator([&](const Operator& row) {
    if (std::string_view(row.name) != "write_back") {
      names.push_back(row.name);
    }
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace executorch::backends::vulkan
