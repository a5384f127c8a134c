// SPDX-License-Identifier: BSD-3-Clause
// Ports of a delegate: what tensors become for a library, and the text of each mistake.
#include <executorch/runtime/backend/ports/ports.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::testing::TensorFactory;

namespace {

template <typename T>
std::vector<T> values_of(const Elements& elements) {
  const T* data = static_cast<const T*>(elements.data);
  return {data, data + elements.numel()};
}

class PortsTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime_init(); }

  /// The first line that `act` logs, behind its place in a file; what it returns must be `error`.
  template <typename Act>
  std::string text_of(Act act, Error error = Error::InvalidArgument) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(act(), error);
    const std::string log = ::testing::internal::GetCapturedStderr();
    const size_t begin = log.find("Test: ");
    return begin == std::string::npos ? log : log.substr(begin, log.find('\n') - begin);
  }
  std::string text_of_input(Ports& ports, const EValue& value) {
    return text_of([&] { return ports.prepare_input(0, value).error(); });
  }
  std::string text_of_output(Ports& ports, const EValue& value,
                             Error error = Error::InvalidArgument) {
    return text_of([&] { return ports.prepare_output(0, value).error(); }, error);
  }

  static Ports ports_of(Port input, Port output, const PortRules& rules = {}) {
    Ports ports("Test", rules);
    ports.inputs.push_back(std::move(input));
    ports.outputs.push_back(std::move(output));
    return ports;
  }

  TensorFactory<ScalarType::Float> floats_;
  TensorFactory<ScalarType::Int> ints_;
  TensorFactory<ScalarType::Long> longs_;
};

TEST_F(PortsTest, SizesFitAndAreShown) {
  const auto fits = [](const PortSizes& sizes, const std::vector<int64_t>& found) {
    return sizes.fit(Elements::row_major(nullptr, ScalarType::Float, found));
  };
  const PortSizes ranges = PortSizes::ranges({{1, 1}, {2, 4}, {3, kNoMaxSize}});
  EXPECT_EQ(ranges.text(), "[1, 2..4, 3..]");
  EXPECT_FALSE(ranges.are_fixed());
  EXPECT_TRUE(fits(ranges, {1, 4, 1000}));
  EXPECT_FALSE(fits(ranges, {1, 5, 3}));
  EXPECT_FALSE(fits(ranges, {1, 2, 2}));
  EXPECT_FALSE(fits(ranges, {1, 2}));
  const PortSizes fixed = PortSizes::fixed({2, 3});
  EXPECT_EQ(fixed.text(), "[2, 3]");
  EXPECT_TRUE(fixed.are_fixed());
  EXPECT_EQ(fixed.sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(fits(fixed, {2, 3}));
  EXPECT_FALSE(fits(fixed, {2, 3, 1}));
  EXPECT_TRUE(PortSizes::ranges({{2, 2}}).are_fixed());
  const PortSizes listed = PortSizes::listed({{4, 3}, {9, 3}});
  EXPECT_EQ(listed.text(), "one of [4, 3] [9, 3]");
  EXPECT_FALSE(listed.are_fixed());
  EXPECT_TRUE(fits(listed, {9, 3}));
  EXPECT_FALSE(fits(listed, {5, 3}));
  EXPECT_EQ(PortSizes::fixed({}).text(), "[]");
  EXPECT_FALSE(fits(PortSizes::fixed({}), {1}));
  EXPECT_EQ(PortSizes().text(), "[...]");
  EXPECT_FALSE(PortSizes().are_fixed());
  EXPECT_TRUE(fits(PortSizes(), {7}));
}

TEST_F(PortsTest, ATensorThatFitsIsNotCopied) {
  Ports ports = ports_of({"x", ScalarType::Float, PortSizes::ranges({{1, 4}, {2, 2}})},
                         {"y", ScalarType::Float, PortSizes::fixed({2, 2})});
  EValue x(floats_.make({2, 2}, {1, 2, 3, 4})), y(floats_.zeros({2, 2}));
  EValue* args[] = {&x, &y};
  ASSERT_EQ(ports.check_count(args), Error::Ok);
  const auto read = ports.prepare_input(0, x);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->data, x.toTensor().const_data_ptr());
  const auto written = ports.prepare_output(0, y);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->data, y.toTensor().const_data_ptr());
  EXPECT_EQ(ports.store_output(0, *written, y), Error::Ok);
  EXPECT_TRUE(ports.inputs[0].copy.empty());
  EXPECT_TRUE(ports.outputs[0].copy.empty());
}

