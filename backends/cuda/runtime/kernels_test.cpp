// SPDX-License-Identifier: BSD-3-Clause
// Shims of our kernels, whose code stand_in/cuda_driver.cpp runs: numbers beside sums written here,
// arguments that are refused, and a driver that fails. test/kernels_test.py has PyTorch's numbers.
#include <executorch/backends/cuda/kernels/random.h>
#include <executorch/backends/cuda/runtime/cuda_allocator.h>
#include <executorch/backends/cuda/runtime/cuda_backend.h>
#include <executorch/backends/cuda/runtime/cuda_kernels.h>
#include <executorch/backends/cuda/runtime/cuda_shims.h>
#include <executorch/runtime/platform/runtime.h>

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

namespace executorch::backends::cuda {
namespace {

using aoti::SlimTensor;
using aten::ScalarType;
using runtime::Error;
using Sizes = std::vector<int64_t>;
using Tensor = std::unique_ptr<SlimTensor>;

constexpr aoti::Place kGpu = {aoti::DeviceType::CUDA, 0};

template <typename... Arguments>
int32_t call(const std::string& name, Arguments... arguments) {
  for (const aoti::Shim& shim : kernel_shims()) {
    if (name == shim.name) {
      return reinterpret_cast<int32_t (*)(Arguments...)>(shim.function)(arguments...);
    }
  }
  ADD_FAILURE() << "no " << name;
  return -1;
}

template <typename T>
Tensor on_gpu(const Sizes& sizes, ScalarType dtype, std::vector<T> values) {
  const SlimTensor::Shape shape = {{sizes.data(), sizes.size()}, {}, 0, dtype};
  auto made = SlimTensor::empty(shape, kGpu);
  auto host = SlimTensor::borrow(values.data(), shape, {});
  EXPECT_EQ(aoti::copy_tensor(**host, **made), Error::Ok);
  return std::move(*made);
}

/// What a shim gave, on the host.
template <typename T>
std::vector<T> taken(SlimTensor* tensor) {
  const Tensor owned(tensor);
  std::vector<T> values(static_cast<size_t>(tensor->numel()));
  auto host = SlimTensor::borrow(values.data(), {tensor->sizes(), {}, 0, tensor->dtype()}, {});
  EXPECT_EQ(aoti::copy_tensor(*tensor, **host), Error::Ok);
  return values;
}

std::vector<uint16_t> bfloat16s(const std::vector<float>& values) {
  std::vector<uint16_t> bits;
  for (const float value : values) {
    bits.push_back(bfloat16_of(value));
  }
  return bits;
}

class KernelsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const uint8_t image[] = {1};
    setenv("EXECUTORCH_CUDA_RUNTIME", CUDART_STAND_IN, 1);
    setenv("EXECUTORCH_CUDA_DRIVER", CUDA_DRIVER_STAND_IN, 1);
    use_kernels_image({image, 1});
    fail_ = reinterpret_cast<decltype(fail_)>(
        dlsym(dlopen(CUDA_DRIVER_STAND_IN, RTLD_NOW), "cuda_driver_stand_in_fail"));
  }
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_cuda_backend(), Error::Ok);
  }
  template <typename Function>
  void expect_error(Function function, Error error, const std::string& text) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(function(), static_cast<int32_t>(error));
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(text), std::string::npos) << text << ": " << log;
  }
  static inline void (*fail_)(const char*) = nullptr;
};

// x = 1 2 ... 8, weights of groups of 4: codes 0 ... 7 less 3 by 0.5, then less -1 by 2.
TEST_F(KernelsTest, EightBitsAreMultiplied) {
  const Tensor x = on_gpu(Sizes{1, 8}, ScalarType::BFloat16, bfloat16s({1, 2, 3, 4, 5, 6, 7, 8})),
               q = on_gpu(Sizes{1, 8}, ScalarType::Char,
                          std::vector<int8_t>{0, 1, 2, 3, 4, 5, 6, 7}),
               scale = on_gpu(Sizes{1, 2}, ScalarType::BFloat16, bfloat16s({0.5, 2})),
               zero = on_gpu(Sizes{1, 2}, ScalarType::Char, std::vector<int8_t>{3, -1});
  SlimTensor* out = nullptr;
  ASSERT_EQ(call("aoti_torch_cuda_int8_plain_mm", x.get(), q.get(), scale.get(), zero.get(),
                 int64_t{4}, &out),
            0);
  // 0.5 (-3 - 4 - 3 + 0) + 2 (25 + 36 + 49 + 64)
  EXPECT_EQ(taken<uint16_t>(out), bfloat16s({343}));
  const auto with = [&](SlimTensor* weight, int64_t group) {
    return call("aoti_torch_cuda_int8_plain_mm", x.get(), weight, scale.get(), zero.get(), group,
                &out);
  };
  expect_error([&] { return with(q.get(), 3); }, Error::InvalidArgument,
               "int8_plain_mm: 8 columns in groups of 3");
  expect_error([&] { return with(q.get(), 8); }, Error::InvalidArgument,
               "expected scale to be dense, of BFloat16 [1, 1] on the GPU");
  expect_error([&] { return with(scale.get(), 4); }, Error::InvalidArgument,
               "expected the weight to be dense, of Char [1, 8]");
  EXPECT_EQ(with(nullptr, 4), aoti::kInvalid);
}

