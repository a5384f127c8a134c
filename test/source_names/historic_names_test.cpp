// SPDX-License-Identifier: BSD-3-Clause
// Names that sources written before the namespaces were split up use, header by header: this file
// compiles when each is there. Each stands in a scope of its own, as a using-declaration.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/file_descriptor_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/data_loader/shared_ptr_data_loader.h>
#include <executorch/extension/evalue_util/print_evalue.h>
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/pytree/pytree.h>
#include <executorch/extension/runner_util/inputs.h>
#include <executorch/extension/testing_util/temp_file.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/device_allocator.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/clock.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/profiler.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <type_traits>

namespace {

// platform/abort.h
namespace n0 {
using ::torch::executor::runtime_abort;
}
// platform/clock.h
namespace n1 {
using ::torch::executor::ticks_to_ns;
}
// platform/log.h
namespace n2 {
using ::torch::executor::LogLevel;
}
// platform/runtime.h
namespace n3 {
using ::torch::executor::runtime_init;
}
// platform/profiler.h
namespace n4 {
using ::torch::executor::prof_event_t;
}
namespace n5 {
using ::torch::executor::mem_prof_event_t;
}
namespace n6 {
using ::torch::executor::prof_allocator_t;
}
namespace n7 {
using ::torch::executor::prof_result_t;
}
namespace n8 {
using ::torch::executor::prof_header_t;
}
namespace n9 {
using ::torch::executor::prof_state_t;
}
namespace n10 {
using ::torch::executor::profiler_init;
}
namespace n11 {
using ::torch::executor::begin_profiling;
}
namespace n12 {
using ::torch::executor::end_profiling;
}
namespace n13 {
using ::torch::executor::dump_profile_stats;
}
namespace n14 {
using ::torch::executor::reset_profile_stats;
}
namespace n15 {
using ::torch::executor::track_allocation;
}
namespace n16 {
using ::torch::executor::track_allocator;
}
namespace n17 {
using ::torch::executor::profiling_create_block;
}
namespace n18 {
using ::torch::executor::get_profile_tls_state;
}
namespace n19 {
using ::torch::executor::set_profile_tls_state;
}
namespace n20 {
using ::torch::executor::ExecutorchProfiler;
}
namespace n21 {
using ::torch::executor::ExecutorchProfilerInstructionScope;
}
// core/array_ref.h
namespace n22 {
using ::torch::executor::ArrayRef;
}
namespace n23 {
using ::torch::executor::IntArrayRef;
}
namespace n24 {
using ::torch::executor::makeArrayRef;
}
// core/span.h
namespace n25 {
using ::torch::executor::Span;
}
// core/result.h
namespace n26 {
using ::torch::executor::Result;
}
// core/tag.h
namespace n27 {
using ::torch::executor::Tag;
}
// core/error.h
namespace n28 {
using ::torch::executor::Error;
}
namespace n29 {
using ::torch::executor::error_code_t;
}
// core/data_loader.h
namespace n30 {
using ::torch::executor::DataLoader;
}
// core/freeable_buffer.h
namespace n31 {
using ::torch::executor::FreeableBuffer;
}
// core/hierarchical_allocator.h
namespace n32 {
using ::torch::executor::HierarchicalAllocator;
}
// core/memory_allocator.h
namespace n33 {
using ::torch::executor::MemoryAllocator;
}
// core/tensor_shape_dynamism.h
namespace n34 {
using ::torch::executor::TensorShapeDynamism;
}
// core/evalue.h
namespace n35 {
using ::torch::executor::EValue;
}
namespace n36 {
using ::torch::executor::BoxedEvalueList;
}
// core/device_allocator.h
namespace n37 {
using ::torch::executor::DeviceAllocator;
}
namespace n38 {
using ::torch::executor::DeviceAllocatorRegistry;
}
namespace n39 {
using ::torch::executor::get_device_allocator;
}
namespace n40 {
using ::torch::executor::register_device_allocator;
}
// core/event_tracer.h
namespace n41 {
using ::torch::executor::EventTracer;
}
namespace n42 {
using ::torch::executor::EventTracerEntry;
}
namespace n43 {
using ::torch::executor::AllocatorID;
}
namespace n44 {
using ::torch::executor::ChainID;
}
namespace n45 {
using ::torch::executor::DebugHandle;
}
namespace n46 {
using ::torch::executor::DelegateDebugIdType;
}
namespace n47 {
using ::torch::executor::LoggedEValueType;
}
namespace n48 {
using ::torch::executor::EventTracerDebugLogLevel;
}
namespace n49 {
using ::torch::executor::kUnsetChainId;
}
namespace n50 {
using ::torch::executor::kUnsetDebugHandle;
}
namespace n51 {
using ::torch::executor::kUnsetDelegateDebugIntId;
}
// core/event_tracer_hooks_delegate.h
namespace n52 {
using ::torch::executor::event_tracer_start_profiling_delegate;
}
namespace n53 {
using ::torch::executor::event_tracer_end_profiling_delegate;
}
namespace n54 {
using ::torch::executor::event_tracer_log_profiling_delegate;
}
namespace n55 {
using ::torch::executor::event_tracer_log_output_delegate;
}
// core/event_tracer_hooks.h
namespace n56 {
using ::torch::executor::internal::EventTracerProfileOpScope;
}
namespace n57 {
using ::torch::executor::internal::EventTracerProfileScope;
}
namespace n58 {
using ::torch::executor::internal::EventTracerProfileMethodScope;
}
namespace n59 {
using ::torch::executor::internal::EventTracerProfileInstructionScope;
}
namespace n60 {
using ::torch::executor::internal::event_tracer_begin_profiling_event;
}
namespace n61 {
using ::torch::executor::internal::event_tracer_create_event_block;
}
namespace n62 {
using ::torch::executor::internal::event_tracer_end_profiling_event;
}
namespace n63 {
using ::torch::executor::internal::event_tracer_log_evalue;
}
namespace n64 {
using ::torch::executor::internal::event_tracer_log_evalue_output;
}
namespace n65 {
using ::torch::executor::internal::event_tracer_set_bundled_input_index;
}
namespace n66 {
using ::torch::executor::internal::event_tracer_track_allocation;
}
namespace n67 {
using ::torch::executor::internal::event_tracer_track_allocator;
}
// core/exec_aten/util/dim_order_util.h
namespace n68 {
using ::torch::executor::dim_order_to_stride;
}
namespace n69 {
using ::torch::executor::dim_order_to_stride_nocheck;
}
namespace n70 {
using ::torch::executor::is_channels_last_dim_order;
}
namespace n71 {
using ::torch::executor::is_contiguous_dim_order;
}
namespace n72 {
using ::torch::executor::stride_to_dim_order;
}
// core/exec_aten/util/scalar_type_util.h
namespace n73 {
using ::torch::executor::can_cast;
}
namespace n74 {
using ::torch::executor::canCast;
}
namespace n75 {
using ::torch::executor::convert;
}
namespace n76 {
using ::torch::executor::CppTypeToScalarType;
}
namespace n77 {
using ::torch::executor::ScalarTypeToCppType;
}
namespace n78 {
using ::torch::executor::elementSize;
}
namespace n79 {
using ::torch::executor::isValid;
}
namespace n80 {
using ::torch::executor::promote_types;
}
namespace n81 {
using ::torch::executor::promoteTypes;
}
namespace n82 {
using ::torch::executor::toString;
}
namespace n83 {
using ::torch::executor::is_bits_type;
}
namespace n84 {
using ::torch::executor::is_complex_type;
}
namespace n85 {
using ::torch::executor::is_integral_type;
}
namespace n86 {
using ::torch::executor::is_qint_type;
}
namespace n87 {
using ::torch::executor::is_floating_point;
}
namespace n88 {
using ::torch::executor::is_reduced_floating_point;
}
namespace n89 {
using ::torch::executor::isBitsType;
}
namespace n90 {
using ::torch::executor::isComplexType;
}
namespace n91 {
using ::torch::executor::isFloatingType;
}
namespace n92 {
using ::torch::executor::isIntegralType;
}
namespace n93 {
using ::torch::executor::isQIntType;
}
namespace n94 {
using ::torch::executor::isRealType;
}
namespace n95 {
using ::torch::executor::isRealHType;
}
namespace n96 {
using ::torch::executor::isRealHBType;
}
namespace n97 {
using ::torch::executor::internal::B1;
}
namespace n98 {
using ::torch::executor::internal::C2;
}
namespace n99 {
using ::torch::executor::internal::C4;
}
namespace n100 {
using ::torch::executor::internal::C8;
}
namespace n101 {
using ::torch::executor::internal::F2;
}
namespace n102 {
using ::torch::executor::internal::F4;
}
namespace n103 {
using ::torch::executor::internal::F8;
}
namespace n104 {
using ::torch::executor::internal::I1;
}
namespace n105 {
using ::torch::executor::internal::I2;
}
namespace n106 {
using ::torch::executor::internal::I4;
}
namespace n107 {
using ::torch::executor::internal::I8;
}
namespace n108 {
using ::torch::executor::internal::U1;
}
// core/exec_aten/util/tensor_util.h
namespace n109 {
using ::torch::executor::kTensorDimensionLimit;
}
namespace n110 {
using ::torch::executor::calculate_linear_index;
}
namespace n111 {
using ::torch::executor::coordinateToIndex;
}
namespace n112 {
using ::torch::executor::dim_is_valid;
}
namespace n113 {
using ::torch::executor::extract_scalar_tensor;
}
namespace n114 {
using ::torch::executor::get_dim_order;
}
namespace n115 {
using ::torch::executor::getLeadingDims;
}
namespace n116 {
using ::torch::executor::getTrailingDims;
}
namespace n117 {
using ::torch::executor::indexToCoordinate;
}
namespace n118 {
using ::torch::executor::nonempty_size;
}
namespace n119 {
using ::torch::executor::nonzero_dim;
}
namespace n120 {
using ::torch::executor::resize;
}
namespace n121 {
using ::torch::executor::resize_tensor;
}
namespace n122 {
using ::torch::executor::tensor_can_cast_to;
}
namespace n123 {
using ::torch::executor::tensor_dim_has_index;
}
namespace n124 {
using ::torch::executor::tensor_has_dim;
}
namespace n125 {
using ::torch::executor::tensor_has_expected_size;
}
namespace n126 {
using ::torch::executor::tensor_has_non_empty_dim;
}
namespace n127 {
using ::torch::executor::tensor_has_rank_greater_or_equal_to;
}
namespace n128 {
using ::torch::executor::tensor_has_rank_smaller_or_equal_to;
}
namespace n129 {
using ::torch::executor::tensor_has_valid_dim_order;
}
namespace n130 {
using ::torch::executor::tensor_is_bits_type;
}
namespace n131 {
using ::torch::executor::tensor_is_bool_type;
}
namespace n132 {
using ::torch::executor::tensor_is_complex_type;
}
namespace n133 {
using ::torch::executor::tensor_is_contiguous;
}
namespace n134 {
using ::torch::executor::tensor_is_default_dim_order;
}
namespace n135 {
using ::torch::executor::tensor_is_default_or_channels_last_dim_order;
}
namespace n136 {
using ::torch::executor::tensor_is_floating_type;
}
namespace n137 {
using ::torch::executor::tensor_is_integral_type;
}
namespace n138 {
using ::torch::executor::tensor_is_rank;
}
namespace n139 {
using ::torch::executor::tensor_is_real_type;
}
namespace n140 {
using ::torch::executor::tensor_is_realh_type;
}
namespace n141 {
using ::torch::executor::tensor_is_realhb_type;
}
namespace n142 {
using ::torch::executor::tensor_is_scalar;
}
namespace n143 {
using ::torch::executor::tensors_have_same_dim_order;
}
namespace n144 {
using ::torch::executor::tensors_have_same_dtype;
}
namespace n145 {
using ::torch::executor::tensors_have_same_rank;
}
namespace n146 {
using ::torch::executor::tensors_have_same_shape;
}
namespace n147 {
using ::torch::executor::tensors_have_same_shape_and_dtype;
}
namespace n148 {
using ::torch::executor::tensors_have_same_size_at_dims;
}
namespace n149 {
using ::torch::executor::tensors_have_same_strides;
}
namespace n150 {
using ::torch::executor::internal::copy_tensor_data;
}
namespace n151 {
using ::torch::executor::internal::reset_data_ptr;
}
namespace n152 {
using ::torch::executor::internal::resize_tensor_impl;
}
namespace n153 {
using ::torch::executor::internal::set_tensor_data;
}
namespace n154 {
using ::torch::executor::internal::share_tensor_data;
}
// core/exec_aten/exec_aten.h
namespace n155 {
using ::torch::executor::BFloat16;
}
namespace n156 {
using ::torch::executor::Half;
}
namespace n157 {
using ::torch::executor::complex;
}
namespace n158 {
using ::torch::executor::qint8;
}
namespace n159 {
using ::torch::executor::quint8;
}
namespace n160 {
using ::torch::executor::qint32;
}
namespace n161 {
using ::torch::executor::quint4x2;
}
namespace n162 {
using ::torch::executor::quint2x4;
}
namespace n163 {
using ::torch::executor::bits1x8;
}
namespace n164 {
using ::torch::executor::bits2x4;
}
namespace n165 {
using ::torch::executor::bits4x2;
}
namespace n166 {
using ::torch::executor::bits8;
}
namespace n167 {
using ::torch::executor::bits16;
}
namespace n168 {
using ::torch::executor::Scalar;
}
namespace n169 {
using ::torch::executor::ScalarType;
}
namespace n170 {
using ::torch::executor::Tensor;
}
namespace n171 {
using ::torch::executor::TensorImpl;
}
namespace n172 {
using ::torch::executor::Device;
}
namespace n173 {
using ::torch::executor::DeviceType;
}
namespace n174 {
using ::torch::executor::Layout;
}
namespace n175 {
using ::torch::executor::MemoryFormat;
}
namespace n176 {
using ::torch::executor::compute_numel;
}
namespace n177 {
using ::torch::executor::safe_numel;
}
namespace n178 {
using ::torch::executor::optional;
}
namespace n179 {
using ::torch::executor::nullopt_t;
}
namespace n180 {
using ::torch::executor::nullopt;
}
namespace n181 {
using ::torch::executor::string_view;
}
namespace n182 {
using ::torch::executor::TensorList;
}
// executor/program.h
namespace n183 {
using ::torch::executor::MemoryManager;
}
namespace n184 {
using ::torch::executor::Method;
}
namespace n185 {
using ::torch::executor::MethodMeta;
}
namespace n186 {
using ::torch::executor::TensorInfo;
}
namespace n187 {
using ::torch::executor::Program;
}
// executor/tensor_parser.h
namespace n188 {
using ::torch::executor::deserialization::getTensorDataPtr;
}
namespace n189 {
using ::torch::executor::deserialization::parseListOptionalType;
}
namespace n190 {
using ::torch::executor::deserialization::parseTensor;
}
namespace n191 {
using ::torch::executor::deserialization::parseTensorList;
}
// kernel/kernel_runtime_context.h
namespace n192 {
using ::torch::executor::KernelRuntimeContext;
}
namespace n193 {
using ::torch::executor::RuntimeContext;
}
// kernel/operator_registry.h
namespace n194 {
using ::torch::executor::Kernel;
}
namespace n195 {
using ::torch::executor::KernelKey;
}
namespace n196 {
using ::torch::executor::OpFunction;
}
namespace n197 {
using ::torch::executor::TensorMeta;
}
namespace n198 {
using ::torch::executor::register_kernels;
}
namespace n199 {
using ::torch::executor::getOpsFn;
}
namespace n200 {
using ::torch::executor::hasOpsFn;
}
namespace n201 {
using ::torch::executor::get_kernels;
}
// kernel/thread_parallel_interface.h
namespace n202 {
using ::torch::executor::parallel_for;
}
namespace n203 {
using ::torch::executor::get_thread_num;
}
namespace n204 {
using ::torch::executor::set_thread_num;
}
// backend/interface.h
namespace n205 {
using ::torch::executor::Backend;
}
namespace n206 {
using ::torch::executor::CompileSpec;
}
namespace n207 {
using ::torch::executor::DelegateHandle;
}
namespace n208 {
using ::torch::executor::get_backend_class;
}
namespace n209 {
using ::torch::executor::register_backend;
}
namespace n210 {
using ::torch::executor::SizedBuffer;
}
namespace n211 {
using ::torch::executor::PyTorchBackendInterface;
}
namespace n212 {
using ::torch::executor::BackendExecutionContext;
}
namespace n213 {
using ::torch::executor::BackendInitContext;
}
namespace n214 {
using ::torch::executor::BackendOptionContext;
}
// core/exec_aten/testing_util/tensor_factory.h
namespace n215 {
using ::torch::executor::testing::TensorFactory;
}
namespace n216 {
using ::torch::executor::testing::TensorListFactory;
}
// core/exec_aten/testing_util/tensor_util.h
namespace n217 {
using ::torch::executor::testing::IsCloseTo;
}
namespace n218 {
using ::torch::executor::testing::IsCloseToWithTol;
}
namespace n219 {
using ::torch::executor::testing::IsEqualTo;
}
namespace n220 {
using ::torch::executor::testing::IsDataCloseTo;
}
namespace n221 {
using ::torch::executor::testing::IsDataCloseToWithTol;
}
namespace n222 {
using ::torch::executor::testing::IsDataEqualTo;
}
namespace n223 {
using ::torch::executor::testing::IsListCloseTo;
}
namespace n224 {
using ::torch::executor::testing::IsListEqualTo;
}
namespace n225 {
using ::torch::executor::testing::tensors_are_close;
}
namespace n226 {
using ::torch::executor::testing::tensor_data_is_close;
}
namespace n227 {
using ::torch::executor::testing::tensor_lists_are_close;
}
// data_loader/buffer_data_loader.h
namespace n228 {
using ::torch::executor::util::BufferDataLoader;
}
// data_loader/file_data_loader.h
namespace n229 {
using ::torch::executor::util::FileDataLoader;
}
// data_loader/file_descriptor_data_loader.h
namespace n230 {
using ::torch::executor::util::FileDescriptorDataLoader;
}
// data_loader/mmap_data_loader.h
namespace n231 {
using ::torch::executor::util::MmapDataLoader;
}
// data_loader/shared_ptr_data_loader.h
namespace n232 {
using ::torch::executor::util::SharedPtrDataLoader;
}
// memory_allocator/malloc_memory_allocator.h
namespace n233 {
using ::torch::executor::util::MallocMemoryAllocator;
}
// evalue_util/print_evalue.h
namespace n234 {
using ::torch::executor::util::evalue_edge_items;
}
// runner_util/inputs.h
namespace n235 {
using ::torch::executor::util::BufferCleanup;
}
namespace n236 {
using ::torch::executor::util::prepare_input_tensors;
}
// module/module.h
namespace n237 {
using ::torch::executor::Module;
}
// kernel_util/make_boxed_from_unboxed_functor.h
namespace n238 {
using ::torch::executor::make_boxed_kernel;
}
namespace n239 {
using ::torch::executor::WrapUnboxedIntoFunctor;
}
// pytree/pytree.h
namespace n240 {
using ::torch::executor::pytree::Empty;
}
namespace n241 {
using ::torch::executor::pytree::from_str;
}
namespace n242 {
using ::torch::executor::pytree::TreeSpec;
}
namespace n243 {
using ::torch::executor::pytree::FunctionRef;
}
// testing_util/temp_file.h
namespace n244 {
using ::torch::executor::testing::TempFile;
}

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

// Code written inside the old namespace finds gtest's names and its own.
namespace code_of_a_user {
using namespace torch::executor;
using ::testing::Test;
bool is_none(const EValue& value) {
  return value.tag == Tag::None;
}
}  // namespace code_of_a_user

TEST(HistoricNamesTest, ServeCodeThatUsesTheNamespace) {
  EXPECT_TRUE(code_of_a_user::is_none(torch::executor::EValue()));
}

}  // namespace
