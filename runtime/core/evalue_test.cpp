// SPDX-License-Identifier: BSD-3-Clause
// EValue: every kind of value through every way to read it, right and wrong.
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/testing_util/error_matchers.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

using executorch::aten::ArrayRef;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Tag;
using executorch::runtime::testing::TensorFactory;

namespace {

// In ATen mode a tensor counts its references.
static_assert(std::is_trivially_copy_constructible_v<EValue> ==
              std::is_trivially_copyable_v<Tensor>);
static_assert(std::is_trivially_destructible_v<EValue> == std::is_trivially_copyable_v<Tensor>);
static_assert(sizeof(EValue) == 16);
static_assert(!std::is_constructible_v<EValue, int*>, "a pointer would become a bool");
static_assert(!std::is_constructible_v<EValue, const char*>);

// One value of every kind, with all that they refer to.
struct AllKinds {
  TensorFactory<ScalarType::Float> factory;
  Tensor tensor = factory.ones({2});
  std::string letters = "forward";
  ArrayRef<char> chars = ArrayRef<char>(letters.data(), letters.size());
  bool bools_data[2] = {true, false};
  ArrayRef<bool> bools = ArrayRef<bool>(bools_data, 2);
  double doubles_data[2] = {1.5, 2.5};
  ArrayRef<double> doubles = ArrayRef<double>(doubles_data, 2);
  EValue elements[2] = {EValue(int64_t{3}), EValue(int64_t{4})};
  EValue* int_pointers[2] = {&elements[0], &elements[1]};
  int64_t int_values[2] = {};
  BoxedEvalueList<int64_t> ints{int_pointers, int_values, 2};
  EValue tensor_element{tensor};
  EValue* tensor_pointers[1] = {&tensor_element};
  Tensor tensor_values[1] = {tensor};
  BoxedEvalueList<Tensor> tensors{tensor_pointers, tensor_values, 1};
  EValue* optional_pointers[2] = {nullptr, &tensor_element};
  std::optional<Tensor> optional_values[2];
  BoxedEvalueList<std::optional<Tensor>> optionals{optional_pointers, optional_values, 2};