TEST_F(PortsTest, AnotherDtypeIsCopiedWhereTheBackendConverts) {
  const auto converts = [](ScalarType from, ScalarType to) {
    return from == ScalarType::Long && to == ScalarType::Int;
  };
  Ports ports = ports_of({"x", ScalarType::Int, PortSizes()},
                         {"y", ScalarType::Long, PortSizes::fixed({2})}, {converts});
  const auto read = ports.prepare_input(0, EValue(longs_.make({2}, {5, -6})));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->dtype, ScalarType::Int);
  EXPECT_EQ(values_of<int32_t>(*read), (std::vector<int32_t>{5, -6}));
  const Tensor y = ints_.zeros({2});
  const auto written = ports.prepare_output(0, EValue(y));
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->dtype, ScalarType::Long);
  static_cast<int64_t*>(written->data)[1] = 8;
  ASSERT_EQ(ports.store_output(0, *written, EValue(y)), Error::Ok);
  EXPECT_EQ(y.const_data_ptr<int32_t>()[1], 8);
  static_cast<int64_t*>(written->data)[1] = int64_t{1} << 31;
  EXPECT_EQ(text_of([&] { return ports.store_output(0, *written, EValue(y)); }),
            "Test: output 0 (y), element 1: expected a number of 32 bits, found 2147483648");
  EXPECT_EQ(text_of_input(ports, EValue(longs_.make({1}, {int64_t{1} << 31}))),
            "Test: input 0 (x), element 0: expected a number of 32 bits, found 2147483648");
  EXPECT_EQ(text_of_input(ports, EValue(floats_.zeros({2}))),
            "Test: input 0 (x): expected dtype Int, found Float (2)");
  EXPECT_EQ(text_of_output(ports, EValue(floats_.zeros({2}))),
            "Test: output 0 (y): expected dtype Long, found Float (2)");
  // Not the other way round.
  Ports other = ports_of({"", ScalarType::Long, PortSizes()}, {}, {converts});
  EXPECT_EQ(text_of_input(other, EValue(ints_.zeros({2}))),
            "Test: input 0: expected dtype Long, found Int (2)");
}

TEST_F(PortsTest, AnotherOrderOfDimensionsIsCopiedUnlessTheLibraryTakesIt) {
  const Tensor x = floats_.make_with_dimorder({2, 3}, {1, 4, 2, 5, 3, 6}, {1, 0});
  const Port port{"x", ScalarType::Float, PortSizes::fixed({2, 3})};
  Ports copying = ports_of(port, port);
  const auto read = copying.prepare_input(0, EValue(x));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(values_of<float>(*read), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  const auto written = copying.prepare_output(0, EValue(x));
  ASSERT_TRUE(written.ok());
  for (int i = 0; i < 6; ++i) {
    static_cast<float*>(written->data)[i] = static_cast<float>(10 * i);
  }
  ASSERT_EQ(copying.store_output(0, *written, EValue(x)), Error::Ok);
  EXPECT_EQ(x.const_data_ptr<float>()[1], 30.0f);
  Ports striding = ports_of(port, port, {nullptr, /*takes_strides=*/true});
  EXPECT_EQ(striding.prepare_input(0, EValue(x))->data, x.const_data_ptr());
  EXPECT_EQ(striding.prepare_output(0, EValue(x))->strides[1], 2);
}

TEST_F(PortsTest, OutputsTakeTheSizesOfThePortOrOfTheResult) {
  Ports ports = ports_of({}, {"y", ScalarType::Float, PortSizes::fixed({2, 3})});
  const Tensor y = floats_.zeros({4, 3}, TensorShapeDynamism::DYNAMIC_BOUND);
  ASSERT_TRUE(ports.prepare_output(0, EValue(y)).ok());
  EXPECT_EQ(y.size(0), 2);
  ports.outputs[0].sizes = PortSizes::ranges({{0, kNoMaxSize}, {3, 3}});
  const auto none = ports.prepare_output(0, EValue(y));
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->data, nullptr);
  float result[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const auto store = [&](int64_t rows) {
    const std::vector<int64_t> sizes = {rows, 3};
    return ports.store_output(0, Elements::row_major(result, ScalarType::Float, sizes), EValue(y));
  };
  for (const int64_t rows : {3, 0, 4}) {
    ASSERT_EQ(store(rows), Error::Ok);
    EXPECT_EQ(y.size(0), rows);
  }
  EXPECT_EQ(y.const_data_ptr<float>()[11], 12.0f);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(store(5), Error::NotSupported);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("Test: output 0 (y) (4, 3) cannot have sizes (5, 3)"), std::string::npos)
      << log;
}

