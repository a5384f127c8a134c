// SPDX-License-Identifier: BSD-3-Clause
// The walk over the schema's fields beside the code that flatc writes for them: what that refuses
// is refused.
#include <executorch/runtime/executor/program_structure.h>

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/schema/program_generated.h>

namespace executorch::runtime {
namespace {

namespace fb = executorch_flatbuffer;

using Bytes = std::vector<uint8_t>;

bool flatc_accepts(const Bytes& bytes) {
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size());
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), options);
  return fb::VerifyProgramBuffer(verifier);
}

bool we_accept(const Bytes& bytes) {
  return has_program_structure(bytes.data(), bytes.size());
}

template <typename T>
std::vector<std::unique_ptr<T>> one(const T& item) {
  std::vector<std::unique_ptr<T>> items;
  items.push_back(std::make_unique<T>(item));
  return items;
}

template <typename T>
void add_value(fb::ExecutionPlanT& plan, T value) {
  auto added = std::make_unique<fb::EValueT>();
  added->val.Set(std::move(value));
  plan.values.push_back(std::move(added));
}

template <typename T>
void add_instruction(fb::ChainT& chain, T arguments) {
  auto added = std::make_unique<fb::InstructionT>();
  added->instr_args.Set(std::move(arguments));
  chain.instructions.push_back(std::move(added));
}

fb::TensorT tensor() {
  fb::TensorT made;
  made.sizes = {2, 3};
  made.dim_order = {0, 1};
  made.allocation_info = std::make_unique<fb::AllocationDetailsT>();
  made.extra_tensor_info = std::make_unique<fb::ExtraTensorInfoT>();
  made.extra_tensor_info->fully_qualified_name = "weight";
  return made;
}

template <typename T, typename Item>
T list(std::vector<Item> items) {
  T made;
  made.items = std::move(items);
  return made;
}

fb::ChainT chain() {
  fb::ChainT made;
  made.inputs = made.outputs = {1};
  fb::KernelCallT kernel;
  kernel.args = {1, 2};
  fb::DelegateCallT delegate;
  delegate.args = {1, 2};
  add_instruction(made, kernel);
  add_instruction(made, delegate);
  add_instruction(made, fb::MoveCallT());
  add_instruction(made, fb::JumpFalseCallT());
  add_instruction(made, fb::FreeCallT());
  fb::FrameT frame;
  frame.filename = "net.py";
  frame.name = "forward";
  frame.context = "x + 1";
  fb::FrameListT frames;
  frames.items = one(frame);
  made.stacktrace = one(frames);
  return made;
}

fb::ExecutionPlanT plan() {
  fb::ExecutionPlanT made;
  made.name = "forward";
  made.container_meta_type = std::make_unique<fb::ContainerMetadataT>();
  made.container_meta_type->encoded_inp_str = "in";
  made.container_meta_type->encoded_out_str = "out";
  fb::StringT text;
  text.string_val = "text";
  add_value(made, fb::NullT());
  add_value(made, fb::IntT());
  add_value(made, fb::BoolT());
  add_value(made, fb::DoubleT());
  add_value(made, tensor());
  add_value(made, text);
  add_value(made, list<fb::IntListT>(std::vector<int64_t>{1, 1}));
  add_value(made, list<fb::DoubleListT>(std::vector<double>{1, 2}));
  add_value(made, list<fb::BoolListT>(std::vector<bool>{true}));
  add_value(made, list<fb::TensorListT>(std::vector<int32_t>{4}));
  add_value(made, list<fb::OptionalTensorListT>(std::vector<int32_t>{4, -1}));
  made.inputs = made.outputs = {4};
  made.chains = one(chain());
  fb::OperatorT op;
  op.name = "aten::add";
  op.overload = "out";
  made.operators = one(op);
  fb::BackendDelegateT delegate;
  delegate.id = "Backend";
  delegate.processed = std::make_unique<fb::BackendDelegateDataReferenceT>();
  fb::CompileSpecT spec;
  spec.key = "option";
  spec.value = {1, 2};
  delegate.compile_specs = one(spec);
  made.delegates = one(delegate);
  made.non_const_buffer_sizes = {0, 64};
  made.non_const_buffer_device = one(fb::NonConstBufferDeviceT());
  made.input_dimensions = {0, 0, 0, 1, 0, -1};
  made.input_name_lines = "x";
  made.output_name_lines = "y";
  made.output_dimensions = {0, 0, 1};
  return made;
}

// A program that has every field of the schema, with defaults written out.
Bytes everything() {
  fb::ProgramT program;
  program.execution_plan = one(plan());
  fb::BufferT buffer;
  buffer.storage = {1, 2, 3, 4};
  program.constant_buffer = one(buffer);
  fb::BackendDelegateInlineDataT data;
  data.data = {1, 2};
  program.backend_delegate_data = one(data);
  program.segments = one(fb::DataSegmentT());
  program.constant_segment = std::make_unique<fb::SubsegmentOffsetsT>();
  program.constant_segment->offsets = {0, 8};
  program.mutable_data_segments = one(*program.constant_segment);
  fb::NamedDataT named;
  named.key = "key";
  program.named_data = one(named);
  program.user_metadata = "{}";
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true);
  builder.Finish(fb::Program::Pack(builder, &program), fb::ProgramIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

TEST(ProgramStructureTest, AcceptsEveryFieldOfTheSchema) {
  const Bytes whole = everything();
  EXPECT_TRUE(flatc_accepts(whole));
  EXPECT_TRUE(we_accept(whole));
  EXPECT_TRUE(has_root_table(whole.data(), whole.size()));
}

TEST(ProgramStructureTest, RefusesWhatWasCutOff) {
  const Bytes whole = everything();
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    if (!flatc_accepts(part)) {
      EXPECT_FALSE(we_accept(part)) << "of " << whole.size() << " bytes the first " << size;
    }
  }
}

// Every byte changed, so also every offset, length, tag and vtable entry. An item of a vector that
// refers to itself is refused here alone.
TEST(ProgramStructureTest, RefusesWhatTheSchemasOwnCodeRefuses) {
  const Bytes whole = everything();
  size_t refused = 0;
  size_t refused_here_alone = 0;
  for (size_t at = 8; at < whole.size(); ++at) {
    for (const int changed : {0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF, whole[at] ^ 4, whole[at] + 4}) {
      Bytes bytes = whole;
      bytes[at] = static_cast<uint8_t>(changed);
      const bool accepted = we_accept(bytes);
      if (!flatc_accepts(bytes)) {
        ++refused;
        ASSERT_FALSE(accepted) << "byte " << at << " changed to " << changed;
      } else {
        refused_here_alone += accepted ? 0 : 1;
      }
    }
  }
  EXPECT_GT(refused, whole.size());
  EXPECT_LT(refused_here_alone, refused / 50);
}

}  // namespace
}  // namespace executorch::runtime
