// SPDX-License-Identifier: BSD-3-Clause
// Kernels made from plain functions: every parameter type arrives, and wrong calls give errors.
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::aten::ArrayRef;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::make_boxed_kernel;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::registry_has_op_function;
using executorch::runtime::Span;

namespace {

struct Seen {
  int calls = 0;
  double number = 0;
  std::string text;
  std::vector<int64_t> list;
  bool has_optional = false;
  const void* data = nullptr;
};
Seen seen;

Tensor& add_number_out(KernelRuntimeContext&, const Tensor& self, int64_t number,
                       const Scalar& alpha, Tensor& out) {
  seen.calls += 1;
  seen.number = static_cast<double>(number) * (alpha.isFloatingPoint() ? alpha.to<double>() : 1);
  seen.data = self.const_data_ptr();
  return out;
}

void take_all(double number, bool flag, std::string_view text, ArrayRef<int64_t> list,
              std::optional<ScalarType> type, std::optional<int64_t> maybe,
              std::optional<ArrayRef<double>> doubles, const std::optional<Tensor>& tensor) {
  seen.calls += 1;
  seen.number = flag ? number : -number;
  seen.text = std::string(text);
  seen.list.assign(list.begin(), list.end());
  seen.has_optional =
      type.has_value() || maybe.has_value() || doubles.has_value() || tensor.has_value();
}

int64_t twice(int64_t number) {
  return 2 * number;
}

void fails(KernelRuntimeContext& context, int64_t) {
  context.fail(Error::NotSupported);
}

EXECUTORCH_LIBRARY(kernel_util_test, "twice", twice);
EXECUTORCH_LIBRARY(kernel_util_test, "fails", fails);

class KernelUtil : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    seen = Seen();
  }

  Error call(const Kernel& kernel, std::vector<EValue>& values) {
    std::vector<EValue*> stack;
    for (EValue& value : values) {
      stack.push_back(&value);
    }
    KernelRuntimeContext context;
    kernel.op_(context, Span<EValue*>(stack.data(), stack.size()));
    return context.failure_state();
  }

  int32_t sizes_[1] = {2};
  float data_[2] = {1, 2};
  uint8_t dim_order_[1] = {0};
  int32_t strides_[1] = {1};
  TensorImpl impl_{ScalarType::Float, 1, sizes_, data_, dim_order_, strides_};
  Tensor tensor_{&impl_};
};

TEST_F(KernelUtil, OutVariantGetsItsArguments) {
  RecordProperty("req", "EXT-029");
  const Kernel kernel = make_boxed_kernel("test::add", EXECUTORCH_FN(add_number_out));
  std::vector<EValue> values = {EValue(tensor_), EValue(int64_t(3)), EValue(2.5), EValue(tensor_),
                                EValue(tensor_)};
  EXPECT_EQ(call(kernel, values), Error::Ok);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.number, 7.5);
  EXPECT_EQ(seen.data, data_);
  values.pop_back();  // the result is not passed again
  EXPECT_EQ(call(kernel, values), Error::Ok);
}

TEST_F(KernelUtil, EveryKindOfParameter) {
  const Kernel kernel = make_boxed_kernel("test::all", EXECUTORCH_FN(take_all));
  EValue items[2] = {EValue(int64_t(7)), EValue(int64_t(8))};
  EValue* item_pointers[2] = {&items[0], &items[1]};
  int64_t unwrapped[2];
  BoxedEvalueList<int64_t> list(item_pointers, unwrapped, 2);
  const char text[] = "name";
  ArrayRef<char> characters(text, 4);
  std::vector<EValue> values = {EValue(int64_t(4)), EValue(true), EValue(&characters),
                                EValue(&list),      EValue(),     EValue(),
                                EValue(),           EValue()};
  EXPECT_EQ(call(kernel, values), Error::Ok);
  EXPECT_EQ(seen.number, 4);
  EXPECT_EQ(seen.text, "name");
  EXPECT_EQ(seen.list, (std::vector<int64_t>{7, 8}));
  EXPECT_FALSE(seen.has_optional);
  values[4] = EValue(int64_t(6));
  EXPECT_EQ(call(kernel, values), Error::Ok);
  EXPECT_TRUE(seen.has_optional);
  values[4] = EValue(int64_t(400));
  EXPECT_EQ(call(kernel, values), Error::InvalidArgument);
}

