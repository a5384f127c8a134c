// SPDX-License-Identifier: BSD-3-Clause
// Each C function that compiled code calls, by its name, as compiled code sees it: handles, and
// numbers for errors.
#include <executorch/backends/aoti/runtime/counting_device.h>
#include <executorch/backends/aoti/runtime/shims.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

namespace executorch::backends::aoti {
namespace {

using runtime::Error;
using runtime::Result;
using Sizes = std::vector<int64_t>;

constexpr int32_t kFloat = 6, kBool = 11, kCpu = 0, kCuda = 1;

/// The function of a name, from the table that libraries are checked against.
template <typename... Arguments>
int32_t call(const std::string& name, Arguments... arguments) {
  for (const auto& list : {tensor_shims(), cpu_shims()}) {
    for (const Shim& shim : list) {
      if (name == shim.name) {
        return reinterpret_cast<int32_t (*)(Arguments...)>(shim.function)(arguments...);
      }
    }
  }
  ADD_FAILURE() << "no " << name;
  return -1;
}

/// A handle, and what deletes it.
class Handle {
 public:
  Handle() = default;
  Handle(Handle&& other) noexcept : tensor(std::exchange(other.tensor, nullptr)) {}
  ~Handle() {
    if (tensor != nullptr) {
      EXPECT_EQ(call("aoti_torch_delete_tensor_object", tensor), 0);
    }
  }
  float* data() const {
    void* found = nullptr;
    EXPECT_EQ(call("aoti_torch_get_data_ptr", tensor, &found), 0);
    return static_cast<float*>(found);
  }
  Sizes sizes(const char* name = "aoti_torch_get_sizes") const {
    int64_t *found = nullptr, dim = 0;
    EXPECT_EQ(call(name, tensor, &found) + call("aoti_torch_get_dim", tensor, &dim), 0);
    return Sizes(found, found + dim);
  }
  Sizes strides() const { return sizes("aoti_torch_get_strides"); }
  std::vector<float> values() const {
    int64_t count = 0;
    EXPECT_EQ(call("aoti_torch_get_numel", tensor, &count), 0);
    return std::vector<float>(data(), data() + count);
  }

  SlimTensor* tensor = nullptr;
};

Handle empty(const Sizes& sizes, const Sizes& strides = {}, int32_t device = kCpu) {
  Handle made;
  EXPECT_EQ(call("aoti_torch_empty_strided", static_cast<int64_t>(sizes.size()), sizes.data(),
                 strides.empty() ? static_cast<const int64_t*>(nullptr) : strides.data(), kFloat,
                 device, int32_t{0}, &made.tensor),
            0);
  return made;
}

/// 1, 2, 3, ... in the order of memory.
Handle counted(const Sizes& sizes, const Sizes& strides = {}) {
  Handle made = empty(sizes, strides);
  std::iota(made.data(), made.data() + made.values().size(), 1.0f);
  return made;
}

class ShimsTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime::runtime_init(); }
};

TEST_F(ShimsTest, NumbersAreThoseOfPyTorch) {
  const std::pair<const char*, int32_t> expected[] = {
      {"dtype_uint8", 0},   {"dtype_int8", 1},      {"dtype_int16", 2},      {"dtype_int32", 3},
      {"dtype_int64", 4},   {"dtype_float16", 5},   {"dtype_float32", 6},    {"dtype_float64", 7},
      {"dtype_bool", 11},   {"dtype_bfloat16", 15}, {"dtype_uint16", 27},    {"dtype_uint32", 28},
      {"dtype_uint64", 29}, {"device_type_cpu", 0}, {"device_type_cuda", 1}, {"layout_strided", 0}};
  for (const auto& [name, number] : expected) {
    EXPECT_EQ(call(std::string("aoti_torch_") + name), number) << name;
  }
  EXPECT_EQ(call("aoti_torch_grad_mode_is_enabled") & 1, 0);
  EXPECT_EQ(call("aoti_torch_grad_mode_set_enabled", false), 0);
  EXPECT_EQ(call("aoti_torch_grad_mode_set_enabled", true),
            static_cast<int32_t>(Error::NotSupported));
}

