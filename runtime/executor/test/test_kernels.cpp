// SPDX-License-Identifier: BSD-3-Clause
// Operators and programs for tests of the executor.
#include <executorch/runtime/executor/test/test_kernels.h>

#include <cstring>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace executorch::runtime::testing {
namespace {

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using Args = Span<EValue*>;

// The contract of every operator here: so many arguments, of which the marked ones are tensors of
// float.
bool check(KernelRuntimeContext& context, Args args, size_t count,
           std::initializer_list<int> floats) {
  bool valid = args.size() == count;
  for (const int i : floats) {
    valid = valid && args[static_cast<size_t>(i)]->isTensor() &&
            args[static_cast<size_t>(i)]->toTensor().scalar_type() == ScalarType::Float;
  }
  if (!valid) {
    context.fail(Error::InvalidArgument);
  }
  return valid;
}

// Makes `out` as large as `like`; false, with the context failed, if it cannot.
bool resize_like(KernelRuntimeContext& context, const Tensor& out, const Tensor& like) {
  const Error error = resize_tensor(out, like.sizes());
  if (error != Error::Ok) {
    context.fail(error);
  }
  return error == Error::Ok;
}

void copy(const Tensor& from, const Tensor& to) {
  if (from.nbytes() > 0) {
    std::memmove(to.mutable_data_ptr(), from.const_data_ptr(), from.nbytes());
  }
}

void add_out(KernelRuntimeContext& context, Args args) {
  if (!check(context, args, 4, {0, 1, 2})) {
    return;
  }
  const Tensor a = args[0]->toTensor();
  const Tensor b = args[1]->toTensor();
  const Tensor out = args[2]->toTensor();
  if (a.numel() != b.numel()) {
    context.fail(Error::InvalidArgument);
    return;
  }
  if (resize_like(context, out, a)) {
    for (ssize_t i = 0; i < a.numel(); ++i) {
      out.mutable_data_ptr<float>()[i] =
          a.const_data_ptr<float>()[i] + b.const_data_ptr<float>()[i];
    }
  }
}

void copy_(KernelRuntimeContext& context, Args args) {
  if (!check(context, args, 3, {0, 1})) {
    return;
  }
  if (args[0]->toTensor().nbytes() != args[1]->toTensor().nbytes()) {
    context.fail(Error::InvalidArgument);
    return;
  }
  copy(args[1]->toTensor(), args[0]->toTensor());
}

void split_out(KernelRuntimeContext& context, Args args) {
  if (!check(context, args, 4, {0, 1, 2})) {
    return;
  }
  for (const size_t i : {1, 2}) {
    const Tensor out = args[i]->toTensor();
    if (!resize_like(context, out, args[0]->toTensor())) {
      return;
    }
    copy(args[0]->toTensor(), out);
  }
}

void scratch_out(KernelRuntimeContext& context, Args args) {
  if (!check(context, args, 3, {0, 1})) {
    return;
  }
  const Tensor a = args[0]->toTensor();
  const Result<void*> scratch = context.allocate_temp(a.nbytes());
  if (!scratch.ok()) {
    context.fail(scratch.error());
    return;
  }
  if (resize_like(context, args[1]->toTensor(), a) && a.nbytes() > 0) {
    std::memcpy(*scratch, a.const_data_ptr(), a.nbytes());
    std::memcpy(args[1]->toTensor().mutable_data_ptr(), *scratch, a.nbytes());
  }
}

void select_out(KernelRuntimeContext& context, Args args) {
  if (!check(context, args, 4, {0, 2})) {
    return;
  }
  const Tensor a = args[0]->toTensor();
  const Tensor out = args[2]->toTensor();
  if (!args[1]->isInt() || a.dim() < 1 || args[1]->toInt() < 0 || args[1]->toInt() >= a.size(0)) {
    context.fail(Error::InvalidArgument);
    return;
  }
  const size_t row = a.nbytes() / static_cast<size_t>(a.size(0));
  if (out.nbytes() != row) {
    context.fail(Error::InvalidArgument);
    return;
  }
  std::memmove(
      out.mutable_data_ptr(),
      static_cast<const uint8_t*>(a.const_data_ptr()) + row * static_cast<size_t>(args[1]->toInt()),
      row);
}

void greater_out(KernelRuntimeContext& context, Args args) {
  if (!check(context, args, 4, {0, 1})) {
    return;
  }
  if (!args[2]->isTensor()) {
    context.fail(Error::InvalidArgument);
    return;
  }
  const Tensor out = args[2]->toTensor();
  if (args[0]->toTensor().numel() < 1 || args[1]->toTensor().numel() < 1 || out.nbytes() != 1) {
    context.fail(Error::InvalidArgument);
    return;
  }
  *static_cast<uint8_t*>(out.mutable_data_ptr()) =
      *args[0]->toTensor().const_data_ptr<float>() > *args[1]->toTensor().const_data_ptr<float>();
}

void take(KernelRuntimeContext&, Args) {}

void fail_out(KernelRuntimeContext& context, Args) {
  context.fail(Error::InvalidType);
}

}  // namespace