// One row of 256: 4 bits of the low half, and further ones, in order.
TEST_F(KernelsTest, BitsAreWhereTheFormatsHaveThem) {
  constexpr int64_t kColumnsOfX = 256;
  const uint16_t one = 0x3c00, half = 0x3800;  // of float16
  std::vector<float> ones(kColumnsOfX, 1);
  std::vector<uint8_t> low(kColumnsOfX / 2), five(kColumnsOfX / 8), six(kColumnsOfX / 4);
  float sum4 = 0, sum5 = 0, sum6 = 0;
  for (int k = 0; k < kColumnsOfX; ++k) {
    const int nibble = k * 7 % 16, bit = k % 3 == 0 ? 1 : 0, two = k % 4;
    low[k / 2] = static_cast<uint8_t>(low[k / 2] | nibble << (4 * (k % 2)));
    five[k / 8] = static_cast<uint8_t>(five[k / 8] | bit << (k % 8));
    six[k / 4] = static_cast<uint8_t>(six[k / 4] | two << (2 * (k % 4)));
    const auto group = static_cast<float>(k / 32 + 1), weight = static_cast<float>(k % 5);
    ones[k] = weight;
    sum4 += weight * (static_cast<float>(nibble) - 2 * 0.5f) * group;
    sum5 += weight * (static_cast<float>(nibble + 16 * bit) - 2 * 0.5f) * group;
    sum6 += weight * static_cast<float>(nibble + 16 * two - 32) * group;
  }
  const Tensor x = on_gpu(Sizes{1, kColumnsOfX}, ScalarType::BFloat16, bfloat16s(ones)),
               ql = on_gpu(Sizes{1, kColumnsOfX / 2}, ScalarType::Byte, low),
               q5 = on_gpu(Sizes{1, kColumnsOfX / 8}, ScalarType::Byte, five),
               q6 = on_gpu(Sizes{1, kColumnsOfX / 4}, ScalarType::Byte, six),
               scale = on_gpu(Sizes{1, 8}, ScalarType::Byte,
                              std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}),
               signed_scale = on_gpu(Sizes{1, 8}, ScalarType::Char,
                                     std::vector<int8_t>{1, 2, 3, 4, 5, 6, 7, 8}),
               zero = on_gpu(Sizes{1, 8}, ScalarType::Byte, std::vector<uint8_t>(8, 2)),
               step = on_gpu(Sizes{1, 1}, ScalarType::Half, std::vector<uint16_t>{one}),
               zero_step = on_gpu(Sizes{1, 1}, ScalarType::Half, std::vector<uint16_t>{half});
  SlimTensor* out = nullptr;
  ASSERT_EQ(call("aoti_torch_cuda_int4_plain_mm", x.get(), ql.get(), scale.get(), step.get(),
                 zero.get(), zero_step.get(), int64_t{32}, &out),
            0);
  EXPECT_EQ(taken<uint16_t>(out), bfloat16s({sum4}));
  ASSERT_EQ(call("aoti_torch_cuda_int5_plain_mm", x.get(), ql.get(), q5.get(), scale.get(),
                 step.get(), zero.get(), zero_step.get(), int64_t{32}, &out),
            0);
  EXPECT_EQ(taken<uint16_t>(out), bfloat16s({sum5}));
  ASSERT_EQ(call("aoti_torch_cuda_int6_plain_mm", x.get(), ql.get(), q6.get(), signed_scale.get(),
                 step.get(), int64_t{32}, &out),
            0);
  EXPECT_EQ(taken<uint16_t>(out), bfloat16s({sum6}));
  expect_error(
      [&] {
        return call("aoti_torch_cuda_int4_plain_mm", x.get(), q6.get(), scale.get(), step.get(),
                    zero.get(), zero_step.get(), int64_t{32}, &out);
      },
      Error::InvalidArgument, "expected the weight to be dense, of Byte [1, 128]");
  SlimTensor* const none = nullptr;
  EXPECT_EQ(
      call("aoti_torch_cuda_int4_plain_mm", none, none, none, none, none, none, int64_t{32}, &out),
      aoti::kInvalid);
  EXPECT_EQ(call("aoti_torch_cuda_int5_plain_mm", none, none, none, none, none, none, none,
                 int64_t{32}, &out),
            aoti::kInvalid);
  EXPECT_EQ(call("aoti_torch_cuda_int6_plain_mm", none, none, none, none, none, int64_t{32}, &out),
            aoti::kInvalid);
  EXPECT_EQ(call("aoti_torch_cuda_int6_plain_mm", x.get(), ql.get(), q6.get(), signed_scale.get(),
                 none, int64_t{32}, &out),
            aoti::kInvalid);
}

