// SPDX-License-Identifier: BSD-3-Clause
// What VgfBackend reads and refuses, without a device that runs it: VGF files, whole and damaged,
// arguments, and the names of what the device lacks. Runs are arm_emulation_test.py.
#include <executorch/backends/arm/runtime/VgfBackend.h>
#include <executorch/backends/arm/runtime/vgf/arguments.h>
#include <executorch/backends/arm/runtime/vgf/dump.h>
#include <executorch/backends/arm/runtime/vgf/payload.h>
#include <executorch/backends/arm/runtime/vgf/sample_file.h>
#include <executorch/backends/vulkan_device/device.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace executorch::backends::arm::vgf {
namespace {

using executorch::aten::ScalarType;
using runtime::Error;

/// Bytes at a place that is aligned to 8, and `shift` behind it.
class Aligned final {
 public:
  explicit Aligned(const std::string& bytes, size_t shift = 0)
      : words_(bytes.size() / 8 + 2), num_bytes_(bytes.size()), shift_(shift) {
    std::memcpy(data(), bytes.data(), bytes.size());
  }
  uint8_t* data() { return reinterpret_cast<uint8_t*>(words_.data()) + shift_; }
  runtime::Span<const uint8_t> span() { return {data(), num_bytes_}; }

 private:
  std::vector<uint64_t> words_;
  size_t num_bytes_;
  size_t shift_;
};

class VgfBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_vgf_backend(), Error::Ok);
    backend_ = runtime::get_backend_class("VgfBackend");
    ASSERT_NE(backend_, nullptr);
  }
  static Error open(const SampleFile& sample) {
    const std::string bytes = sample.bytes();
    EXPECT_FALSE(bytes.empty());
    Aligned aligned(bytes);
    return open_payload(aligned.span()).error();
  }
  Error init(const std::string& bytes) {
    Aligned aligned(bytes);
    runtime::FreeableBuffer buffer(aligned.data(), bytes.size(), nullptr);
    runtime::BackendInitContext context(nullptr);
    const auto handle = backend_->init(context, &buffer, {});
    if (handle.ok()) {
      backend_->destroy(*handle);
    }
    return handle.error();
  }
  /// Whether the device is one that would run it.
  static bool has_graphs() {
    const auto device = vulkan::Device::shared();
    return device.ok() && (*device)->missing_for_graphs.empty();
  }

  runtime::BackendInterface* backend_ = nullptr;
};

