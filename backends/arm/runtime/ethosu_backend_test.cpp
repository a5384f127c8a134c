// SPDX-License-Identifier: BSD-3-Clause
// EthosUBackend against a stub of the driver: what runs, and payloads and arguments that are
// refused before anything is copied.
#include <executorch/backends/arm/runtime/EthosUBackend.h>
#include <executorch/backends/arm/runtime/stub_driver.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

namespace executorch::backends::arm {
namespace {

using executorch::aten::ScalarType;
using extension::from_blob;
using runtime::Error;

/// Nine numbers: six sizes, bytes of an element, offset, region.
using Numbers = std::array<int32_t, 9>;

Numbers port(std::array<int32_t, 6> sizes, int32_t element_size, int32_t offset) {
  Numbers out{};
  std::copy(sizes.begin(), sizes.end(), out.begin());
  out[6] = element_size;
  out[7] = offset;
  out[8] = 1;
  return out;
}

/// The parts of a payload, to change before it is written.
struct Parts {
  std::string first = "vela_bin_stream";
  std::string commands = "COP1" + std::string(12, '\1');
  std::string weights = std::string(1, '\0');
  uint32_t scratch_size = 64;
  std::vector<Numbers> inputs{port({1, 1, 1, 1, 2, 4}, 1, 0), port({1, 1, 1, 1, 2, 4}, 1, 16)};
  std::vector<Numbers> outputs{port({1, 1, 1, 1, 2, 4}, 1, 0)};  // over the first input
  std::string scratch_name = "scratch_size";
  bool ends = true;

  static std::string number(uint32_t value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
  }
  static std::string block(std::string name, std::string data) {
    name.resize(16);
    const std::string size = number(static_cast<uint32_t>(data.size())) + std::string(12, '\0');
    data.resize((data.size() + 15) / 16 * 16);
    return name + size + data;
  }
  static std::string ports(const std::vector<Numbers>& all) {
    std::string out = number(static_cast<uint32_t>(all.size()));
    for (const Numbers& each : all) {
      out.append(reinterpret_cast<const char*>(each.data()), sizeof(each));
    }
    return out;
  }
  std::string bytes() const {
    return block(first, "") + block("cmd_data", commands) + block("weight_data", weights) +
           block(scratch_name, number(scratch_size)) + block("inputs", ports(inputs)) +
           block("outputs", ports(outputs)) + (ends ? block("vela_end_stream", "") : "");
  }
};

class EthosUBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_ethosu_backend(), Error::Ok);
    backend_ = runtime::get_backend_class("EthosUBackend");
    ASSERT_NE(backend_, nullptr);
    ethosu_stub_reset();
  }
  void TearDown() override { EXPECT_EQ(ethosu_stub_reserved(), 0); }

  Error load_bytes(const void* bytes, size_t size) {
    runtime::BackendInitContext context(&allocator_);
    allocator_.reset();
    runtime::FreeableBuffer buffer(bytes, size, nullptr);
    const auto made = backend_->init(context, &buffer, {});
    handle_ = made.ok() ? made.get() : nullptr;
    return made.error();
  }
  Error load(const Parts& parts) {
    const std::string bytes = parts.bytes();
    EXPECT_LE(bytes.size(), sizeof(payload_));
    std::memcpy(payload_, bytes.data(), bytes.size());
    return load_bytes(payload_, bytes.size());
  }
  Error run(std::vector<extension::TensorPtr> tensors, size_t temporary_bytes = 1024,
            runtime::EventTracer* tracer = nullptr) {
    std::vector<runtime::EValue> values(tensors.begin(), tensors.end());
    std::vector<runtime::EValue*> pointers;
    for (runtime::EValue& value : values) {
      pointers.push_back(&value);
    }
    runtime::MemoryAllocator temporary(static_cast<uint32_t>(temporary_bytes), memory_[1]);
    runtime::BackendExecutionContext context(tracer, &temporary);
    return backend_->execute(context, handle_, {pointers.data(), pointers.size()});
  }

  runtime::BackendInterface* backend_ = nullptr;
  runtime::DelegateHandle* handle_ = nullptr;
  alignas(16) uint8_t payload_[2048];
  alignas(16) uint8_t memory_[2][1024];
  runtime::MemoryAllocator allocator_{sizeof(memory_[0]), memory_[0]};
};

/// A tensor over numbers, of their dtype or the one that is given.
template <typename T>
extension::TensorPtr tensor(std::vector<T>& numbers, std::vector<executorch::aten::SizesType> sizes,
                            ScalarType dtype = runtime::CppTypeToScalarType<T>::value) {
  return from_blob(numbers.data(), std::move(sizes), dtype);
}

template <typename T>
void expect(size_t offset, const std::vector<T>& numbers) {
  ethosu_stub_expect(0, offset, numbers.data(), numbers.size() * sizeof(T));
}
template <typename T>
void answer(size_t offset, const std::vector<T>& numbers) {
  ethosu_stub_answer(0, offset, numbers.data(), numbers.size() * sizeof(T));
}

