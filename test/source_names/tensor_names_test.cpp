// SPDX-License-Identifier: BSD-3-Clause
// Names in torch::executor of tensors and their types, header by header: this file compiles when
// each is there.
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

namespace {

namespace core_exec_aten_util_dim_order_util {
using ::torch::executor::dim_order_to_stride;
using ::torch::executor::dim_order_to_stride_nocheck;
using ::torch::executor::is_channels_last_dim_order;
using ::torch::executor::is_contiguous_dim_order;
using ::torch::executor::stride_to_dim_order;
}  // namespace core_exec_aten_util_dim_order_util

namespace core_exec_aten_util_scalar_type_util {
using ::torch::executor::can_cast;
using ::torch::executor::canCast;
using ::torch::executor::convert;
using ::torch::executor::CppTypeToScalarType;
using ::torch::executor::elementSize;
using ::torch::executor::is_bits_type;
using ::torch::executor::is_complex_type;
using ::torch::executor::is_floating_point;
using ::torch::executor::is_integral_type;
using ::torch::executor::is_qint_type;
using ::torch::executor::is_reduced_floating_point;
using ::torch::executor::isBitsType;
using ::torch::executor::isComplexType;
using ::torch::executor::isFloatingType;
using ::torch::executor::isIntegralType;
using ::torch::executor::isQIntType;
using ::torch::executor::isRealHBType;
using ::torch::executor::isRealHType;
using ::torch::executor::isRealType;
using ::torch::executor::isValid;
using ::torch::executor::promote_types;
using ::torch::executor::promoteTypes;
using ::torch::executor::ScalarTypeToCppType;
using ::torch::executor::toString;
using ::torch::executor::internal::B1;
using ::torch::executor::internal::C2;
using ::torch::executor::internal::C4;
using ::torch::executor::internal::C8;
using ::torch::executor::internal::F2;
using ::torch::executor::internal::F4;
using ::torch::executor::internal::F8;
using ::torch::executor::internal::I1;
using ::torch::executor::internal::I2;
using ::torch::executor::internal::I4;
using ::torch::executor::internal::I8;
using ::torch::executor::internal::U1;
}  // namespace core_exec_aten_util_scalar_type_util

namespace core_exec_aten_util_tensor_util {
using ::torch::executor::calculate_linear_index;
using ::torch::executor::coordinateToIndex;
using ::torch::executor::dim_is_valid;
using ::torch::executor::extract_scalar_tensor;
using ::torch::executor::get_dim_order;
using ::torch::executor::getLeadingDims;
using ::torch::executor::getTrailingDims;
using ::torch::executor::indexToCoordinate;
using ::torch::executor::kTensorDimensionLimit;
using ::torch::executor::nonempty_size;
using ::torch::executor::nonzero_dim;
using ::torch::executor::resize;
using ::torch::executor::resize_tensor;
using ::torch::executor::tensor_can_cast_to;
using ::torch::executor::tensor_dim_has_index;
using ::torch::executor::tensor_has_dim;
using ::torch::executor::tensor_has_expected_size;
using ::torch::executor::tensor_has_non_empty_dim;
using ::torch::executor::tensor_has_rank_greater_or_equal_to;
using ::torch::executor::tensor_has_rank_smaller_or_equal_to;
using ::torch::executor::tensor_has_valid_dim_order;
using ::torch::executor::tensor_is_bits_type;
using ::torch::executor::tensor_is_bool_type;
using ::torch::executor::tensor_is_complex_type;
using ::torch::executor::tensor_is_contiguous;
using ::torch::executor::tensor_is_default_dim_order;
using ::torch::executor::tensor_is_default_or_channels_last_dim_order;
using ::torch::executor::tensor_is_floating_type;
using ::torch::executor::tensor_is_integral_type;
using ::torch::executor::tensor_is_rank;
using ::torch::executor::tensor_is_real_type;
using ::torch::executor::tensor_is_realh_type;
using ::torch::executor::tensor_is_realhb_type;
using ::torch::executor::tensor_is_scalar;
using ::torch::executor::tensors_have_same_dim_order;
using ::torch::executor::tensors_have_same_dtype;
using ::torch::executor::tensors_have_same_rank;
using ::torch::executor::tensors_have_same_shape;
using ::torch::executor::tensors_have_same_shape_and_dtype;
using ::torch::executor::tensors_have_same_size_at_dims;
using ::torch::executor::tensors_have_same_strides;
using ::torch::executor::internal::copy_tensor_data;
using ::torch::executor::internal::reset_data_ptr;
using ::torch::executor::internal::resize_tensor_impl;
using ::torch::executor::internal::set_tensor_data;
using ::torch::executor::internal::share_tensor_data;
}  // namespace core_exec_aten_util_tensor_util

namespace core_exec_aten_exec_aten {
using ::torch::executor::BFloat16;
using ::torch::executor::bits16;
using ::torch::executor::bits1x8;
using ::torch::executor::bits2x4;
using ::torch::executor::bits4x2;
using ::torch::executor::bits8;
using ::torch::executor::complex;
using ::torch::executor::compute_numel;
using ::torch::executor::Device;
using ::torch::executor::DeviceType;
using ::torch::executor::Half;
using ::torch::executor::Layout;
using ::torch::executor::MemoryFormat;
using ::torch::executor::nullopt;
using ::torch::executor::nullopt_t;
using ::torch::executor::optional;
using ::torch::executor::qint32;
using ::torch::executor::qint8;
using ::torch::executor::quint2x4;
using ::torch::executor::quint4x2;
using ::torch::executor::quint8;
using ::torch::executor::safe_numel;
using ::torch::executor::Scalar;
using ::torch::executor::ScalarType;
using ::torch::executor::string_view;
using ::torch::executor::Tensor;
using ::torch::executor::TensorImpl;
using ::torch::executor::TensorList;
}  // namespace core_exec_aten_exec_aten

namespace core_exec_aten_testing_util_tensor_factory {
using ::torch::executor::testing::TensorFactory;
using ::torch::executor::testing::TensorListFactory;
}  // namespace core_exec_aten_testing_util_tensor_factory

namespace core_exec_aten_testing_util_tensor_util {
using ::torch::executor::testing::IsCloseTo;
using ::torch::executor::testing::IsCloseToWithTol;
using ::torch::executor::testing::IsDataCloseTo;
using ::torch::executor::testing::IsDataCloseToWithTol;
using ::torch::executor::testing::IsDataEqualTo;
using ::torch::executor::testing::IsEqualTo;
using ::torch::executor::testing::IsListCloseTo;
using ::torch::executor::testing::IsListEqualTo;
using ::torch::executor::testing::tensor_data_is_close;
using ::torch::executor::testing::tensor_lists_are_close;
using ::torch::executor::testing::tensors_are_close;
}  // namespace core_exec_aten_testing_util_tensor_util

// `internal` of the old namespace has no second one beside it.
namespace code_that_uses_the_old_namespace {
using namespace torch::executor;
[[maybe_unused]] void forget(const Tensor& tensor) {
  internal::reset_data_ptr(tensor);
}
}  // namespace code_that_uses_the_old_namespace

}  // namespace
