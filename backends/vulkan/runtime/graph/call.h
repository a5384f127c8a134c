// SPDX-License-Identifier: BSD-3-Clause
// What an operator's function gets: its arguments, and what it may ask of the graph.
#pragma once

#include <executorch/backends/vulkan/runtime/graph/graph.h>
#include <executorch/backends/vulkan/runtime/graph/iteration.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace executorch::backends::vulkan {

class Call;

/// A row of the table: an operator by its name in files, what runs it, and which of its family it
/// is.
struct Operator {
  const char* name;
  runtime::Error (*run)(Call& call);
  int32_t code = 0;
};

/// A dispatch that is being put together: buffers in the order of the shader's bindings, its
/// constants behind the buffers' element types, then parameters in the order of its block.
class DispatchBuilder {
 public:
  DispatchBuilder(Call& call, const char* shader);

  DispatchBuilder& read(const Tensor& tensor) { return bind(tensor, false); }
  DispatchBuilder& write(const Tensor& tensor) { return bind(tensor, true); }
  /// Binding that the shader does not use this time.
  DispatchBuilder& unused(const Tensor& other) { return bind(other, false); }
  DispatchBuilder& constant(int32_t value) {
    constants_.push_back(value);
    return *this;
  }
  DispatchBuilder& param(int64_t value);
  DispatchBuilder& param(float value);
  DispatchBuilder& params(int64_t a, int64_t b, int64_t c, int64_t d) {
    return param(a).param(b).param(c).param(d);
  }
  DispatchBuilder& params(const Iteration& iteration);
  DispatchBuilder& dims(const int32_t (&values)[kMaxRank]);

  /// Ends it: one invocation for each of so many elements.
  ET_NODISCARD runtime::Error elements(int64_t count);
  /// Ends it: so many groups of 64 invocations, numbered in one line.
  ET_NODISCARD runtime::Error groups(int64_t count);

 private:
  DispatchBuilder& bind(const Tensor& tensor, bool is_written);

  Call& call_;
  Dispatch dispatch_;
  std::vector<int32_t> constants_;
};

class Call final {
 public:
  Call(Graph& graph, size_t index);

  const char* name() const { return payload_.name.c_str(); }
  int32_t code() const { return operator_->code; }
  size_t num_args() const { return payload_.args.size(); }
  GraphTypes kind(size_t index) const;
  bool is_null(size_t index) const { return kind(index) == GraphTypes::Null; }

  /// Arguments; InvalidProgram, with the call and the argument in the log, when they are something
  /// else or not there. Int, SymInt, Bool and Double stand for each other where nothing is lost.
  /// Integers are of 32 bits, those beyond the nearest; numbers are exact.
  runtime::Result<Tensor*> tensor(size_t index);
  /// Null for Null.
  runtime::Result<Tensor*> optional_tensor(size_t index);
  runtime::Result<std::vector<Tensor*>> tensors(size_t index);
  runtime::Result<int64_t> integer(size_t index);
  runtime::Result<double> number(size_t index);
  runtime::Result<bool> boolean(size_t index);
  /// Empty for Null.
  runtime::Result<std::string_view> text(size_t index);
  /// Of an IntList, a ValueList of numbers, or one number; empty for Null.
  runtime::Result<std::vector<int64_t>> integers(size_t index);
  /// Of a DoubleList, or what integers() takes.
  runtime::Result<std::vector<double>> numbers(size_t index);
  /// Tensors of a list that may have Nulls, with their places in it.
  struct Place {
    size_t place;
    Tensor* tensor;
  };
  runtime::Result<std::vector<Place>> present(size_t index);
  /// With a default for Null.
  runtime::Result<int64_t> integer_or(size_t index, int64_t otherwise);
  runtime::Result<double> number_or(size_t index, double otherwise);
  /// A dimension of a tensor of `rank`: from 0, whatever the file counts from.
  runtime::Result<size_t> dim(size_t index, size_t rank);
  /// `value` if it is one of so many dimensions, which may count from the end.
  runtime::Result<size_t> wrap_dim(int64_t value, size_t rank) const;

  /// The last argument: a tensor, or the first of its list.
  runtime::Result<Tensor*> output();
  runtime::Result<std::vector<Tensor*>> outputs() { return tensors(num_args() - 1); }
  /// The last argument as a SymInt.
  ET_NODISCARD runtime::Error set_output(int64_t value);

  /// Gives an output its sizes. While loading they must be those of the file, unless SymInts say
  /// later what they are; then they are the file's. Errors: InvalidProgram, InvalidArgument.
  ET_NODISCARD runtime::Error resize(Tensor& out, const Shape& shape);
  /// The same for an output that may be a view of `in`: decides no memory for it.
  ET_NODISCARD runtime::Error resize_view(Tensor& out, const Tensor& in, const Shape& shape);
  /// Whether sizes are upper bounds, and numbers that come with a run are 0.
  bool is_loading() const { return graph_.is_loading_; }

  /// Makes `out` a view of the same bytes; false where it cannot be one and must be copied.
  bool alias(Tensor& out, const Tensor& in);
  /// Memory of this call alone. The same calls must ask for it in each plan.
  runtime::Result<Tensor> scratch(Element element, const Shape& shape);
  /// An element of a graph's input, now. While loading: 0.
  runtime::Result<int64_t> read_number(const Tensor& tensor, int64_t index);

  DispatchBuilder dispatch(const char* shader) { return DispatchBuilder(*this, shader); }
  Graph& graph() { return graph_; }

  /// NotSupported with a text.
  runtime::Error refuse(const char* what) const;
  /// InvalidProgram (while loading) or InvalidArgument with a text.
  runtime::Error mismatch(const char* what) const;

 private:
  friend class DispatchBuilder;
  ET_NODISCARD runtime::Error set_shape(Tensor& out, const Shape& shape);
  void add_memory(Tensor& out);
  runtime::Result<const PayloadValue*> value(size_t index) const;
  runtime::Result<int64_t> integer_of(size_t id) const;
  runtime::Result<std::vector<int64_t>> int64_values(size_t index) const;
  runtime::Result<Tensor*> tensor_of(size_t id);

  Graph& graph_;
  const size_t index_;
  const PayloadCall& payload_;
  const Operator* operator_;
  const uint8_t* host_ = nullptr;
  friend class Graph;
};

}  // namespace executorch::backends::vulkan
