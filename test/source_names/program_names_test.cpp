// SPDX-License-Identifier: BSD-3-Clause
// Names in torch::executor of programs, kernels, backends and extensions, header by header: this
// file compiles when each is there.
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
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace {

namespace executor_program {
using ::torch::executor::MemoryManager;
using ::torch::executor::Method;
using ::torch::executor::MethodMeta;
using ::torch::executor::Program;
using ::torch::executor::TensorInfo;
}  // namespace executor_program

namespace executor_tensor_parser {
using ::torch::executor::deserialization::getTensorDataPtr;
using ::torch::executor::deserialization::parseListOptionalType;
using ::torch::executor::deserialization::parseTensor;
using ::torch::executor::deserialization::parseTensorList;
}  // namespace executor_tensor_parser

namespace kernel_kernel_runtime_context {
using ::torch::executor::KernelRuntimeContext;
using ::torch::executor::RuntimeContext;
}  // namespace kernel_kernel_runtime_context

namespace kernel_operator_registry {
using ::torch::executor::get_kernels;
using ::torch::executor::getOpsFn;
using ::torch::executor::hasOpsFn;
using ::torch::executor::Kernel;
using ::torch::executor::KernelKey;
using ::torch::executor::OpFunction;
using ::torch::executor::register_kernels;
using ::torch::executor::TensorMeta;
}  // namespace kernel_operator_registry

namespace kernel_thread_parallel_interface {
using ::torch::executor::get_thread_num;
using ::torch::executor::parallel_for;
using ::torch::executor::set_thread_num;
}  // namespace kernel_thread_parallel_interface

namespace backend_interface {
using ::torch::executor::Backend;
using ::torch::executor::BackendExecutionContext;
using ::torch::executor::BackendInitContext;
using ::torch::executor::BackendOptionContext;
using ::torch::executor::CompileSpec;
using ::torch::executor::DelegateHandle;
using ::torch::executor::get_backend_class;
using ::torch::executor::PyTorchBackendInterface;
using ::torch::executor::register_backend;
using ::torch::executor::SizedBuffer;
}  // namespace backend_interface

namespace data_loader_buffer_data_loader {
using ::torch::executor::util::BufferDataLoader;
}  // namespace data_loader_buffer_data_loader

namespace data_loader_file_data_loader {
using ::torch::executor::util::FileDataLoader;
}  // namespace data_loader_file_data_loader

namespace data_loader_file_descriptor_data_loader {
using ::torch::executor::util::FileDescriptorDataLoader;
}  // namespace data_loader_file_descriptor_data_loader

namespace data_loader_mmap_data_loader {
using ::torch::executor::util::MmapDataLoader;
}  // namespace data_loader_mmap_data_loader

namespace data_loader_shared_ptr_data_loader {
using ::torch::executor::util::SharedPtrDataLoader;
}  // namespace data_loader_shared_ptr_data_loader

namespace memory_allocator_malloc_memory_allocator {
using ::torch::executor::util::MallocMemoryAllocator;
}  // namespace memory_allocator_malloc_memory_allocator

namespace evalue_util_print_evalue {
using ::torch::executor::util::evalue_edge_items;
}  // namespace evalue_util_print_evalue

namespace runner_util_inputs {
using ::torch::executor::util::BufferCleanup;
using ::torch::executor::util::prepare_input_tensors;
}  // namespace runner_util_inputs

namespace module_module {
using ::torch::executor::Module;
}  // namespace module_module

namespace kernel_util_make_boxed_from_unboxed_functor {
using ::torch::executor::make_boxed_kernel;
using ::torch::executor::WrapUnboxedIntoFunctor;
}  // namespace kernel_util_make_boxed_from_unboxed_functor

namespace pytree_pytree {
using ::torch::executor::pytree::Empty;
using ::torch::executor::pytree::from_str;
using ::torch::executor::pytree::FunctionRef;
using ::torch::executor::pytree::TreeSpec;
}  // namespace pytree_pytree

namespace testing_util_temp_file {
using ::torch::executor::testing::TempFile;
}  // namespace testing_util_temp_file

}  // namespace
