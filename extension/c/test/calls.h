// SPDX-License-Identifier: BSD-3-Clause
// The C interface for its tests: programs as bytes, statuses as codes and texts, handles that end
// by themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/c/executorch.h>
#include <executorch/runtime/executor/test/program_builder.h>

namespace executorch::extension::c::testing {

using runtime::testing::ProgramBuilder;
using runtime::testing::TensorSpec;

inline const ExecuTorchApi& et() {
  static const ExecuTorchApi* const api = executorch_get_api(EXECUTORCH_API_VERSION);
  return *api;
}

// Code and text of a status, which is released.
struct Outcome {
  int32_t code;
  std::string message;
};
inline Outcome take(ExecuTorchStatus status) {
  Outcome outcome{et().status_code(status), et().status_message(status)};
  EXPECT_EQ(et().release(status), 0u);
  return outcome;
}

#define EXPECT_OK(call__)                                          \
  do {                                                             \
    const ::executorch::extension::c::testing::Outcome outcome__ = \
        ::executorch::extension::c::testing::take(call__);         \
    EXPECT_EQ(outcome__.code, EXECUTORCH_OK) << outcome__.message; \
  } while (0)

#define EXPECT_FAILS(call__, code__, part__)                       \
  do {                                                             \
    const ::executorch::extension::c::testing::Outcome outcome__ = \
        ::executorch::extension::c::testing::take(call__);         \
    EXPECT_EQ(outcome__.code, code__) << outcome__.message;        \
    EXPECT_THAT(outcome__.message, ::testing::HasSubstr(part__));  \
  } while (0)

// Releases at its end.
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { EXPECT_OK(et().release(handle_)); }

  uint64_t* out() { return &handle_; }
  uint64_t get() const { return handle_; }
  void end() {
    EXPECT_OK(et().release(handle_));
    handle_ = 0;
  }

 private:
  uint64_t handle_ = 0;
};

// forward(x: [n], y: [n]) = x + y by the library's own kernel; `bound`: n may be less.
inline ProgramBuilder add_program(int32_t count = 2, bool is_planned = true,
                                  bool is_dynamic = false) {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  TensorSpec spec{{count}};
  spec.dynamic = is_dynamic;
  const int32_t x = method.add_tensor(spec);
  const int32_t y = method.add_tensor(spec);
  const int32_t alpha = method.add_int(1);
  spec.planned = is_planned;
  const int32_t out = method.add_tensor(spec);
  method.call("aten::add", "out", {x, y, alpha, out, out});
  method.inputs({x, y}).outputs({out}).names({"x", "y"}, {"sum"});
  return builder;
}

// Of bytes, which must outlive it.
inline ExecuTorchModuleOptions options_of(const std::vector<uint8_t>& program) {
  ExecuTorchModuleOptions options{};
  options.struct_size = sizeof(options);
  options.program.data = program.data();
  options.program.size = program.size();
  return options;
}

// A tensor over memory of the test.
template <typename T>
ExecuTorchTensorSpec spec_of(std::vector<T>& data, const std::vector<int32_t>& sizes,
                             int32_t dtype) {
  ExecuTorchTensorSpec spec{};
  spec.struct_size = sizeof(spec);
  spec.dtype = dtype;
  spec.dynamism = EXECUTORCH_BOUNDED_SIZES;
  spec.rank = sizes.size();
  spec.sizes = sizes.data();
  spec.data = data.data();
  spec.data_size = data.size() * sizeof(T);
  return spec;
}

inline ExecuTorchValue value_of(uint64_t tensor, const char* name = nullptr) {
  ExecuTorchValue value{};
  value.kind = EXECUTORCH_TENSOR;
  value.tensor = tensor;
  value.name = name;
  return value;
}

inline ExecuTorchTensorInfo info_of(uint64_t tensor) {
  ExecuTorchTensorInfo info{};
  info.struct_size = sizeof(info);
  EXPECT_OK(et().tensor_info(tensor, &info));
  return info;
}

inline std::vector<float> floats(uint64_t tensor) {
  const ExecuTorchTensorInfo info = info_of(tensor);
  EXPECT_EQ(info.dtype, EXECUTORCH_FLOAT32);
  const auto* data = static_cast<const float*>(info.data);
  return {data, data + info.num_elements};
}

}  // namespace executorch::extension::c::testing