void register_test_kernels() {
  static const Kernel kKernels[] = {
      Kernel("test::add.out", add_out),       Kernel("test::copy_", copy_),
      Kernel("test::split.out", split_out),   Kernel("test::scratch.out", scratch_out),
      Kernel("test::select.out", select_out), Kernel("test::take", take),
      Kernel("test::fail.out", fail_out),     Kernel("test::greater.out", greater_out),
  };
  static const Error registered = register_kernels({kKernels, sizeof(kKernels) / sizeof(Kernel)});
  (void)registered;
}

namespace {

// forward(x: [2, 3]) = x + the constant of that index.
void add_forward(ProgramBuilder& builder, uint32_t constant) {
  MethodBuilder& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2, 3}});
  TensorSpec weight{{2, 3}};
  weight.planned = false;
  weight.data_buffer_idx = constant;
  weight.name = "weight";
  const int32_t w = method.add_tensor(weight);
  const int32_t out = method.add_tensor({{2, 3}});
  method.inputs({x}).outputs({out});
  method.call("test::add", "out", {x, w, out, out});
}

}  // namespace

ProgramBuilder add_program() {
  ProgramBuilder builder;
  add_forward(builder, builder.add_constant(std::vector<float>{10, 20, 30, 40, 50, 60}));
  return builder;
}

ProgramBuilder inline_constant_program() {
  ProgramBuilder builder;
  add_forward(builder, builder.add_inline_constant(std::vector<float>{10, 20, 30, 40, 50, 60}));
  return builder;
}

ProgramBuilder dynamic_program() {
  ProgramBuilder builder;
  MethodBuilder& method = builder.add_method("forward");
  TensorSpec spec{{4, 3}};
  spec.dynamic = true;
  const int32_t out = method.add_tensor(spec);
  spec.planned = false;
  const int32_t x = method.add_tensor(spec);
  method.inputs({x}).outputs({out});
  method.call("test::add", "out", {x, x, out, out});
  return builder;
}

ProgramBuilder ranged_program() {
  ProgramBuilder builder;
  MethodBuilder& method = builder.add_method("forward");
  TensorSpec spec{{8, 3}};
  spec.dynamic = true;
  const int32_t x = method.add_tensor(spec);
  const int32_t y = method.add_tensor(spec);
  const int32_t out = method.add_tensor(spec);
  method.inputs({x, y}).outputs({out});
  method.call("test::add", "out", {x, y, out, out});
  method.vary(0, 0, 2).vary(1, 0, 2, 1, 0, /*same_n_as=*/0);
  return builder;
}

ProgramBuilder named_program() {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  TensorSpec spec{{8, 3}};
  spec.dynamic = true;
  const int32_t out = m.add_tensor(spec);
  const int32_t x = m.add_tensor(spec);
  const int32_t fixed = m.add_tensor({{4}});
  const int32_t number = m.add_int(7);
  m.inputs({x, fixed}).outputs({out, number});
  m.call("test::add", "out", {x, x, out, out});
  m.vary(0, 0, 2);
  m.names({"image", "state.hidden"}, {"scores", ""});
  m.plan().output_dimensions = {0, 0, 2};
  builder.program().user_metadata = "{\"labels\": [\"cat\", \"dog\"]}";
  return builder;
}

ProgramBuilder stateful_program() {
  ProgramBuilder builder;
  const uint32_t initial = builder.add_initial_data(std::vector<float>{1, 2});
  MethodBuilder& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  TensorSpec state{{2}};
  state.data_buffer_idx = initial;
  state.name = "state";
  const int32_t buffer = method.add_tensor(state);
  const int32_t sum = method.add_tensor({{2}});
  method.inputs({x}).outputs({sum});
  method.call("test::add", "out", {x, buffer, sum, sum});
  method.call("test::copy_", "", {buffer, sum, buffer});
  return builder;
}