TEST_F(ShimsTest, TensorsAreRead) {
  const Handle x = empty({2, 3}, {4, 1});
  EXPECT_EQ(x.sizes(), Sizes({2, 3}));
  EXPECT_EQ(x.strides(), Sizes({4, 1}));
  const auto read = [&](const char* name) {
    int64_t number = -1;
    EXPECT_EQ(call(name, x.tensor, &number), 0) << name;
    return number;
  };
  EXPECT_EQ(read("aoti_torch_get_dim"), 2);
  EXPECT_EQ(read("aoti_torch_get_numel"), 6);
  EXPECT_EQ(read("aoti_torch_get_storage_offset"), 0);
  EXPECT_EQ(read("aoti_torch_get_storage_size"), 28);  // to behind element 1 * 4 + 2
  int32_t number = -1;
  EXPECT_EQ(call("aoti_torch_get_dtype", x.tensor, &number), 0);
  EXPECT_EQ(number, kFloat);
  EXPECT_EQ(call("aoti_torch_get_device_type", x.tensor, &number), 0);
  EXPECT_EQ(number, kCpu);
  EXPECT_EQ(call("aoti_torch_get_device_index", x.tensor, &number), 0);
  EXPECT_EQ(number, 0);
  for (const char* name : {"aoti_torch_get_data_ptr", "aoti_torch_get_sizes", "aoti_torch_get_dim",
                           "aoti_torch_get_strides", "aoti_torch_get_dtype", "aoti_torch_get_numel",
                           "aoti_torch_get_storage_offset", "aoti_torch_get_storage_size",
                           "aoti_torch_get_device_type", "aoti_torch_get_device_index"}) {
    EXPECT_EQ(call(name, x.tensor, static_cast<void*>(nullptr)), kInvalid) << name;
    EXPECT_EQ(call(name, static_cast<SlimTensor*>(nullptr), &number), kInvalid) << name;
  }
}

TEST_F(ShimsTest, MemoryOfOthersIsViewed) {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  const Sizes sizes = {2, 2}, strides = {1, 2};
  const auto blob = [&](void* data, int64_t ndim, const int64_t* with_sizes, int32_t dtype,
                        Handle& out) {
    return call("aoti_torch_create_tensor_from_blob_v2", data, ndim, with_sizes, strides.data(),
                int64_t{1}, dtype, kCpu, int32_t{0}, &out.tensor, int32_t{0},
                static_cast<const uint8_t*>(nullptr), int64_t{0});
  };
  Handle view, none;
  ASSERT_EQ(blob(memory, 2, sizes.data(), kFloat, view), 0);
  EXPECT_EQ(view.data(), memory + 1);
  EXPECT_EQ(view.strides(), strides);
  EXPECT_EQ(blob(nullptr, 2, sizes.data(), kFloat, none), kInvalid);
  EXPECT_EQ(blob(memory, 2, nullptr, kFloat, none), kInvalid);
  EXPECT_EQ(blob(memory, -1, sizes.data(), kFloat, none), kInvalid);
  EXPECT_EQ(blob(memory, 2, sizes.data(), 99, none), kInvalid);
  Handle dense;
  ASSERT_EQ(call("aoti_torch_create_tensor_from_blob", static_cast<void*>(memory), int64_t{2},
                 sizes.data(), static_cast<const int64_t*>(nullptr), int64_t{0}, kFloat, kCpu,
                 int32_t{0}, &dense.tensor),
            0);
  EXPECT_EQ(dense.strides(), Sizes({2, 1}));
  EXPECT_EQ(none.tensor, nullptr);
}

