// SPDX-License-Identifier: BSD-3-Clause
// Builds .pte files of any shape, good or bad, for tests: no compiler needed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <executorch/schema/program_generated.h>

namespace executorch::runtime::testing {

namespace fb = executorch_flatbuffer;

// What a tensor of a program is; by default float, static and memory-planned.
struct TensorSpec {
  std::vector<int32_t> sizes;
  fb::ScalarType scalar_type = fb::ScalarType::FLOAT;
  bool planned = true;
  bool dynamic = false;
  uint32_t data_buffer_idx = 0;
  // Fully qualified name; external: data is in a data map under that name.
  std::string name = {};
  bool external = false;
};

// One method. Values, operators and instructions are numbered in the order in which they are added.
class MethodBuilder {
 public:
  explicit MethodBuilder(const std::string& name);

  int32_t add_none();
  int32_t add_int(int64_t value);
  int32_t add_bool(bool value);
  int32_t add_double(double value);
  int32_t add_string(const std::string& value);
  int32_t add_tensor(const TensorSpec& spec);
  int32_t add_int_list(std::vector<int64_t> items);
  int32_t add_double_list(std::vector<double> items);
  int32_t add_bool_list(std::vector<bool> items);
  int32_t add_tensor_list(std::vector<int32_t> items);
  int32_t add_optional_tensor_list(std::vector<int32_t> items);

  MethodBuilder& inputs(std::vector<int32_t> values);
  MethodBuilder& outputs(std::vector<int32_t> values);

  // A row of input_dimensions.
  MethodBuilder& vary(int32_t input, int32_t dimension, int32_t min, int32_t scale = 1,
                      int32_t offset = 0, int32_t same_n_as = -1);

  // Names of the inputs and of the outputs, one each.
  MethodBuilder& names(const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs);

  // Instructions of the last chain; each returns its index.
  int32_t call(const std::string& op, const std::string& overload, std::vector<int32_t> args);
  int32_t call_delegate(int32_t delegate, std::vector<int32_t> args);
  int32_t move(int32_t from, int32_t to);
  int32_t jump_false(int32_t condition, int32_t target);
  int32_t free(int32_t value);
  // The next instructions belong to a new chain.
  void begin_chain();

  // A delegate whose data is the entry `index` of the inline data, or of the segments.
  int32_t add_delegate(const std::string& backend, fb::DataLocation location, uint32_t index);

  // The tables themselves, to corrupt them.
  fb::ExecutionPlanT& plan() { return *plan_; }
  fb::TensorT& tensor(int32_t value) {
    return *plan_->values[static_cast<size_t>(value)]->val.AsTensor();
  }
  fb::InstructionT& instruction(int32_t index) {
    return *plan_->chains.back()->instructions[static_cast<size_t>(index)];
  }

 private:
  friend class ProgramBuilder;

  template <typename T>
  int32_t add(T value);
  template <typename T>
  int32_t append(T instruction);

  std::unique_ptr<fb::ExecutionPlanT> plan_;
};

class ProgramBuilder {
 public:
  ProgramBuilder();

  MethodBuilder& add_method(const std::string& name);

  // Each returns what refers to the data: a buffer index, a segment index, or an index of inline
  // delegate data.
  uint32_t add_constant(const void* data, size_t size);
  // In the program data, as before 2024-09; not beside others.
  uint32_t add_inline_constant(const void* data, size_t size);
  uint32_t add_initial_data(const void* data, size_t size);
  uint32_t add_segment(const void* data, size_t size);
  uint32_t add_inline_delegate_data(const void* data, size_t size);
  void add_named_data(const std::string& key, uint32_t segment);

  template <typename T>
  uint32_t add_constant(const std::vector<T>& data) {
    return add_constant(data.data(), data.size() * sizeof(T));
  }
  template <typename T>
  uint32_t add_inline_constant(const std::vector<T>& data) {
    return add_inline_constant(data.data(), data.size() * sizeof(T));
  }
  template <typename T>
  uint32_t add_initial_data(const std::vector<T>& data) {
    return add_initial_data(data.data(), data.size() * sizeof(T));
  }

  // The tables themselves, to corrupt them; segments are filled in by build() unless layout is set
  // to false.
  fb::ProgramT& program() { return program_; }
  bool layout = true;

  // The file: flatbuffer, extended header if there are segments, segments. May be called once.
  std::vector<uint8_t> build();

 private:
  void place_segments();

  fb::ProgramT program_;
  std::vector<std::unique_ptr<MethodBuilder>> methods_;
  std::vector<uint8_t> constants_;
  std::vector<uint8_t> initial_data_;
  uint32_t initial_data_segment_ = 0;
  std::vector<std::vector<uint8_t>> segments_;
  std::vector<uint8_t> segment_bytes_;
};

// A copy of a file, aligned as loaders align it, with nothing readable after its end.
class AlignedFile {
 public:
  explicit AlignedFile(const std::vector<uint8_t>& bytes);
  ~AlignedFile();
  AlignedFile(const AlignedFile&) = delete;
  AlignedFile& operator=(const AlignedFile&) = delete;

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_;
};

}  // namespace executorch::runtime::testing
