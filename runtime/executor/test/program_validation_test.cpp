// SPDX-License-Identifier: BSD-3-Clause
// Every rule of the verifier: a program that keeps it loads, one that breaks it is refused.
#include <executorch/runtime/executor/program_validation.h>

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

constexpr int32_t kMax = INT32_MAX;

// A program with something of everything that has rules, and handles to it.
struct Everything {
  Everything() {
    const uint32_t constant = builder.add_constant(std::vector<float>{1, 2});
    const uint32_t initial = builder.add_initial_data(std::vector<float>{3, 4});
    segment = builder.add_segment("blob", 4);
    builder.add_named_data("key", segment);
    builder.add_inline_delegate_data("inline", 6);
    MethodBuilder& m = builder.add_method("forward");
    method = &m;
    none = m.add_none();
    integer = m.add_int(1);
    condition = m.add_bool(true);
    string = m.add_string("text");
    tensor = m.add_tensor({{2, 3}});
    TensorSpec spec{{2}};
    spec.planned = false;
    spec.data_buffer_idx = constant;
    weight = m.add_tensor(spec);
    spec.planned = true;
    spec.data_buffer_idx = initial;
    state = m.add_tensor(spec);
    TensorSpec input{{2, 3}};
    input.planned = false;
    input.dynamic = true;
    dynamic_input = m.add_tensor(input);
    int_list = m.add_int_list({integer, integer});
    double_list = m.add_double_list({1, 2});
    bool_list = m.add_bool_list({true});
    tensor_list = m.add_tensor_list({tensor, weight});
    optional_list = m.add_optional_tensor_list({tensor, -1, none});
    m.inputs({dynamic_input, integer}).outputs({tensor});
    m.vary(0, 0, 0).vary(0, 1, 0, 1, 0, /*same_n_as=*/0);
    m.names({"image", "count"}, {"scores"});
    plan().output_dimensions = {0, 1, 2};
    builder.program().user_metadata = "{}";
    inline_delegate = m.add_delegate("Backend", fb::DataLocation::INLINE, 0);
    segment_delegate = m.add_delegate("Backend", fb::DataLocation::SEGMENT, segment);
    auto spec_entry = std::make_unique<fb::CompileSpecT>();
    spec_entry->key = "option";
    m.plan().delegates[0]->compile_specs.push_back(std::move(spec_entry));
    call = m.call("test::take", "", {none, integer, tensor});
    delegate_call = m.call_delegate(inline_delegate, {tensor, tensor});
    move = m.move(integer, integer);
    jump = m.jump_false(condition, 5);
    free = m.free(tensor);
  }

  fb::TensorT& t(int32_t value) { return method->tensor(value); }
  fb::ExecutionPlanT& plan() { return method->plan(); }
  InputDimension& range(size_t i) {
    return reinterpret_cast<InputDimension*>(plan().input_dimensions.data())[i];
  }
  fb::KernelCallT& kernel_call() { return *method->instruction(call).instr_args.AsKernelCall(); }

  ProgramBuilder builder;
  MethodBuilder* method;
  uint32_t segment;
  int32_t none, integer, condition, string, tensor, weight, state, dynamic_input, int_list,
      double_list, bool_list, tensor_list, optional_list, inline_delegate, segment_delegate, call,
      delegate_call, move, jump, free;
};

struct Rule {
  const char* name;
  std::function<void(Everything&)> corrupt;
};

#define CORRUPT(statement) [](Everything& e) { statement; }

