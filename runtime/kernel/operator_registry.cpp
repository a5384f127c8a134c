// SPDX-License-Identifier: BSD-3-Clause
// The kernel table: an array in order of registration, with chains by hash of the operator name.
// All of it is zero-initialized static storage, so that static constructors of any file may
// register.
#include <executorch/runtime/kernel/operator_registry.h>

#include <cinttypes>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/platform/assert.h>

// A build for one model counts its kernels.
#if __has_include(<executorch/runtime/kernel/selected_max_kernel_num.h>)
#include <executorch/runtime/kernel/selected_max_kernel_num.h>
#endif

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

namespace {

#if defined(MAX_KERNEL_NUM)
constexpr size_t kMaxKernels = MAX_KERNEL_NUM;
#elif defined(EXECUTORCH_SELECTED_MAX_KERNEL_NUM)
constexpr size_t kMaxKernels = EXECUTORCH_SELECTED_MAX_KERNEL_NUM;
#else
constexpr size_t kMaxKernels = 2000;
#endif

using ChainLink = uint16_t;  // Index of a kernel + 1; 0 ends the chain.
static_assert(kMaxKernels < 0xFFFF, "kernel numbers are 16 bits wide");

constexpr size_t power_of_two_from(size_t wanted) {
  size_t size = 1;
  while (size < wanted) {
    size *= 2;
  }
  return size;
}
constexpr size_t kNumChains = power_of_two_from(kMaxKernels == 0 ? 1 : kMaxKernels);

// One element at least: arrays of none are not C++.
alignas(Kernel) unsigned char kernel_storage[sizeof(Kernel) * (kMaxKernels + 1)];
ChainLink next_in_chain[kMaxKernels + 1];
ChainLink chains[kNumChains];
size_t num_kernels = 0;

Kernel* kernels() {
  return reinterpret_cast<Kernel*>(kernel_storage);
}

// FNV-1a of the name.
ChainLink& chain_of(const char* name) {
  uint32_t hash = 2166136261u;
  for (; *name != '\0'; ++name) {
    hash = (hash ^ static_cast<unsigned char>(*name)) * 16777619u;
  }
  return chains[(hash ^ (hash >> 16)) & (kNumChains - 1)];
}

const Kernel* find(const char* name, const KernelKey& key) {
  for (ChainLink link = chain_of(name); link != 0; link = next_in_chain[link - 1]) {
    const Kernel& kernel = kernels()[link - 1];
    if (std::strcmp(kernel.name_, name) == 0 && kernel.kernel_key_ == key) {
      return &kernel;
    }
  }
  return nullptr;
}

// Takes back the kernels added last.
void remove_from(size_t first) {
  while (num_kernels > first) {
    --num_kernels;
    chain_of(kernels()[num_kernels].name_) = next_in_chain[num_kernels];
  }
}

Error add(const Kernel& kernel) {
  ET_CHECK_OR_RETURN_ERROR(kernel.name_ != nullptr && kernel.op_ != nullptr, InvalidArgument,
                           "a kernel has no name or no function");
  const Kernel* const present = find(kernel.name_, kernel.kernel_key_);
  if (present != nullptr) {
    ET_CHECK_OR_RETURN_ERROR(
        present->op_ == kernel.op_, RegistrationAlreadyRegistered,
        "%s (key %s) is registered already with another function: link one library that has it",
        kernel.name_, kernel.kernel_key_.is_fallback() ? "fallback" : kernel.kernel_key_.data());
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(
      num_kernels < kMaxKernels, RegistrationExceedingMaxKernels,
      "%s does not fit a registry of %zu kernels: build with a larger EXECUTORCH_MAX_KERNEL_NUM",
      kernel.name_, kMaxKernels);
  kernels()[num_kernels] = kernel;
  ChainLink& chain = chain_of(kernel.name_);
  next_in_chain[num_kernels] = chain;
  chain = static_cast<ChainLink>(++num_kernels);
  return Error::Ok;
}

// In a list of the caller: the exact key, else the last fallback.
const Kernel* find_in(Span<const Kernel> list, const char* name, const KernelKey& key) {
  const Kernel* fallback = nullptr;
  for (const Kernel& kernel : list) {
    if (kernel.name_ == nullptr || std::strcmp(kernel.name_, name) != 0) {
      continue;
    }
    if (kernel.kernel_key_.is_fallback()) {
      fallback = &kernel;
    } else if (kernel.kernel_key_ == key) {
      return &kernel;
    }
  }
  return fallback;
}

// Appends text to a key, remembering when it did not fit.
class KeyWriter {
 public:
  KeyWriter(char* buffer, size_t size) : buffer_(buffer), size_(size) {}

  void add(char c) {
    if (length_ + 1 < size_) {
      buffer_[length_++] = c;
    } else {
      is_full_ = true;
    }
  }
  // 0 to 99.
  void add_number(uint32_t number) {
    if (number >= 10) {
      add(static_cast<char>('0' + number / 10));
    }
    add(static_cast<char>('0' + number % 10));
  }
  bool finish() {
    buffer_[length_] = '\0';
    return !is_full_;
  }

 private:
  char* buffer_;
  size_t size_;
  size_t length_ = 0;
  bool is_full_ = false;
};

}  // namespace

bool TensorMeta::equals(const TensorMeta& other) const {
  if (dtype_ != other.dtype_ || dim_order_.size() != other.dim_order_.size()) {
    return false;
  }
  for (size_t i = 0; i < dim_order_.size(); ++i) {
    if (dim_order_[i] != other.dim_order_[i]) {
      return false;
    }
  }
  return true;
}

Span<const Kernel> get_registered_kernels() {
  return {kernels(), num_kernels};
}

Error register_kernels(const Span<const Kernel> added) {
  const size_t first = num_kernels;
  for (const Kernel& kernel : added) {
    const Error error = add(kernel);
    if (error != Error::Ok) {
      remove_from(first);
      return error;
    }
  }
  return Error::Ok;
}

Result<OpFunction> get_op_function_from_registry(const char* name,
                                                 Span<const TensorMeta> meta_list) {
  char key_text[KernelKey::MAX_SIZE];
  ET_CHECK_OK_OR_RETURN_ERROR(
      internal::make_kernel_key_string(meta_list, key_text, sizeof(key_text)));
  const Kernel* kernel = find(name, KernelKey(key_text));
  if (kernel == nullptr) {
    kernel = find(name, KernelKey());
  }
  if (kernel == nullptr) {
    return Error::OperatorMissing;
  }
  return kernel->op_;
}

Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list,
                                                 Span<const Kernel> kernel_registry) {
  char key_text[KernelKey::MAX_SIZE];
  ET_CHECK_OK_OR_RETURN_ERROR(
      internal::make_kernel_key_string(meta_list, key_text, sizeof(key_text)));
  const Kernel* const kernel = find_in(kernel_registry, name, KernelKey(key_text));
  if (kernel == nullptr) {
    return Error::OperatorMissing;
  }
  return kernel->op_;
}

