// SPDX-License-Identifier: BSD-3-Clause
// Turns tensors and lists of a program into runtime values. Everything is allocated from the method
// allocator.
#pragma once

#include <optional>
#include <type_traits>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch_flatbuffer {
struct Tensor;
}  // namespace executorch_flatbuffer

namespace flatbuffers {
template <typename T, typename SizeT>
class Vector;
}  // namespace flatbuffers

namespace executorch::ET_RUNTIME_NAMESPACE {

// Whether a copy of a Tensor is a reference that its destructor gives back, as PyTorch's is. Such
// tensors do not know that their shape is static; the program does.
constexpr bool kTensorsCountReferences = !std::is_trivially_copyable_v<executorch::aten::Tensor>;

namespace deserialization {

// A constant that was loaded from a data map; owned by the Method.
struct NamedData {
  const char* key;
  FreeableBuffer buffer;
};

// Null if no entry has the key.
NamedData* get_data_by_key(const char* key, Span<NamedData> entries);

// A tensor as the program describes it, with its data where the memory plan, the constants or the
// data map say. Data is null where only an input or an instruction will say.
//   named_data_map       data outside the program, may be null
//   external_constants   what was already loaded from it
//   InvalidProgram, NotSupported (storage offset, unbounded shape), MemoryAllocationFailed,
//   InvalidExternalData, ...
ET_NODISCARD Result<executorch::aten::Tensor> parseTensor(
    const Program* program, MemoryManager* memory_manager,
    const executorch_flatbuffer::Tensor* s_tensor, const NamedDataMap* named_data_map = nullptr,
    Span<NamedData> external_constants = {});

// Writes the sizes that a tensor starts with: those of the program, which are upper bounds if it is
// dynamic. Bounds of an input whose product does not fit are shrunk; each input brings its own
// sizes.
void getInitialSizes(const executorch_flatbuffer::Tensor* s_tensor,
                     executorch::aten::SizesType* out_sizes);

// Where the nbytes of a tensor are, with initial content read in; null if nowhere yet.
ET_NODISCARD Result<void*> getTensorDataPtr(const executorch_flatbuffer::Tensor* s_tensor,
                                            const Program* program, size_t nbytes,
                                            HierarchicalAllocator* allocator,
                                            const NamedDataMap* named_data_map = nullptr,
                                            Span<NamedData> external_constants = {});

// The tensor itself, of the build's tensor type: as the program describes it, over `data` of
// `nbytes` bytes. What it needs comes from the allocator, or in ATen mode from the heap.
ET_NODISCARD Result<executorch::aten::Tensor> make_tensor(
    const executorch_flatbuffer::Tensor* s_tensor, void* data, size_t nbytes,
    MemoryAllocator* allocator);

// Whether data of the given layout can stand for the tensor. InvalidExternalData if not.
ET_NODISCARD Error validateTensorLayout(const executorch_flatbuffer::Tensor* s_tensor,
                                        const TensorLayout& expected_layout);

// Lists of values that are already built, by their indices; -1 is nullopt in an optional list.
// InvalidProgram if an index is out of range or a value is of another type.
ET_NODISCARD Result<BoxedEvalueList<executorch::aten::Tensor>> parseTensorList(
    const flatbuffers::Vector<int32_t, uint32_t>* tensor_indices, EValue* values, size_t values_len,
    MemoryManager* memory_manager);

template <typename T>
ET_NODISCARD Result<BoxedEvalueList<std::optional<T>>> parseListOptionalType(
    const flatbuffers::Vector<int32_t, uint32_t>* value_indices, EValue* values, size_t values_len,
    MemoryManager* memory_manager);

}  // namespace deserialization
}  // namespace executorch::ET_RUNTIME_NAMESPACE

// The historic spellings.
namespace torch::executor::deserialization {
using ::executorch::runtime::deserialization::getTensorDataPtr;
using ::executorch::runtime::deserialization::parseListOptionalType;
using ::executorch::runtime::deserialization::parseTensor;
using ::executorch::runtime::deserialization::parseTensorList;
}  // namespace torch::executor::deserialization
