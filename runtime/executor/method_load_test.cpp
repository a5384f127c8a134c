// SPDX-License-Identifier: BSD-3-Clause
// Loading of methods: operators, delegates, data outside the program, and programs that pass
// verification but must not do what they say.
#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

using executorch::aten::ScalarType;

// ---- What was logged ----

std::string& logged() {
  static std::string text;
  return text;
}

void record_log(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t,
                const char* message, size_t length) {
  logged().append(message, length).append("\n");
}

// ---- A backend that counts ----

class CountingBackend final : public BackendInterface {
 public:
  bool is_available() const override { return available; }

  Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                               ArrayRef<CompileSpec> compile_specs) const override {
    ++num_init;
    blob.assign(static_cast<const char*>(processed->data()), processed->size());
    specs = compile_specs.size();
    method_name = context.get_method_name();
    if (const NamedDataMap* map = context.get_named_data_map()) {
      const Result<FreeableBuffer> data = map->get_data("key");
      named = data.ok() ? std::string(static_cast<const char*>(data->data()), data->size()) : "";
    }
    if (frees_blob) {
      processed->Free();
    }
    if (num_init == fails_at) {
      return Error::DelegateInvalidCompatibility;
    }
    return reinterpret_cast<DelegateHandle*>(this_address());
  }

  // Doubles the first argument into the second.
  Error execute(BackendExecutionContext& context, DelegateHandle* handle,
                Span<EValue*> args) const override {
    ++num_execute;
    if (handle != this_address() || context.get_temp_allocator() == nullptr || args.size() != 2) {
      return Error::DelegateInvalidHandle;
    }
    const auto in = args[0]->toTensor();
    const auto out = args[1]->toTensor();
    if (in.const_data_ptr() == nullptr) {
      out.mutable_data_ptr<float>()[0] = static_cast<float>(in.numel());
      return Error::Ok;
    }
    for (ssize_t i = 0; i < in.numel(); ++i) {
      out.mutable_data_ptr<float>()[i] = 2 * in.const_data_ptr<float>()[i];
    }
    return Error::Ok;
  }

  void destroy(DelegateHandle*) const override { ++num_destroy; }

  void reset() {
    num_init = num_execute = num_destroy = 0;
    fails_at = -1;
    frees_blob = false;
    available = true;
    named.clear();
  }

  mutable int num_init = 0, num_execute = 0, num_destroy = 0;
  mutable std::string blob, method_name, named;
  mutable size_t specs = 0;
  int fails_at = -1;
  bool frees_blob = false;
  bool available = true;

 private:
  DelegateHandle* this_address() const { return const_cast<CountingBackend*>(this); }
};

CountingBackend& backend(int index) {
  static CountingBackend backends[2];
  return backends[index];
}

class MethodLoadTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    register_test_kernels();
    register_pal(PalImpl::create(record_log, __FILE__));
    ASSERT_EQ(register_backend({"First", &backend(0)}), Error::Ok);
    ASSERT_EQ(register_backend({"Second", &backend(1)}), Error::Ok);
  }

  void SetUp() override {
    logged().clear();
    backend(0).reset();
    backend(1).reset();
  }
};

// y = 4 x through two delegates, one inline and one in a segment.
ProgramBuilder delegated_program(const char* second = "Second") {
  ProgramBuilder builder;
  builder.add_inline_delegate_data("inline", 6);
  const uint32_t segment = builder.add_segment("segment", 7);
  MethodBuilder& m = builder.add_method("forward");
  const int32_t x = m.add_tensor({{2}});
  const int32_t mid = m.add_tensor({{2}});
  const int32_t y = m.add_tensor({{2}});
  m.inputs({x}).outputs({y});
  const int32_t first = m.add_delegate("First", fb::DataLocation::INLINE, 0);
  const int32_t other = m.add_delegate(second, fb::DataLocation::SEGMENT, segment);
  auto spec = std::make_unique<fb::CompileSpecT>();
  spec->key = "level";
  spec->value = {1, 2};
  m.plan().delegates[0]->compile_specs.push_back(std::move(spec));
  m.call_delegate(first, {x, mid});
  m.call_delegate(other, {mid, y});
  return builder;
}

