// SPDX-License-Identifier: BSD-3-Clause
// What is known of a payload before OpenVINO reads it: no library is needed.
#include <executorch/backends/openvino/runtime/payload.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

namespace executorch::backends::openvino {
namespace {

using runtime::CompileSpec;
using runtime::Error;

template <typename Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

std::string compiled(const std::string& text, uint64_t size) {
  return "RR_UPCVO" + bytes_of(uint32_t{1}) + bytes_of(size) + text + "graph";
}

std::string portable(uint64_t model_size, uint64_t weights_size) {
  std::string bytes = kPortableMagic + bytes_of(model_size) + bytes_of(weights_size) + "<net/>";
  bytes.resize(kWeightsAlignment);
  return bytes + "weights";
}

Error open(const std::string& bytes, const Settings& settings = {}) {
  return open_payload(bytes.data(), bytes.size(), settings).error();
}

class PayloadTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime::runtime_init(); }
};

TEST_F(PayloadTest, CompiledOnesSayWhoMadeThem) {
  const std::string text = "meta=1.0;ov=2026.4.1;isa=some set";
  const std::string bytes = compiled(text, text.size());
  const auto payload = open_payload(bytes.data(), bytes.size(), {});
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ(payload->version, "2026.4.1");
  EXPECT_EQ(payload->isa, "some set");
  EXPECT_FALSE(payload->is_portable);
}

TEST_F(PayloadTest, HeadersThatSayTooMuchAreRefused) {
  EXPECT_EQ(open(""), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(open(compiled("ov=1", 1000)), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(open(compiled("ov=1", UINT64_MAX)), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(open("RR_UPCVO"), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(open("another device's"), Error::Ok) << "its library knows it";
}

TEST_F(PayloadTest, PortableOnesHaveAModelAndWeights) {
  const std::string bytes = portable(6, 7);
  const auto payload = open_payload(bytes.data(), bytes.size(), {});
  ASSERT_TRUE(payload.ok());
  EXPECT_TRUE(payload->is_portable);
  EXPECT_EQ(payload->model, "<net/>");
  EXPECT_EQ(payload->weights, "weights");
  for (const auto& [model, weights] : {std::pair<uint64_t, uint64_t>{6, 8},
                                       {6, 6},
                                       {100, 7},
                                       {UINT64_MAX, 7},
                                       {6, UINT64_MAX},
                                       {UINT64_MAX - 40, UINT64_MAX}}) {
    EXPECT_EQ(open(portable(model, weights)), Error::DelegateInvalidCompatibility);
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Error error = open(bytes.substr(0, size));
    EXPECT_EQ(error, size > 0 && size < 8 ? Error::Ok : Error::DelegateInvalidCompatibility);
  }
}

TEST_F(PayloadTest, ChecksumsAreZlibs) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926u);  // the check value of CRC-32
  EXPECT_EQ(crc32("The quick brown fox jumps over the lazy dog"), 0x414FA339u);
  EXPECT_EQ(crc32(""), 0u);
}

TEST_F(PayloadTest, OtherBytesThanWereExportedAreRefused) {
  std::string bytes = portable(6, 7);
  char digits[9];
  std::snprintf(digits, sizeof(digits), "%08" PRIx32, crc32(bytes));
  CompileSpec spec{kChecksumKey, {digits, 8}};
  Settings settings;
  ASSERT_EQ(read_compile_specs(kOptions, {&spec, 1}, settings), Error::Ok);
  EXPECT_EQ(open(bytes, settings), Error::Ok);
  bytes.back() ^= 1;
  EXPECT_EQ(open(bytes, settings), Error::DelegateInvalidCompatibility);
  char wrong[] = "abc";
  spec.value = {wrong, 3};
  EXPECT_EQ(read_compile_specs(kOptions, {&spec, 1}, settings), Error::InvalidArgument);
}

TEST_F(PayloadTest, OptionsWinOverCompileSpecs) {
  char device[] = "GPU\0";
  char streams[] = "2";
  const CompileSpec specs[] = {{"device", {device, 4}}, {"NUM_STREAMS", {streams, 1}}};
  Settings settings;
  ASSERT_EQ(read_compile_specs(kOptions, {specs, 2}, settings), Error::Ok);
  EXPECT_EQ(settings.key(), "GPU\nNUM_STREAMS=2");
  runtime::BackendOptions<3> options;
  ASSERT_EQ(options.set_option("device", "CPU"), Error::Ok);
  ASSERT_EQ(options.set_option("NUM_STREAMS", 4), Error::Ok);
  ASSERT_EQ(options.set_option("ENABLE_CPU_PINNING", false), Error::Ok);
  const auto view = options.view();
  ASSERT_EQ(read_runtime_options(kOptions, {view.data(), view.size()}, settings), Error::Ok);
  EXPECT_EQ(settings.key(), "CPU\nENABLE_CPU_PINNING=NO\nNUM_STREAMS=4");
  EXPECT_FALSE(settings.has_precision());
  settings.properties["INFERENCE_PRECISION_HINT"] = "bf16";
  EXPECT_TRUE(settings.has_precision());
}

}  // namespace
}  // namespace executorch::backends::openvino
