// SPDX-License-Identifier: BSD-3-Clause
// Programs corrupted in every place: nothing may crash, under sanitizers too. Refusing and running
// are both fine.
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>
#include <executorch/test/hardening/exercise_program.h>

namespace executorch::runtime::testing {
namespace {

using Bytes = std::vector<uint8_t>;

// Thousands of refusals need no text.
void discard_log(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t, const char*,
                 size_t) {}

Outcome exercise(const Bytes& file) {
  return exercise_program(file.data(), file.size());
}

struct Sample {
  const char* name;
  ProgramBuilder (*make)();
};

class CorruptedProgramsTest : public ::testing::TestWithParam<Sample> {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    register_test_kernels();
    register_pal(PalImpl::create(discard_log, __FILE__));
  }

  void SetUp() override {
    file_ = GetParam().make().build();
    uint64_t program_size = file_.size();
    if (std::memcmp(file_.data() + 8, "eh00", 4) == 0) {
      std::memcpy(&program_size, file_.data() + 16, sizeof(program_size));
    }
    program_size_ = static_cast<size_t>(program_size);
    ASSERT_EQ(exercise(file_), Outcome::kRan) << "intact";
  }

  // Runs the file with `value` at an offset, then restores it.
  template <typename T>
  void try_value(size_t offset, T value) {
    T before;
    std::memcpy(&before, file_.data() + offset, sizeof(T));
    std::memcpy(file_.data() + offset, &value, sizeof(T));
    ++outcomes_[static_cast<size_t>(exercise(file_))];
    std::memcpy(file_.data() + offset, &before, sizeof(T));
  }

  Bytes file_;
  size_t program_size_;
  // How many files were refused, refused later, failed, ran: a run without refusals tested nothing.
  size_t outcomes_[4] = {};
};

TEST_P(CorruptedProgramsTest, TruncatedAtEveryByte) {
  for (size_t size = 0; size < file_.size(); ++size) {
    const Outcome outcome = exercise(Bytes(file_.begin(), file_.begin() + static_cast<long>(size)));
    EXPECT_NE(outcome, Outcome::kRan) << "only " << size << " of " << file_.size() << " bytes";
  }
}

TEST_P(CorruptedProgramsTest, EveryBitFlipped) {
  for (size_t i = 0; i < program_size_; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      try_value<uint8_t>(i, file_[i] ^ static_cast<uint8_t>(1 << bit));
    }
  }
  EXPECT_GT(outcomes_[0], program_size_);
}

// Half-words are what vtables are made of: 0 deletes an optional field, others point it elsewhere.
TEST_P(CorruptedProgramsTest, EveryHalfWordReplaced) {
  for (size_t i = 0; i + 2 <= program_size_; i += 2) {
    for (const uint16_t value : {0, 1, 2, 4, 6, 8, 12, 0x7FFF, 0x8000, 0xFFFF}) {
      try_value<uint16_t>(i, static_cast<uint16_t>(value));
    }
  }
  EXPECT_GT(outcomes_[0], 0u);
}

TEST_P(CorruptedProgramsTest, EveryWordReplaced) {
  const auto size = static_cast<uint32_t>(program_size_);
  for (size_t i = 0; i + 4 <= program_size_; i += 4) {
    for (const uint32_t value :
         {0u, 1u, 2u, 3u, 16u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0xFFFFFFFEu, size - 1, size,
          size + 1, 0xFFFFFFFCu - static_cast<uint32_t>(i)}) {
      try_value<uint32_t>(i, value);
    }
  }
  EXPECT_GT(outcomes_[0], 0u);
}

TEST_P(CorruptedProgramsTest, SeveralWordsReplacedAtRandom) {
  std::mt19937 random(7);
  auto below = [&random](size_t limit) { return random() % limit; };
  const Bytes good = file_;
  for (int i = 0; i < 5000; ++i) {
    file_ = good;
    for (size_t j = 0; j <= below(4); ++j) {
      const auto value = below(2) == 0 ? static_cast<uint32_t>(below(300)) : random();
      std::memcpy(file_.data() + (below(program_size_ - 4) & ~size_t{3}), &value, 4);
    }
    ++outcomes_[static_cast<size_t>(exercise(file_))];
  }
  EXPECT_GT(outcomes_[0], 1000u);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, CorruptedProgramsTest,
    ::testing::Values(Sample{"constant", add_program}, Sample{"dynamic", dynamic_program},
                      Sample{"stateful", stateful_program}, Sample{"branching", branching_program},
                      Sample{"looping", looping_program}, Sample{"two_methods", two_method_program},
                      Sample{"symbolic", symbolic_program}, Sample{"ranged", ranged_program},
                      Sample{"named", named_program}, Sample{"every_value", every_value_program}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- Programs that are well-formed and mean nothing ----

class RandomProgramsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    register_test_kernels();
    register_pal(PalImpl::create(discard_log, __FILE__));
  }
};