TEST_F(VgfBackendTest, AFileIsItsTables) {
  const std::string bytes = SampleFile().bytes();
  for (const size_t shift : {0, 4}) {  // wherever it lies
    Aligned aligned(bytes, shift);
    const auto opened = open_payload(aligned.span());
    ASSERT_EQ(opened.error(), Error::Ok);
    const Payload& payload = *opened;
    ASSERT_EQ(payload.resources.size(), 4);
    EXPECT_EQ(payload.resources[0].sizes, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(payload.resources[0].num_bytes, 24);
    EXPECT_EQ(payload.inputs, (std::vector<uint32_t>{0}));
    EXPECT_EQ(payload.outputs, (std::vector<uint32_t>{2}));
    ASSERT_EQ(payload.segments.size(), 2);
    const Segment& first = payload.segments[0];
    EXPECT_EQ(first.name, "first");
    EXPECT_EQ(first.entry_point, "main");
    EXPECT_EQ(first.code.size(), 6);
    ASSERT_EQ(first.bindings.size(), 2);
    EXPECT_EQ(first.bindings[1].number, 1);
    EXPECT_EQ(first.bindings[1].resource, 1);
    ASSERT_EQ(first.constants.size(), 1);
    EXPECT_EQ(first.constants[0].id, 7);
    EXPECT_EQ(payload.constants[first.constants[0].constant].data[15], 1);
    EXPECT_TRUE(payload.segments[1].constants.empty());
  }
}

TEST_F(VgfBackendTest, WithoutDimensionsThereIsOneOfSizeOne) {
  SampleFile sample;
  sample.shape = {};
  Aligned aligned(sample.bytes());
  const auto opened = open_payload(aligned.span());
  ASSERT_EQ(opened.error(), Error::Ok);
  EXPECT_EQ(opened->resources[0].sizes, (std::vector<int64_t>{1}));
  EXPECT_EQ(opened->resources[0].num_bytes, 4);
}

TEST_F(VgfBackendTest, WhatIsNotRunIsRefusedByName) {
  SampleFile sample;
  sample.has_shader = true;
  EXPECT_EQ(open(sample), Error::NotSupported);
  sample = {};
  sample.descriptor_type = 3;  // VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
  EXPECT_EQ(open(sample), Error::NotSupported);
  sample = {};
  sample.format = 37;  // VK_FORMAT_R8G8B8A8_UNORM
  EXPECT_EQ(open(sample), Error::NotSupported);
  sample = {};
  sample.strides = {16, 4};
  EXPECT_EQ(open(sample), Error::NotSupported);
  sample.strides = {12, 4};
  EXPECT_EQ(open(sample), Error::Ok);
}

TEST_F(VgfBackendTest, WhatDoesNotFitTogetherIsRefused) {
  SampleFile sample;
  sample.has_segments = false;
  EXPECT_EQ(open(sample), Error::Internal);
  sample = {};
  sample.constant_bytes = 15;
  EXPECT_EQ(open(sample), Error::Internal);
  sample = {};
  sample.code[0] = 0x03022307;
  EXPECT_EQ(open(sample), Error::Internal);
  sample = {};
  sample.code.resize(3);
  EXPECT_EQ(open(sample), Error::Internal);
  sample = {};
  sample.set = 32;
  EXPECT_EQ(open(sample), Error::Internal);
  sample = {};
  sample.second_binding = 0;
  EXPECT_EQ(open(sample), Error::Internal);
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{2, 0}, {-1, 3}, {int64_t{1} << 32, int64_t{1} << 31}}) {
    sample = {};
    sample.shape = shape;
    EXPECT_EQ(open(sample), Error::Internal) << shape[0];
  }
  sample = {};
  sample.sparse_dim = 0;
  EXPECT_EQ(open(sample), Error::Ok);
  sample.constant_shape = {2, 2};  // no four along it
  EXPECT_EQ(open(sample), Error::Internal);
  sample.sparse_dim = 2;
  EXPECT_EQ(open(sample), Error::Internal);
}

TEST_F(VgfBackendTest, EveryPrefixIsRefused) {
  const std::string bytes = SampleFile().bytes();
  for (size_t size = 0; size < bytes.size(); size += size < 256 ? 1 : 7) {
    EXPECT_EQ(init(bytes.substr(0, size)), Error::Internal) << size;
  }
}

/// Any byte, with one bit or all bits of it turned: refused, or what is read fits together.
TEST_F(VgfBackendTest, DamagedFilesAreRefusedOrRead) {
  const std::string good = SampleFile().bytes();
  size_t num_refused = 0, num_mutants = 0;
  for (const int mask : {0x01, 0x80, 0xFF}) {
    for (size_t at = 0; at < good.size(); ++at) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ mask);
      Aligned aligned(bytes);
      const auto opened = open_payload(aligned.span());
      ++num_mutants;
      if (!opened.ok()) {
        EXPECT_TRUE(opened.error() == Error::Internal || opened.error() == Error::NotSupported);
        ++num_refused;
        continue;
      }
      const uint8_t* end = aligned.span().data() + aligned.span().size();
      for (const Constant& constant : opened->constants) {
        EXPECT_LE(constant.data + constant.resource->num_bytes, end) << at;
      }
      for (const Segment& segment : opened->segments) {
        EXPECT_LE(reinterpret_cast<const uint8_t*>(segment.code.data() + segment.code.size()), end);
        for (const Binding& binding : segment.bindings) {
          EXPECT_LT(binding.resource, opened->resources.size()) << at;
        }
      }
    }
  }
  EXPECT_GT(num_mutants, 1000);
  EXPECT_GT(num_refused, num_mutants / 4);
}