TEST_F(PortsTest, ScalarsAreOneElementWhereTheLibraryHasNoneWithoutDimensions) {
  const Port port{"x", ScalarType::Float, PortSizes::fixed({1})};
  Ports ports = ports_of(port, port, {nullptr, false, /*takes_scalars=*/false});
  const EValue scalar(floats_.make({}, {3}));
  EXPECT_EQ(ports.prepare_input(0, scalar)->rank, 1u);
  const auto written = ports.prepare_output(0, scalar);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->data, scalar.toTensor().const_data_ptr());
  float result = 7;
  const auto one = Elements::row_major(&result, ScalarType::Float, std::vector<int64_t>{1});
  ASSERT_EQ(ports.store_output(0, one, scalar), Error::Ok);
  EXPECT_EQ(*scalar.toTensor().const_data_ptr<float>(), 7.0f);
  EXPECT_EQ(scalar.toTensor().dim(), 0);
  Ports others = ports_of(port, port);
  EXPECT_EQ(text_of_input(others, scalar), "Test: input 0 (x): expected sizes [1], found []");
}

TEST_F(PortsTest, EachMistakeOfAnArgumentHasOneText) {
  Ports ports = ports_of({"x", ScalarType::Float, PortSizes::ranges({{1, 1}, {3, kNoMaxSize}})},
                         {"y", ScalarType::Float, PortSizes::fixed({1})},
                         {nullptr, false, true,
                          /*takes_empty=*/false});
  EXPECT_EQ(text_of_input(ports, EValue(floats_.zeros({2, 3}))),
            "Test: input 0 (x): expected sizes [1, 3..], found [2, 3]");
  EXPECT_EQ(text_of_input(ports, EValue(int64_t{3})),
            "Test: input 0 (x): expected a tensor, found a value of kind 4");
  EXPECT_EQ(text_of_output(ports, EValue(true)),
            "Test: output 0 (y): expected a tensor, found a value of kind 5");
  ports.inputs[0].sizes = PortSizes::listed({{4, 3}, {9, 3}});
  EXPECT_EQ(text_of_input(ports, EValue(floats_.zeros({5, 3}))),
            "Test: input 0 (x): expected sizes one of [4, 3] [9, 3], found [5, 3]");
  ports.inputs[0].sizes = PortSizes();
  EXPECT_EQ(text_of_input(ports, EValue(floats_.zeros({0, 3}))),
            "Test: input 0 (x): expected sizes [...], found [0, 3]");
  SizesType sizes[] = {1};
  executorch::aten::DimOrderType order[] = {0};
  TensorImpl empty(ScalarType::Float, 1, sizes, nullptr, order);
  EXPECT_EQ(text_of_input(ports, EValue(Tensor(&empty))), "Test: input 0 (x) (1) has no memory");
  EXPECT_EQ(text_of_output(ports, EValue(Tensor(&empty))), "Test: output 0 (y) (1) has no memory");
  EValue value(int64_t{3});
  EValue* args[] = {&value};
  EXPECT_EQ(text_of([&] { return ports.check_count(args); }),
            "Test: expected 1 inputs and 1 outputs, found 1 arguments");
}

TEST_F(PortsTest, MemoryIsBoundAgainWhenItIsAnother) {
  Port port;
  int num_calls = 0;
  const auto bind = [&](const Tensor& tensor, Error error = Error::Ok) {
    return port.bind(Elements::of(tensor), [&](const Elements& elements) {
      EXPECT_EQ(elements.data, tensor.const_data_ptr());
      ++num_calls;
      return error;
    });
  };
  const Tensor x = floats_.zeros({2, 3}, TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(bind(x), Error::Ok);
  EXPECT_EQ(bind(x), Error::Ok);
  EXPECT_EQ(num_calls, 1);
  const SizesType fewer[] = {1, 3};
  ASSERT_EQ(resize_tensor(x, {fewer, 2}), Error::Ok);
  EXPECT_EQ(bind(x), Error::Ok);
  EXPECT_EQ(num_calls, 2);
  const Tensor y = floats_.zeros({1, 3});
  EXPECT_EQ(bind(y, Error::Internal), Error::Internal);
  EXPECT_EQ(bind(x), Error::Ok) << "after a failure nothing is bound";
  EXPECT_EQ(num_calls, 4);
}

}  // namespace