// What each row does to the program must make it invalid.
const Rule kBroken[] = {
    // Tensors.
    {"rank 17", CORRUPT(e.t(e.tensor).sizes.assign(17, 1); e.t(e.tensor).dim_order.assign(17, 0))},
    {"rank 255",
     CORRUPT(e.t(e.tensor).sizes.assign(255, 1); e.t(e.tensor).dim_order.assign(255, 0))},
    {"rank is not that of the dim order", CORRUPT(e.t(e.tensor).dim_order.push_back(2))},
    {"no dim order", CORRUPT(e.t(e.tensor).dim_order.clear())},
    {"dim order repeats", CORRUPT(e.t(e.tensor).dim_order = (std::vector<uint8_t>{0, 0}))},
    {"dim order out of range", CORRUPT(e.t(e.tensor).dim_order = (std::vector<uint8_t>{0, 2}))},
    {"dim order 255", CORRUPT(e.t(e.tensor).dim_order = (std::vector<uint8_t>{0, 255}))},
    {"negative size", CORRUPT(e.t(e.tensor).sizes[0] = -1)},
    {"smallest size", CORRUPT(e.t(e.tensor).sizes[0] = INT32_MIN)},
    {"bytes overflow", CORRUPT(e.t(e.tensor).sizes.assign(16, kMax);
                               e.t(e.tensor).dim_order = (std::vector<uint8_t>{
                                   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}))},
    {"16 dimensions of 2^16", CORRUPT(e.t(e.tensor).sizes.assign(16, 65536);
                                      e.t(e.tensor).dim_order = (std::vector<uint8_t>{
                                          0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}))},
    {"bytes overflow behind a zero",
     CORRUPT(e.t(e.tensor).sizes = (std::vector<int32_t>{0, kMax, kMax, kMax});
             e.t(e.tensor).dim_order = (std::vector<uint8_t>{0, 1, 2, 3}))},
    {"strides overflow", CORRUPT(e.t(e.tensor).sizes = (std::vector<int32_t>{1, 65536, 65536});
                                 e.t(e.tensor).dim_order = (std::vector<uint8_t>{0, 1, 2}))},
    {"planned dynamic tensor overflows",
     CORRUPT(e.t(e.tensor).sizes = (std::vector<int32_t>{kMax, kMax, kMax});
             e.t(e.tensor).dim_order = (std::vector<uint8_t>{0, 1, 2});
             e.t(e.tensor).shape_dynamism = fb::TensorShapeDynamism::DYNAMIC_BOUND)},
    {"unplanned dynamic tensor overflows, but is no input",
     CORRUPT(e.t(e.dynamic_input).sizes = (std::vector<int32_t>{kMax, kMax, kMax});
             e.t(e.dynamic_input).dim_order = (std::vector<uint8_t>{0, 1, 2});
             e.plan().inputs.clear(); e.plan().input_dimensions.clear())},
    {"element type 30", CORRUPT(e.t(e.tensor).scalar_type = static_cast<fb::ScalarType>(30))},
    {"element type -1", CORRUPT(e.t(e.tensor).scalar_type = static_cast<fb::ScalarType>(-1))},
    {"element type 100", CORRUPT(e.t(e.tensor).scalar_type = static_cast<fb::ScalarType>(100))},
    {"unknown dynamism",
     CORRUPT(e.t(e.tensor).shape_dynamism = static_cast<fb::TensorShapeDynamism>(3))},
    {"memory id 0", CORRUPT(e.t(e.tensor).allocation_info->memory_id = 0)},
    {"memory id out of range", CORRUPT(e.t(e.tensor).allocation_info->memory_id = 2)},
    {"memory id -1", CORRUPT(e.t(e.tensor).allocation_info->memory_id = 0xFFFFFFFF)},
    {"constant out of range", CORRUPT(e.t(e.weight).data_buffer_idx = 2)},
    {"constant 2^32 - 1", CORRUPT(e.t(e.weight).data_buffer_idx = 0xFFFFFFFF)},
    {"constant too short", CORRUPT(e.t(e.weight).sizes[0] = 3)},
    {"initial data out of range", CORRUPT(e.t(e.state).data_buffer_idx = 2)},
    {"initial data too short", CORRUPT(e.t(e.state).sizes[0] = 3)},
    {"initial data without a segment", CORRUPT(e.builder.program().mutable_data_segments.clear())},
    {"external without a name",
     CORRUPT(e.t(e.weight).extra_tensor_info = std::make_unique<fb::ExtraTensorInfoT>();
             e.t(e.weight).extra_tensor_info->location = fb::TensorDataLocation::EXTERNAL)},
    {"unknown data location",
     CORRUPT(e.t(e.weight).extra_tensor_info = std::make_unique<fb::ExtraTensorInfoT>();
             e.t(e.weight).extra_tensor_info->location = static_cast<fb::TensorDataLocation>(2))},
    {"unknown device",
     CORRUPT(e.t(e.weight).extra_tensor_info = std::make_unique<fb::ExtraTensorInfoT>();
             e.t(e.weight).extra_tensor_info->device_type = static_cast<fb::DeviceType>(2))},
    // Values.
    {"value without type", CORRUPT(e.plan().values[1]->val.Reset())},
    {"string without content",
     CORRUPT(e.plan().values[static_cast<size_t>(e.string)]->val.AsString()->string_val.clear())},
    {"int list out of range",
     CORRUPT(e.plan().values[static_cast<size_t>(e.int_list)]->val.AsIntList()->items[0] = 1000)},
    {"int list -1",
     CORRUPT(e.plan().values[static_cast<size_t>(e.int_list)]->val.AsIntList()->items[0] = -1)},
    {"int list 2^32",
     CORRUPT(e.plan().values[static_cast<size_t>(e.int_list)]->val.AsIntList()->items[0] =
                 int64_t{1} << 32)},
    {"int list of a tensor",
     CORRUPT(e.plan().values[static_cast<size_t>(e.int_list)]->val.AsIntList()->items[0] =
                 e.tensor)},
    {"int list of itself",
     CORRUPT(e.plan().values[static_cast<size_t>(e.int_list)]->val.AsIntList()->items[0] =
                 e.int_list)},
    {"tensor list out of range",
     CORRUPT(e.plan().values[static_cast<size_t>(e.tensor_list)]->val.AsTensorList()->items[0] =
                 99)},
    {"tensor list -1",
     CORRUPT(e.plan().values[static_cast<size_t>(e.tensor_list)]->val.AsTensorList()->items[0] =
                 -1)},
    {"tensor list of an int",
     CORRUPT(e.plan().values[static_cast<size_t>(e.tensor_list)]->val.AsTensorList()->items[0] =
                 e.integer)},
    {"tensor list of None",
     CORRUPT(e.plan().values[static_cast<size_t>(e.tensor_list)]->val.AsTensorList()->items[0] =
                 e.none)},
    {"optional list -2", CORRUPT(
                             e.plan()
                                 .values[static_cast<size_t>(e.optional_list)]
                                 ->val.AsOptionalTensorList()
                                 ->items[0] = -2)},
    {"optional list of an int", CORRUPT(
                                    e.plan()
                                        .values[static_cast<size_t>(e.optional_list)]
                                        ->val.AsOptionalTensorList()
                                        ->items[0] = e.integer)},
    {"optional list of itself", CORRUPT(
                                    e.plan()
                                        .values[static_cast<size_t>(e.optional_list)]
                                        ->val.AsOptionalTensorList()
                                        ->items[0] = e.optional_list)},
    // Methods.
    {"method without a name", CORRUPT(e.plan().name.clear())},
    {"input out of range", CORRUPT(e.plan().inputs[0] = 1000)},
    {"input -1", CORRUPT(e.plan().inputs[0] = -1)},
    {"output out of range", CORRUPT(e.plan().outputs[0] = 1000)},
    {"output -1", CORRUPT(e.plan().outputs[0] = -1)},
    {"negative buffer size", CORRUPT(e.plan().non_const_buffer_sizes[1] = -1)},
    {"device of buffer 0", CORRUPT(e.plan().non_const_buffer_device.push_back(
                               std::make_unique<fb::NonConstBufferDeviceT>()))},
    {"device of buffer 2", CORRUPT(e.plan().non_const_buffer_device.push_back(
                               std::make_unique<fb::NonConstBufferDeviceT>());
                                   e.plan().non_const_buffer_device[0]->buffer_idx = 2)},
    {"operator without a name", CORRUPT(e.plan().operators[0]->name.clear())},
    // Delegates.
    {"delegate without a backend", CORRUPT(e.plan().delegates[0]->id.clear())},
    {"delegate without data", CORRUPT(e.plan().delegates[0]->processed.reset())},
    {"inline data out of range", CORRUPT(e.plan().delegates[0]->processed->index = 1)},
    {"delegate segment out of range", CORRUPT(e.plan().delegates[1]->processed->index = 99)},
    {"delegate data nowhere",
     CORRUPT(e.plan().delegates[1]->processed->location = static_cast<fb::DataLocation>(2))},
    {"compile spec without a key", CORRUPT(e.plan().delegates[0]->compile_specs[0]->key.clear())},
    // Instructions.
    {"operator out of range", CORRUPT(e.kernel_call().op_index = 1)},
    {"operator -1", CORRUPT(e.kernel_call().op_index = -1)},
    {"argument out of range", CORRUPT(e.kernel_call().args[0] = 1000)},
    {"argument -1", CORRUPT(e.kernel_call().args[0] = -1)},
    {"delegate out of range",
     CORRUPT(e.method->instruction(e.delegate_call).instr_args.AsDelegateCall()->delegate_index =
                 2)},
    {"delegate -1",
     CORRUPT(e.method->instruction(e.delegate_call).instr_args.AsDelegateCall()->delegate_index =
                 -1)},
    {"delegate argument out of range",
     CORRUPT(e.method->instruction(e.delegate_call).instr_args.AsDelegateCall()->args[1] = kMax)},
    {"move from out of range",
     CORRUPT(e.method->instruction(e.move).instr_args.AsMoveCall()->move_from = 1000)},
    {"move to -1", CORRUPT(e.method->instruction(e.move).instr_args.AsMoveCall()->move_to = -1)},
    {"jump condition out of range",
     CORRUPT(e.method->instruction(e.jump).instr_args.AsJumpFalseCall()->cond_value_index = 1000)},
    {"jump target out of range",
     CORRUPT(e.method->instruction(e.jump).instr_args.AsJumpFalseCall()->destination_instruction =
                 6)},
    {"jump target -1",
     CORRUPT(e.method->instruction(e.jump).instr_args.AsJumpFalseCall()->destination_instruction =
                 -1)},
    {"jump to itself",
     CORRUPT(e.method->instruction(e.jump).instr_args.AsJumpFalseCall()->destination_instruction =
                 e.jump)},
    {"endless loop",
     CORRUPT(e.method->instruction(e.jump).instr_args.AsJumpFalseCall()->destination_instruction =
                 0)},
    {"free of no tensor",
     CORRUPT(e.method->instruction(e.free).instr_args.AsFreeCall()->value_index = e.integer)},
    {"free out of range",
     CORRUPT(e.method->instruction(e.free).instr_args.AsFreeCall()->value_index = 1000)},
    {"instruction without content", CORRUPT(e.method->instruction(e.free).instr_args.Reset())},
    // Ranges of inputs.
    {"range of no input", CORRUPT(e.range(0).input = 2)},
    {"range of input -1", CORRUPT(e.range(0).input = -1)},
    {"range of an input that is no tensor", CORRUPT(e.range(0).input = 1)},
    {"range of a static input",
     CORRUPT(e.t(e.dynamic_input).shape_dynamism = fb::TensorShapeDynamism::STATIC)},
    {"range of no dimension", CORRUPT(e.range(0).dimension = 2)},
    {"range of dimension -1", CORRUPT(e.range(0).dimension = -1)},
    {"range of five numbers", CORRUPT(e.plan().input_dimensions.pop_back())},
    {"minimum above the bound", CORRUPT(e.range(1).min = 4)},
    {"negative minimum", CORRUPT(e.range(1).min = -1)},
    {"scale 0", CORRUPT(e.range(0).scale = 0)},
    {"range refers to itself", CORRUPT(e.range(0).same_n_as = 0)},
    {"range refers to a later one", CORRUPT(e.range(0).same_n_as = 1)},
    {"range refers to none", CORRUPT(e.range(1).same_n_as = -2)},
    {"range refers to 2^31 - 1", CORRUPT(e.range(1).same_n_as = kMax)},
    // Segments.
    {"constant segment out of range",
     CORRUPT(e.builder.program().constant_segment->segment_index = 99)},
    {"constant starts outside its segment",
     CORRUPT(e.builder.program().constant_segment->offsets[1] = 9)},
    {"constant offset 2^64 - 8",
     CORRUPT(e.builder.program().constant_segment->offsets[1] = UINT64_MAX - 7)},
    {"initial data segment out of range",
     CORRUPT(e.builder.program().mutable_data_segments[0]->segment_index = 99)},
    {"initial data offset 2^64 - 1",
     CORRUPT(e.builder.program().mutable_data_segments[0]->offsets[1] = UINT64_MAX)},
    {"named data segment out of range",
     CORRUPT(e.builder.program().named_data[0]->segment_index = 99)},
    {"named data without a key", CORRUPT(e.builder.program().named_data[0]->key.clear())},
    {"constants in two places",
     CORRUPT(e.builder.program().constant_buffer.push_back(std::make_unique<fb::BufferT>()))},
};

class VerifierTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { runtime_init(); }
};

TEST_F(VerifierTest, AcceptsTheProgramThatTheRulesCorrupt) {
  RecordProperty("req", "RT-049");
  Everything everything;
  EXPECT_EQ(LoadedProgram(everything.builder).error(), Error::Ok);
}

// Constants in the program data: the tensor's number of a buffer, its size, and the buffer.
TEST_F(VerifierTest, RefusesBrokenInlineConstants) {
  const auto error_after = [](void (*corrupt)(fb::ProgramT&, fb::TensorT&)) {
    ProgramBuilder builder;
    MethodBuilder& method = builder.add_method("forward");
    TensorSpec spec{{2, 3}};
    spec.planned = false;
    spec.data_buffer_idx = builder.add_inline_constant(std::vector<float>{1, 2, 3, 4, 5, 6});
    const int32_t weight = method.add_tensor(spec);
    method.inputs({}).outputs({weight});
    corrupt(builder.program(), *method.plan().values[weight]->val.AsTensor());
    return LoadedProgram(builder).error();
  };
  using Program = fb::ProgramT;
  using Tensor = fb::TensorT;
  EXPECT_EQ(error_after([](Program&, Tensor&) {}), Error::Ok);
  EXPECT_EQ(error_after([](Program&, Tensor& t) { t.data_buffer_idx = 2; }), Error::InvalidProgram);
  EXPECT_EQ(error_after([](Program&, Tensor& t) { t.data_buffer_idx = UINT32_MAX; }),
            Error::InvalidProgram);
  EXPECT_EQ(error_after([](Program&, Tensor& t) { t.sizes[0] = 3; }), Error::InvalidProgram);
  EXPECT_EQ(error_after([](Program&, Tensor& t) { t.sizes = {INT32_MAX, INT32_MAX}; }),
            Error::InvalidProgram);
  EXPECT_EQ(error_after([](Program& p, Tensor&) { p.constant_buffer[1]->storage.resize(23); }),
            Error::InvalidProgram);
  EXPECT_EQ(error_after([](Program& p, Tensor&) { p.constant_buffer.clear(); }),
            Error::InvalidProgram);
}