TEST_F(VgfBackendTest, ADeviceWithoutDataGraphsIsNotSupportedAndSaysWhatItLacks) {
  if (has_graphs()) {
    GTEST_SKIP() << "this device runs data graphs";
  }
  EXPECT_FALSE(backend_->is_available());
  EXPECT_EQ(init(SampleFile().bytes()), Error::NotSupported);
  const auto device = vulkan::Device::shared();
  if (device.ok()) {
    const std::string& missing = (*device)->missing_for_graphs;
    EXPECT_NE(missing.find("VK_ARM_tensors, VK_ARM_data_graph"), std::string::npos) << missing;
  }
}

/// One input and one output of six floats.
class VgfArgumentsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    payload_bytes_ = SampleFile().bytes();
    aligned_.emplace_back(payload_bytes_);
    auto opened = open_payload(aligned_[0].span());
    ASSERT_EQ(opened.error(), Error::Ok);
    payload_ = std::move(*opened);
  }
  Error check(std::vector<extension::TensorPtr> tensors) {
    tensors_ = std::move(tensors);
    values_.assign(tensors_.begin(), tensors_.end());
    pointers_.clear();
    for (runtime::EValue& value : values_) {
      pointers_.push_back(&value);
    }
    return arguments().error();
  }
  runtime::Result<Arguments> arguments() {
    return Arguments::of({pointers_.data(), pointers_.size()}, payload_.resources, payload_.inputs,
                         payload_.outputs);
  }

  std::string payload_bytes_;
  std::vector<Aligned> aligned_;
  Payload payload_;
  std::vector<extension::TensorPtr> tensors_;
  std::vector<runtime::EValue> values_;
  std::vector<runtime::EValue*> pointers_;
};

TEST_F(VgfArgumentsTest, MustBeWhatTheFileHas) {
  std::vector<float> x(6), out(6), more(7);
  std::vector<int32_t> ints(6);
  const auto good = extension::from_blob(x.data(), {2, 3});
  const auto result = extension::from_blob(out.data(), {2, 3});
  EXPECT_EQ(check({good, result}), Error::Ok);
  EXPECT_EQ(check({extension::from_blob(x.data(), {3, 2}), result}), Error::Ok);
  EXPECT_EQ(check({good}), Error::InvalidArgument);
  EXPECT_EQ(check({good, result, result}), Error::InvalidArgument);
  EXPECT_EQ(check({extension::from_blob(more.data(), {7}), result}), Error::InvalidArgument);
  EXPECT_EQ(check({good, extension::from_blob(more.data(), {7})}), Error::InvalidArgument);
  EXPECT_EQ(check({extension::from_blob(ints.data(), {2, 3}, ScalarType::Int), result}),
            Error::InvalidArgument);
  EXPECT_EQ(check({good, extension::from_blob(ints.data(), {2, 3}, ScalarType::Int)}),
            Error::InvalidArgument);
}

TEST_F(VgfArgumentsTest, InputsAreWrittenAsFiles) {
  std::vector<float> x{1, 2, 3, 4, 5, 6}, out(6);
  ASSERT_EQ(check({extension::from_blob(x.data(), {2, 3}), extension::from_blob(out.data(), {6})}),
            Error::Ok);
  const std::filesystem::path folder = "vgf_dump";
  const auto all = arguments();
  ASSERT_EQ(dump_inputs(folder.c_str(), *all, payload_.resources, payload_.inputs), Error::Ok);
  std::ifstream file(folder / "call_000000" / "input_000_io_0.bin", std::ios::binary);
  std::vector<float> found(6);
  file.read(reinterpret_cast<char*>(found.data()), 24);
  EXPECT_EQ(found, x);
  std::ifstream metadata(folder / "call_000000" / "metadata.json");
  const std::string text{std::istreambuf_iterator<char>(metadata), {}};
  EXPECT_NE(text.find("\"format_version\": 1"), std::string::npos);
  EXPECT_NE(text.find("\"shape\": [2, 3]"), std::string::npos);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(dump_inputs("/dev/null/none", *all, payload_.resources, payload_.inputs),
            Error::AccessFailed);
}

