// SPDX-License-Identifier: BSD-3-Clause
// Inputs for a method whose meaning does not matter: all ones, or bytes from elsewhere.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_meta.h>

namespace executorch::extension {

using ::executorch::runtime::Method;
using ::executorch::runtime::MethodMeta;

// Frees memory of input tensors, and the list of it, when destroyed.
class BufferCleanup final {
 public:
  // Takes over `buffers` (from malloc) and each buffer in it (likewise, or null).
  explicit BufferCleanup(executorch::runtime::Span<void*> buffers) : buffers_(buffers) {}

  BufferCleanup(BufferCleanup&& rhs) noexcept : buffers_(rhs.buffers_) {
    rhs.buffers_ = executorch::runtime::Span<void*>();
  }
  BufferCleanup(const BufferCleanup&) = delete;
  BufferCleanup& operator=(const BufferCleanup&) = delete;
  BufferCleanup& operator=(BufferCleanup&&) noexcept = delete;

  ~BufferCleanup() {
    for (void* buffer : buffers_) {
      std::free(buffer);
    }
    std::free(buffers_.data());
  }

 private:
  executorch::runtime::Span<void*> buffers_;
};

// Limits for programs that nobody has looked at.
struct PrepareInputTensorsOptions {
  size_t max_total_allocation_size = 1024 * 1024 * 1024;
  size_t max_inputs = 1024;
};

// Gives every input of the method a value. Without input_buffers: tensors of ones (dynamic sizes at
// their bounds), Int 1, Double 1, Bool true; others keep what the program says. With input_buffers,
// one (data, size) for each input, copied: nbytes of a tensor, 8 of an Int or Double, 1 of a Bool;
// that of another input is not read. The returned object keeps the memory and must live as long as
// the method is run with these inputs.
//   InvalidArgument         fewer or more buffers than inputs, one of another size, or one for a
//                           string: expected and found are logged
//   InvalidProgram          beyond the limits
//   MemoryAllocationFailed, and what Method::set_input returns
executorch::runtime::Result<BufferCleanup> prepare_input_tensors(
    Method& method, PrepareInputTensorsOptions options = {},
    const std::vector<std::pair<char*, size_t>>& input_buffers = {});

namespace internal {

// Makes `data_ptr`, which holds as many bytes as the tensor, input `input_index`; filled with ones
// first unless told otherwise.
executorch::runtime::Error fill_and_set_input(Method& method,
                                              executorch::runtime::TensorInfo& tensor_meta,
                                              size_t input_index, void* data_ptr,
                                              bool fill_tensor = true);

}  // namespace internal

// The elements of a tensor, in the order of memory.
struct InputBytes {
  const char* data;
  size_t size;
  // Those of the program, with a dynamic size at its largest, where nothing is said.
  std::optional<std::vector<executorch::aten::SizesType>> sizes;
};

// Ones (or what the program says, for what has no one), a tensor, or a number.
using InputValue = std::variant<std::monostate, InputBytes, executorch::runtime::EValue>;

// Gives input i of the method the value values[i]; as many as the method has inputs. Otherwise as
// prepare_input_tensors().
executorch::runtime::Result<BufferCleanup> prepare_inputs(Method& method,
                                                          const std::vector<InputValue>& values,
                                                          PrepareInputTensorsOptions options = {});

}  // namespace executorch::extension

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::BufferCleanup;
using ::executorch::extension::prepare_input_tensors;
}  // namespace torch::executor::util