TEST_F(VerifierTest, RefusesEveryBrokenRule) {
  RecordProperty("req", "RT-049");
  for (const Rule& rule : kBroken) {
    Everything everything;
    rule.corrupt(everything);
    EXPECT_EQ(LoadedProgram(everything.builder).error(), Error::InvalidProgram) << rule.name;
  }
}

TEST_F(VerifierTest, AcceptsEdgesOfTheRules) {
  const Rule kSound[] = {
      {"rank 0", CORRUPT(e.t(e.tensor).sizes.clear(); e.t(e.tensor).dim_order.clear())},
      {"rank 16", CORRUPT(e.t(e.tensor).sizes.assign(16, 1);
                          e.t(e.tensor).dim_order = (std::vector<uint8_t>{
                              0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}))},
      {"size 0", CORRUPT(e.t(e.tensor).sizes[1] = 0)},
      {"channels last", CORRUPT(e.t(e.tensor).dim_order = (std::vector<uint8_t>{1, 0}))},
      {"open-ended dynamic input",
       CORRUPT(e.t(e.dynamic_input).sizes = (std::vector<int32_t>{kMax, kMax, kMax});
               e.t(e.dynamic_input).dim_order = (std::vector<uint8_t>{0, 1, 2}))},
      {"extreme ranges", CORRUPT(e.range(0).scale = INT32_MIN; e.range(0).offset = INT32_MIN;
                                 e.range(1).min = 3; e.range(1).scale = -1)},
      {"no ranges", CORRUPT(e.plan().input_dimensions.clear())},
      {"no names", CORRUPT(e.plan().input_name_lines.clear(); e.plan().output_name_lines.clear())},
      {"names of more than there is", CORRUPT(e.plan().input_name_lines = "a\nb\nc\n\n")},
      {"least sizes of nothing",
       CORRUPT(e.plan().output_dimensions = (std::vector<int32_t>{-1, kMax, -5, 7}))},
      {"jump to the end",
       CORRUPT(e.method->instruction(e.jump).instr_args.AsJumpFalseCall()->destination_instruction =
                   5)},
      {"loop whose condition changes",
       CORRUPT(e.method->instruction(e.jump).instr_args.AsJumpFalseCall()->destination_instruction =
                   0;
               e.kernel_call().args[0] = e.condition)},
      {"no named data", CORRUPT(e.builder.program().named_data.clear())},
  };
  for (const Rule& rule : kSound) {
    Everything everything;
    rule.corrupt(everything);
    EXPECT_EQ(LoadedProgram(everything.builder).error(), Error::Ok) << rule.name;
  }
}