// An input without data is what the caller chose; other memory that is missing is a fault.
TEST_F(MethodLoadTest, DelegatesTakeInputsWithoutData) {
  for (const bool as_input : {true, false}) {
    ProgramBuilder builder;
    builder.add_inline_delegate_data("inline", 6);
    MethodBuilder& m = builder.add_method("forward");
    TensorSpec spec{{2}};
    spec.planned = false;
    const int32_t x = m.add_tensor(spec);
    const int32_t y = m.add_tensor({{2}});
    if (as_input) {
      m.inputs({x});
    }
    m.outputs({y});
    m.call_delegate(m.add_delegate("First", fb::DataLocation::INLINE, 0), {x, y});
    LoadedProgram program(builder);
    LoadedMethod method(program);
    ASSERT_TRUE(method.ok());
    auto like = floats({2}, {});
    executorch::runtime::internal::BorrowedTensor no_data(
        executorch::aten::ScalarType::Float, 1, like.sizes.data(), nullptr, like.dim_order.data(),
        like.strides.data());
    if (as_input) {
      ASSERT_EQ(method->set_input(no_data.get(), 0), Error::Ok);
    }
    EXPECT_EQ(method->execute(), as_input ? Error::Ok : Error::InvalidState);
    if (as_input) {
      EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[0], 2);
    }
  }
}

TEST_F(MethodLoadTest, DelegatesOfTwoBackendsRun) {
  RecordProperty("req", "RT-029 RT-030 RT-033");
  LoadedProgram program(delegated_program().build());
  ASSERT_TRUE(program.ok());
  {
    LoadedMethod method(program);
    ASSERT_TRUE(method.ok());
    EXPECT_EQ(backend(0).blob, "inline");
    EXPECT_EQ(backend(1).blob, "segment");
    EXPECT_EQ(backend(0).specs, 1u);
    EXPECT_EQ(backend(0).method_name, "forward");
    auto x = floats({2}, {1, 2});
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
      ASSERT_EQ(method->execute(), Error::Ok);
    }
    EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[1], 8);
    EXPECT_EQ(backend(1).num_init, 1);
    EXPECT_EQ(backend(1).num_execute, 3);
    EXPECT_EQ(backend(1).num_destroy, 0);
  }
  EXPECT_EQ(backend(0).num_destroy, 1);
  EXPECT_EQ(backend(1).num_destroy, 1);
}

TEST_F(MethodLoadTest, BlobsAreHeldUntilTheBackendOrTheMethodFreesThem) {
  RecordProperty("req", "RT-032");
  for (const bool frees : {false, true}) {
    SetUp();
    backend(1).frees_blob = frees;
    LoadedProgram program(delegated_program().build());
    const int before = program.loader.num_held;
    {
      LoadedMethod method(program);
      ASSERT_TRUE(method.ok());
      EXPECT_EQ(program.loader.num_held, before + (frees ? 0 : 1));
    }
    EXPECT_EQ(program.loader.num_held, before);
  }
}

TEST_F(MethodLoadTest, MissingBackendsAreNamed) {
  RecordProperty("req", "RT-031 RT-C07 VK-021");
  LoadedProgram program(delegated_program("VulkanBackend").build());
  LoadedMethod method(program);
  EXPECT_EQ(method.error(), Error::NotFound);
  EXPECT_EQ(static_cast<uint32_t>(method.error()), 0x20u);
  EXPECT_NE(logged().find("Backend VulkanBackend is not registered."), std::string::npos);
  EXPECT_EQ(backend(0).num_init, backend(0).num_destroy) << "the first delegate is not leaked";
  backend(1).available = false;
  LoadedProgram other(delegated_program().build());
  EXPECT_EQ(LoadedMethod(other).error(), Error::NotFound);
  EXPECT_NE(logged().find("Backend Second is not available on this device."), std::string::npos);
  EXPECT_EQ(backend(1).num_init, 0);
}

TEST_F(MethodLoadTest, APoolThatIsTooSmallSaysHowMuchWasMissing) {
  RecordProperty("req", "RT-015");
  LoadedProgram program(delegated_program().build());
  for (const size_t size : {0, 100, 300}) {
    logged().clear();
    LoadedMethod::Options options;
    options.pool_size = size;
    const Error error = LoadedMethod(program.program.get(), "forward", options).error();
    EXPECT_EQ(static_cast<uint32_t>(error), 0x21u);
    EXPECT_THAT(logged(), ::testing::ContainsRegex(
                              "Memory allocation failed: [0-9]+B requested \\(adjusted for "
                              "alignment\\), [0-9]+B available"));
  }
}

