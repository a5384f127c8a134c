// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/stand_in/operators.h>

#include <cstring>

namespace executorch::backends::qualcomm::stand_in {

const Row* find_row(const std::string& type) {
  for (const Row* family : {kElementwise, kGemm, kPooling, kReductions, kDataMovement}) {
    for (const Row* row = family; row->type != nullptr; ++row) {
      if (type == row->type) {
        return row;
      }
    }
  }
  return nullptr;
}

const qnn_stand_in::ParameterT* Call::find(const char* name) const {
  for (const auto& each : operation_.parameters) {
    if (each->name == name) {
      return each.get();
    }
  }
  return nullptr;
}

double Call::number(const char* name, double otherwise) const {
  const qnn_stand_in::ParameterT* found = find(name);
  if (found == nullptr) {
    return otherwise;
  }
  const TensorSpec spec = [&] {
    TensorSpec made;
    made.dtype = found->dtype;
    made.dims = {1};
    return made;
  }();
  uint8_t bytes[sizeof(found->bits)];
  std::memcpy(bytes, &found->bits, sizeof(bytes));
  return read(spec, bytes).numbers[0];
}

std::vector<int64_t> Call::array(const char* name, std::vector<int64_t> otherwise) const {
  const qnn_stand_in::ParameterT* found = find(name);
  if (found == nullptr || found->tensor < 0) {
    return otherwise;
  }
  const std::vector<double>& numbers = values_[static_cast<size_t>(found->tensor)].numbers;
  return {numbers.begin(), numbers.end()};
}

}  // namespace executorch::backends::qualcomm::stand_in