  std::vector<EValue> values{EValue(),         EValue(tensor),     EValue(&chars),
                             EValue(2.5),      EValue(int64_t{7}), EValue(true),
                             EValue(&bools),   EValue(&doubles),   EValue(&ints),
                             EValue(&tensors), EValue(&optionals)};
};

TEST(EValueTest, EveryKindReadsBack) {
  RecordProperty("req", "RT-016");
  AllKinds kinds;
  const auto& v = kinds.values;
  EXPECT_TRUE(v[0].isNone());
  EXPECT_TRUE(v[1].isTensor());
  EXPECT_EQ(v[1].toTensor().unsafeGetTensorImpl(), kinds.tensor.unsafeGetTensorImpl());
  EXPECT_EQ(v[2].toString(), "forward");
  EXPECT_EQ(v[3].toDouble(), 2.5);
  EXPECT_EQ(v[4].toInt(), 7);
  EXPECT_TRUE(v[5].toBool());
  EXPECT_EQ(v[6].toBoolList(), kinds.bools);
  EXPECT_EQ(v[7].toDoubleList(), kinds.doubles);
  EXPECT_EQ(v[8].toIntList()[1], 4);
  EXPECT_EQ(v[9].toTensorList()[0].numel(), 2);
  EXPECT_FALSE(v[10].toListOptionalTensor()[0].has_value());
  EXPECT_TRUE(v[10].toListOptionalTensor()[1].has_value());
}

// Number of the reads tryTo<T>() for all T that succeed on a value.
int successful_reads(const EValue& value) {
  return value.tryToInt().ok() + value.tryToDouble().ok() + value.tryToBool().ok() +
         value.tryToTensor().ok() + value.tryToString().ok() + value.tryToIntList().ok() +
         value.tryToBoolList().ok() + value.tryToDoubleList().ok() + value.tryToTensorList().ok() +
         value.tryToListOptionalTensor().ok();
}

// Hardening: no read of a value of another kind gives anything but an error.
TEST(EValueTest, EveryKindReadsAsItselfOnly) {
  AllKinds kinds;
  for (const EValue& value : kinds.values) {
    EXPECT_EQ(successful_reads(value), value.isNone() ? 0 : 1) << static_cast<int>(value.tag);
    EXPECT_EQ(value.tryToScalar().ok(), value.isScalar());
    if (!value.isTensor()) {
      EXPECT_EQ(value.tryToTensor().error(), Error::InvalidType);
      EXPECT_DEATH((void)value.toTensor(), "");
    }
    if (!value.isInt()) {
      EXPECT_EQ(value.tryToScalarType().error(), Error::InvalidType);
      EXPECT_DEATH((void)value.toInt(), "");
    }
  }
}

TEST(EValueTest, NullListsAndStringsAreRefused) {
  EXPECT_DEATH(EValue(static_cast<ArrayRef<char>*>(nullptr)), "");
  EXPECT_DEATH(EValue(static_cast<BoxedEvalueList<int64_t>*>(nullptr)), "");
  for (const Tag tag : {Tag::String, Tag::ListBool, Tag::ListDouble, Tag::ListInt, Tag::ListTensor,
                        Tag::ListOptionalTensor}) {
    EValue value;
    value.tag = tag;
    EXPECT_EQ(successful_reads(value), 0);
    EXPECT_EQ(tag == Tag::String ? value.tryToString().error() : Error::InvalidState,
              Error::InvalidState);
  }
}

TEST(EValueTest, ScalarsKeepTheirKind) {
  EXPECT_TRUE(EValue(Scalar(int64_t{3})).isInt());
  EXPECT_TRUE(EValue(Scalar(3.0)).isDouble());
  EXPECT_TRUE(EValue(Scalar(true)).isBool());
  EXPECT_EQ(EValue(2.5).toScalar().to<double>(), 2.5);
  EXPECT_TRUE(EValue(true).toScalar().isBoolean());
  EXPECT_TRUE(EValue(int64_t{1}).to<Scalar>().isIntegral(false));
}

TEST(EValueTest, SmartPointersToValues) {
  TensorFactory<ScalarType::Float> factory;
  auto tensor = std::make_shared<Tensor>(factory.ones({3}));
  EValue value(tensor);
  EXPECT_EQ(value.toTensor().numel(), 3);
  EXPECT_EQ(tensor.use_count(), 1);
  EXPECT_EQ(EValue(std::make_unique<int64_t>(5)).toInt(), 5);
  EXPECT_DEATH(EValue(std::shared_ptr<Tensor>()), "");
}

TEST(EValueTest, OptionalsAreNoneOrTheValue) {
  EXPECT_EQ(EValue().toOptional<int64_t>(), std::nullopt);
  EXPECT_EQ(EValue(int64_t{5}).to<std::optional<int64_t>>(), 5);
  EXPECT_EQ(EValue().tryToOptional<double>().get(), std::nullopt);
  EXPECT_EQ(EValue(2.5).tryTo<std::optional<double>>().get(), 2.5);
  EXPECT_EQ(EValue(2.5).tryToOptional<int64_t>().error(), Error::InvalidType);
}

TEST(EValueTest, EnumerationsAreCheckedInts) {
  EXPECT_EQ(EValue(int64_t{6}).tryToScalarType().get(), ScalarType::Float);
  EXPECT_EQ(EValue(static_cast<int64_t>(ScalarType::Undefined)).tryToScalarType().error(),
            Error::InvalidArgument);
  EXPECT_EQ(EValue(int64_t{-1}).tryToScalarType().error(), Error::InvalidArgument);
  EXPECT_EQ(EValue(int64_t{256 + 6}).tryToScalarType().error(), Error::InvalidArgument);
  EXPECT_EQ(EValue(int64_t{2}).tryToMemoryFormat().error(), Error::InvalidArgument);
  EXPECT_TRUE(EValue(int64_t{1}).tryToMemoryFormat().ok());
  EXPECT_EQ(EValue(int64_t{1}).tryToLayout().error(), Error::InvalidArgument);
  EXPECT_EQ(EValue(int64_t{2}).tryToDevice().error(), Error::InvalidArgument);
  EXPECT_TRUE(EValue(int64_t{0}).toDevice().is_cpu());
}

TEST(EValueTest, MovingLeavesNone) {
  EValue source(int64_t{5});
  EValue target(std::move(source));
  EXPECT_EQ(target.toInt(), 5);
  EXPECT_TRUE(source.isNone());
  EValue assigned;
  assigned = std::move(target);
  EXPECT_EQ(assigned.toInt(), 5);
  EXPECT_TRUE(target.isNone());
  EValue& itself = assigned;
  assigned = std::move(itself);
  EXPECT_EQ(assigned.toInt(), 5);
}

TEST(BoxedEvalueListTest, ReadsElementsAsTheyAreNow) {
  EValue elements[2] = {EValue(int64_t{1}), EValue(int64_t{2})};
  EValue* pointers[2] = {&elements[0], &elements[1]};
  int64_t unwrapped[2] = {};
  BoxedEvalueList<int64_t> list(pointers, unwrapped, 2);
  EXPECT_EQ(list.get()[1], 2);
  elements[1] = EValue(int64_t{20});
  EXPECT_EQ(list.tryGet().get()[1], 20);
  // Another kind on an element's slot is an error, not a misread.
  elements[1] = EValue(2.5);
  EXPECT_EQ(list.tryGet().error(), Error::InvalidType);
  EXPECT_DEATH((void)list.get(), "");
  pointers[0] = nullptr;
  EXPECT_EQ(list.tryGet().error(), Error::InvalidState);
}

TEST(BoxedEvalueListTest, MissingOptionalsAreNull) {
  AllKinds kinds;
  const auto list = kinds.optionals.tryGet();
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE((*list)[0].has_value());
  EXPECT_TRUE((*list)[1].has_value());
  kinds.tensor_element = EValue();
  EXPECT_FALSE(kinds.optionals.tryGet().get()[1].has_value());
  kinds.tensor_element = EValue(int64_t{1});
  EXPECT_EQ(kinds.optionals.tryGet().error(), Error::InvalidType);
}

TEST(BoxedEvalueListTest, ConstructorRefusesNonsense) {
  int64_t unwrapped[1];
  EXPECT_DEATH((BoxedEvalueList<int64_t>(nullptr, unwrapped, 1)), "");
  EXPECT_DEATH((BoxedEvalueList<int64_t>(nullptr, nullptr, -1)), "");
  EXPECT_DEATH((BoxedEvalueList<int64_t>(nullptr, nullptr, 0)), "");
}

}  // namespace
