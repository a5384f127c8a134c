// SPDX-License-Identifier: BSD-3-Clause
// Historic names are other spellings of the same things; a name of theirs hides a global one.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/runner_util/inputs.h>
#include <executorch/extension/testing_util/temp_file.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/kernel/kernel_includes.h>

#include <gtest/gtest.h>

#include <type_traits>

// Global names of a program that has nothing to do with this one.
struct Span {};
enum class Tag { kOther };
struct Device {};
namespace internal {
constexpr int kOther = 3;
}
namespace util {
constexpr int kOther = 4;
}

namespace torch::executor::native {
// A kernel as users write them.
Tensor& first_element_out(KernelRuntimeContext& context, const Tensor& in, Tensor& out) {
  ET_KERNEL_CHECK(context, in.numel() > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(context, resize_tensor(out, in.sizes().slice(0, 0)) == Error::Ok, InvalidArgument,
                  out);
  const Span<const float> elements(in.const_data_ptr<float>(), 1);
  out.mutable_data_ptr<float>()[0] = elements[0];
  static_assert(std::is_same_v<decltype(Tag::Tensor), ::executorch::runtime::Tag>);
  static_assert(std::is_same_v<Device, ::executorch::aten::Device>);
  return out;
}
}  // namespace torch::executor::native

namespace {

namespace code_in_an_old_namespace {
using namespace torch::executor;
bool is_none(const EValue& value) {
  return value.isNone();
}
Error clear(const Tensor& tensor) {
  ::torch::executor::internal::reset_data_ptr(tensor);
  return Error::Ok;
}
}  // namespace code_in_an_old_namespace

TEST(HistoricNamesTest, AreTheSameThings) {
  static_assert(std::is_same_v<torch::executor::Tensor, executorch::aten::Tensor>);
  static_assert(std::is_same_v<torch::executor::Tensor, exec_aten::Tensor>);
  static_assert(std::is_same_v<torch::executor::optional<int>, std::optional<int>>);
  static_assert(std::is_same_v<torch::executor::Module, executorch::extension::Module>);
  static_assert(std::is_same_v<torch::executor::Module, executorch::extension::module::Module>);
  static_assert(std::is_same_v<torch::executor::util::BufferDataLoader,
                               executorch::extension::BufferDataLoader>);
  static_assert(
      std::is_same_v<torch::executor::testing::TempFile, executorch::extension::testing::TempFile>);
  static_assert(std::is_same_v<torch::executor::PyTorchBackendInterface,
                               executorch::runtime::BackendInterface>);
  static_assert(std::is_same_v<torch::executor::RuntimeContext, executorch::aten::RuntimeContext>);
  static_assert(std::is_same_v<torch::executor::internal::U1, uint8_t>);
  EXPECT_EQ(&torch::executor::util::prepare_input_tensors,
            &executorch::extension::prepare_input_tensors);
}

TEST(HistoricNamesTest, StandBesideGlobalNames) {
  EXPECT_TRUE(code_in_an_old_namespace::is_none(torch::executor::EValue()));
  EXPECT_EQ(::internal::kOther, 3);
  EXPECT_EQ(::util::kOther, 4);
  float data[] = {5, 6};
  float result = 0;
  int32_t size = 2;
  executorch::aten::TensorImpl in(executorch::aten::ScalarType::Float, 1, &size, data);
  executorch::aten::TensorImpl out(executorch::aten::ScalarType::Float, 0, nullptr, &result);
  executorch::aten::Tensor out_tensor(&out);
  torch::executor::KernelRuntimeContext context;
  torch::executor::native::first_element_out(context, executorch::aten::Tensor(&in), out_tensor);
  EXPECT_EQ(context.failure_state(), torch::executor::Error::Ok);
  EXPECT_EQ(result, 5);
  EXPECT_EQ(code_in_an_old_namespace::clear(out_tensor), torch::executor::Error::Ok);
  EXPECT_EQ(out_tensor.const_data_ptr(), nullptr);
}

}  // namespace
