// SPDX-License-Identifier: BSD-3-Clause
// How values are printed.
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/evalue_util/print_evalue.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::evalue_edge_items;
using executorch::extension::make_tensor_ptr;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::EValue;

namespace {

std::string print(const EValue& value, long edge_items = 0) {
  std::ostringstream out;
  out << evalue_edge_items(edge_items) << value;
  return out.str();
}

class PrintEValue : public testing::Test {
 protected:
  void SetUp() override { executorch::runtime::runtime_init(); }
};

TEST_F(PrintEValue, Numbers) {
  EXPECT_EQ(print(EValue()), "None");
  EXPECT_EQ(print(EValue(int64_t(-3))), "-3");
  EXPECT_EQ(print(EValue(true)), "True");
  EXPECT_EQ(print(EValue(2.5)), "2.5");
  EXPECT_EQ(print(EValue(2.0)), "2.");
}

TEST_F(PrintEValue, Strings) {
  ArrayRef<char> text("say \"hi\"", 8);
  EXPECT_EQ(print(EValue(&text)), "\"say \\\"hi\\\"\"");
}

TEST_F(PrintEValue, Tensors) {
  RecordProperty("req", "EXT-027");
  EXPECT_EQ(print(EValue(*make_tensor_ptr({2, 2}, {1.5f, 2.0f, -3.25f, 4.0f}))),
            "tensor(sizes=[2, 2], [1.5, 2., -3.25, 4.])");
  EXPECT_EQ(print(EValue(*make_tensor_ptr({int8_t(65)}))), "tensor(sizes=[1], [65])");
  EXPECT_EQ(print(EValue(*make_tensor_ptr({true, false}))), "tensor(sizes=[2], [True, False])");
  EXPECT_EQ(print(EValue(*executorch::extension::full({0, 3}, 1))), "tensor(sizes=[0, 3], [])");
  EXPECT_EQ(print(EValue(*make_tensor_ptr({2}, static_cast<void*>(nullptr)))),
            "tensor(sizes=[2], <no data>)");
}

TEST_F(PrintEValue, LongTensorsAreShortened) {
  std::vector<int32_t> numbers(1000);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<int32_t>(i);
  }
  const auto tensor = make_tensor_ptr({1, 1000}, numbers);
  EXPECT_EQ(print(EValue(*tensor)), "tensor(sizes=[1, 1000], [0, 1, 2, ..., 997, 998, 999])");
  EXPECT_EQ(print(EValue(*tensor), 10),
            "tensor(sizes=[1, 1000], [\n  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \n  ...,\n"
            "  990, 991, 992, 993, 994, 995, 996, 997, 998, 999, \n])");
}

TEST_F(PrintEValue, Lists) {
  EValue items[2] = {EValue(int64_t(7)), EValue(int64_t(8))};
  EValue* pointers[2] = {&items[0], &items[1]};
  int64_t unwrapped[2];
  BoxedEvalueList<int64_t> list(pointers, unwrapped, 2);
  EXPECT_EQ(print(EValue(&list)), "(len=2)[7, 8]");
  items[1] = EValue(1.5);  // no list of integers any more
  EXPECT_EQ(print(EValue(&list)), "<Error::InvalidType>");
  const double numbers[] = {0.5, 1};
  ArrayRef<double> doubles(numbers, 2);
  EXPECT_EQ(print(EValue(&doubles)), "(len=2)[0.5, 1.]");
}

TEST_F(PrintEValue, NumbersShowWhetherTheyAreWhole) {
  EXPECT_EQ(print(EValue(1e6)), "1e+06");
  EXPECT_EQ(print(EValue(123456.0)), "123456.");
  EXPECT_EQ(print(EValue(-0.0)), "-0.");
  EXPECT_EQ(print(EValue(std::numeric_limits<double>::quiet_NaN())), "nan");
  EXPECT_EQ(print(EValue(std::numeric_limits<double>::infinity())), "inf");
  EValue unknown;
  unknown.tag = static_cast<executorch::runtime::Tag>(99);
  EXPECT_EQ(print(unknown), "<Unknown EValue tag 99>");
}

// Thirteen items at each end: the tail begins with the three that do not fill a line.
TEST_F(PrintEValue, TailsEndWithFullLines) {
  std::vector<double> numbers(100);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<double>(i) + 0.5;
  }
  ArrayRef<double> list(numbers.data(), numbers.size());
  EXPECT_EQ(print(EValue(&list), 13),
            "(len=100)[\n"
            "  0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, \n"
            "  10.5, 11.5, 12.5, \n"
            "  ...,\n"
            "  87.5, 88.5, 89.5, \n"
            "  90.5, 91.5, 92.5, 93.5, 94.5, 95.5, 96.5, 97.5, 98.5, 99.5, \n"
            "]");
}

TEST_F(PrintEValue, ListsOfTensors) {
  using executorch::aten::Tensor;
  const auto one = executorch::extension::full({1}, 1);
  const auto complex = make_tensor_ptr({1}, std::vector<uint8_t>(8), {}, {},
                                       executorch::aten::ScalarType::ComplexFloat);
  EValue items[2] = {EValue(*one), EValue(*complex)};
  EValue* pointers[2] = {&items[0], &items[1]};
  std::vector<Tensor> unwrapped(2, *one);
  BoxedEvalueList<Tensor> both(pointers, unwrapped.data(), 2);
  EXPECT_EQ(print(EValue(&both)),
            "(len=2)[\n  [0]: tensor(sizes=[1], [1.]),\n"
            "  [1]: tensor(sizes=[1], [<unhandled scalar type 9>]),\n]");
  BoxedEvalueList<Tensor> single(pointers, unwrapped.data(), 1);
  EXPECT_EQ(print(EValue(&single)), "(len=1)[tensor(sizes=[1], [1.])]");
  EValue* none[1] = {nullptr};
  std::optional<Tensor> optional[1];
  BoxedEvalueList<std::optional<Tensor>> missing(none, optional, 1);
  EXPECT_EQ(print(EValue(&missing)), "(len=1)[None]");
}

}  // namespace
