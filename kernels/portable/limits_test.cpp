// SPDX-License-Identifier: BSD-3-Clause
// Kernels called at their limits: bounds that are NaN, outputs of another dtype, no scratch memory,
// complex numbers of halves, devices, and what must be refused.
#include <executorch/kernels/portable/Functions.h>

#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <executorch/runtime/core/device_allocator.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::testing::TensorFactory;
namespace aten = torch::executor::aten;

class LimitsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { executorch::runtime::runtime_init(); }

  template <typename Call>
  static Error error_of(const Call& call) {
    KernelRuntimeContext context;  // no scratch memory
    call(context);
    return context.failure_state();
  }
  // The same with an allocator that has nothing to give.
  template <typename Call>
  static Error error_with_full_allocator(const Call& call) {
    MemoryAllocator full(0, nullptr);
    KernelRuntimeContext context(nullptr, &full);
    call(context);
    return context.failure_state();
  }
};

template <ScalarType kType>
void expect_nan_from_bounds() {
  TensorFactory<kType> tf;
  const double nan = std::nan("");
  const Tensor in = tf.make({3}, {1, 2, 3});
  const auto expect_all_nan = [](const Tensor& out) {
    std::stringstream text;
    text << out;
    for (const char* at : {"data={nan, nan, nan}"}) {
      EXPECT_NE(text.str().find(at), std::string::npos) << text.str();
    }
  };
  using Bound = std::optional<executorch::aten::Scalar>;
  for (const auto& [low, high] :
       std::vector<std::pair<Bound, Bound>>{{nan, {}}, {{}, nan}, {nan, 2}, {0, nan}, {nan, nan}}) {
    Tensor out = tf.zeros({3});
    KernelRuntimeContext context;
    aten::clamp_outf(context, in, low, high, out);
    EXPECT_EQ(context.failure_state(), Error::Ok);
    expect_all_nan(out);
  }
  Tensor out = tf.zeros({3});
  KernelRuntimeContext context;
  aten::hardtanh_outf(context, in, nan, 2.0, out);
  expect_all_nan(out);
}

TEST_F(LimitsTest, BoundsThatAreNaNMakeNaN) {
  expect_nan_from_bounds<ScalarType::Float>();
  expect_nan_from_bounds<ScalarType::Double>();
  expect_nan_from_bounds<ScalarType::Half>();
  expect_nan_from_bounds<ScalarType::BFloat16>();
}

// Arithmetic is that of the inputs' common dtype; the result is cast.
TEST_F(LimitsTest, OutputsOfAnotherDtypeTakeResultsOfTheCommonOne) {
  TensorFactory<ScalarType::Char> chars;
  TensorFactory<ScalarType::Byte> bytes;
  TensorFactory<ScalarType::Short> shorts;
  TensorFactory<ScalarType::Bool> bools;
  TensorFactory<ScalarType::Half> halves;
  TensorFactory<ScalarType::Int> ints;
  TensorFactory<ScalarType::Long> longs;
  TensorFactory<ScalarType::Float> floats;
  KernelRuntimeContext ctx;
  Tensor wide = longs.zeros({2});
  Tensor single = floats.zeros({2});
  const Tensor a = chars.make({2}, {100, -128}), b = chars.make({2}, {100, -1});
  EXPECT_TENSOR_EQ(aten::mul_outf(ctx, a, b, wide), longs.make({2}, {16, -128}));
  EXPECT_TENSOR_EQ(aten::mul_outf(ctx, a, b, single), floats.make({2}, {16, -128}));
  EXPECT_TENSOR_EQ(aten::add_outf(ctx, a, b, 1, wide), longs.make({2}, {-56, 127}));
  EXPECT_TENSOR_EQ(aten::sub_outf(ctx, bytes.make({2}, {3, 5}), bytes.make({2}, {5, 3}), 1, wide),
                   longs.make({2}, {254, 2}));
  EXPECT_TENSOR_EQ(aten::rsub_outf(ctx, bytes.make({2}, {3, 5}), 4, 1, wide),
                   longs.make({2}, {1, 255}));
  EXPECT_TENSOR_EQ(aten::pow_outf(ctx, a, executorch::aten::Scalar(2), wide),
                   longs.make({2}, {16, 0}));
  EXPECT_TENSOR_EQ(aten::bitwise_left_shift_outf(ctx, a, chars.make({2}, {1, 1}), wide),
                   longs.make({2}, {-56, 0}));
  // Char and Byte are computed as Short.
  EXPECT_TENSOR_EQ(
      aten::mul_outf(ctx, chars.make({2}, {100, -100}), bytes.make({2}, {200, 200}), wide),
      longs.make({2}, {20000, -20000}));
  EXPECT_TENSOR_EQ(aten::mul_outf(ctx, shorts.make({2}, {256, 2}), chars.make({2}, {127, 2}), wide),
                   longs.make({2}, {32512, 4}));
  // Bool and Bool are Bool: true and true are true.
  Tensor number = ints.zeros({2});
  EXPECT_TENSOR_EQ(
      aten::add_outf(ctx, bools.make({2}, {true, false}), bools.make({2}, {true, true}), 1, number),
      ints.make({2}, {1, 1}));
  // Halves are rounded: 2048 + 1 is 2048, and so is 2049 when it becomes a half.
  const Tensor one = halves.make({2}, {1, 1});
  EXPECT_TENSOR_EQ(aten::add_outf(ctx, halves.make({2}, {2048, 1}), one, 1, single),
                   floats.make({2}, {2048, 2}));
  EXPECT_TENSOR_EQ(aten::add_outf(ctx, longs.make({2}, {2049, 1}), one, 1, single),
                   floats.make({2}, {2048, 2}));
  EXPECT_TENSOR_EQ(aten::neg_outf(ctx, a, wide), longs.make({2}, {-100, -128}));
  EXPECT_TENSOR_EQ(aten::bitwise_not_outf(ctx, bytes.make({2}, {3, 255}), wide),
                   longs.make({2}, {252, 0}));
  EXPECT_EQ(ctx.failure_state(), Error::Ok);
}

