// SPDX-License-Identifier: BSD-3-Clause
// Every function of the table with nothing, with handles of every wrong kind, and with numbers out
// of range: a status, never a crash.
#include <functional>

#include <gmock/gmock.h>

#include <executorch/extension/c/test/calls.h>

namespace executorch::extension::c::testing {
namespace {

// One object of each kind, and one that was released.
struct Handles {
  Handles() {
    const ExecuTorchModuleOptions options = options_of(program);
    EXPECT_OK(et().module_load(&options, module.out()));
    ExecuTorchTensorSpec spec = spec_of(data, {}, EXECUTORCH_FLOAT32);
    EXPECT_OK(et().tensor_new(&spec, tensor.out()));
    EXPECT_OK(et().tensor_new(&spec, &released));
    EXPECT_OK(et().release(released));
    *status.out() = et().tensor_new(nullptr, nullptr);
  }
  std::vector<uint64_t> all() const {
    return {0,
            1,
            UINT64_MAX,
            UINT64_MAX - 1,
            uint64_t{1} << 32,
            released,
            module.get(),
            tensor.get(),
            status.get()};
  }

  std::vector<uint8_t> program = add_program().build();
  std::vector<float> data = {1};
  Owned module, tensor, status;
  uint64_t released = 0;
};

struct Row {
  const char* name;
  std::function<ExecuTorchStatus(uint64_t handle)> call;
};

ExecuTorchValueInfo value_info{sizeof(value_info)};
ExecuTorchMethodInfo method_info{sizeof(method_info)};
ExecuTorchDtypeInfo dtype_info{sizeof(dtype_info)};
ExecuTorchTensorSpec spec_without_sizes{sizeof(spec_without_sizes), EXECUTORCH_FLOAT32, 0, 3};
ExecuTorchTensorSpec spec_of_many_dims{sizeof(spec_of_many_dims), EXECUTORCH_FLOAT32, 0, 17};
const int32_t negative[] = {-1, 2};
const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX};
const uint8_t no_order[] = {1, 1};
ExecuTorchTensorSpec spec_of_no_size{sizeof(spec_of_no_size), EXECUTORCH_FLOAT32, 0, 2, negative};
ExecuTorchTensorSpec spec_too_large{sizeof(spec_too_large), EXECUTORCH_FLOAT64, 0, 3, huge};
ExecuTorchTensorSpec spec_of_no_order{sizeof(spec_of_no_order), 6, 0, 2, huge, no_order};
ExecuTorchTensorSpec spec_of_no_dtype{sizeof(spec_of_no_dtype), 30};
ExecuTorchTensorSpec spec_of_no_dynamism{sizeof(spec_of_no_dynamism), 6, 2};
ExecuTorchModuleOptions options_of_nothing{sizeof(options_of_nothing)};
ExecuTorchModuleOptions options_of_no_file{sizeof(options_of_no_file), {"/nowhere/a.pte"}};
ExecuTorchValue no_kind{77};
ExecuTorchValue text_of_null{EXECUTORCH_STRING, 0, 0, 0, nullptr, 5};
ExecuTorchMemory memory{};
uint64_t handle_out = 0;
const char* text_out = nullptr;
size_t size_out = 0;
int64_t position_out = 0;
ExecuTorchTextOptions text_of_nothing{sizeof(text_of_nothing)};
ExecuTorchTextOptions text_of_no_file{sizeof(text_of_no_file), "/nowhere/a.pte"};
ExecuTorchGenerateOptions generate{sizeof(generate)};
ExecuTorchValue value_out{};

const Row kRows[] = {
    {"get_num_threads", [](uint64_t) { return et().get_num_threads(nullptr); }},
    {"backend_name", [](uint64_t) { return et().backend_name(0, nullptr); }},
    {"backend_name", [](uint64_t) { return et().backend_name(SIZE_MAX, &text_out); }},
    {"set_backend_options", [](uint64_t) { return et().set_backend_options(nullptr, 1); }},
    {"get_backend_option", [](uint64_t) { return et().get_backend_option(nullptr); }},
    {"dtype_info", [](uint64_t) { return et().dtype_info(0, nullptr); }},
    {"dtype_info", [](uint64_t) { return et().dtype_info(-1, &dtype_info); }},
    {"dtype_info", [](uint64_t) { return et().dtype_info(30, &dtype_info); }},
    {"tensor_new", [](uint64_t) { return et().tensor_new(nullptr, &handle_out); }},
    {"tensor_new", [](uint64_t) { return et().tensor_new(&spec_of_no_dtype, nullptr); }},
    {"tensor_new", [](uint64_t) { return et().tensor_new(&spec_of_no_dtype, &handle_out); }},
    {"tensor_new", [](uint64_t) { return et().tensor_new(&spec_of_no_dynamism, &handle_out); }},
    {"tensor_new", [](uint64_t) { return et().tensor_new(&spec_without_sizes, &handle_out); }},
    {"tensor_new", [](uint64_t) { return et().tensor_new(&spec_of_many_dims, &handle_out); }},
    {"tensor_new", [](uint64_t) { return et().tensor_new(&spec_of_no_size, &handle_out); }},
    {"tensor_new", [](uint64_t) { return et().tensor_new(&spec_too_large, &handle_out); }},
    {"tensor_new", [](uint64_t) { return et().tensor_new(&spec_of_no_order, &handle_out); }},
    {"tensor_info", [](uint64_t t) { return et().tensor_info(t, nullptr); }},
    {"tensor_resize", [](uint64_t t) { return et().tensor_resize(t, 1, nullptr); }},
    {"tensor_resize", [](uint64_t t) { return et().tensor_resize(t, 2, negative); }},
    {"tensor_resize", [](uint64_t t) { return et().tensor_resize(t, 99, huge); }},
    {"tensor_copy", [](uint64_t t) { return et().tensor_copy(t, nullptr); }},
    {"module_load", [](uint64_t) { return et().module_load(nullptr, &handle_out); }},
    {"module_load", [](uint64_t) { return et().module_load(&options_of_nothing, nullptr); }},
    {"module_load", [](uint64_t) { return et().module_load(&options_of_nothing, &handle_out); }},
    {"module_load", [](uint64_t) { return et().module_load(&options_of_no_file, &handle_out); }},
    {"module_share", [](uint64_t m) { return et().module_share(m, nullptr); }},
    {"method_name", [](uint64_t m) { return et().method_name(m, 0, nullptr); }},
    {"method_name", [](uint64_t m) { return et().method_name(m, SIZE_MAX, &text_out); }},
    {"user_metadata", [](uint64_t m) { return et().user_metadata(m, nullptr); }},
    {"method_info", [](uint64_t m) { return et().method_info(m, nullptr, nullptr); }},
    {"method_info", [](uint64_t m) { return et().method_info(m, "no", &method_info); }},
    {"value_info", [](uint64_t m) { return et().value_info(m, nullptr, 0, 0, nullptr); }},
    {"value_info", [](uint64_t m) { return et().value_info(m, nullptr, 3, 0, &value_info); }},
    {"value_info", [](uint64_t m) { return et().value_info(m, nullptr, 0, 2, &value_info); }},
    {"value_info", [](uint64_t m) { return et().value_info(m, nullptr, 2, 0, &value_info); }},
    {"value_index", [](uint64_t m) { return et().value_index(m, nullptr, 0, nullptr, &size_out); }},
    {"value_index", [](uint64_t m) { return et().value_index(m, nullptr, 0, "", &size_out); }},
    {"value_index", [](uint64_t m) { return et().value_index(m, nullptr, 0, "x", nullptr); }},
    {"planned_buffer_size",
     [](uint64_t m) { return et().planned_buffer_size(m, nullptr, 0, nullptr); }},
    {"planned_buffer_size",
     [](uint64_t m) { return et().planned_buffer_size(m, nullptr, 1, &size_out); }},
    {"method_backend", [](uint64_t m) { return et().method_backend(m, nullptr, 0, &text_out); }},
    {"load_method", [](uint64_t m) { return et().load_method(m, nullptr, nullptr, 1); }},
    {"load_method", [](uint64_t m) { return et().load_method(m, nullptr, &memory, 1); }},
    {"load_method", [](uint64_t m) { return et().load_method(m, "no", nullptr, 0); }},
    {"unload_method", [](uint64_t m) { return et().unload_method(m, "no"); }},
    {"set_input", [](uint64_t m) { return et().set_input(m, nullptr, 0, nullptr); }},
    {"set_input", [](uint64_t m) { return et().set_input(m, nullptr, 0, &no_kind); }},
    {"set_input", [](uint64_t m) { return et().set_input(m, nullptr, 0, &text_of_null); }},
    {"set_input", [](uint64_t m) { return et().set_input(m, nullptr, 2, &value_out); }},
    {"set_output", [](uint64_t m) { return et().set_output(m, nullptr, 0, m); }},
    {"set_output", [](uint64_t m) { return et().set_output(m, nullptr, 0, 0); }},
    {"execute", [](uint64_t m) { return et().execute(m, nullptr, nullptr, 1, &value_out, 1); }},
    {"execute", [](uint64_t m) { return et().execute(m, nullptr, nullptr, 0, nullptr, 1); }},
    {"execute", [](uint64_t m) { return et().execute(m, nullptr, nullptr, 0, nullptr, 0); }},
    {"execute", [](uint64_t m) { return et().execute(m, nullptr, &no_kind, 1, &value_out, 1); }},
    {"execute",
     [](uint64_t m) { return et().execute(m, nullptr, &text_of_null, 1, &value_out, 1); }},
    {"module_take_events", [](uint64_t m) { return et().module_take_events(m, nullptr, nullptr); }},
    {"text_new", [](uint64_t) { return et().text_new(nullptr, 1, &handle_out); }},
    {"text_new", [](uint64_t) { return et().text_new(&text_of_nothing, 1, &handle_out); }},
    {"text_new", [](uint64_t) { return et().text_new(&text_of_no_file, 1, &handle_out); }},
    {"text_new", [](uint64_t) { return et().text_new(&text_of_no_file, 0, &handle_out); }},
    {"text_new", [](uint64_t) { return et().text_new(&text_of_no_file, 1, nullptr); }},
    {"text_generate", [](uint64_t t) { return et().text_generate(t, "a", &generate, nullptr); }},
    {"text_chat",
     [](uint64_t t) { return et().text_chat(t, nullptr, 1, nullptr, &generate, nullptr); }},
    {"text_stop", [](uint64_t t) { return et().text_stop(t); }},
    {"text_position", [](uint64_t t) { return et().text_position(t, &position_out); }},
    {"text_rewind", [](uint64_t t) { return et().text_rewind(t, -1); }},
    {"text_save", [](uint64_t t) { return et().text_save(t, nullptr); }},
    {"text_restore", [](uint64_t t) { return et().text_restore(t, nullptr); }},
    {"text_encode", [](uint64_t t) { return et().text_encode(t, "a", nullptr, 0, &size_out); }},
    {"text_decode",
     [](uint64_t t) { return et().text_decode(t, nullptr, 1, nullptr, 0, &size_out); }},
    {"train_step",
     [](uint64_t m) { return et().train_step(m, nullptr, nullptr, 0, &value_out, 1, &size_out); }},
    {"train_step",
     [](uint64_t m) { return et().train_step(m, nullptr, nullptr, 0, &value_out, 1, nullptr); }},
    {"trained_tensor",
     [](uint64_t m) { return et().trained_tensor(m, nullptr, 0, 0, &text_out, &handle_out); }},
    {"trained_tensor",
     [](uint64_t m) { return et().trained_tensor(m, nullptr, 9, 0, &text_out, nullptr); }},
    {"optimizer_new",
     [](uint64_t m) { return et().optimizer_new(m, nullptr, "sgd", nullptr, 0, &handle_out); }},
    {"optimizer_new",
     [](uint64_t m) { return et().optimizer_new(m, nullptr, "lbfgs", nullptr, 0, &handle_out); }},
    {"optimizer_new",
     [](uint64_t m) { return et().optimizer_new(m, nullptr, nullptr, nullptr, 1, nullptr); }},
    {"optimizer_step", [](uint64_t o) { return et().optimizer_step(o); }},
    {"checkpoint_save", [](uint64_t o) { return et().checkpoint_save(o, nullptr); }},
    {"checkpoint_load", [](uint64_t o) { return et().checkpoint_load(o, nullptr); }},
};

TEST(ExecuTorchCWrongArguments, EachGivesAStatusAndNothingElse) {
  const Handles handles;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    for (const uint64_t handle : handles.all()) {
      const ExecuTorchStatus status = kRows[i].call(handle);
      const std::string where = std::string(kRows[i].name) + ", row " + std::to_string(i);
      EXPECT_NE(status, 0u) << where << ": no status";
      const Outcome outcome = take(status);
      EXPECT_NE(outcome.code, EXECUTORCH_INTERNAL) << where << ": " << outcome.message;
      EXPECT_THAT(outcome.message, ::testing::StartsWith(std::string(kRows[i].name) + ": Error::"));
      EXPECT_THAT(outcome.message, ::testing::HasSubstr("\n  ")) << where << " does not say why";
    }
  }
  EXPECT_EQ(handle_out, 0u);
}