/// On a device with data graphs, and a file that doubles six floats (EXECUTORCH_VGF_SAMPLE): it
/// twice, one segment behind the other.
class VgfRunTest : public VgfBackendTest {
 protected:
  void SetUp() override {
    VgfBackendTest::SetUp();
    const char* path = std::getenv("EXECUTORCH_VGF_SAMPLE");
    if (path == nullptr || !has_graphs()) {
      GTEST_SKIP() << "needs EXECUTORCH_VGF_SAMPLE, and a device that runs it";
    }
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    Aligned aligned(bytes);
    const auto opened = open_payload(aligned.span());
    ASSERT_EQ(opened.error(), Error::Ok);
    const Segment& segment = opened->segments[0];
    SampleFile sample;
    sample.has_constant = false;
    sample.code.assign(segment.code.begin(), segment.code.end());
    sample.entry_point = segment.entry_point;
    bytes_ = sample.bytes();
  }
  runtime::Result<runtime::DelegateHandle*> load() {
    Aligned aligned(bytes_);
    runtime::FreeableBuffer buffer(aligned.data(), bytes_.size(), nullptr);
    runtime::BackendInitContext context(nullptr);
    return backend_->init(context, &buffer, {});
  }
  Error run(runtime::DelegateHandle* handle, std::vector<float>& x, std::vector<float>& out) {
    const auto shape = [](const std::vector<float>& numbers) {
      return std::vector<executorch::aten::SizesType>{static_cast<int32_t>(numbers.size())};
    };
    const auto in = extension::from_blob(x.data(), shape(x));
    const auto result = extension::from_blob(out.data(), shape(out));
    runtime::EValue values[] = {*in, *result};
    runtime::EValue* pointers[] = {&values[0], &values[1]};
    runtime::BackendExecutionContext context;
    return backend_->execute(context, handle, {pointers, 2});
  }

  std::string bytes_;
};

TEST_F(VgfRunTest, SegmentsRunOneBehindTheOther) {
  const auto handle = load();
  ASSERT_EQ(handle.error(), Error::Ok);
  std::vector<float> x{1, -2, 3, 0.5, 5, 1e20F}, out(6, 7), more(7);
  EXPECT_EQ(run(*handle, more, out), Error::InvalidArgument);
  EXPECT_EQ(out, std::vector<float>(6, 7));
  EXPECT_EQ(run(*handle, x, out), Error::Ok);
  EXPECT_EQ(out, (std::vector<float>{4, -8, 12, 2, 20, 4e20F}));
  x[0] = 8;
  EXPECT_EQ(run(*handle, x, out), Error::Ok);
  EXPECT_EQ(out[0], 32);
  backend_->destroy(*handle);
}

TEST_F(VgfRunTest, ThreadsWaitForEachOther) {
  std::atomic<int> num_right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto handle = load();
      if (!handle.ok()) {
        return;
      }
      for (int k = 0; k < 5; ++k) {
        std::vector<float> x(6, static_cast<float>(10 * i + k)), out(6);
        const bool has_run = run(*handle, x, out) == Error::Ok;
        num_right += has_run && out == std::vector<float>(6, 4 * x[0]) ? 1 : 0;
      }
      backend_->destroy(*handle);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(num_right, 20);
}

}  // namespace
}  // namespace executorch::backends::arm::vgf