TEST_F(MethodLoadTest, FailingDelegatesLeakNothing) {
  for (const int index : {0, 1}) {
    SetUp();
    backend(index).fails_at = 1;
    LoadedProgram program(delegated_program().build());
    const int before = program.loader.num_held;
    EXPECT_EQ(LoadedMethod(program).error(), Error::DelegateInvalidCompatibility);
    EXPECT_EQ(backend(0).num_destroy, index);
    EXPECT_EQ(backend(1).num_destroy, 0);
    EXPECT_EQ(program.loader.num_held, before);
  }
}

TEST_F(MethodLoadTest, DelegatesSeeNamedData) {
  ProgramBuilder builder = delegated_program();
  builder.add_named_data("key", builder.add_segment("named", 5));
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(backend(0).named, "named");
}

// ---- Operators ----

TEST_F(MethodLoadTest, AllMissingOperatorsAreListedAtOnce) {
  RecordProperty("req", "RT-028");
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t x = m.add_tensor({{2}});
  const int32_t y = m.add_tensor({{2}});
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) {
    names.push_back("nobody::has_this_operator_number_" + std::to_string(i));
    m.call(names.back(), i % 2 == 0 ? "out" : "", {x, y, y});
  }
  m.call("test::scratch", "out", {x, y, y});
  m.call(names[0], "out", {x, y, y});
  LoadedProgram program(builder);
  LoadedMethod method(program);
  EXPECT_EQ(method.error(), Error::OperatorMissing);
  EXPECT_EQ(static_cast<uint32_t>(method.error()), 0x14u);
  const size_t begin = logged().find("Missing operators (40): ");
  ASSERT_NE(begin, std::string::npos);
  const std::string line = logged().substr(begin, logged().find('\n', begin) - begin);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_NE(line.find(i % 2 == 0 ? names[i] + ".out" : names[i]), std::string::npos);
  }
  EXPECT_EQ(line.find("test::scratch"), std::string::npos);
  EXPECT_NE(line.find("portable_ops_lib"), std::string::npos) << "says what to link";
}

TEST_F(MethodLoadTest, LongOperatorNamesAreRefused) {
  for (const size_t length : {size_t{99}, size_t{100}, size_t{5000}}) {
    ProgramBuilder builder;
    MethodBuilder& m = builder.add_method("forward");
    m.call(std::string(length - 4, 'n'), "out", {});
    LoadedProgram program(builder);
    EXPECT_EQ(LoadedMethod(program).error(),
              length == 99 ? Error::OperatorMissing : Error::Internal);
  }
}

// ---- Errors say where ----

TEST_F(MethodLoadTest, FailuresNameInstructionOperatorAndPythonLine) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t x = m.add_tensor({{2}});
  const int32_t y = m.add_tensor({{2}});
  m.call("test::scratch", "out", {x, y, y});
  m.call("test::fail", "out", {x, y, y});
  for (int i = 0; i < 2; ++i) {
    auto frames = std::make_unique<fb::FrameListT>();
    for (const char* name : {"outer", "inner"}) {
      auto frame = std::make_unique<fb::FrameT>();
      frame->filename = "model.py";
      frame->lineno = 40 + i;
      frame->name = name;
      frame->context = "return torch.fail(x)";
      frames->items.push_back(std::move(frame));
    }
    m.plan().chains[0]->stacktrace.push_back(std::move(frames));
  }
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->execute(), Error::InvalidType);
  for (const char* part :
       {"forward", "instruction 1", "test::fail.out", "model.py:41", "inner", "torch.fail(x)"}) {
    EXPECT_NE(logged().find(part), std::string::npos) << part << " in " << logged();
  }
}

// ---- Data outside the program ----

// One tensor of two floats under the name "weight".
class OneTensorMap final : public NamedDataMap {
 public:
  explicit OneTensorMap(ScalarType type = ScalarType::Float, int32_t size = 2)
      : type_(type), size_(size) {}

