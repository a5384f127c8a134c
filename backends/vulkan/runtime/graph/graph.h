// SPDX-License-Identifier: BSD-3-Clause
// A delegate's graph on the device: tensors, where they are kept, and the dispatches of its calls.
//
// plan() walks the calls. Each operator's function (ops/) computes the sizes of its outputs and
// says which shaders run with which buffers and parameters: one function is the operator's argument
// reader, resize rule and choice of shaders. At load it is called once with the file's sizes, the
// upper bounds, which says what memory is needed; at run time again whenever sizes or numbers
// change.
#pragma once

#include <executorch/backends/vulkan/runtime/api/pipelines.h>
#include <executorch/backends/vulkan/runtime/payload.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace executorch::backends::vulkan {

/// Of an element in a buffer. The numbers are those of shaders. Double and Long are kept in 32
/// bits, Bool in 8, and all in 32 on devices without smaller elements.
enum class Element : int32_t { kFloat = 0, kHalf = 1, kInt = 2, kChar = 3, kByte = 4 };

size_t size_of(Element element);
/// Whether it counts as a real number in shaders.
inline bool is_real(Element element) {
  return element == Element::kFloat || element == Element::kHalf;
}

/// Where the bytes of tensors are. Tensors that are views of each other share one.
struct Storage {
  enum class Place {
    kShared,    // reused by others when it is not in use any more
    kHost,      // an input or output, which the host sees
    kConstant,  // written at load; kept over runs
  };
  Place place = Place::kShared;
  uint64_t num_bytes = 0;
  /// First call that writes it, last one that reads it; -1: before all.
  int64_t first_use = -1;
  int64_t last_use = -1;
  /// Filled by the memory plan: which of the runner's buffers, and where in it.
  uint32_t buffer = 0;
  uint64_t offset = 0;
};

struct Tensor {
  Element element = Element::kFloat;
  VkDataType dtype = VkDataType::FLOAT32;
  VkDataType staging = VkDataType::FLOAT32;
  Shape bound;
  /// Now.
  Shape shape;
  int32_t constant = -1;
  /// Index of its storage; -1: not decided yet.
  int32_t storage = -1;
  bool is_output = false;

  int64_t numel() const { return shape.numel(); }
  uint64_t max_bytes() const;
};

struct Binding {
  int32_t storage = -1;
  bool is_written = false;
};

struct Dispatch {
  PipelineKey key;
  std::vector<Binding> bindings;
  std::vector<uint8_t> params;
  uint32_t groups[3] = {1, 1, 1};
  /// Which call of the payload.
  size_t call = 0;
};

/// A number that is read out of an input's data while planning: another one asks for a new plan.
struct NumberRead {
  int32_t storage = -1;
  Element element = Element::kInt;
  int64_t index = 0;
  int64_t value = 0;
};

class Graph final {
 public:
  /// Of a verified payload, which it takes. OperatorMissing, with its name, for an operator that is
  /// not in the table; NotSupported and InvalidProgram for calls that cannot run.
  static runtime::Result<std::unique_ptr<Graph>> create(Payload payload, const Device& device);

  /// New dispatches for the present sizes of inputs and values of SymInts. `host` are the bytes of
  /// storages that the host sees, by the storage's offset; null while loading. Errors are the
  /// operators': InvalidArgument for sizes that do not fit.
  ET_NODISCARD runtime::Error plan(const uint8_t* host);

  /// Whether a number that the plan was made with is another one now.
  bool is_outdated(const uint8_t* host) const;

  const Payload& payload() const { return payload_; }
  const Device& device() const { return device_; }
  Tensor& tensor(size_t id) { return tensors_[id]; }
  const Tensor& tensor(size_t id) const { return tensors_[id]; }
  std::vector<Storage>& storages() { return storages_; }
  const std::vector<Storage>& storages() const { return storages_; }
  const std::vector<Dispatch>& dispatches() const { return dispatches_; }
  bool has_symints() const { return has_symints_; }
  /// Gives back what holds their bytes, once they are on the device.
  void drop_constants() { payload_.constants.clear(); }
  int64_t symint(size_t id) const { return symints_[id]; }
  void set_symint(size_t id, int64_t value) { symints_[id] = value; }
  /// Where the host reads output `index`: a storage that it sees; -1 for a SymInt.
  int32_t output_storage(size_t index) const { return output_storages_[index]; }

  /// The first `count` outputs are new contents of constants: each of the one that has its dtype
  /// and sizes, from now on. InvalidProgram when there is not exactly one. Plan anew afterwards.
  ET_NODISCARD runtime::Error keep_outputs(size_t count);

 private:
  friend class Call;
  friend class DispatchBuilder;
  Graph(Payload payload, const Device& device) : payload_(std::move(payload)), device_(device) {}
  ET_NODISCARD runtime::Error make_tensors();
  void split_writes_in_place();
  ET_NODISCARD runtime::Error find_operators();
  ET_NODISCARD runtime::Error make_outputs();
  ET_NODISCARD runtime::Error check_memory() const;
  int32_t add_storage(Storage::Place place, uint64_t num_bytes);
  Element element_of(VkDataType dtype) const;

  Payload payload_;
  const Device& device_;
  std::vector<Tensor> tensors_;  // by value; those of other kinds are not used
  std::vector<int64_t> symints_;
  std::vector<Storage> storages_;
  std::vector<Dispatch> dispatches_;
  std::vector<NumberRead> numbers_;
  std::vector<const struct Operator*> operators_;  // by call
  std::vector<int32_t> output_storages_;
  /// Storages that operators asked for, in their order, and how many a plan has used by now.
  std::vector<int32_t> scratch_;
  size_t num_scratch_used_ = 0;
  bool has_symints_ = false;
  bool is_loading_ = true;
};

}  // namespace executorch::backends::vulkan
