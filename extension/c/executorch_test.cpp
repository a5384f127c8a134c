// SPDX-License-Identifier: BSD-3-Clause
// The C interface as a program uses it: modules, values, memory of the caller, threads, events.
#include <cstring>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>

#include <executorch/extension/c/test/calls.h>
#include <executorch/extension/flat_tensor/serialize/serialize.h>
#include <executorch/extension/tensor/tensor.h>

namespace executorch::extension::c::testing {
namespace {

class ExecuTorchC : public ::testing::Test {
 protected:
  void load(const std::vector<uint8_t>& program) {
    const ExecuTorchModuleOptions options = options_of(program);
    EXPECT_OK(et().module_load(&options, module_.out()));
  }
  void make_inputs(std::vector<int32_t> sizes = {2}) {
    ExecuTorchTensorSpec spec = spec_of(x_data_, sizes, EXECUTORCH_FLOAT32);
    EXPECT_OK(et().tensor_new(&spec, x_.out()));
    spec = spec_of(y_data_, sizes, EXECUTORCH_FLOAT32);
    EXPECT_OK(et().tensor_new(&spec, y_.out()));
  }
  ExecuTorchStatus run(std::vector<ExecuTorchValue> inputs) {
    return et().execute(module_.get(), nullptr, inputs.data(), inputs.size(), &out_, 1);
  }