TEST_F(KernelsTest, EqualElementsKeepTheirOrder) {
  const float nan = NAN;
  const Tensor x = on_gpu(Sizes{2, 5}, ScalarType::Float,
                          std::vector<float>{3, 1, nan, 1, 2, /**/ 0, 0, -1, 5, 0});
  SlimTensor *values = nullptr, *places = nullptr;
  const auto sort = [&](SlimTensor* self, int64_t dim, int32_t descending) {
    return call("aoti_torch_cuda_sort_stable", self, static_cast<int32_t*>(nullptr), dim,
                descending, &values, &places);
  };
  ASSERT_EQ(sort(x.get(), -1, 0), 0);
  const auto found = taken<float>(values);
  EXPECT_EQ((std::vector<float>{found.begin(), found.begin() + 4}),
            (std::vector<float>{1, 1, 2, 3}));
  EXPECT_TRUE(std::isnan(found[4]));
  EXPECT_EQ(taken<int64_t>(places), (Sizes{1, 3, 4, 0, 2, /**/ 2, 0, 1, 4, 3}));
  ASSERT_EQ(sort(x.get(), 1, 1), 0);
  (void)taken<float>(values);
  EXPECT_EQ(taken<int64_t>(places), (Sizes{2, 0, 4, 1, 3, /**/ 3, 0, 1, 4, 2}));
  ASSERT_EQ(sort(x.get(), 0, 0), 0);  // of columns
  EXPECT_EQ(taken<int64_t>(places), (Sizes{1, 1, 1, 0, 1, /**/ 0, 0, 0, 1, 0}));
  EXPECT_EQ(taken<float>(values)[5], 3);
  const Tensor one = on_gpu(Sizes{}, ScalarType::Bool, std::vector<uint8_t>{1}),
               none = on_gpu(Sizes{2, 0}, ScalarType::Long, std::vector<int64_t>{});
  ASSERT_EQ(sort(one.get(), 0, 0), 0);
  EXPECT_EQ(taken<int64_t>(places), Sizes{0});
  EXPECT_EQ(taken<uint8_t>(values), std::vector<uint8_t>{1});
  ASSERT_EQ(sort(none.get(), 1, 0), 0);
  EXPECT_EQ(taken<int64_t>(places).size() + taken<int64_t>(values).size(), 0u);
  expect_error([&] { return sort(x.get(), 2, 0); }, Error::InvalidArgument, "dim 2 of 2");
  EXPECT_EQ(sort(nullptr, 0, 0), aoti::kInvalid);
}