TEST(ExecuTorchCWrongArguments, OneHandleForAnother) {
  const Handles handles;
  for (const uint64_t handle : handles.all()) {
    ExecuTorchTensorInfo info{sizeof(info)};
    const bool is_tensor = handle == handles.tensor.get();
    EXPECT_EQ(take(et().tensor_info(handle, &info)).code == EXECUTORCH_OK, is_tensor);
    ExecuTorchMethodInfo method{sizeof(method)};
    const bool is_module = handle == handles.module.get();
    EXPECT_EQ(take(et().method_info(handle, nullptr, &method)).code == EXECUTORCH_OK, is_module);
    EXPECT_EQ(et().status_code(handle) == EXECUTORCH_INVALID_ARGUMENT,
              handle == handles.status.get());
    EXPECT_NE(et().status_message(handle), nullptr);
  }
  ExecuTorchMethodInfo method{sizeof(method)};
  EXPECT_FAILS(et().method_info(handles.tensor.get(), nullptr, &method),
               EXECUTORCH_INVALID_ARGUMENT, "expected a module, found a tensor");
  EXPECT_FAILS(et().method_info(handles.released, nullptr, &method), EXECUTORCH_INVALID_ARGUMENT,
               "expected a module, found a tensor that was released");
  EXPECT_FAILS(et().release(handles.released), EXECUTORCH_INVALID_ARGUMENT,
               "expected a handle, found a tensor that was released");
  EXPECT_FAILS(et().release(3), EXECUTORCH_INVALID_ARGUMENT, "which is no handle");
}

}  // namespace
}  // namespace executorch::extension::c::testing