  std::vector<float> x_data_ = {1, 2};
  std::vector<float> y_data_ = {10, 20};
  Owned module_, x_, y_;
  ExecuTorchValue out_{};
};

TEST_F(ExecuTorchC, TensorsGoInAndOutWithoutCopies) {
  const std::vector<uint8_t> program = add_program().build();
  load(program);
  make_inputs();
  EXPECT_OK(run({value_of(x_.get()), value_of(y_.get())}));
  EXPECT_EQ(out_.kind, EXECUTORCH_TENSOR);
  EXPECT_EQ(floats(out_.tensor), (std::vector<float>{11, 22}));
  // The caller's memory is read, and the output's handle and memory stay.
  EXPECT_EQ(info_of(x_.get()).data, x_data_.data());
  const ExecuTorchTensor first = out_.tensor;
  const void* const data = info_of(first).data;
  x_data_[0] = 5;
  EXPECT_OK(run({value_of(x_.get()), value_of(y_.get())}));
  EXPECT_EQ(out_.tensor, first);
  EXPECT_EQ(info_of(first).data, data);
  EXPECT_EQ(floats(first), (std::vector<float>{15, 22}));
}

TEST_F(ExecuTorchC, InputsByNameAndInputsThatAreSet) {
  const std::vector<uint8_t> program = add_program().build();
  load(program);
  make_inputs();
  EXPECT_OK(run({value_of(y_.get(), "y"), value_of(x_.get(), "x")}));
  EXPECT_EQ(floats(out_.tensor), (std::vector<float>{11, 22}));
  EXPECT_FAILS(run({value_of(y_.get(), "y"), value_of(x_.get())}), EXECUTORCH_INVALID_ARGUMENT,
               "expected all 2 inputs by name or all by place, found 1 names");
  EXPECT_FAILS(run({value_of(y_.get(), "z")}), EXECUTORCH_INVALID_ARGUMENT,
               "expected an input of x, y, found z");
  const ExecuTorchValue y = value_of(y_.get());
  EXPECT_OK(et().set_input(module_.get(), "forward", 1, &y));
  y_.end();  // lives on inside
  EXPECT_OK(run({value_of(x_.get())}));
  EXPECT_EQ(floats(out_.tensor), (std::vector<float>{11, 22}));
  const ExecuTorchValue none{};
  EXPECT_OK(et().set_input(module_.get(), "forward", 1, &none));
  EXPECT_FAILS(run({value_of(x_.get())}), EXECUTORCH_INVALID_ARGUMENT, "input y is missing");
}

TEST_F(ExecuTorchC, SizesThatVary) {
  const std::vector<uint8_t> program = add_program(4, true, true).build();
  load(program);
  x_data_ = {1, 2, 3, 4};
  y_data_ = {10, 20, 30, 40};
  make_inputs({4});
  EXPECT_OK(run({value_of(x_.get()), value_of(y_.get())}));
  EXPECT_EQ(floats(out_.tensor), (std::vector<float>{11, 22, 33, 44}));
  const int32_t three = 3;
  EXPECT_OK(et().tensor_resize(x_.get(), 1, &three));
  EXPECT_OK(et().tensor_resize(y_.get(), 1, &three));
  EXPECT_OK(run({value_of(x_.get()), value_of(y_.get())}));
  EXPECT_EQ(floats(out_.tensor), (std::vector<float>{11, 22, 33}));
  const int32_t five = 5;
  EXPECT_NE(take(et().tensor_resize(x_.get(), 1, &five)).code, EXECUTORCH_OK);
  EXPECT_FAILS(et().tensor_resize(out_.tensor, 1, &three), EXECUTORCH_NOT_SUPPORTED,
               "found an output");
}

TEST_F(ExecuTorchC, FactsOfMethodsAndValues) {
  const std::vector<uint8_t> program = add_program(4, true, true).build();
  load(program);
  const char* text = nullptr;
  EXPECT_OK(et().method_name(module_.get(), 0, &text));
  EXPECT_STREQ(text, "forward");
  EXPECT_FAILS(et().method_name(module_.get(), 1, &text), EXECUTORCH_NOT_FOUND, "below 1, found 1");
  EXPECT_OK(et().user_metadata(module_.get(), &text));
  EXPECT_STREQ(text, "");
  ExecuTorchMethodInfo method{};
  method.struct_size = sizeof(method);
  EXPECT_OK(et().method_info(module_.get(), nullptr, &method));
  EXPECT_EQ(method.num_inputs, 2u);
  EXPECT_EQ(method.num_outputs, 1u);
  EXPECT_EQ(method.is_loaded, 0);
  ExecuTorchValueInfo value{};
  value.struct_size = sizeof(value);
  EXPECT_OK(et().value_info(module_.get(), nullptr, EXECUTORCH_INPUT, 1, &value));
  EXPECT_STREQ(value.name, "y");
  EXPECT_EQ(value.kind, EXECUTORCH_TENSOR);
  EXPECT_EQ(value.dtype, EXECUTORCH_FLOAT32);
  ASSERT_EQ(value.rank, 1u);
  EXPECT_EQ(value.sizes[0], 4);
  EXPECT_EQ(value.min_sizes[0], 0);
  EXPECT_EQ(value.num_bytes, 16u);
  size_t index = 9;
  EXPECT_OK(et().value_index(module_.get(), nullptr, EXECUTORCH_OUTPUT, "sum", &index));
  EXPECT_EQ(index, 0u);
  EXPECT_FAILS(et().value_index(module_.get(), nullptr, EXECUTORCH_INPUT, "z", &index),
               EXECUTORCH_NOT_FOUND, "expected one of the names x, y, found z");
}

TEST_F(ExecuTorchC, EveryKindOfValue) {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t number = method.add_int(0);
  const int32_t real = method.add_double(1.5);
  const int32_t flag = method.add_bool(true);
  const int32_t text = method.add_string("as is");
  method.inputs({}).outputs({number, real, flag, text});
  const std::vector<uint8_t> program = builder.build();
  load(program);
  ExecuTorchValue outputs[4];
  EXPECT_OK(et().execute(module_.get(), nullptr, nullptr, 0, outputs, 4));
  EXPECT_EQ(outputs[0].kind, EXECUTORCH_INT);
  EXPECT_EQ(outputs[1].number, 1.5);
  EXPECT_EQ(outputs[2].integer, 1);
  EXPECT_EQ(std::string(outputs[3].text, outputs[3].text_size), "as is");
  EXPECT_FAILS(et().execute(module_.get(), nullptr, nullptr, 0, outputs, 3),
               EXECUTORCH_INVALID_ARGUMENT, "expected room for 4 outputs, found 3");
}

TEST_F(ExecuTorchC, EveryDtypeHasANameAndASize) {
  for (int32_t dtype = 0; dtype <= EXECUTORCH_UINT64; ++dtype) {
    ExecuTorchDtypeInfo info{};
    info.struct_size = sizeof(info);
    EXPECT_OK(et().dtype_info(dtype, &info));
    EXPECT_GT(std::strlen(info.name), 0u);
    const int32_t sizes[] = {2, 3};
    ExecuTorchTensorSpec spec{};
    spec.struct_size = sizeof(spec);
    spec.dtype = dtype;
    spec.rank = 2;
    spec.sizes = sizes;
    Owned tensor;
    EXPECT_OK(et().tensor_new(&spec, tensor.out()));
    EXPECT_EQ(info_of(tensor.get()).num_bytes, 6 * info.size) << info.name;
    EXPECT_EQ(static_cast<const char*>(info_of(tensor.get()).data)[0], 0);
  }
  ExecuTorchDtypeInfo info{};
  info.struct_size = sizeof(info);
  EXPECT_OK(et().dtype_info(EXECUTORCH_BFLOAT16, &info));
  EXPECT_STREQ(info.name, "BFloat16");
  EXPECT_EQ(info.size, 2u);
}

TEST_F(ExecuTorchC, DimOrderCopyAndMemoryThatIsGivenBack) {
  int num_given_back = 0;
  std::vector<float> data(24);
  const uint8_t channels_last[] = {0, 2, 3, 1};
  ExecuTorchTensorSpec spec = spec_of(data, {1, 2, 3, 4}, EXECUTORCH_FLOAT32);
  const int32_t sizes[] = {1, 2, 3, 4};
  spec.sizes = sizes;
  spec.dim_order = channels_last;
  spec.context = &num_given_back;
  spec.release = [](void* context, void* /*data*/) { ++*static_cast<int*>(context); };
  Owned tensor, copy;
  spec.data_size = 95;
  EXPECT_FAILS(et().tensor_new(&spec, tensor.out()), EXECUTORCH_INVALID_ARGUMENT,
               "expected 96 bytes of data for the sizes, found 95");
  EXPECT_EQ(num_given_back, 0);
  spec.data_size = 96;
  EXPECT_OK(et().tensor_new(&spec, tensor.out()));
  EXPECT_EQ(info_of(tensor.get()).strides[1], 1);
  EXPECT_OK(et().tensor_copy(tensor.get(), copy.out()));
  EXPECT_EQ(info_of(copy.get()).dim_order[3], 1);
  EXPECT_NE(info_of(copy.get()).data, data.data());
  tensor.end();
  EXPECT_EQ(num_given_back, 1);
}

TEST_F(ExecuTorchC, BytesOfAProgramAreGivenBackWithTheLastModule) {
  int num_given_back = 0;
  const std::vector<uint8_t> program = add_program().build();
  ExecuTorchModuleOptions options = options_of(program);
  options.program.context = &num_given_back;
  options.program.release = [](void* context, const void*) { ++*static_cast<int*>(context); };
  options.load_mode = 99;
  EXPECT_FAILS(et().module_load(&options, module_.out()), EXECUTORCH_INVALID_ARGUMENT,
               "expected a load mode from 0 to 4, found 99");
  EXPECT_EQ(num_given_back, 0);
  options.load_mode = EXECUTORCH_LOAD_FILE;
  EXPECT_OK(et().module_load(&options, module_.out()));
  Owned second;
  EXPECT_OK(et().module_share(module_.get(), second.out()));
  module_.end();
  EXPECT_EQ(num_given_back, 0);
  make_inputs();
  const ExecuTorchValue inputs[] = {value_of(x_.get()), value_of(y_.get())};
  EXPECT_OK(et().execute(second.get(), nullptr, inputs, 2, &out_, 1));
  EXPECT_EQ(floats(out_.tensor), (std::vector<float>{11, 22}));
  second.end();
  EXPECT_EQ(num_given_back, 1);
  EXPECT_FAILS(et().tensor_info(out_.tensor, nullptr), EXECUTORCH_INVALID_ARGUMENT, "NULL");
  ExecuTorchTensorInfo info{};
  info.struct_size = sizeof(info);
  EXPECT_FAILS(et().tensor_info(out_.tensor, &info), EXECUTORCH_INVALID_ARGUMENT,
               "expected a tensor, found a tensor that was released");
}

TEST_F(ExecuTorchC, AllMemoryMayBeTheCallers) {
  const std::vector<uint8_t> program = add_program().build();
  ExecuTorchModuleOptions options = options_of(program);
  std::vector<uint8_t> methods(16384), scratch(1024);
  options.method_memory = {methods.data(), methods.size()};
  options.scratch_memory = {scratch.data(), scratch.size()};
  EXPECT_OK(et().module_load(&options, module_.out()));
  ExecuTorchMethodInfo info{};
  info.struct_size = sizeof(info);
  EXPECT_OK(et().method_info(module_.get(), nullptr, &info));
  ASSERT_EQ(info.num_planned_buffers, 1u);
  size_t size = 0;
  EXPECT_OK(et().planned_buffer_size(module_.get(), nullptr, 0, &size));
  std::vector<uint64_t> plan(size / 8 + 3);
  auto* aligned =
      reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(plan.data()) + 15) & ~uintptr_t{15});
  ExecuTorchMemory buffer{aligned, size - 1};
  EXPECT_FAILS(et().load_method(module_.get(), nullptr, &buffer, 1), EXECUTORCH_INVALID_ARGUMENT,
               "bytes for planned buffer 0, found");
  buffer = {aligned + 8, size};
  EXPECT_FAILS(et().load_method(module_.get(), nullptr, &buffer, 1), EXECUTORCH_INVALID_ARGUMENT,
               "expected planned buffer 0 at a multiple of 16 bytes");
  buffer = {aligned, size};
  EXPECT_FAILS(et().load_method(module_.get(), nullptr, &buffer, 2), EXECUTORCH_INVALID_ARGUMENT,
               "expected 1 planned buffers, found 2");
  EXPECT_OK(et().load_method(module_.get(), nullptr, &buffer, 1));
  EXPECT_FAILS(et().load_method(module_.get(), nullptr, &buffer, 1), EXECUTORCH_ALREADY_LOADED,
               "unload it before");
  make_inputs();
  EXPECT_OK(run({value_of(x_.get()), value_of(y_.get())}));
  const auto* data = static_cast<uint8_t*>(info_of(out_.tensor).data);
  EXPECT_TRUE(data >= aligned && data < aligned + size);
  EXPECT_OK(et().unload_method(module_.get(), nullptr));
  // Too little for the structures of a method: an error of the runtime, with its words.
  Owned small;
  options.method_memory.size = 64;
  EXPECT_OK(et().module_load(&options, small.out()));
  EXPECT_FAILS(et().load_method(small.get(), nullptr, nullptr, 0),
               EXECUTORCH_MEMORY_ALLOCATION_FAILED, "available");
}