TEST_F(VerifierTest, SegmentsMustLieInTheFile) {
  Everything everything;
  std::vector<uint8_t> file = everything.builder.build();
  const fb::Program* root = fb::GetProgram(file.data());
  for (uint32_t i = 0; i < root->segments()->size(); ++i) {
    auto* segment = const_cast<fb::DataSegment*>(root->segments()->Get(i));
    auto* table = reinterpret_cast<flatbuffers::Table*>(segment);
    for (const uint64_t size : {UINT64_MAX, UINT64_MAX - 7, uint64_t{1} << 32, uint64_t{100000}}) {
      const uint64_t before = segment->size();
      if (!table->SetField<uint64_t>(fb::DataSegment::VT_SIZE, size, 0)) {
        continue;
      }
      EXPECT_EQ(LoadedProgram(file).error(), Error::InvalidProgram) << i << " " << size;
      table->SetField<uint64_t>(fb::DataSegment::VT_SIZE, before, 0);
    }
  }
  EXPECT_EQ(LoadedProgram(file).error(), Error::Ok);
}

TEST_F(VerifierTest, SaysAtWhichByteTheCorruptionLies) {
  Everything everything;
  everything.t(everything.tensor).sizes[0] = -1;
  const std::vector<uint8_t> file = everything.builder.build();
  const auto* plan = fb::GetProgram(file.data())->execution_plan()->Get(0);
  const auto byte_of = [&file](const void* item) {
    return std::to_string(static_cast<const uint8_t*>(item) - file.data());
  };
  const auto* value = plan->values()->Get(static_cast<uint32_t>(everything.tensor));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(LoadedProgram(file).error(), Error::InvalidProgram);
  const std::string log = ::testing::internal::GetCapturedStderr();
  const std::string which = "value " + std::to_string(everything.tensor);
  EXPECT_NE(log.find(which + " at byte " + byte_of(value) + " is invalid"), std::string::npos)
      << log;
  EXPECT_NE(log.find("method 0 forward at byte " + byte_of(plan)), std::string::npos) << log;
}