// Long enough for several pieces, rows and blocks.
TEST_F(LimitsTest, LongTensorsAreRoundedToTheCommonDtype) {
  TensorFactory<ScalarType::Char> chars;
  TensorFactory<ScalarType::Long> longs;
  constexpr int kCount = 1000;
  std::vector<int8_t> values(kCount, 100);
  Tensor out = longs.zeros({kCount});
  KernelRuntimeContext context;
  aten::mul_outf(context, chars.make({kCount}, values), chars.make({kCount}, values), out);
  EXPECT_TENSOR_EQ(out, longs.full({kCount}, 16));
}

TEST_F(LimitsTest, MasksNeedNoScratchMemory) {
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Bool> masks;
  TensorFactory<ScalarType::Long> positions;
  const Tensor in = tf.make({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto run = [&](const auto& body) {
    EXPECT_EQ(error_of(body), Error::Ok);
    EXPECT_EQ(error_with_full_allocator(body), Error::Ok);
  };
  using Indices = std::vector<std::optional<Tensor>>;
  run([&](KernelRuntimeContext& ctx) {
    const Indices of_all{masks.make({2, 3}, {false, true, false, true, true, false})};
    Tensor out = tf.zeros({3});
    aten::index_outf(ctx, in, {of_all.data(), 1}, out);
    EXPECT_TENSOR_EQ(out, tf.make({3}, {2, 4, 5}));
  });
  run([&](KernelRuntimeContext& ctx) {
    const Indices of_rows{masks.make({2}, {false, true})};
    Tensor out = tf.zeros({1, 3});
    aten::index_outf(ctx, in, {of_rows.data(), 1}, out);
    EXPECT_TENSOR_EQ(out, tf.make({1, 3}, {4, 5, 6}));
  });
  // Broadcast against positions: the mask is looked through once for each of them.
  run([&](KernelRuntimeContext& ctx) {
    const Indices both{positions.make({2, 1}, {1, 0}), masks.make({3}, {true, false, true})};
    Tensor out = tf.zeros({2, 2});
    aten::index_outf(ctx, in, {both.data(), 2}, out);
    EXPECT_TENSOR_EQ(out, tf.make({2, 2}, {4, 6, 1, 3}));
  });
  run([&](KernelRuntimeContext& ctx) {
    const Indices of_all{masks.make({2, 3}, {true, false, false, false, false, true})};
    Tensor out = tf.zeros({2, 3});
    aten::index_put_outf(ctx, in, {of_all.data(), 1}, tf.make({2}, {10, 20}), true, out);
    EXPECT_TENSOR_EQ(out, tf.make({2, 3}, {11, 2, 3, 4, 5, 26}));
    aten::index_put_(ctx, out, {of_all.data(), 1}, tf.make({1}, {7}), false);
    EXPECT_TENSOR_EQ(out, tf.make({2, 3}, {7, 2, 3, 4, 5, 7}));
  });
}

TEST_F(LimitsTest, BatchNormNeedsNoScratchMemory) {
  TensorFactory<ScalarType::Float> tf;
  // y = (x - mean) / sqrt(var) * weight + bias, eps 0: channel 0 by 1/2 * 4 + 1, 1 by 1/3 * 3 - 1.
  const Tensor mean = tf.make({2}, {1, 2}), var = tf.make({2}, {4, 9});
  const std::optional<Tensor> weight = tf.make({2}, {4, 3}), bias = tf.make({2}, {1, -1});
  const std::vector<float> values{1, 2, 3, 4, 2, 3, 4, 5}, wanted{1, 3, 5, 7, -1, 0, 1, 2};
  const std::vector<float> of_planes{1, 2, 3, 4, 2, 3, 4, 5};
  for (const bool channels_last : {false, true}) {
    const auto make = [&](const std::vector<float>& planes) {
      return channels_last ? tf.channels_last_like(tf.make({1, 2, 2, 2}, planes))
                           : tf.make({1, 2, 2, 2}, planes);
    };
    Tensor out = make(std::vector<float>(8));
    Tensor none0 = tf.zeros({0}), none1 = tf.zeros({0});
    EXPECT_EQ(error_with_full_allocator([&](KernelRuntimeContext& ctx) {
                aten::_native_batch_norm_legit_no_training_outf(
                    ctx, make(values), weight, bias, mean, var, 0.1, 0.0, out, none0, none1);
              }),
              Error::Ok);
    EXPECT_TENSOR_CLOSE(out, make(wanted));
  }
  // Enough channels for rows of them, and for two blocks of factors.
  constexpr int kChannels = 300;
  std::vector<float> means(kChannels), ones(kChannels, 1);
  for (int c = 0; c < kChannels; ++c) {
    means[c] = static_cast<float>(c);
  }
  std::vector<float> rows;
  for (int position = 0; position < 6; ++position) {
    rows.insert(rows.end(), means.begin(), means.end());
  }
  const Tensor in = tf.make_with_dimorder({1, kChannels, 2, 3}, rows, {0, 2, 3, 1});
  Tensor out =
      tf.make_with_dimorder({1, kChannels, 2, 3}, std::vector<float>(rows.size(), 5), {0, 2, 3, 1});
  Tensor none0 = tf.zeros({0}), none1 = tf.zeros({0});
  KernelRuntimeContext context;
  aten::_native_batch_norm_legit_no_training_outf(
      context, in, std::nullopt, std::nullopt, tf.make({kChannels}, means),
      tf.make({kChannels}, ones), 0.1, 0.0, out, none0, none1);
  for (ssize_t i = 0; i < out.numel(); ++i) {
    ASSERT_EQ(out.const_data_ptr<float>()[i], 0) << i;
  }
}

TEST_F(LimitsTest, ImagesOfBytesNeedNoScratchMemory) {
  TensorFactory<ScalarType::Byte> tf;
  std::vector<uint8_t> pixels(2 * 9 * 7);
  for (size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<uint8_t>(i * 37 % 251);
  }
  const Tensor in = tf.make({1, 2, 9, 7}, pixels);
  for (const auto& [height, width] : {std::pair{4, 3}, {20, 11}, {9, 2}}) {
    const int64_t size[] = {height, width};
    std::vector<Tensor> results;
    std::vector<uint8_t> pool(1 << 16);
    for (const size_t bytes : {size_t{0}, pool.size()}) {
      MemoryAllocator allocator(static_cast<uint32_t>(bytes), pool.data());
      KernelRuntimeContext context(nullptr, &allocator);
      for (const bool antialias : {false, true}) {
        Tensor out = tf.zeros({1, 2, height, width});
        if (antialias) {
          aten::_upsample_bilinear2d_aa_outf(context, in, size, false, std::nullopt, std::nullopt,
                                             out);
        } else {
          aten::upsample_bilinear2d_outf(context, in, executorch::aten::IntArrayRef(size), false,
                                         std::nullopt, out);
        }
        results.push_back(out);
      }
      EXPECT_EQ(context.failure_state(), Error::Ok);
    }
    EXPECT_TENSOR_EQ(results[0], results[2]);
    EXPECT_TENSOR_EQ(results[1], results[3]);
  }
}

// What cannot do without takes the platform's memory where the call brings no allocator, and none
// where the allocator has too little.
TEST_F(LimitsTest, SortingTakesThePlatformsMemory) {
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Long> indices;
  Tensor values = tf.zeros({2});
  Tensor positions = indices.zeros({2});
  const auto best = [&](KernelRuntimeContext& ctx) {
    aten::topk_outf(ctx, tf.make({4}, {3, 1, 4, 1}), 2, 0, true, true, values, positions);
  };
  EXPECT_EQ(error_of(best), Error::Ok);
  EXPECT_TENSOR_EQ(values, tf.make({2}, {4, 3}));
  EXPECT_EQ(error_with_full_allocator(best), Error::MemoryAllocationFailed);
}

TEST_F(LimitsTest, EmptyTensorsOfOneDimensionAreNotJoined) {
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Int> ints;
  TensorFactory<ScalarType::Double> doubles;
  const std::vector<Tensor> parts{tf.zeros({0}), ints.make({1, 2}, {1, 2}), doubles.zeros({0}),
                                  ints.make({1, 2}, {3, 4}), tf.zeros({0})};
  for (const int64_t dim : {0, -2}) {
    Tensor out = ints.zeros({2, 2});
    EXPECT_EQ(error_of([&](KernelRuntimeContext& ctx) {
                aten::cat_outf(ctx, {parts.data(), parts.size()}, dim, out);
              }),
              Error::Ok);
    EXPECT_TENSOR_EQ(out, ints.make({2, 2}, {1, 2, 3, 4}));
  }
}

TEST_F(LimitsTest, ComplexNumbersOfHalves) {
  using Number = executorch::aten::complex<executorch::aten::Half>;
  TensorFactory<ScalarType::ComplexHalf> tf;
  TensorFactory<ScalarType::Half> halves;
  const auto number = [](float re, float im) {
    return Number(static_cast<executorch::aten::Half>(re), static_cast<executorch::aten::Half>(im));
  };
  const Tensor a = tf.make({1, 1, 2}, {number(3, 4), number(1, -1)});
  const Tensor b = tf.make({1, 2, 1}, {number(1, 2), number(0, 1)});
  KernelRuntimeContext context;
  Tensor lengths = halves.zeros({1, 1, 2});
  aten::abs_outf(context, a, lengths);
  EXPECT_EQ(lengths.const_data_ptr<executorch::aten::Half>()[0], 5.0f);
  Tensor out = tf.zeros({1, 1, 2});
  const auto expect = [&](const Tensor& found, std::vector<Number> wanted) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Number value = found.const_data_ptr<Number>()[i];
      EXPECT_EQ(float(value.real()), float(wanted[i].real())) << i;
      EXPECT_EQ(float(value.imag()), float(wanted[i].imag())) << i;
    }
  };
  expect(aten::add_outf(context, a, a, 2, out), {number(9, 12), number(3, -3)});
  expect(aten::mul_outf(context, a, a, out), {number(-7, 24), number(0, -2)});
  Tensor product = tf.zeros({1, 1, 1});
  expect(aten::bmm_outf(context, a, b, product), {number(-4, 11)});
  EXPECT_EQ(context.failure_state(), Error::Ok);
  std::stringstream text;
  text << product;
  EXPECT_NE(text.str().find("dtype=ComplexHalf, data={-4 + 11j}"), std::string::npos) << text.str();
}