TEST_F(ExecuTorchC, OutputsIntoMemoryOfTheCaller) {
  const std::vector<uint8_t> program = add_program(2, false).build();
  load(program);
  make_inputs();
  std::vector<float> result(2);
  const std::vector<int32_t> sizes = {2};
  const ExecuTorchTensorSpec spec = spec_of(result, sizes, EXECUTORCH_FLOAT32);
  Owned tensor;
  EXPECT_OK(et().tensor_new(&spec, tensor.out()));
  EXPECT_OK(et().set_output(module_.get(), nullptr, 0, tensor.get()));
  tensor.end();
  EXPECT_OK(run({value_of(x_.get()), value_of(y_.get())}));
  EXPECT_EQ(result, (std::vector<float>{11, 22}));
}

// forward(x: [2]) = x + w, where w is in a data file.
std::vector<uint8_t> add_external() {
  ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{2}});
  TensorSpec spec{{2}};
  spec.planned = false;
  spec.name = "w";
  spec.external = true;
  const int32_t weight = method.add_tensor(spec);
  const int32_t alpha = method.add_int(1);
  const int32_t out = method.add_tensor({{2}});
  method.call("aten::add", "out", {x, weight, alpha, out, out});
  method.inputs({x}).outputs({out});
  return builder.build();
}