  Result<const TensorLayout> get_tensor_layout(std::string_view key) const override {
    if (key != "weight") {
      return Error::NotFound;
    }
    return TensorLayout::create({&size_, size_t{1}}, {&kDimOrder, size_t{1}}, type_);
  }
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (key != "weight") {
      return Error::NotFound;
    }
    ++num_held;
    return FreeableBuffer(
        kData, data_size,
        [](void* context, void*, size_t) { --static_cast<OneTensorMap*>(context)->num_held; },
        const_cast<OneTensorMap*>(this));
  }
  Error load_data_into(std::string_view key, void* buffer, size_t size) const override {
    if (key != "weight" || size > sizeof(kData)) {
      return Error::InvalidArgument;
    }
    std::memcpy(buffer, kData, size);
    return Error::Ok;
  }
  Result<uint32_t> get_num_keys() const override { return 1u; }
  Result<const char*> get_key(uint32_t) const override { return "weight"; }

  mutable int num_held = 0;
  size_t data_size = sizeof(kData);

 private:
  static constexpr float kData[2] = {100, 200};
  static constexpr uint8_t kDimOrder = 0;
  ScalarType type_;
  int32_t size_;
};

// y = x + weight, where weight is a constant (or initial state) outside the program, used twice.
ProgramBuilder external_program(bool planned, const char* name = "weight") {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  TensorSpec weight{{2}};
  weight.planned = planned;
  weight.name = name;
  weight.external = true;
  const int32_t x = m.add_tensor({{2}});
  const int32_t y = m.add_tensor({{2}});
  const int32_t w = m.add_tensor(weight);
  m.add_tensor(weight);
  m.inputs({x}).outputs({y});
  m.call("test::add", "out", {x, w, y, y});
  return builder;
}

TEST_F(MethodLoadTest, ExternalDataIsFoundByName) {
  for (const bool planned : {false, true}) {
    OneTensorMap map;
    LoadedMethod::Options options;
    options.data_map = &map;
    LoadedProgram program(external_program(planned).build());
    {
      LoadedMethod method(program.program.get(), "forward", options);
      ASSERT_TRUE(method.ok());
      EXPECT_EQ(map.num_held, planned ? 0 : 1) << "constants are loaded once per name";
      auto x = floats({2}, {1, 2});
      ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
      ASSERT_EQ(method->execute(), Error::Ok);
      EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[1], 202);
    }
    EXPECT_EQ(map.num_held, 0);
  }
}

TEST_F(MethodLoadTest, ExternalDataThatIsMissingOrDifferentIsRefused) {
  for (const bool planned : {false, true}) {
    LoadedProgram program(external_program(planned).build());
    EXPECT_EQ(LoadedMethod(program).error(),
              planned ? Error::InvalidExternalData : Error::InvalidState);
    OneTensorMap wrong_type(ScalarType::Int);
    OneTensorMap wrong_size(ScalarType::Float, 3);
    for (const OneTensorMap* map : {&wrong_type, &wrong_size}) {
      LoadedMethod::Options options;
      options.data_map = map;
      EXPECT_EQ(LoadedMethod(program.program.get(), "forward", options).error(),
                Error::InvalidExternalData);
      EXPECT_EQ(map->num_held, 0);
    }
    OneTensorMap map;
    LoadedMethod::Options options;
    options.data_map = &map;
    LoadedProgram unknown(external_program(planned, "other").build());
    EXPECT_EQ(LoadedMethod(unknown.program.get(), "forward", options).error(), Error::NotFound);
    map.data_size = 4;
    if (!planned) {
      EXPECT_EQ(LoadedMethod(program.program.get(), "forward", options).error(),
                Error::InvalidExternalData);
    }
  }
}

// ---- Programs that verify, but must not get their way ----

struct Trick {
  const char* name;
  void (*build)(MethodBuilder& m, int32_t x, int32_t weight, int32_t y);
  Error at_load;
  Error at_execute;
};

int32_t dynamic(MethodBuilder& m, bool planned = true) {
  TensorSpec spec{{4}};
  spec.dynamic = true;
  spec.planned = planned;
  return m.add_tensor(spec);
}