TEST_F(LimitsTest, Refusals) {
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Byte> bytes;
  TensorFactory<ScalarType::Int> ints;
  TensorFactory<ScalarType::Bool> bools;
  const Tensor in = tf.ones({1, 2, 2, 3});
  Tensor out = tf.ones({1, 2, 2, 3});
  const auto refused = [](const auto& call) { EXPECT_EQ(error_of(call), Error::InvalidArgument); };
  Tensor byte = bytes.zeros({2});
  refused([&](auto& ctx) {
    aten::clamp_outf(ctx, bytes.ones({2}), executorch::aten::Scalar(-1), std::nullopt, byte);
  });
  refused([&](auto& ctx) {
    aten::clamp_outf(ctx, bytes.ones({2}), std::nullopt, executorch::aten::Scalar(-1), byte);
  });
  Tensor number = ints.zeros({2}), truth = bools.zeros({2});
  refused([&](auto& ctx) { aten::rsub_outf(ctx, tf.ones({2}), 2, 1, number); });
  refused([&](auto& ctx) { aten::rsub_outf(ctx, ints.ones({2}), 2.5, 1, number); });
  refused([&](auto& ctx) { aten::rsub_outf(ctx, ints.ones({2}), 2, 1, truth); });
  refused([&](auto& ctx) { aten::rsub_outf(ctx, bools.ones({2}), 2, 1, truth); });
  refused([&](auto& ctx) { aten::copy_outf(ctx, in, in, /*non_blocking=*/true, out); });
  refused([&](auto& ctx) { aten::copy_(ctx, out, in, /*non_blocking=*/true); });
  for (const std::vector<int32_t>& shape : {std::vector<int32_t>{}, {3}}) {
    Tensor triangle = tf.zeros(shape);
    refused([&](auto& ctx) { aten::tril_outf(ctx, tf.ones(shape), 0, triangle); });
  }
  const Tensor image = tf.ones({1, 1, 3, 3}), weight = tf.ones({1, 1, 2, 2});
  const int64_t two[] = {2, 2}, none[] = {0, 0}, one[] = {1, 1};
  Tensor wide = tf.zeros({1, 1, 8, 8});
  refused([&](auto& ctx) {
    aten::convolution_outf(ctx, image, weight, std::nullopt, two, none, one, true, two, 1, wide);
  });
  Tensor reordered = tf.channels_last_like(out);
  refused([&](auto& ctx) { aten::abs_outf(ctx, in, reordered); });
}