std::vector<uint8_t> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_F(ExecuTorchC, DataFilesAsPathsAndAsBytes) {
  const std::string path = ::testing::TempDir() + "/executorch_c_test.ptd";
  const std::string other = ::testing::TempDir() + "/executorch_c_test_other.ptd";
  const auto weight = executorch::extension::full({2}, 10);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // marked experimental
  ASSERT_EQ(flat_tensor::save_ptd(path, {{"w", *weight}}, 16), runtime::Error::Ok);
  ASSERT_EQ(flat_tensor::save_ptd(other, {{"unused", *weight}}, 16), runtime::Error::Ok);
#pragma GCC diagnostic pop
  const std::vector<uint8_t> program = add_external();
  const std::vector<uint8_t> data = bytes_of(path);
  ExecuTorchSource sources[2] = {{other.c_str(), nullptr, 0, nullptr, nullptr},
                                 {nullptr, data.data(), data.size(), nullptr, nullptr}};
  make_inputs();
  for (int32_t mode = EXECUTORCH_LOAD_FILE; mode <= EXECUTORCH_LOAD_MMAP_READ_AHEAD; ++mode) {
    ExecuTorchModuleOptions options = options_of(program);
    options.load_mode = mode;
    options.data_files = sources;
    options.num_data_files = 2;
    Owned module, shared;
    const Outcome outcome = take(et().module_load(&options, module.out()));
    if (mode == EXECUTORCH_LOAD_MMAP_LOCKED && outcome.code != EXECUTORCH_OK) {
      continue;  // the system does not allow it
    }
    ASSERT_EQ(outcome.code, EXECUTORCH_OK) << outcome.message;
    EXPECT_OK(et().module_share(module.get(), shared.out()));
    module.end();
    const ExecuTorchValue input = value_of(x_.get());
    EXPECT_OK(et().execute(shared.get(), nullptr, &input, 1, &out_, 1));
    EXPECT_EQ(floats(out_.tensor), (std::vector<float>{11, 12}));
  }
  ExecuTorchModuleOptions options = options_of(program);
  options.data_files = sources;
  options.num_data_files = 1;
  EXPECT_OK(et().module_load(&options, module_.out()));
  const ExecuTorchValue input = value_of(x_.get());
  EXPECT_NE(take(et().execute(module_.get(), nullptr, &input, 1, &out_, 1)).code, EXECUTORCH_OK);
  sources[0].path = "/nowhere/x.ptd";
  Owned none;
  EXPECT_FAILS(et().module_load(&options, none.out()), EXECUTORCH_ACCESS_FAILED, "/nowhere/x.ptd");
}

