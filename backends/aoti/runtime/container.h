// SPDX-License-Identifier: BSD-3-Clause
// Container: the compiled method in a library of AOTInductor's, and the C functions it is called
// by.
#pragma once

#include <executorch/backends/aoti/runtime/native_library.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace executorch::backends::aoti {

struct ContainerOpaque;
using ContainerHandle = ContainerOpaque*;
/// A constant or mutable buffer by the name that the library has for it.
struct ConstantEntry {
  const char* name;
  SlimTensor* tensor;
};
using ConstantMap = std::unordered_map<std::string, SlimTensor*>;

/// Those with a default are in newer libraries only.
struct ContainerApi {
  int32_t (*create)(ContainerHandle* out, size_t num_models, const char* device,
                    const char* cubin_folder);
  int32_t (*destroy)(ContainerHandle);
  int32_t (*num_inputs)(ContainerHandle, size_t* out);
  int32_t (*num_outputs)(ContainerHandle, size_t* out);
  int32_t (*run)(ContainerHandle, SlimTensor** inputs, size_t num_inputs, SlimTensor** outputs,
                 size_t num_outputs, void* stream, void* proxy_executor);
  int32_t (*load_constants)(ContainerHandle, const uint8_t* bytes) = nullptr;
  int32_t (*num_constants)(ContainerHandle, size_t* out) = nullptr;
  int32_t (*constants_size)(ContainerHandle, uint64_t* out) = nullptr;
  int32_t (*last_error)(const char** out) = nullptr;
  int32_t (*constant_name)(ContainerHandle, size_t index, const char** out) = nullptr;
  int32_t (*constant_fqn)(ContainerHandle, size_t index, const char** out) = nullptr;
  int32_t (*constants_map)(ContainerHandle, ConstantMap* out, bool use_inactive) = nullptr;
  int32_t (*use_constants)(ContainerHandle, const ConstantEntry* entries, size_t count,
                           bool use_inactive, bool are_all) = nullptr;
};

/// One thread at a time runs it.
class Container final {
 public:
  using Tensors = std::vector<std::unique_ptr<SlimTensor>>;

  /// `device` as AOTInductor calls it. Internal when the library lacks a function or cannot make
  /// it.
  static runtime::Result<std::unique_ptr<Container>> create(std::unique_ptr<NativeLibrary> library,
                                                            const char* device);
  ~Container();
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  size_t num_inputs() const { return num_inputs_; }
  size_t num_outputs() const { return num_outputs_; }

  /// Bytes of the constants' file; 0 for a method without. NotSupported for the library of an older
  /// torch, which does not say.
  runtime::Result<size_t> constants_size() const;
  /// Copies them. `bytes`: as many as constants_size() says.
  runtime::Error load_constants(runtime::Span<const uint8_t> bytes);

  /// What constants are called in the library, by their names in the model. NotSupported for a
  /// library that does not say, or does not take those of others.
  runtime::Result<std::map<std::string, std::string>> constant_names() const;
  /// The method's own, by their names in the model, as load_constants() left them.
  runtime::Result<ConstantMap> constants() const;
  /// Has the method use other memory for them: the caller's, until it runs no more. `are_all`: none
  /// is left out, and load_constants() is not needed.
  runtime::Error use_constants(const std::vector<ConstantEntry>& entries, bool are_all);

  /// Takes as many inputs as the method has. Internal, with the library's own words, when it fails.
  runtime::Result<Tensors> run(Tensors inputs, void* stream = nullptr);

 private:
  explicit Container(std::unique_ptr<NativeLibrary> library) : library_(std::move(library)) {}
  /// Ok for 0.
  runtime::Error check(int32_t status, const char* what) const;

  // Last destroyed: the method is in it.
  std::unique_ptr<NativeLibrary> library_;
  ContainerApi api_{};
  ContainerHandle handle_ = nullptr;
  size_t num_inputs_ = 0, num_outputs_ = 0;
};

}  // namespace executorch::backends::aoti