using executorch::aten::DeviceIndex;
using executorch::aten::DeviceType;

class RecordingAllocator final : public executorch::runtime::DeviceAllocator {
 public:
  executorch::runtime::Result<void*> allocate(size_t, DeviceIndex, size_t) override {
    return Error::MemoryAllocationFailed;
  }
  void deallocate(void*, DeviceIndex) override {}
  Error copy_host_to_device(void* dst, const void* src, size_t nbytes, DeviceIndex index) override {
    return record("h2d", dst, src, nbytes, index);
  }
  Error copy_device_to_host(void* dst, const void* src, size_t nbytes, DeviceIndex index) override {
    return record("d2h", dst, src, nbytes, index);
  }
  DeviceType device_type() const override { return DeviceType::CUDA; }

  std::string calls;
  Error result = Error::Ok;

 private:
  Error record(const char* name, void* dst, const void* src, size_t nbytes, DeviceIndex index) {
    calls +=
        name + std::string(" ") + std::to_string(nbytes) + " at " + std::to_string(index) + ";";
    std::memcpy(dst, src, nbytes);
    return result;
  }
};

TEST_F(LimitsTest, CopiesToAndFromDevicesAreTheirAllocators) {
  static RecordingAllocator allocator;
  using executorch::aten::TensorImpl;
  TensorFactory<ScalarType::Float> tf;
  float memory[6] = {};
  int32_t sizes[] = {3, 2};
  uint8_t dim_order[] = {0, 1};
  int32_t strides[] = {2, 1};
  TensorImpl on_device(ScalarType::Float, 2, sizes, memory, dim_order, strides,
                       executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND, DeviceType::CUDA, 1);
  Tensor there(&on_device);
  const Tensor here = tf.make({2, 2}, {1, 2, 3, 4});
  const auto to_device = [&](KernelRuntimeContext& ctx) {
    torch::executor::et_copy::_h2d_copy_outf(ctx, here, there);
  };
  EXPECT_EQ(error_of(to_device), Error::NotFound);
  executorch::runtime::register_device_allocator(&allocator);
  EXPECT_EQ(error_of(to_device), Error::Ok);
  EXPECT_EQ(there.size(0), 2);
  Tensor back = tf.zeros({4, 2}, executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(error_of([&](KernelRuntimeContext& ctx) {
              torch::executor::et_copy::_d2h_copy_outf(ctx, there, back);
            }),
            Error::Ok);
  EXPECT_TENSOR_EQ(back, here);
  EXPECT_EQ(allocator.calls, "h2d 16 at 1;d2h 16 at 1;");
  allocator.result = Error::AccessFailed;
  EXPECT_EQ(error_of(to_device), Error::AccessFailed);
}

}  // namespace