const Trick kTricks[] = {
    {"write to a constant",
     [](MethodBuilder& m, int32_t x, int32_t weight, int32_t) {
       m.call("test::add", "out", {x, x, weight, weight});
     },
     Error::Ok, Error::InvalidProgram},
    {"write to a constant, return another value",
     [](MethodBuilder& m, int32_t x, int32_t weight, int32_t y) {
       m.call("test::add", "out", {x, x, weight, y});
     },
     Error::InvalidProgram, Error::Ok},
    {"write to a constant in place",
     [](MethodBuilder& m, int32_t x, int32_t weight, int32_t) {
       m.call("test::copy_", "", {weight, x, weight});
     },
     Error::Ok, Error::InvalidProgram},
    {"write to a constant in place, return another value",
     [](MethodBuilder& m, int32_t x, int32_t weight, int32_t y) {
       m.call("test::copy_", "", {weight, x, y});
     },
     Error::InvalidProgram, Error::Ok},
    {"write one of several outputs to a constant",
     [](MethodBuilder& m, int32_t x, int32_t weight, int32_t y) {
       m.call("test::split", "out", {x, y, weight, m.add_tensor_list({y, weight})});
     },
     Error::Ok, Error::InvalidProgram},
    {"list other outputs than are written",
     [](MethodBuilder& m, int32_t x, int32_t weight, int32_t y) {
       m.call("test::split", "out", {x, y, weight, m.add_tensor_list({y, x})});
     },
     Error::InvalidProgram, Error::Ok},
    {"write to a constant through a move",
     [](MethodBuilder& m, int32_t x, int32_t weight, int32_t y) {
       m.move(weight, y);
       m.call("test::add", "out", {x, x, y, y});
     },
     Error::InvalidProgram, Error::Ok},
    {"write to a constant through a view",
     [](MethodBuilder& m, int32_t x, int32_t weight, int32_t) {
       const int32_t view = dynamic(m);
       m.call("executorch_prim::et_view", "default",
              {weight, m.add_int_list({m.add_int(-1)}), view});
       m.call("test::add", "out", {x, x, view, view});
     },
     Error::InvalidProgram, Error::Ok},
    {"copy into a constant",
     [](MethodBuilder& m, int32_t, int32_t weight, int32_t) {
       TensorSpec scalar{{}};
       m.call("executorch_prim::et_copy_index", "tensor",
              {weight, m.add_tensor(scalar), m.add_int(0)});
     },
     Error::Ok, Error::InvalidProgram},
    {"resize an operand through the output",
     [](MethodBuilder& m, int32_t x, int32_t, int32_t) {
       const int32_t out = dynamic(m);
       m.call("test::add", "out", {out, x, out, out});
     },
     Error::InvalidProgram, Error::Ok},
    {"read what was freed",
     [](MethodBuilder& m, int32_t x, int32_t weight, int32_t y) {
       m.free(x);
       m.call("test::add", "out", {x, weight, y, y});
     },
     Error::Ok, Error::InvalidState},
    {"read freed memory through a list",
     [](MethodBuilder& m, int32_t x, int32_t, int32_t) {
       m.free(x);
       m.call("test::take", "", {m.add_tensor_list({x})});
     },
     Error::Ok, Error::InvalidState},
    {"read freed memory through an optional list",
     [](MethodBuilder& m, int32_t x, int32_t, int32_t) {
       m.free(x);
       m.call("test::take", "", {m.add_optional_tensor_list({-1, x})});
     },
     Error::Ok, Error::InvalidState},
    {"use memory that nobody gave",
     [](MethodBuilder& m, int32_t x, int32_t, int32_t) {
       const int32_t out = dynamic(m, false);
       m.call("test::add", "out", {x, x, out, out});
     },
     Error::Ok, Error::InvalidState},
    {"view of freed memory",
     [](MethodBuilder& m, int32_t x, int32_t, int32_t) {
       m.free(x);
       m.call("executorch_prim::et_view", "default",
              {x, m.add_int_list({m.add_int(-1)}), dynamic(m)});
     },
     Error::Ok, Error::InvalidState},
    {"move a tensor of another type",
     [](MethodBuilder& m, int32_t x, int32_t, int32_t) {
       TensorSpec spec{{2}};
       spec.scalar_type = fb::ScalarType::LONG;
       m.move(x, m.add_tensor(spec));
     },
     Error::Ok, Error::InvalidProgram},
};

TEST_F(MethodLoadTest, TricksAreRefused) {
  for (const Trick& trick : kTricks) {
    for (const bool in_segment : {true, false}) {
      ProgramBuilder builder;
      MethodBuilder& m = builder.add_method("forward");
      TensorSpec spec{{2}};
      const int32_t x = m.add_tensor(spec);
      const int32_t y = m.add_tensor(spec);
      spec.planned = false;
      const std::vector<float> values{1, 2};
      spec.data_buffer_idx =
          in_segment ? builder.add_constant(values) : builder.add_inline_constant(values);
      const int32_t weight = m.add_tensor(spec);
      trick.build(m, x, weight, y);
      LoadedProgram program(builder);
      ASSERT_TRUE(program.ok()) << trick.name;
      LoadedMethod method(program);
      EXPECT_EQ(method.error(), trick.at_load) << trick.name;
      if (method.ok()) {
        EXPECT_EQ(method->execute(), trick.at_execute) << trick.name << "\n" << logged();
      }
    }
  }
}