TEST_F(EthosUBackendTest, InputsGoInAndAnOutputThatLiesOverThemComesOut) {
  std::vector<int8_t> x{1, 2, 3, 4, 5, 6, 7, 8}, y{9, 8, 7, 6, 5, 4, 3, 2}, out(8);
  const std::vector<int8_t> sums(8, 10);
  ASSERT_EQ(load({}), Error::Ok);
  expect(0, x);
  expect(16, y);
  answer(0, sums);
  ASSERT_EQ(run({tensor(x, {2, 4}), tensor(y, {2, 4}), tensor(out, {2, 4})}), Error::Ok);
  EXPECT_EQ(out, sums);
  EXPECT_EQ(ethosu_stub_calls(), 1);
}

TEST_F(EthosUBackendTest, TwoOutputsOfOtherIntegers) {
  Parts parts;
  parts.inputs = {port({1, 1, 1, 1, 1, 3}, 2, 0), port({1, 1, 1, 1, 1, 2}, 4, 8),
                  port({1, 1, 1, 1, 1, 2}, 1, 16)};
  parts.outputs = {port({1, 1, 1, 1, 1, 3}, 2, 32), port({1, 1, 1, 1, 1, 2}, 4, 40),
                   port({1, 1, 1, 1, 1, 2}, 1, 48)};
  ASSERT_EQ(load(parts), Error::Ok);
  std::vector<int16_t> x{-300, 2, 30000}, out(3);
  std::vector<int32_t> y{1 << 30, -7}, wide(2);
  std::vector<uint8_t> mask{1, 0}, flags(2);
  const std::vector<int16_t> shorts{-1, -2, -3};
  const std::vector<int32_t> ints{-100000, 5};
  const std::vector<uint8_t> bools{0, 1};
  expect(0, x);
  expect(8, y);
  expect(16, mask);
  answer(32, shorts);
  answer(40, ints);
  answer(48, bools);
  ASSERT_EQ(run({tensor(x, {3}), tensor(y, {2}), tensor(mask, {2}, ScalarType::Bool),
                 tensor(out, {3}), tensor(wide, {2}), tensor(flags, {2}, ScalarType::Bool)}),
            Error::Ok);
  EXPECT_EQ(out, shorts);
  EXPECT_EQ(wide, ints);
  EXPECT_EQ(flags, bools);
}

TEST_F(EthosUBackendTest, PaddingOfRowsIsDropped) {
  Parts parts;
  parts.outputs = {port({1, 1, 1, 1, 2, 4}, 1, 32)};
  ASSERT_EQ(load(parts), Error::Ok);
  std::vector<int8_t> x(8), out(6);
  const std::vector<int8_t> rows{1, 2, 3, 99, 4, 5, 6, 99};
  answer(32, rows);
  ASSERT_EQ(run({tensor(x, {2, 4}), tensor(x, {2, 4}), tensor(out, {2, 3})}), Error::Ok);
  EXPECT_EQ(out, (std::vector<int8_t>{1, 2, 3, 4, 5, 6}));
}

TEST_F(EthosUBackendTest, ValuesOfFourBitsAreUnpacked) {
  Parts parts;
  parts.outputs = {port({1, 1, 1, 1, 2, 2}, 1, 32)};
  ASSERT_EQ(load(parts), Error::Ok);
  std::vector<int8_t> x(8), out(8);
  const std::vector<uint8_t> halves{0x21, 0xF7, 0x8E, 0x03};
  answer(32, halves);
  ASSERT_EQ(run({tensor(x, {2, 4}), tensor(x, {2, 4}), tensor(out, {2, 4})}), Error::Ok);
  EXPECT_EQ(out, (std::vector<int8_t>{1, 2, 7, -1, -2, -8, 3, 0}));
}

TEST_F(EthosUBackendTest, ArgumentsMustBeWhatWasCompiledFor) {
  ASSERT_EQ(load({}), Error::Ok);
  std::vector<int8_t> x(8), more(9), out(8);
  std::vector<int16_t> wide(8);
  std::vector<float> floats(8);
  const auto good = tensor(x, {2, 4}), result = tensor(out, {2, 4});
  EXPECT_EQ(run({good, good}), Error::InvalidArgument);
  EXPECT_EQ(run({good, good, result, result}), Error::InvalidArgument);
  EXPECT_EQ(run({tensor(more, {9}), good, result}), Error::InvalidProgram);
  EXPECT_EQ(run({tensor(wide, {2, 4}), good, result}), Error::InvalidProgram);
  EXPECT_EQ(run({tensor(floats, {2, 4}), good, result}), Error::InvalidProgram);
  EXPECT_EQ(run({good, good, tensor(more, {9})}), Error::InvalidProgram);
  EXPECT_EQ(run({good, good, tensor(wide, {2, 4})}), Error::InvalidProgram);
  EXPECT_EQ(ethosu_stub_calls(), 0);
  EXPECT_EQ(run({good, good, result}), Error::Ok);  // no worse for it
}

