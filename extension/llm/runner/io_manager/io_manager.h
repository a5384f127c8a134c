// SPDX-License-Identifier: BSD-3-Clause
// IOManager: what else than tokens and position a decoder's call needs, such as caches passed in
// and out. This one serves decoders that keep their caches themselves.
#pragma once

#include <string>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// The overloads without method names are those of "forward". Threads: one at a time.
class IOManager {
 public:
  // Borrows the module.
  explicit IOManager(ET_MODULE_NAMESPACE::Module& module) : module_(module) {}
  virtual ~IOManager() = default;

  // Before the first call of prepare_x().
  ET_NODISCARD virtual runtime::Error load(const std::string& prefill_method,
                                           const std::string& decode_method) {
    (void)prefill_method, (void)decode_method;
    return runtime::Error::Ok;
  }
  ET_NODISCARD runtime::Error load() { return load("forward", "forward"); }

  // Before the first tokens of another context.
  ET_NODISCARD virtual runtime::Error reset(const std::string& prefill_method,
                                            const std::string& decode_method) {
    (void)prefill_method, (void)decode_method;
    return runtime::Error::Ok;
  }
  ET_NODISCARD runtime::Error reset() { return reset("forward", "forward"); }

  // All inputs of a call, which borrow `input` and `start_pos`: of several tokens, and of one.
  // InvalidState if the method does not have two. Who prepares calls of one alone prepares all.
  virtual runtime::Result<std::vector<runtime::EValue>> prepare_prefill(
      const TensorPtr& input, const TensorPtr& start_pos, const std::string& prefill_method) {
    return prepare_decode(input, start_pos, prefill_method);
  }
  runtime::Result<std::vector<runtime::EValue>> prepare_prefill(const TensorPtr& input,
                                                                const TensorPtr& start_pos) {
    return prepare_prefill(input, start_pos, "forward");
  }
  virtual runtime::Result<std::vector<runtime::EValue>> prepare_decode(
      const TensorPtr& input, const TensorPtr& start_pos, const std::string& decode_method) {
    const auto meta = ET_UNWRAP(module_.method_meta(decode_method));
    ET_CHECK_OR_RETURN_ERROR(meta.num_inputs() == 2, InvalidState,
                             "Expected method %s to take tokens and position, found %zu inputs: "
                             "derive from IOManager for others",
                             decode_method.c_str(), meta.num_inputs());
    return std::vector<runtime::EValue>{input, start_pos};
  }
  runtime::Result<std::vector<runtime::EValue>> prepare_decode(const TensorPtr& input,
                                                               const TensorPtr& start_pos) {
    return prepare_decode(input, start_pos, "forward");
  }

  // After a call of several tokens, and of one, with all its outputs.
  ET_NODISCARD virtual runtime::Error update_prefill(
      const std::vector<runtime::EValue>& model_outputs, const std::string& prefill_method) {
    return update_decode(model_outputs, prefill_method);
  }
  ET_NODISCARD runtime::Error update_prefill(const std::vector<runtime::EValue>& model_outputs) {
    return update_prefill(model_outputs, "forward");
  }
  ET_NODISCARD virtual runtime::Error update_decode(
      const std::vector<runtime::EValue>& model_outputs, const std::string& decode_method) {
    (void)model_outputs, (void)decode_method;
    return runtime::Error::Ok;
  }
  ET_NODISCARD runtime::Error update_decode(const std::vector<runtime::EValue>& model_outputs) {
    return update_decode(model_outputs, "forward");
  }

 private:
  ET_MODULE_NAMESPACE::Module& module_;
};

}  // namespace executorch::extension::llm