bool registry_has_op_function(const char* name, Span<const TensorMeta> meta_list) {
  return get_op_function_from_registry(name, meta_list).ok();
}

}  // namespace ET_RUNTIME_NAMESPACE

namespace runtime {
namespace internal {

Error make_kernel_key_string(Span<const TensorMeta> key, char* buf, size_t buf_size) {
  if (key.empty() && (buf == nullptr || buf_size == 0)) {
    return Error::Ok;  // an empty key, which takes no room
  }
  ET_CHECK_OR_RETURN_ERROR(buf != nullptr && buf_size > 0, InvalidArgument,
                           "no buffer for the key");
  KeyWriter writer(buf, buf_size);
  const char* separator = "v1/";
  for (const TensorMeta& meta : key) {
    const int dtype = static_cast<int>(meta.dtype_);
    ET_CHECK_OR_RETURN_ERROR(dtype >= 0 && dtype < 100, InvalidArgument,
                             "scalar type %d in a kernel key", dtype);
    for (; *separator != '\0'; ++separator) {
      writer.add(*separator);
    }
    separator = "|";
    writer.add_number(static_cast<uint32_t>(meta.dtype_));
    for (size_t i = 0; i < meta.dim_order_.size(); ++i) {
      ET_CHECK_OR_RETURN_ERROR(meta.dim_order_[i] < 100, InvalidArgument,
                               "dimension %" PRIu32 " in a kernel key",
                               static_cast<uint32_t>(meta.dim_order_[i]));
      writer.add(i == 0 ? ';' : ',');
      writer.add_number(meta.dim_order_[i]);
    }
    if (meta.dim_order_.empty()) {
      writer.add(';');
    }
  }
  ET_CHECK_OR_RETURN_ERROR(writer.finish(), InvalidArgument,
                           "the key of %zu tensors exceeds %zu bytes", key.size(), buf_size);
  return Error::Ok;
}

bool register_kernels_or_abort(Span<const Kernel> added) {
  const Error error = register_kernels(added);
  ET_CHECK_MSG(error == Error::Ok, "registration of kernels failed: error 0x%" PRIx32,
               static_cast<uint32_t>(error));
  return true;
}

}  // namespace internal
}  // namespace runtime
}  // namespace executorch