TEST_F(KernelUtil, EveryWrongTypeIsRefused) {
  const Kernel kernel = make_boxed_kernel("test::add", EXECUTORCH_FN(add_number_out));
  EValue item(int64_t(7));
  EValue* item_pointer = &item;
  int64_t unwrapped;
  BoxedEvalueList<int64_t> list(&item_pointer, &unwrapped, 1);
  ArrayRef<char> characters("x", 1);
  const EValue kinds[] = {EValue(),     EValue(tensor_),     EValue(int64_t(1)), EValue(1.0),
                          EValue(true), EValue(&characters), EValue(&list)};
  const std::vector<EValue> good = {EValue(tensor_), EValue(int64_t(3)), EValue(2.5),
                                    EValue(tensor_)};
  for (size_t place = 0; place < good.size(); ++place) {
    for (const EValue& kind : kinds) {
      std::vector<EValue> values = good;
      values[place] = kind;
      const bool fits = place == 2 ? kind.isScalar() : kind.tag == good[place].tag;
      EXPECT_EQ(call(kernel, values) == Error::Ok, fits) << "argument " << place;
    }
  }
}

TEST_F(KernelUtil, EveryWrongCountIsRefused) {
  const Kernel kernel = make_boxed_kernel("test::add", EXECUTORCH_FN(add_number_out));
  for (size_t count = 0; count < 8; ++count) {
    std::vector<EValue> values(count, EValue(tensor_));
    if (count > 1) {
      values[1] = EValue(int64_t(1));
    }
    if (count > 2) {
      values[2] = EValue(1.0);
    }
    EXPECT_EQ(call(kernel, values) == Error::Ok, count == 4 || count == 5) << count;
  }
}

TEST_F(KernelUtil, AListOfWrongElementsIsRefused) {
  const Kernel kernel = make_boxed_kernel("test::all", EXECUTORCH_FN(take_all));
  EValue item(1.5);
  EValue* item_pointer = &item;
  int64_t unwrapped;
  BoxedEvalueList<int64_t> list(&item_pointer, &unwrapped, 1);
  ArrayRef<char> characters("x", 1);
  std::vector<EValue> values = {EValue(1.0),   EValue(true), EValue(&characters),
                                EValue(&list), EValue(),     EValue(),
                                EValue(),      EValue()};
  EXPECT_EQ(call(kernel, values), Error::InvalidArgument);
  EXPECT_EQ(seen.calls, 0);
}

TEST_F(KernelUtil, LibraryMacroRegisters) {
  ASSERT_TRUE(registry_has_op_function("kernel_util_test::twice"));
  const Kernel kernel = make_boxed_kernel("kernel_util_test::twice", EXECUTORCH_FN(twice));
  std::vector<EValue> values = {EValue(int64_t(21)), EValue()};
  EXPECT_EQ(call(kernel, values), Error::Ok);
  EXPECT_EQ(values[1].toInt(), 42);
}

TEST_F(KernelUtil, AFailureOfTheKernelIsKept) {
  const Kernel kernel = make_boxed_kernel("kernel_util_test::fails", EXECUTORCH_FN(fails));
  std::vector<EValue> values = {EValue(int64_t(1))};
  EXPECT_EQ(call(kernel, values), Error::NotSupported);
}

namespace lists {
using namespace executorch::extension::kernel_util_internal;
using Three = typelist<int, char, float>;
static_assert(size<Three>::value == 3 && Three::size == 3);
static_assert(std::is_same_v<element_t<1, Three>, char>);
static_assert(std::is_same_v<drop_if_nonempty_t<Three, 2>, typelist<float>>);
static_assert(std::is_same_v<drop_if_nonempty_t<typelist<>, 1>, typelist<>>);
static_assert(std::is_same_v<head_with_default_t<long, typelist<>>, long>);
static_assert(std::is_same_v<head_with_default_t<long, Three>, int>);
static_assert(is_instantiation_of<typelist, Three>::value);
static_assert(infer_function_traits_t<int (*)(char, long)>::number_of_parameters == 2);
}  // namespace lists

}  // namespace