TEST_F(ShimsTest, HandlesShareMemoryUntilTheLastOne) {
  Handle second, third, wrong;
  {
    const Handle first = counted({2, 3});
    ASSERT_EQ(call("aoti_torch_new_tensor_handle", first.tensor, &second.tensor), 0);
    const Sizes sizes = {3, 2}, strides = {1, 3};
    ASSERT_EQ(call("aoti_torch__reinterpret_tensor", first.tensor, int64_t{2}, sizes.data(),
                   strides.data(), int64_t{0}, &third.tensor),
              0);
    const auto reinterpreted = [&](int64_t ndim, int64_t offset) {
      return call("aoti_torch__reinterpret_tensor", first.tensor, ndim, sizes.data(),
                  strides.data(), offset, &wrong.tensor);
    };
    EXPECT_EQ(reinterpreted(-1, 0), kInvalid);
    EXPECT_EQ(reinterpreted(2, 1), kInvalid);  // one element behind the memory
    EXPECT_EQ(reinterpreted(2, -1), kInvalid);
    EXPECT_EQ(reinterpreted(2, INT64_MAX), kInvalid);
  }
  EXPECT_EQ(second.values(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(third.data()[3], 4);
  Handle assigned;
  ASSERT_EQ(call("aoti_torch_assign_tensors_out", third.tensor, &assigned.tensor), 0);
  EXPECT_EQ(assigned.data(), second.data());
  EXPECT_EQ(assigned.strides(), Sizes({1, 3}));
}

TEST_F(ShimsTest, CopiesHaveMemoryOfTheirOwn) {
  const Handle x = counted({2, 3}, {1, 2});  // 1 3 5 / 2 4 6
  Handle dense, same;
  ASSERT_EQ(call("aoti_torch_clone", x.tensor, &dense.tensor), 0);
  EXPECT_EQ(dense.strides(), Sizes({3, 1}));
  EXPECT_EQ(dense.values(), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  ASSERT_EQ(call("aoti_torch_clone_preserve_strides", x.tensor, &same.tensor), 0);
  EXPECT_EQ(same.strides(), Sizes({1, 2}));
  EXPECT_EQ(same.values(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_NE(same.data(), x.data());
  const Handle other = empty({2, 3}), less = empty({2, 2});
  ASSERT_EQ(call("aoti_torch_copy_", other.tensor, x.tensor, int32_t{0}), 0);
  EXPECT_EQ(other.values(), dense.values());
  ASSERT_EQ(call("aoti_torch_copy_", other.tensor, other.tensor, int32_t{0}), 0);
  EXPECT_EQ(call("aoti_torch_copy_", less.tensor, x.tensor, int32_t{0}), kInvalid);
}

TEST_F(ShimsTest, OneBoolIsRead) {
  bool value = true, found = false;
  Handle one, float_one = empty({});
  ASSERT_EQ(call("aoti_torch_create_tensor_from_blob", static_cast<void*>(&value), int64_t{0},
                 static_cast<const int64_t*>(nullptr), static_cast<const int64_t*>(nullptr),
                 int64_t{0}, kBool, kCpu, int32_t{0}, &one.tensor),
            0);
  ASSERT_EQ(call("aoti_torch_item_bool", one.tensor, &found), 0);
  EXPECT_TRUE(found);
  EXPECT_EQ(call("aoti_torch_item_bool", float_one.tensor, &found), kInvalid);
}

TEST_F(ShimsTest, ChecksOfCompiledCodeAreErrorsInIt) {
  const auto check = [](bool condition) {
    call("aoti_torch_check", condition, "f", "x.cpp", uint32_t{3}, "index out of bounds");
  };
  EXPECT_NO_THROW(check(true));
  EXPECT_THROW(check(false), std::runtime_error);
  call("aoti_torch_warn", "f", "x.cpp", uint32_t{3}, "slow");
}

TEST_F(ShimsTest, DevicesAreServedByTheirAllocators) {
  Handle none;
  const Sizes sizes = {2, 3}, many = {1000};
  const auto on_device = [&](const Sizes& wanted) {
    return call("aoti_torch_empty_strided", static_cast<int64_t>(wanted.size()), wanted.data(),
                static_cast<const int64_t*>(nullptr), kFloat, kCuda, int32_t{-1}, &none.tensor);
  };
  if (!find_device(DeviceType::CUDA).ok()) {  // no other test before
    EXPECT_EQ(on_device(sizes), static_cast<int32_t>(Error::NotFound));
  }
  CountingDevice& counts = CountingDevice::registered();
  EXPECT_EQ(on_device(many), static_cast<int32_t>(Error::MemoryAllocationFailed));
  {
    const Handle host = counted({2, 3}, {1, 2}), device = empty({2, 3}, {1, 2}, kCuda);
    EXPECT_EQ(counts.live, 1);
    ASSERT_EQ(call("aoti_torch_copy_", device.tensor, host.tensor, int32_t{0}), 0);
    Handle back, same;
    ASSERT_EQ(call("aoti_torch_clone", device.tensor, &back.tensor), 0);
    int32_t type = -1;
    EXPECT_EQ(call("aoti_torch_get_device_type", back.tensor, &type), 0);
    EXPECT_EQ(type, kCuda);
    const Handle read = empty({2, 3});
    ASSERT_EQ(call("aoti_torch_copy_", read.tensor, back.tensor, int32_t{0}), 0);
    EXPECT_EQ(read.values(), (std::vector<float>{1, 3, 5, 2, 4, 6}));
    EXPECT_GT(counts.to_host_or_back, 2);
    ASSERT_EQ(call("aoti_torch_clone_preserve_strides", device.tensor, &same.tensor), 0);
    EXPECT_EQ(counts.within, 1);  // not over the host
  }
  EXPECT_EQ(counts.live, 0);
}

// ---- Kernels ----

// x = 1 2 3 / 4 5 6
TEST_F(ShimsTest, MatricesAreMultiplied) {
  const Handle x = counted({2, 3}), weight = counted({3, 2}), out = empty({2, 2});
  ASSERT_EQ(call("aoti_torch_cpu_mm_out", out.tensor, x.tensor, weight.tensor), 0);
  EXPECT_EQ(out.values(), (std::vector<float>{22, 28, 49, 64}));
  // The same matrix as a linear layer holds it: 1 4 / 2 5 / 3 6.
  const Handle transposed = counted({3, 2}, {1, 3});
  ASSERT_EQ(call("aoti_torch_cpu_mm_out", out.tensor, x.tensor, transposed.tensor), 0);
  EXPECT_EQ(out.values(), (std::vector<float>{14, 32, 32, 77}));
  const Handle turned = empty({2, 2}, {1, 2});
  ASSERT_EQ(call("aoti_torch_cpu_mm_out", turned.tensor, x.tensor, weight.tensor), 0);
  EXPECT_EQ(turned.values(), (std::vector<float>{22, 49, 28, 64}));
  const Handle vector = empty({3});
  EXPECT_EQ(call("aoti_torch_cpu_mm_out", out.tensor, x.tensor, vector.tensor), kInvalid);
  EXPECT_NE(call("aoti_torch_cpu_mm_out", out.tensor, x.tensor, x.tensor), 0);  // 3 columns, 2 rows
}

TEST_F(ShimsTest, ProductsAreAddedTo) {
  const Handle x = counted({2, 3}), weight = counted({3, 2}), bias = counted({2}),
               transposed = counted({3, 2}, {1, 3}), out = empty({2, 2});
  const auto add = [&](const Handle& matrix, double beta, double alpha) {
    EXPECT_EQ(call("aoti_torch_cpu_addmm_out", out.tensor, bias.tensor, x.tensor, matrix.tensor,
                   beta, alpha),
              0);
    return out.values();
  };
  EXPECT_EQ(add(weight, 1, 1), (std::vector<float>{23, 30, 50, 66}));
  EXPECT_EQ(add(weight, 2, 1), (std::vector<float>{24, 32, 51, 68}));
  EXPECT_EQ(add(transposed, 1, 1), (std::vector<float>{15, 34, 33, 79}));
  EXPECT_EQ(add(transposed, 0, 2), (std::vector<float>{28, 64, 64, 154}));
}

TEST_F(ShimsTest, BatchesAreMultiplied) {
  const Handle x = counted({2, 1, 2}), y = counted({2, 2, 1}), out = empty({2, 1, 1});
  ASSERT_EQ(call("aoti_torch_cpu_bmm_out", out.tensor, x.tensor, y.tensor), 0);
  EXPECT_EQ(out.values(), (std::vector<float>{5, 25}));  // 1 1 + 2 2, 3 3 + 4 4
  EXPECT_EQ(call("aoti_torch_cpu_bmm_out", out.tensor, out.tensor, counted({2, 2}).tensor),
            kInvalid);
}

int32_t convolve(const Handle& x, const Handle& weight, const Handle* bias, int32_t transposed,
                 Handle& out, int64_t num_strides = 2) {
  const Sizes ones = {1, 1}, zeros = {0, 0};
  SlimTensor* added = bias == nullptr ? nullptr : bias->tensor;
  return call("aoti_torch_cpu_convolution", x.tensor, weight.tensor,
              bias == nullptr ? static_cast<SlimTensor**>(nullptr) : &added, ones.data(),
              num_strides, zeros.data(), int64_t{2}, ones.data(), int64_t{2}, transposed,
              zeros.data(), int64_t{2}, int64_t{1}, &out.tensor);
}

TEST_F(ShimsTest, ConvolutionsHaveTheLayoutThatPyTorchGives) {
  const Handle x = counted({1, 1, 2, 3}), weight = counted({1, 1, 1, 2}), bias = counted({1});
  Handle out, transposed, last, wrong;
  ASSERT_EQ(convolve(x, weight, &bias, 0, out), 0);
  EXPECT_EQ(out.sizes(), Sizes({1, 1, 2, 2}));
  // 1 * 1 + 2 * 2 + 1, ...
  EXPECT_EQ(out.values(), (std::vector<float>{6, 9, 15, 18}));
  ASSERT_EQ(convolve(x, weight, nullptr, 1, transposed), 0);
  EXPECT_EQ(transposed.sizes(), Sizes({1, 1, 2, 4}));
  EXPECT_EQ(transposed.values(), (std::vector<float>{1, 4, 7, 6, 4, 13, 16, 12}));
  const Handle two = counted({1, 2, 2, 2}, {8, 1, 4, 2}), filter = counted({2, 2, 1, 1});
  ASSERT_EQ(convolve(two, filter, nullptr, 0, last), 0);
  EXPECT_EQ(last.strides(), Sizes({8, 1, 4, 2}));
  // In memory: both channels of a place side by side; 1 * 1 + 2 * 2, 3 * 1 + 4 * 2, ...
  EXPECT_EQ(last.values(), (std::vector<float>{5, 11, 11, 25, 17, 39, 23, 53}));
  EXPECT_EQ(convolve(x, weight, nullptr, 0, wrong, 1), kInvalid);
}

}  // namespace
}  // namespace executorch::backends::aoti
