// SPDX-License-Identifier: BSD-3-Clause
// ExecutorBackend: the blob is a program file; a Module runs its method "forward".
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include <executorch/backends/demo/runtime/demo_backends.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

namespace executorch::backends::demo {

using executorch::aten::Tensor;
using extension::Module;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;

namespace {

// Programs in programs are loaded on the stack of the outer load.
constexpr int kMaxNesting = 8;
thread_local int nesting = 0;

struct NestingScope {
  NestingScope() { ++nesting; }
  ~NestingScope() { --nesting; }
};

Error copy_tensor(const Tensor& from, const Tensor& to) {
  ET_CHECK_OR_RETURN_ERROR(from.scalar_type() == to.scalar_type(), InvalidArgument,
                           "an output has dtype %d, expected %d",
                           static_cast<int>(from.scalar_type()),
                           static_cast<int>(to.scalar_type()));
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::resize_tensor(to, from.sizes()));
  if (from.nbytes() > 0) {
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), from.nbytes());
  }
  return Error::Ok;
}

class ExecutorBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }

  /// The blob stays in use; the handle is a Module on the heap, deleted by destroy().
  Result<runtime::DelegateHandle*> init(runtime::BackendInitContext&,
                                        runtime::FreeableBuffer* processed,
                                        runtime::ArrayRef<runtime::CompileSpec>) const override {
    const NestingScope scope;
    ET_CHECK_OR_RETURN_ERROR(nesting <= kMaxNesting, NotSupported,
                             "programs in programs, more than %d deep", kMaxNesting);
    auto module = std::unique_ptr<Module>(new (std::nothrow) Module(
        std::make_unique<extension::BufferDataLoader>(processed->data(), processed->size())));
    ET_CHECK_OR_RETURN_ERROR(module != nullptr, MemoryAllocationFailed, "no memory for a delegate");
    ET_CHECK_OK_OR_RETURN_ERROR(module->load_forward());
    return module.release();
  }

  Error execute(runtime::BackendExecutionContext&, runtime::DelegateHandle* handle,
                Span<EValue*> args) const override {
    Module& module = *static_cast<Module*>(handle);
    const auto meta = ET_UNWRAP(module.method_meta("forward"));
    const size_t num_inputs = meta.num_inputs();
    ET_CHECK_OR_RETURN_ERROR(args.size() == num_inputs + meta.num_outputs(), InvalidArgument,
                             "%zu arguments, the program has %zu inputs and %zu outputs",
                             args.size(), num_inputs, static_cast<size_t>(meta.num_outputs()));
    std::vector<EValue> inputs;
    for (size_t i = 0; i < num_inputs; ++i) {
      inputs.push_back(*args[i]);
    }
    const std::vector<EValue> outputs = ET_UNWRAP(module.forward(inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      EValue& out = *args[num_inputs + i];
      if (outputs[i].isTensor() && out.isTensor()) {
        ET_CHECK_OK_OR_RETURN_ERROR(copy_tensor(outputs[i].toTensor(), out.toTensor()));
      } else {
        ET_CHECK_OR_RETURN_ERROR(outputs[i].tag == out.tag, InvalidArgument,
                                 "output %zu is of another kind", i);
        out = outputs[i];
      }
    }
    return Error::Ok;
  }

  void destroy(runtime::DelegateHandle* handle) const override {
    delete static_cast<Module*>(handle);
  }
};

}  // namespace

runtime::BackendInterface& executor_backend() {
  static ExecutorBackend backend;
  return backend;
}

}  // namespace executorch::backends::demo