TEST_F(ExecuTorchC, OptionsOfBackendsAtLoad) {
  const std::vector<uint8_t> program = add_program().build();
  ExecuTorchModuleOptions options = options_of(program);
  std::vector<std::string> names;
  for (int i = 0; i < 9; ++i) {
    names.push_back("Backend" + std::to_string(i));
  }
  std::vector<ExecuTorchOption> rows;
  for (const std::string& name : names) {
    rows.push_back({name.c_str(), "speed", EXECUTORCH_INT, 3, nullptr});
    rows.push_back({name.c_str(), "file", EXECUTORCH_STRING, 0, "a"});
  }
  options.backend_options = rows.data();
  options.num_backend_options = 16;
  EXPECT_OK(et().module_load(&options, module_.out()));
  options.num_backend_options = 18;
  Owned none;
  EXPECT_FAILS(et().module_load(&options, none.out()), EXECUTORCH_INVALID_ARGUMENT,
               "8 backends have options already");
  rows[0].key = "";
  EXPECT_FAILS(et().module_load(&options, none.out()), EXECUTORCH_INVALID_ARGUMENT,
               "expected an option's key of 1 to 63 bytes, found 0");
}

TEST_F(ExecuTorchC, WrongInputsSayWhichAndWhy) {
  const std::vector<uint8_t> program = add_program().build();
  load(program);
  make_inputs();
  Owned wrong;
  std::vector<int64_t> longs(2);
  const std::vector<int32_t> sizes = {2};
  const ExecuTorchTensorSpec spec = spec_of(longs, sizes, EXECUTORCH_INT64);
  EXPECT_OK(et().tensor_new(&spec, wrong.out()));
  EXPECT_FAILS(run({value_of(x_.get()), value_of(wrong.get())}), EXECUTORCH_INVALID_ARGUMENT,
               "Method forward: input y does not fit");
  EXPECT_FAILS(run({value_of(x_.get()), value_of(module_.get())}), EXECUTORCH_INVALID_ARGUMENT,
               "expected a tensor, found a module");
  EXPECT_FAILS(et().execute(module_.get(), "backward", nullptr, 0, &out_, 1),
               EXECUTORCH_INVALID_ARGUMENT, "backward");
  const std::vector<uint8_t> cut(program.begin(), program.begin() + 40);
  const ExecuTorchModuleOptions options = options_of(cut);
  Owned none;
  EXPECT_NE(take(et().module_load(&options, none.out())).code, EXECUTORCH_OK);
  EXPECT_EQ(none.get(), 0u);
}