struct Op {
  const char* name;
  const char* overload;
  size_t num_args;
};

const Op kOps[] = {
    {"test::add", "out", 4},
    {"test::copy_", "", 3},
    {"test::split", "out", 4},
    {"test::scratch", "out", 3},
    {"test::select", "out", 4},
    {"test::greater", "out", 4},
    {"test::take", "", 3},
    {"executorch_prim::add", "Scalar", 3},
    {"executorch_prim::floordiv", "Scalar", 3},
    {"executorch_prim::eq", "Scalar", 3},
    {"executorch_prim::sym_ite", "Scalar", 4},
    {"executorch_prim::et_view", "default", 3},
    {"executorch_prim::et_copy_index", "tensor", 3},
    {"aten::sym_size", "int", 3},
    {"aten::_local_scalar_dense", "", 2},
};

TEST_F(RandomProgramsTest, RandomInstructionsOverEveryKindOfValue) {
  size_t outcomes[4] = {};
  for (unsigned seed = 0; seed < 30000; ++seed) {
    std::mt19937 random(seed);
    auto below = [&random](size_t limit) { return static_cast<int32_t>(random() % limit); };
    ProgramBuilder builder;
    const uint32_t constant = builder.add_constant(std::vector<float>{1, 2, 3, 4});
    MethodBuilder& m = builder.add_method("forward");
    const int32_t zero = m.add_int(0);
    m.add_int(1);
    m.add_bool(false);
    m.add_double(0.5);
    for (int i = 0; i < 8; ++i) {
      TensorSpec spec;
      for (int32_t dims = below(3); dims >= 0; --dims) {
        spec.sizes.push_back(below(4));
      }
      spec.dynamic = below(2) == 0;
      spec.planned = below(4) != 0;
      spec.scalar_type = below(5) == 0 ? fb::ScalarType::BOOL : fb::ScalarType::FLOAT;
      if (below(4) == 0) {
        spec.sizes = {4};
        spec.planned = false;
        spec.scalar_type = fb::ScalarType::FLOAT;
        spec.data_buffer_idx = constant;
      }
      m.add_tensor(spec);
    }
    const int32_t num_scalars_and_tensors = 12;
    m.add_none();
    m.add_int_list({zero, 1});
    m.add_tensor_list({4, 5});
    m.add_optional_tensor_list({6, -1});
    m.inputs({4, 5}).outputs({6, 7});
    const int32_t num_instructions = 1 + below(8);
    for (int32_t i = 0; i < num_instructions; ++i) {
      // Mostly values that operators accept.
      auto value = [&]() { return below(8) == 0 ? below(16) : below(num_scalars_and_tensors); };
      switch (below(8)) {
        case 0:
          m.move(value(), value());
          break;
        case 1:
          m.jump_false(value(), below(static_cast<size_t>(num_instructions) + 1));
          break;
        case 2:
          m.free(4 + below(8));
          break;
        default: {
          const Op& op = kOps[static_cast<size_t>(below(sizeof(kOps) / sizeof(Op)))];
          std::vector<int32_t> args;
          for (size_t j = 0; j < op.num_args; ++j) {
            args.push_back(value());
          }
          // Mostly laid out as the operator's name promises.
          if (below(4) != 0) {
            args.back() = *op.overload == '\0' ? args[0] : args[args.size() - 2];
          }
          m.call(op.name, op.overload, args);
        }
      }
    }
    ++outcomes[static_cast<size_t>(exercise(builder.build()))];
  }
  for (const size_t count : outcomes) {
    EXPECT_GT(count, 100u) << "each outcome is met";
  }
}

}  // namespace
}  // namespace executorch::runtime::testing
