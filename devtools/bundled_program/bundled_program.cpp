// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/devtools/bundled_program/bundled_program.h>

#include <executorch/devtools/bundled_program/schema/bundled_program_schema_generated.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>

namespace executorch {
namespace BUNDLED_PROGRAM_NAMESPACE {

using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::kTensorDimensionLimit;
using runtime::Result;

namespace {

namespace fb = bundled_program_flatbuffer;

constexpr size_t kIdentifierEnd = 8;
constexpr double kLeastDivisor = 1e-8;
using Values = flatbuffers::Vector<flatbuffers::Offset<fb::Value>>;

/// A tensor of the file with what it points at. Not to be moved once `tensor` is there.
struct FileTensor {
  std::array<SizesType, kTensorDimensionLimit> sizes{};
  std::array<DimOrderType, kTensorDimensionLimit> dim_order{};
  std::array<StridesType, kTensorDimensionLimit> strides{};
  std::optional<runtime::internal::BorrowedTensor> tensor;

  Error read(const fb::Tensor& stored);
};

/// Bytes of a dense tensor of positive sizes, or nothing when they cannot be counted.
std::optional<size_t> num_bytes(const FileTensor& tensor, size_t rank, ScalarType type) {
  size_t bytes = runtime::elementSize(type);
  for (size_t i = 0; i < rank; ++i) {
    const auto size = static_cast<size_t>(tensor.sizes[i]);
    if (tensor.sizes[i] < 0 || __builtin_mul_overflow(bytes, size, &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

Error FileTensor::read(const fb::Tensor& stored) {
  const auto type = static_cast<ScalarType>(stored.scalar_type());
  ET_CHECK_OR_RETURN_ERROR(runtime::isValid(type), InvalidProgram,
                           "a test case has a tensor of element type %d", static_cast<int>(type));
  const size_t rank = stored.sizes() == nullptr ? 0 : stored.sizes()->size();
  const size_t num_order = stored.dim_order() == nullptr ? 0 : stored.dim_order()->size();
  ET_CHECK_OR_RETURN_ERROR(rank <= kTensorDimensionLimit && num_order == rank, InvalidProgram,
                           "a test case has a tensor of %zu sizes in an order of %zu", rank,
                           num_order);
  for (size_t i = 0; i < rank; ++i) {
    sizes[i] = stored.sizes()->Get(static_cast<uint32_t>(i));
    dim_order[i] = stored.dim_order()->Get(static_cast<uint32_t>(i));
  }
  const std::optional<size_t> expected = num_bytes(*this, rank, type);
  const size_t found = stored.data() == nullptr ? 0 : stored.data()->size();
  ET_CHECK_OR_RETURN_ERROR(expected.has_value() && *expected == found, InvalidProgram,
                           "a test case has a tensor whose %zu bytes are not what its sizes need",
                           found);
  ET_CHECK_OK_OR_RETURN_ERROR(
      runtime::dim_order_to_stride(sizes.data(), dim_order.data(), rank, strides.data()),
      "a test case has a tensor whose order of dimensions is none");
  tensor.emplace(type, rank, sizes.data(),
                 found == 0 ? nullptr : const_cast<uint8_t*>(stored.data()->data()),
                 dim_order.data(), strides.data());
  return Error::Ok;
}

Result<const fb::BundledMethodTestCase*> find_case(const Method& method, const void* file,
                                                   size_t index) {
  ET_CHECK_OR_RETURN_ERROR(is_bundled_program(const_cast<void*>(file), kIdentifierEnd),
                           NotSupported, "expected a bundled program, which has BP08 at byte 4");
  const char* const name = method.method_meta().name();
  const auto* suites = fb::GetBundledProgram(file)->method_test_suites();
  for (uint32_t i = 0; suites != nullptr && i < suites->size(); ++i) {
    const fb::BundledMethodTestSuite& suite = *suites->Get(i);
    if (suite.method_name() == nullptr || std::strcmp(suite.method_name()->c_str(), name) != 0) {
      continue;
    }
    const size_t count = suite.test_cases() == nullptr ? 0 : suite.test_cases()->size();
    ET_CHECK_OR_RETURN_ERROR(index < count, InvalidArgument,
                             "method %s has %zu test cases, and %zu is none of them", name, count,
                             index);
    return suite.test_cases()->Get(static_cast<uint32_t>(index));
  }
  ET_LOG(Error, "the bundled program has no test cases of method %s", name);
  return Error::InvalidArgument;
}

Error set_input(Method& method, const fb::Value& value, size_t index) {
  ET_CHECK_OR_RETURN_ERROR(value.val() != nullptr, InvalidProgram,
                           "a test case has an input without a value");
  switch (value.val_type()) {
    case fb::ValueUnion::Tensor: {
      FileTensor tensor;
      ET_CHECK_OK_OR_RETURN_ERROR(tensor.read(*value.val_as_Tensor()));
      return method.set_input(EValue(tensor.tensor->get()), index);
    }
    case fb::ValueUnion::Int:
      return method.set_input(EValue(value.val_as_Int()->int_val()), index);
    case fb::ValueUnion::Bool:
      return method.set_input(EValue(value.val_as_Bool()->bool_val()), index);
    case fb::ValueUnion::Double:
      return method.set_input(EValue(value.val_as_Double()->double_val()), index);
    default:
      return Error::NotSupported;
  }
}

/// The expected outputs of a case, as many as the method has.
Result<const Values*> find_outputs(const Method& method, const void* file, size_t index,
                                   Error without) {
  const fb::BundledMethodTestCase* const found = ET_UNWRAP(find_case(method, file, index));
  const Values* const outputs = found->expected_outputs();
  if (outputs == nullptr || outputs->size() == 0) {
    ET_LOG(Error, "test case %zu has no expected outputs: it can be run, not verified", index);
    return without;
  }
  ET_CHECK_OR_RETURN_ERROR(outputs->size() == method.outputs_size(), InvalidArgument,
                           "test case %zu expects %u outputs, the method has %zu", index,
                           static_cast<unsigned>(outputs->size()), method.outputs_size());
  return outputs;
}

/// The place of element `number` in a tensor that may lie in another order.
size_t offset_of(const Tensor& tensor, size_t number) {
  size_t offset = 0;
  for (ssize_t dim = tensor.dim(); dim-- > 0;) {
    const auto size = static_cast<size_t>(tensor.size(dim));
    offset += number % size * static_cast<size_t>(tensor.strides()[static_cast<size_t>(dim)]);
    number /= size;
  }
  return offset;
}

bool is_same_order(const Tensor& a, const Tensor& b) {
  return std::equal(a.strides().begin(), a.strides().end(), b.strides().begin());
}

double element(const Tensor& tensor, size_t offset) {
  switch (tensor.scalar_type()) {
    case ScalarType::Float:
      return static_cast<double>(tensor.const_data_ptr<float>()[offset]);
    case ScalarType::Double:
      return tensor.const_data_ptr<double>()[offset];
    default:
      return static_cast<double>(
          static_cast<float>(tensor.const_data_ptr<executorch::aten::Half>()[offset]));
  }
}

bool is_close(double a, double b, double rtol, double atol) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b);
  }
  return a == b ||
         (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= atol + std::abs(rtol * b));
}

Error check_has_data(const Tensor& output, size_t index) {
  ET_CHECK_OR_RETURN_ERROR(output.numel() == 0 || output.const_data_ptr() != nullptr, InvalidState,
                           "output %zu has no memory: execute the method first", index);
  return Error::Ok;
}

bool has_sizes(const Tensor& a, const Tensor& b) {
  return a.dim() == b.dim() && std::equal(a.sizes().begin(), a.sizes().end(), b.sizes().begin());
}

Error compare(const Tensor& expected, const Tensor& output, size_t index, double rtol,
              double atol) {
  ET_CHECK_OR_RETURN_ERROR(expected.scalar_type() == output.scalar_type(), NotFound,
                           "output %zu has element type %d, expected %d", index,
                           static_cast<int>(output.scalar_type()),
                           static_cast<int>(expected.scalar_type()));
  ET_CHECK_OR_RETURN_ERROR(has_sizes(expected, output), NotFound,
                           "output %zu has not the sizes that are expected", index);
  ET_CHECK_OK_OR_RETURN_ERROR(check_has_data(output, index));
  const ScalarType type = expected.scalar_type();
  const bool is_real =
      type == ScalarType::Float || type == ScalarType::Double || type == ScalarType::Half;
  const bool same_order = is_same_order(expected, output);
  const auto size = static_cast<size_t>(expected.element_size());
  const auto* expected_bytes = static_cast<const uint8_t*>(expected.const_data_ptr());
  const auto* output_bytes = static_cast<const uint8_t*>(output.const_data_ptr());
  for (size_t i = 0; i < static_cast<size_t>(expected.numel()); ++i) {
    const size_t at = same_order ? i : offset_of(expected, i);
    const size_t out_at = same_order ? i : offset_of(output, i);
    if (is_real) {
      const double a = element(expected, at);
      const double b = element(output, out_at);
      ET_CHECK_OR_RETURN_ERROR(is_close(a, b, rtol, atol), NotFound,
                               "output %zu, element %zu: expected %g, found %g", index, i, a, b);
    } else {
      ET_CHECK_OR_RETURN_ERROR(
          std::memcmp(expected_bytes + at * size, output_bytes + out_at * size, size) == 0,
          NotFound, "output %zu, element %zu differs", index, i);
    }
  }
  return Error::Ok;
}

/// What is summed up over the elements of all outputs.
struct Differences {
  size_t count = 0;
  double abs_sum = 0;
  double abs_max = 0;
  double relative_sum = 0;
  double relative_max = 0;

  void add(double a, double b) {
    const double difference = std::abs(a - b);
    const double relative = difference / std::max({std::abs(a), std::abs(b), kLeastDivisor});
    ++count;
    abs_sum += difference;
    relative_sum += relative;
    abs_max = std::max(abs_max, difference);
    relative_max = std::max(relative_max, relative);
  }
};

Error add_differences(Method& method, const Values& outputs, Differences* differences) {
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const fb::Tensor* const stored = outputs.Get(i)->val_as_Tensor();
    const EValue& output = method.get_output(i);
    ET_CHECK_OR_RETURN_ERROR(stored != nullptr && output.isTensor(), NotSupported,
                             "output %u is no tensor", static_cast<unsigned>(i));
    FileTensor expected;
    ET_CHECK_OK_OR_RETURN_ERROR(expected.read(*stored));
    const Tensor a = expected.tensor->get();
    const Tensor b = output.toTensor();
    ET_CHECK_OR_RETURN_ERROR(
        a.scalar_type() == ScalarType::Float && b.scalar_type() == ScalarType::Float, NotSupported,
        "errors are computed of outputs of type Float");
    ET_CHECK_OR_RETURN_ERROR(has_sizes(a, b), InvalidArgument,
                             "output %u has not the sizes that are expected",
                             static_cast<unsigned>(i));
    ET_CHECK_OK_OR_RETURN_ERROR(check_has_data(b, i));
    for (size_t k = 0; k < static_cast<size_t>(a.numel()); ++k) {
      differences->add(element(a, offset_of(a, k)), element(b, offset_of(b, k)));
    }
  }
  return Error::Ok;
}

}  // namespace

Error load_bundled_input(Method& method, SerializedBundledProgram* bundled_program_ptr,
                         size_t testset_idx) {
  const fb::BundledMethodTestCase* const found =
      ET_UNWRAP(find_case(method, bundled_program_ptr, testset_idx));
  const size_t count = found->inputs() == nullptr ? 0 : found->inputs()->size();
  ET_CHECK_OR_RETURN_ERROR(count == method.inputs_size(), NotSupported,
                           "test case %zu has %zu inputs, the method takes %zu", testset_idx, count,
                           method.inputs_size());
  for (size_t i = 0; i < count; ++i) {
    const Error error = set_input(method, *found->inputs()->Get(static_cast<uint32_t>(i)), i);
    ET_CHECK_OR_RETURN_ERROR(error == Error::Ok, NotSupported,
                             "input %zu of test case %zu is not what the method takes", i,
                             testset_idx);
  }
  runtime::internal::event_tracer_set_bundled_input_index(method.get_event_tracer(),
                                                          static_cast<int>(testset_idx));
  return Error::Ok;
}

Error verify_method_outputs(Method& method, SerializedBundledProgram* bundled_program_ptr,
                            size_t testset_idx, double rtol, double atol) {
  const Values* const outputs =
      ET_UNWRAP(find_outputs(method, bundled_program_ptr, testset_idx, Error::NotSupported));
  for (uint32_t i = 0; i < outputs->size(); ++i) {
    const fb::Tensor* const stored = outputs->Get(i)->val_as_Tensor();
    ET_CHECK_OR_RETURN_ERROR(stored != nullptr, NotSupported, "expected output %u is no tensor",
                             static_cast<unsigned>(i));
    FileTensor expected;
    ET_CHECK_OK_OR_RETURN_ERROR(expected.read(*stored));
    const EValue& output = method.get_output(i);
    ET_CHECK_OR_RETURN_ERROR(output.isTensor(), NotFound, "output %u is no tensor",
                             static_cast<unsigned>(i));
    ET_CHECK_OK_OR_RETURN_ERROR(compare(expected.tensor->get(), output.toTensor(), i, rtol, atol));
  }
  return Error::Ok;
}

ErrorStats compute_method_output_error_stats(Method& method,
                                             SerializedBundledProgram* bundled_program_ptr,
                                             size_t testset_idx) {
  const Result<const Values*> outputs =
      find_outputs(method, bundled_program_ptr, testset_idx, Error::InvalidArgument);
  if (!outputs.ok()) {
    const bool is_bundled =
        is_bundled_program(const_cast<void*>(bundled_program_ptr), kIdentifierEnd);
    return {is_bundled ? outputs.error() : Error::InvalidArgument, 0, 0, 0, 0};
  }
  Differences found;
  const Error error = add_differences(method, **outputs, &found);
  if (error != Error::Ok || found.count == 0) {
    return {error, 0, 0, 0, 0};
  }
  const auto count = static_cast<double>(found.count);
  return {Error::Ok, found.abs_sum / count, found.abs_max, found.relative_sum / count,
          found.relative_max};
}

Error get_program_data(void* file_data, size_t file_data_len, const void** out_program_data,
                       size_t* out_program_data_len) {
  ET_CHECK_OR_RETURN_ERROR(is_bundled_program(file_data, file_data_len), NotSupported,
                           "expected a bundled program, which has BP08 at byte 4");
  const auto* const bytes = static_cast<const uint8_t*>(file_data);
  flatbuffers::Verifier verifier(bytes, file_data_len);
  ET_CHECK_OR_RETURN_ERROR(fb::VerifyBundledProgramBuffer(verifier), InvalidProgram,
                           "the bundled program is corrupted: make it again");
  const auto* const program = fb::GetBundledProgram(file_data)->program();
  ET_CHECK_OR_RETURN_ERROR(program != nullptr, InvalidProgram,
                           "the bundled program has no program in it");
  *out_program_data = program->data();
  *out_program_data_len = program->size();
  return Error::Ok;
}

bool is_bundled_program(void* file_data, size_t file_data_len) {
  return file_data != nullptr && file_data_len >= kIdentifierEnd &&
         fb::BundledProgramBufferHasIdentifier(file_data);
}

}  // namespace BUNDLED_PROGRAM_NAMESPACE
}  // namespace executorch