/// The known answers of Random123, which the authors of Philox published with it.
TEST_F(KernelsTest, RandomWordsArePhilox) {
  const auto words = [](Words counter, uint32_t key0, uint32_t key1) {
    const Words made = philox(counter, key0, key1);
    return std::vector<uint32_t>(made.word, made.word + 4);
  };
  const uint32_t all = 0xffffffff;
  EXPECT_EQ(words({{0, 0, 0, 0}}, 0, 0),
            (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(words({{all, all, all, all}}, all, all),
            (std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
            (std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_F(KernelsTest, RandomNumbersAreSpreadOverTheirRangeAndNewInEachCall) {
  const int64_t sizes[] = {50, 40};
  SlimTensor* made = nullptr;
  int32_t dtype = static_cast<int32_t>(ScalarType::BFloat16);
  int32_t* const none = nullptr;
  const auto rand = [&](int32_t* wanted) {
    return call("aoti_torch_cuda_rand", static_cast<const int64_t*>(sizes), int64_t{2}, wanted,
                none, none, int32_t{-1}, none, &made);
  };
  std::vector<float> values[3];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(rand(nullptr), 0);
    values[i] = taken<float>(made);
  }
  EXPECT_NE(values[0], values[1]);
  ASSERT_EQ(rand(&dtype), 0);
  for (const uint16_t bits : taken<uint16_t>(made)) {
    values[2].push_back(float_of_bfloat16(bits));
  }
  // 2000 numbers: a mean of 1/2 with a deviation of 1 / sqrt(12 * 2000) = 0.0065; half a step of
  // bfloat16 lower.
  for (const auto& each : values) {
    double sum = 0;
    for (const float value : each) {
      EXPECT_TRUE(value >= 0 && value < 1) << value;
      sum += static_cast<double>(value);
    }
    EXPECT_NEAR(sum / 2000, 0.5, 0.05);
  }
  const Tensor out = on_gpu(Sizes{50, 40}, ScalarType::Long, std::vector<int64_t>(2000));
  const auto randint = [&](int64_t low, int64_t high, int64_t rank = 2) {
    return call("aoti_torch_cuda_randint_low_out", out.get(), low, high,
                static_cast<const int64_t*>(sizes), rank);
  };
  ASSERT_EQ(randint(-2, 3), 0);
  std::map<int64_t, int> counts;
  for (const int64_t value : taken<int64_t>(new SlimTensor(*out))) {
    ++counts[value];
  }
  EXPECT_EQ(counts.size(), 5u);
  for (const auto& [value, count] : counts) {
    EXPECT_TRUE(value >= -2 && value < 3) << value;
    EXPECT_NEAR(count, 400, 120) << value;  // a deviation of 18
  }
  ASSERT_EQ(randint(INT64_MIN, INT64_MAX), 0);  // inductor's seeds
  expect_error([&] { return randint(3, 3); }, Error::InvalidArgument, "from 3 to a higher one");
  expect_error([&] { return randint(0, 3, 1); }, Error::InvalidArgument,
               "int64 numbers of the sizes that are asked for");
  dtype = static_cast<int32_t>(ScalarType::Double);
  expect_error([&] { return rand(&dtype); }, Error::InvalidArgument, "found Double");
}

TEST_F(KernelsTest, ADriverThatFailsIsNamed) {
  const Tensor x = on_gpu(Sizes{2}, ScalarType::Short, std::vector<int16_t>{2, 1});
  SlimTensor *values = nullptr, *places = nullptr;
  const auto sort = [&] {
    return call("aoti_torch_cuda_sort_stable", x.get(), static_cast<int32_t*>(nullptr), int64_t{0},
                int32_t{0}, &values, &places);
  };
  for (const char* function : {"cuModuleGetFunction", "cuLaunchKernel"}) {
    fail_(function);
    expect_error(
        sort, Error::Internal,
        std::string("CudaBackend: ") + function + " of sort_i16: CUDA_ERROR_UNKNOWN (999)");
  }
  const auto image = kernels_image();
  use_kernels_image({});
  expect_error(sort, Error::NotSupported, "this build has no sort_i16: build it where nvcc is");
  use_kernels_image(image);
  ASSERT_EQ(sort(), 0);
  EXPECT_EQ(taken<int16_t>(values), (std::vector<int16_t>{1, 2}));
  EXPECT_EQ(taken<int64_t>(places), (Sizes{1, 0}));
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_cuda_driver({"libcuda.none"}).error(), Error::NotFound);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("NVIDIA's driver was not loaded"),
            std::string::npos);
}

TEST_F(KernelsTest, NumbersOfSixteenBitsAreThoseOfTheirStandards) {
  EXPECT_EQ(float_of_float16(0x3555), 0.333251953125f);
  EXPECT_EQ(float_of_float16(0x8001), -5.9604644775390625e-8f);
  EXPECT_EQ(float_of_float16(0x7bff), 65504);
  EXPECT_TRUE(std::isinf(float_of_float16(0xfc00)) && std::isnan(float_of_float16(0x7e00)));
  EXPECT_EQ(bfloat16_of(1.00390625f), 0x3f80);  // a tie, to even
  EXPECT_EQ(bfloat16_of(1.01171875f), 0x3f82);
  EXPECT_EQ(float_of_bfloat16(bfloat16_of(-3)), -3);
  EXPECT_TRUE(std::isnan(float_of_bfloat16(bfloat16_of(NAN))));
}

}  // namespace
}  // namespace executorch::backends::cuda