TEST_F(EthosUBackendTest, ScratchOfTemporaryMemoryMustSuffice) {
  ASSERT_EQ(load({}), Error::Ok);
  std::vector<int8_t> x(8), out(8);
  const auto good = tensor(x, {2, 4}), result = tensor(out, {2, 4});
  EXPECT_EQ(run({good, good, result}, 63), Error::MemoryAllocationFailed);
  EXPECT_EQ(run({good, good, result}, 64), Error::Ok);
}

TEST_F(EthosUBackendTest, AnErrorOfTheDriverIsAnError) {
  ASSERT_EQ(load({}), Error::Ok);
  std::vector<int8_t> x(8), out(8, 7);
  const std::vector<int8_t> others(8, 1);
  expect(0, others);
  const auto good = tensor(x, {2, 4});
  EXPECT_EQ(run({good, good, tensor(out, {2, 4})}), Error::InvalidProgram);
  EXPECT_EQ(out, (std::vector<int8_t>(8, 7)));
}

TEST_F(EthosUBackendTest, EveryPrefixIsRefused) {
  ASSERT_EQ(load({}), Error::Ok);
  const size_t whole = Parts().bytes().size();
  for (size_t size = 0; size < whole; ++size) {
    EXPECT_EQ(load_bytes(payload_, size), Error::InvalidProgram) << size;
  }
  EXPECT_EQ(load_bytes(payload_ + 1, whole - 1), Error::InvalidProgram);
  EXPECT_EQ(load_bytes(payload_, whole + 16), Error::InvalidProgram);
}

/// Any byte, with all bits of it turned: refused, or what is read stays within the scratch.
TEST_F(EthosUBackendTest, CorruptedBytesAreRefusedOrRun) {
  std::vector<int8_t> x(8), out(8);
  const auto good = tensor(x, {2, 4}), result = tensor(out, {2, 4});
  const size_t whole = Parts().bytes().size();
  size_t num_refused = 0;
  for (size_t at = 0; at < whole; ++at) {
    ASSERT_EQ(load({}), Error::Ok);
    payload_[at] = static_cast<uint8_t>(~payload_[at]);
    ethosu_stub_reset();
    if (load_bytes(payload_, whole) != Error::Ok || run({good, good, result}) != Error::Ok) {
      ++num_refused;
    }
  }
  EXPECT_GT(num_refused, whole / 3);
}

TEST_F(EthosUBackendTest, OtherNamesAreRefused) {
  Parts parts;
  parts.first = "vela_bin_strean";
  EXPECT_EQ(load(parts), Error::InvalidProgram);
  parts = {};
  parts.scratch_name = "scratch_bytes";
  EXPECT_EQ(load(parts), Error::InvalidProgram);
  parts = {};
  parts.ends = false;
  EXPECT_EQ(load(parts), Error::InvalidProgram);
  parts = {};
  parts.commands[3] = '3';
  EXPECT_EQ(load(parts), Error::InvalidProgram);
  parts.commands[3] = '2';
  EXPECT_EQ(load(parts), Error::Ok);
}

/// Each of these would write or read outside of the scratch, or be divided by 0.
TEST_F(EthosUBackendTest, NumbersOfPortsAreChecked) {
  const Numbers good = port({1, 1, 1, 1, 2, 4}, 1, 0);
  const std::pair<size_t, int32_t> wrong[] = {
      {7, 57}, {7, -1}, {7, INT32_MAX}, {6, 0}, {6, 3},  {6, 16}, {6, -1},       {8, 2},
      {8, 0},  {8, 3},  {0, 0},         {5, 0}, {4, -2}, {0, 9},  {5, INT32_MAX}};
  for (const auto& [place, value] : wrong) {
    for (const bool is_input : {true, false}) {
      Parts parts;
      (is_input ? parts.inputs : parts.outputs) = {good};
      (is_input ? parts.inputs : parts.outputs)[0][place] = value;
      EXPECT_EQ(load(parts), Error::InvalidProgram) << place << " " << value;
    }
  }
  Parts parts;
  parts.inputs = {good};
  parts.inputs[0][7] = 56;
  EXPECT_EQ(load(parts), Error::Ok);
  parts.inputs[0] = port({1 << 16, 1 << 16, 1 << 16, 1 << 16, 1 << 16, 1 << 16}, 4, 0);
  EXPECT_EQ(load(parts), Error::InvalidProgram);
}

TEST_F(EthosUBackendTest, PortsNeedMemory) {
  Parts parts;
  parts.inputs.assign(20, port({1, 1, 1, 1, 1, 1}, 1, 0));
  ASSERT_EQ(load(parts), Error::Ok);
  runtime::MemoryAllocator small(200, memory_[0]);
  runtime::BackendInitContext context(&small);
  runtime::FreeableBuffer buffer(payload_, parts.bytes().size(), nullptr);
  EXPECT_EQ(backend_->init(context, &buffer, {}).error(), Error::MemoryAllocationFailed);
}

}  // namespace
}  // namespace executorch::backends::arm
