// SPDX-License-Identifier: BSD-3-Clause
// Exponentials of all kinds of floats beside those in double.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>
#include <executorch/backends/xnnpack/library/unary/exponential.h>

#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"

#include <cstdint>
#include <cstring>

namespace executorch::backends::xnnpack::testing {
namespace {

class Exponential : public ConvolutionTest {
 protected:
  void SetUp() override {
    ConvolutionTest::SetUp();
    if (!xnn_init_hardware_config()->use_x86_avx512skx) {
      GTEST_SKIP() << "its kernel is for AVX-512";
    }
  }
  std::vector<float> computed(const std::vector<float>& x) const {
    std::vector<float> results(x.size() + 1, kUntouched);
    xnn_init_f32_exp_config()->ukernel(x.size() * sizeof(float), x.data(), results.data(), nullptr);
    EXPECT_EQ(results.back(), kUntouched);
    results.pop_back();
    return results;
  }
};

float unit_of(float value) {
  return std::max(std::nextafter(value, kInfinity) - value,
                  std::numeric_limits<float>::denorm_min());
}

TEST_F(Exponential, IsWithinTwoUnits) {
  std::vector<float> x;
  for (uint32_t bits = 0; bits < 0x7F800000u; bits += 9973) {  // every exponent
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    x.insert(x.end(), {value, -value});
  }
  for (float value = -105; value < 90; value += 0.0137f) {
    x.push_back(value);
  }
  const std::vector<float> found = computed(x);
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(double{x[i]});
    const auto rounded = static_cast<float>(exact);
    if (std::isinf(rounded)) {
      ASSERT_EQ(found[i], rounded) << x[i];
    } else {
      ASSERT_LE(std::abs(found[i] - exact), 2.0 * unit_of(rounded)) << x[i];
    }
  }
}

TEST_F(Exponential, OfNaNAndInfinities) {
  const std::vector<float> found = computed({std::nanf(""), kInfinity, -kInfinity, 0.0f, -0.0f});
  EXPECT_TRUE(std::isnan(found[0]));
  EXPECT_THAT(std::vector<float>(found.begin() + 1, found.end()),
              ::testing::ElementsAre(kInfinity, 0.0f, 1.0f, 1.0f));
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