ProgramBuilder branching_program() {
  ProgramBuilder builder;
  MethodBuilder& method = builder.add_method("forward");
  TensorSpec predicate{{1}};
  predicate.scalar_type = fb::ScalarType::BOOL;
  const int32_t p = method.add_tensor(predicate);
  const int32_t x = method.add_tensor({{2}});
  const int32_t doubled = method.add_tensor({{2}});
  TensorSpec slot{{2}};
  slot.planned = false;
  const int32_t out = method.add_tensor(slot);
  const int32_t never = method.add_bool(false);
  method.inputs({p, x}).outputs({out});
  method.jump_false(p, 4);
  method.call("test::add", "out", {x, x, doubled, doubled});
  method.move(doubled, out);
  method.jump_false(never, 5);
  method.move(x, out);
  return builder;
}

ProgramBuilder looping_program() {
  ProgramBuilder builder;
  MethodBuilder& method = builder.add_method("forward");
  TensorSpec rows{{4, 2}};
  rows.dynamic = true;
  const int32_t x = method.add_tensor(rows);
  const int32_t y = method.add_tensor(rows);
  const int32_t slot = method.add_tensor({{2}});
  const int32_t doubled = method.add_tensor({{2}});
  const int32_t zero = method.add_int(0);
  const int32_t one = method.add_int(1);
  const int32_t i = method.add_int(0);
  const int32_t n = method.add_int(0);
  const int32_t done = method.add_bool(false);
  method.inputs({x}).outputs({y});
  method.call("aten::sym_size", "int", {x, zero, n});
  const int32_t begin = method.call("test::select", "out", {x, i, slot, slot});
  method.call("test::add", "out", {slot, slot, doubled, doubled});
  method.call("executorch_prim::et_copy_index", "tensor", {y, doubled, i});
  method.call("executorch_prim::add", "Scalar", {i, one, i});
  method.call("executorch_prim::eq", "Scalar", {i, n, done});
  method.jump_false(done, begin);
  method.call("executorch_prim::sub", "Scalar", {i, n, i});
  return builder;
}

ProgramBuilder two_method_program() {
  ProgramBuilder builder;
  const uint32_t constant = builder.add_constant(std::vector<float>{1, 2});
  for (const char* name : {"one", "two"}) {
    MethodBuilder& method = builder.add_method(name);
    TensorSpec weight{{2}};
    weight.planned = false;
    weight.data_buffer_idx = constant;
    const int32_t x = method.add_tensor({{2}});
    const int32_t w = method.add_tensor(weight);
    const int32_t out = method.add_tensor({{2}});
    method.inputs({x}).outputs({out});
    method.call("test::add", "out", {x, w, out, out});
  }
  return builder;
}

ProgramBuilder symbolic_program() {
  ProgramBuilder builder;
  MethodBuilder& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2, 3}});
  TensorSpec spec{{6, 1}};
  spec.dynamic = true;
  spec.planned = false;
  const int32_t view = method.add_tensor(spec);
  const int32_t two = method.add_int(2);
  const int32_t numel = method.add_int(0);
  const int32_t product = method.add_int(0);
  method.inputs({x}).outputs({product, view});
  method.call("aten::sym_numel", "", {x, numel});
  method.call("executorch_prim::mul", "Scalar", {numel, two, product});
  method.call("executorch_prim::et_view", "default",
              {x, method.add_int_list({method.add_int(-1), two}), view});
  return builder;
}

ProgramBuilder every_value_program() {
  ProgramBuilder builder;
  MethodBuilder& method = builder.add_method("forward");
  const int32_t none = method.add_none();
  const int32_t a = method.add_int(7);
  const int32_t b = method.add_int(8);
  const int32_t t = method.add_tensor({{2}});
  const int32_t u = method.add_tensor({{2}});
  method.inputs({t, none, a}).outputs({u});
  method.call("test::take", "",
              {none, a, method.add_bool(true), method.add_double(0.5), t, method.add_string("text"),
               method.add_int_list({a, b, a}), method.add_double_list({1.5, 2.5}),
               method.add_bool_list({true, false}), method.add_tensor_list({t, u}),
               method.add_optional_tensor_list({t, -1, none})});
  return builder;
}

}  // namespace executorch::runtime::testing