// A value may be moved to one of its own kind only, so that lists and users find what they expect.
TEST_F(MethodLoadTest, MovesOfEveryKindToEveryKind) {
  for (int from = 0; from < 11; ++from) {
    for (int to = 0; to < 11; ++to) {
      ProgramBuilder builder = every_value_program();
      MethodBuilder& m = builder.add_method("moves");
      const int32_t none = m.add_none();
      const int32_t i = m.add_int(1);
      m.add_bool(true);
      m.add_double(1);
      const int32_t t = m.add_tensor({{2}});
      m.add_string("s");
      m.add_int_list({i});
      m.add_double_list({1});
      m.add_bool_list({true});
      m.add_tensor_list({t});
      m.add_optional_tensor_list({none});
      m.move(from, to);
      m.call("test::take", "", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
      LoadedProgram program(builder);
      LoadedMethod method(program, "moves");
      ASSERT_TRUE(method.ok());
      const bool scalars = from >= 1 && from <= 3 && to >= 1 && to <= 3;
      EXPECT_EQ(method->execute(),
                from == to || to == 0 || scalars ? Error::Ok : Error::InvalidProgram)
          << from << " to " << to;
    }
  }
}

TEST_F(MethodLoadTest, InputsMustNotBeConstants) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  TensorSpec spec{{2}};
  spec.planned = false;
  spec.data_buffer_idx = builder.add_constant(std::vector<float>{1, 2});
  m.inputs({m.add_tensor(spec)});
  LoadedProgram program(builder);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  auto x = floats({2}, {3, 4});
  EXPECT_EQ(method->set_input(x.tensor(), 0), Error::InvalidProgram);
}

// CVE-2025-30405: an object outside its arena.
TEST_F(MethodLoadTest, PlannedMemoryOutsideTheArenaIsRefused) {
  struct {
    uint32_t low, high;
  } const kOffsets[] = {
      {0xFFFFFFF8, 0xFFFFFFFF}, {0, 0xFFFFFFFF}, {0, 1}, {64, 0}, {63, 0}, {57, 0},
      {0xFFFFFFFF, 0},          {1, 0}};
  for (const auto& offset : kOffsets) {
    ProgramBuilder builder = add_program();
    MethodBuilder& m = builder.add_method("bad");
    const int32_t x = m.add_tensor({{2}});
    m.add_tensor({{12}});
    m.tensor(x).allocation_info->memory_offset_low = offset.low;
    m.tensor(x).allocation_info->memory_offset_high = offset.high;
    LoadedProgram program(builder);
    ASSERT_TRUE(program.ok());
    EXPECT_FALSE(LoadedMethod(program, "bad").ok()) << offset.low << " " << offset.high;
  }
}

TEST_F(MethodLoadTest, WhatCannotBeSupportedSaysSo) {
  for (const bool storage : {false, true}) {
    ProgramBuilder builder;
    MethodBuilder& m = builder.add_method("forward");
    const int32_t x = m.add_tensor({{2}});
    if (storage) {
      m.tensor(x).storage_offset = 1;
    } else {
      m.tensor(x).shape_dynamism = fb::TensorShapeDynamism::DYNAMIC_UNBOUND;
    }
    LoadedProgram program(builder);
    EXPECT_EQ(LoadedMethod(program).error(), Error::NotSupported);
  }
}

TEST_F(MethodLoadTest, OpenEndedInputsTakeAnySize) {
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  TensorSpec spec{{1, 1, 1}};
  spec.planned = false;
  spec.dynamic = true;
  const int32_t x = m.add_tensor(spec);
  m.tensor(x).sizes = {INT32_MAX, INT32_MAX, INT32_MAX};
  m.inputs({x}).outputs({x});
  LoadedProgram program(builder);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->method_meta("forward")->input_tensor_meta(0)->nbytes(), SIZE_MAX);
  LoadedMethod method(program);
  ASSERT_TRUE(method.ok());
  for (const int32_t n : {3, 50}) {
    auto input = floats({n, 2, 5}, std::vector<float>(static_cast<size_t>(n) * 10));
    EXPECT_EQ(method->set_input(input.tensor(), 0), Error::Ok);
    EXPECT_EQ(method->execute(), Error::Ok);
  }
}

}  // namespace
}  // namespace executorch::runtime::testing
