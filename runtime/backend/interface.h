// SPDX-License-Identifier: BSD-3-Clause
// The interface of backends (delegates) and their registry.
#pragma once

#include <cstddef>
#include <cstring>

#include <executorch/runtime/backend/backend_execution_context.h>
#include <executorch/runtime/backend/backend_init_context.h>
#include <executorch/runtime/backend/backend_option_context.h>
#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

struct SizedBuffer {
  void* buffer;
  /// Bytes at `buffer`.
  size_t nbytes;
};

/// A key and bytes that the ahead-of-time part of the backend wrote into the program.
struct CompileSpec {
  const char* key;
  SizedBuffer value;
};

/// Whatever a backend's init() returns and execute() and destroy() get.
using DelegateHandle = void;

/// One object per backend, shared by all methods; members are called by several threads at the same
/// time, though never with the same handle.
class BackendInterface {
 public:
  virtual ~BackendInterface() = 0;

  /// Whether the backend can run here and now.
  ET_NODISCARD virtual bool is_available() const = 0;

  /// Prepares one delegated part of a method. `processed` is what the ahead-of-time part wrote:
  /// untrusted bytes, to be verified here. It stays valid until destroy(); a backend that does not
  /// need it any longer calls Free() on it. Memory for the handle comes from the context. Compile
  /// specs are valid during the call.
  ET_NODISCARD virtual Result<DelegateHandle*> init(BackendInitContext& context,
                                                    FreeableBuffer* processed,
                                                    ArrayRef<CompileSpec> compile_specs) const = 0;

  /// Runs it: inputs first, then outputs, in the order of the delegated part.
  ET_NODISCARD virtual Error execute(BackendExecutionContext& context, DelegateHandle* handle,
                                     Span<EValue*> args) const = 0;

  /// Sets, or fills in, the options the backend knows. Called between executions.
  ET_NODISCARD virtual Error set_option(
      ET_UNUSED BackendOptionContext& context,
      ET_UNUSED const executorch::runtime::Span<BackendOption>& backend_options) {
    return Error::Ok;
  }
  ET_NODISCARD virtual Error get_option(
      ET_UNUSED BackendOptionContext& context,
      ET_UNUSED executorch::runtime::Span<BackendOption>& backend_options) {
    return Error::Ok;
  }

  /// Ends what init() began. Objects are destroyed, memory of the context's allocator is not freed.
  virtual void destroy(ET_UNUSED DelegateHandle* handle) const {}
};

/// The backend registered under `name`; null when there is none.
BackendInterface* get_backend_class(const char* name);

/// A name and its object; both must live as long as the program.
struct Backend {
  const char* name;
  BackendInterface* backend;
};

/// Adds a backend, before programs are loaded. InvalidArgument when the name is taken by another
/// object or something is null; Internal when 16 are registered. The same pair again has no effect.
ET_NODISCARD Error register_backend(const Backend& backend);

size_t get_num_registered_backends();
/// Name `index`, below get_num_registered_backends(); InvalidArgument beyond.
Result<const char*> get_backend_name(size_t index);

/// Passes options to a backend, or has it fill in their values. NotFound when there is no such
/// backend.
Error set_option(
    const char* backend_name,
    const executorch::runtime::Span<executorch::runtime::BackendOption> backend_options);
Error get_option(const char* backend_name,
                 executorch::runtime::Span<executorch::runtime::BackendOption> backend_options);

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch

namespace torch {
namespace executor {
using PyTorchBackendInterface = ::executorch::ET_RUNTIME_NAMESPACE::BackendInterface;
}  // namespace executor
}  // namespace torch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::Backend;
using ::executorch::runtime::CompileSpec;
using ::executorch::runtime::DelegateHandle;
using ::executorch::runtime::get_backend_class;
using ::executorch::runtime::register_backend;
using ::executorch::runtime::SizedBuffer;
}  // namespace torch::executor