// One long list that many tables share would take quadratic time.
TEST_F(VerifierTest, RefusesListsSharedBeyondTheSizeOfTheFile) {
  flatbuffers::FlatBufferBuilder fbb;
  const std::vector<int32_t> none(1000, -1);
  const auto shared = fbb.CreateVector(none);
  std::vector<flatbuffers::Offset<fb::EValue>> values;
  for (int i = 0; i < 2000; ++i) {
    const auto list = fb::CreateOptionalTensorList(fbb, shared);
    values.push_back(fb::CreateEValue(fbb, fb::KernelTypes::OptionalTensorList, list.Union()));
  }
  const std::vector<int32_t> empty;
  const std::vector<int64_t> sizes = {0};
  const auto plan = fb::CreateExecutionPlan(
      fbb, fbb.CreateString("forward"), 0, fbb.CreateVector(values), fbb.CreateVector(empty),
      fbb.CreateVector(empty), fbb.CreateVector(std::vector<flatbuffers::Offset<fb::Chain>>()), 0,
      0, fbb.CreateVector(sizes));
  const auto plans = fbb.CreateVector(&plan, 1);
  fbb.Finish(fb::CreateProgram(fbb, 0, plans), fb::ProgramIdentifier());
  const std::vector<uint8_t> file(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  EXPECT_EQ(LoadedProgram(file).error(), Error::InvalidProgram);
}

TEST_F(VerifierTest, TensorsAloneAreValidatedAlike) {
  flatbuffers::FlatBufferBuilder fbb;
  auto nbytes_of = [&fbb](const std::vector<int32_t>& sizes) {
    fbb.Clear();
    std::vector<uint8_t> dim_order(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      dim_order[i] = static_cast<uint8_t>(i);
    }
    const auto s = fbb.CreateVector(sizes);
    const auto d = fbb.CreateVector(dim_order);
    fbb.Finish(fb::CreateTensor(fbb, fb::ScalarType::FLOAT, 0, s, d));
    return flatbuffers::GetRoot<fb::Tensor>(fbb.GetBufferPointer());
  };
  EXPECT_EQ(validate_tensor(nbytes_of({2, 3})), Error::Ok);
  EXPECT_EQ(tensor_nbytes(nbytes_of({2, 3})), 24u);
  EXPECT_EQ(tensor_nbytes(nbytes_of({})), 4u);
  EXPECT_EQ(tensor_nbytes(nbytes_of({5, 0})), 0u);
  EXPECT_EQ(tensor_nbytes(nbytes_of({0, 5})), 0u);
  EXPECT_EQ(validate_tensor(nbytes_of({kMax, kMax, kMax})), Error::InvalidProgram);
  EXPECT_EQ(validate_tensor(nbytes_of({-1})), Error::InvalidProgram);
  EXPECT_EQ(validate_tensor(nullptr), Error::InvalidProgram);
  EXPECT_EQ(validate_program(nullptr), Error::InvalidProgram);
}

}  // namespace
}  // namespace executorch::runtime::testing