TEST_F(ExecuTorchC, EachThreadHasAModuleOfOneProgram) {
  const std::vector<uint8_t> program = add_program().build();
  load(program);
  make_inputs();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      Owned mine;
      const ExecuTorchModule first = module_.get();
      // The first serves one call at a time, and says so.
      Outcome outcome{};
      do {
        outcome = take(et().module_share(first, mine.out()));
      } while (outcome.code == EXECUTORCH_INVALID_STATE);
      EXPECT_EQ(outcome.code, EXECUTORCH_OK) << outcome.message;
      for (int round = 0; round < 50; ++round) {
        const ExecuTorchValue inputs[] = {value_of(x_.get()), value_of(y_.get())};
        ExecuTorchValue out{};
        EXPECT_OK(et().execute(mine.get(), nullptr, inputs, 2, &out, 1));
        EXPECT_EQ(floats(out.tensor), (std::vector<float>{11, 22}));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(ExecuTorchC, OfTwoCallsAtOnceOneIsServedOrTold) {
  const std::vector<uint8_t> program = add_program().build();
  load(program);
  make_inputs();
  std::atomic<int> num_served{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) {
        const ExecuTorchValue inputs[] = {value_of(x_.get()), value_of(y_.get())};
        ExecuTorchValue out{};
        const Outcome outcome = take(et().execute(module_.get(), nullptr, inputs, 2, &out, 1));
        if (outcome.code == EXECUTORCH_OK) {
          num_served += 1;
        } else {
          EXPECT_EQ(outcome.code, EXECUTORCH_INVALID_STATE);
          EXPECT_NE(outcome.message.find("serves one call at a time"), std::string::npos)
              << outcome.message;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(num_served, 0);
}

TEST_F(ExecuTorchC, HandlesAreReleasedByManyThreadsWhileOthersUseThem) {
  std::vector<uint64_t> tensors(200);
  std::vector<float> data(2);
  const std::vector<int32_t> sizes = {2};
  const ExecuTorchTensorSpec spec = spec_of(data, sizes, EXECUTORCH_FLOAT32);
  for (uint64_t& each : tensors) {
    EXPECT_OK(et().tensor_new(&spec, &each));
  }
  std::atomic<int> num_released{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (const uint64_t each : tensors) {
        ExecuTorchTensorInfo info{};
        info.struct_size = sizeof(info);
        (void)take(et().tensor_info(each, &info));
        num_released += take(et().release(each)).code == EXECUTORCH_OK ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(num_released, 200);
}

TEST_F(ExecuTorchC, EventsAreAnETDump) {
  const std::vector<uint8_t> program = add_program().build();
  ExecuTorchModuleOptions options = options_of(program);
  options.records_events = 1;
  options.value_buffer_size = 4096;
  const Outcome outcome = take(et().module_load(&options, module_.out()));
  if (outcome.code == EXECUTORCH_NOT_SUPPORTED) {
    EXPECT_THAT(outcome.message, ::testing::HasSubstr("EXECUTORCH_ENABLE_EVENT_TRACER"));
    return;
  }
  EXPECT_EQ(outcome.code, EXECUTORCH_OK) << outcome.message;
  ExecuTorchMemory events{}, values{};
  EXPECT_OK(et().module_take_events(module_.get(), &events, &values));
  EXPECT_EQ(events.size, 0u);
  make_inputs();
  EXPECT_OK(run({value_of(x_.get()), value_of(y_.get())}));
  EXPECT_OK(et().module_take_events(module_.get(), &events, &values));
  ASSERT_GT(events.size, 12u);  // with its size before it
  EXPECT_EQ(std::memcmp(static_cast<const char*>(events.data) + 8, "ED00", 4), 0);
  EXPECT_GT(values.size, 0u);
  const std::vector<uint8_t> plain = add_program().build();
  const ExecuTorchModuleOptions without = options_of(plain);
  Owned other;
  EXPECT_OK(et().module_load(&without, other.out()));
  EXPECT_FAILS(et().module_take_events(other.get(), &events, &values), EXECUTORCH_INVALID_STATE,
               "loaded with records_events");
}

TEST_F(ExecuTorchC, BackendsAndTheirOptions) {
  const char* name = nullptr;
  size_t count = 0;
  for (ExecuTorchStatus status = 0; status == 0; ++count) {
    status = et().backend_name(count, &name);
    EXPECT_TRUE(status == 0 || et().status_code(status) == EXECUTORCH_NOT_FOUND);
    EXPECT_OK(et().release(status));
  }
  ExecuTorchOption option{};
  option.backend = "NoSuchBackend";
  option.key = "speed";
  option.kind = EXECUTORCH_INT;
  EXPECT_FAILS(et().set_backend_options(&option, 1), EXECUTORCH_NOT_FOUND, "NoSuchBackend");
  EXPECT_FAILS(et().get_backend_option(&option), EXECUTORCH_NOT_FOUND, "NoSuchBackend");
  option.kind = EXECUTORCH_TENSOR;
  EXPECT_FAILS(et().set_backend_options(&option, 1), EXECUTORCH_INVALID_ARGUMENT,
               "expected a boolean, an int or a string, found kind 1");
}

TEST_F(ExecuTorchC, StructuresOfOtherHeaders) {
  std::vector<float> data(2);
  const std::vector<int32_t> sizes = {2};
  struct Newer {
    ExecuTorchTensorSpec spec;
    uint64_t more;
  } newer{};
  newer.spec = spec_of(data, sizes, EXECUTORCH_FLOAT32);
  newer.spec.struct_size = sizeof(newer);
  Owned tensor;
  EXPECT_OK(et().tensor_new(&newer.spec, tensor.out()));
  newer.more = 1;
  Owned refused;
  EXPECT_FAILS(et().tensor_new(&newer.spec, refused.out()), EXECUTORCH_NOT_SUPPORTED,
               "older than the program's header");
  newer.spec.struct_size = 0;
  EXPECT_FAILS(et().tensor_new(&newer.spec, refused.out()), EXECUTORCH_INVALID_ARGUMENT,
               "expected struct_size to be sizeof the structure");
  // What an older header has of a result is filled in, and nothing behind it.
  ExecuTorchTensorInfo info{};
  info.struct_size = offsetof(ExecuTorchTensorInfo, data);
  info.data = &info;
  EXPECT_OK(et().tensor_info(tensor.get(), &info));
  EXPECT_EQ(info.rank, 1u);
  EXPECT_EQ(info.data, &info);
  EXPECT_EQ(executorch_get_api(0), nullptr);
  EXPECT_EQ(executorch_get_api(EXECUTORCH_API_VERSION + 1), nullptr);
}

TEST_F(ExecuTorchC, MessagesGoToTheCaller) {
  std::vector<std::string> lines;
  EXPECT_OK(et().set_log(
      [](void* context, int32_t level, const char* file, size_t line, const char* message) {
        EXPECT_GT(line, 0u);
        EXPECT_NE(file, nullptr);
        EXPECT_LE(level, EXECUTORCH_LOG_FATAL);
        static_cast<std::vector<std::string>*>(context)->push_back(message);
      },
      &lines));
  // Those of a status are in the status.
  EXPECT_FAILS(et().execute(0, nullptr, nullptr, 0, nullptr, 0), EXECUTORCH_INVALID_ARGUMENT,
               "execute: Error::InvalidArgument (0x12)\n  expected a module, found 0");
  EXPECT_THAT(lines, ::testing::IsEmpty());
  EXPECT_OK(et().set_log(nullptr, nullptr));
  EXPECT_EQ(et().status_code(0), EXECUTORCH_OK);
  EXPECT_STREQ(et().status_message(0), "");
  EXPECT_EQ(et().status_code(12345), -1);
  EXPECT_THAT(et().status_message(12345), ::testing::HasSubstr("expected a status"));
}

TEST_F(ExecuTorchC, Threads) {
  uint32_t before = 0;
  EXPECT_OK(et().get_num_threads(&before));
  EXPECT_GE(before, 1u);
  EXPECT_FAILS(et().set_num_threads(0), EXECUTORCH_INVALID_ARGUMENT, "at least 1, found 0");
  EXPECT_OK(et().set_num_threads(1));
  uint32_t now = 0;
  EXPECT_OK(et().get_num_threads(&now));
  EXPECT_EQ(now, 1u);
  EXPECT_OK(et().set_num_threads(before));
}

}  // namespace
}  // namespace executorch::extension::c::testing
