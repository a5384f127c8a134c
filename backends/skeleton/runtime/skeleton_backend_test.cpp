// SPDX-License-Identifier: BSD-3-Clause
// Payloads and arguments that are refused. What runs is tested from Python, with the conformance
// suite.
#include <executorch/backends/skeleton/runtime/delegate.h>
#include <executorch/backends/skeleton/runtime/skeleton_backend.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <limits>

namespace executorch::backends::skeleton {
namespace {

using extension::full;
using fb_skeleton::CallT;
using fb_skeleton::Operator;
using runtime::Error;

class SkeletonBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_skeleton_backend(), Error::Ok);
    graph_.num_inputs = 2;
    add(Operator::Add, 0, 1);
    add(Operator::Mul, 2, 1);
    graph_.outputs = {3};
  }

  void add(Operator kind, uint32_t left, uint32_t right) {
    auto call = std::make_unique<CallT>();
    call->operator_ = kind;
    call->left = left;
    call->right = right;
    graph_.calls.push_back(std::move(call));
  }

  Error load(const SkeletonOptions& options = {}) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(fb_skeleton::Graph::Pack(builder, &graph_), fb_skeleton::GraphIdentifier());
    payload_.assign(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    return load_bytes(payload_.data(), payload_.size(), options);
  }

  Error load_bytes(const void* bytes, size_t size, const SkeletonOptions& options = {}) {
    auto made = Delegate::create(bytes, size, nullptr, allocator_, options);
    delegate_ = made.ok() ? made.get() : nullptr;
    return made.error();
  }

  Error run(std::vector<extension::TensorPtr> tensors) {
    std::vector<runtime::EValue> values(tensors.begin(), tensors.end());
    std::vector<runtime::EValue*> pointers;
    for (runtime::EValue& value : values) {
      pointers.push_back(&value);
    }
    temporary_.reset();
    runtime::BackendExecutionContext context(nullptr, &temporary_);
    return delegate_->execute(context, {pointers.data(), pointers.size()});
  }

  fb_skeleton::GraphT graph_;
  std::vector<uint8_t> payload_;
  Delegate* delegate_ = nullptr;
  alignas(16) uint8_t memory_[2][4096];
  runtime::MemoryAllocator allocator_{sizeof(memory_[0]), memory_[0]};
  runtime::MemoryAllocator temporary_{sizeof(memory_[1]), memory_[1]};
};

TEST_F(SkeletonBackendTest, RunsCalls) {
  ASSERT_EQ(load(), Error::Ok);
  const auto out = full({2, 3}, 0.0);
  ASSERT_EQ(run({full({2, 3}, 2.0), full({2, 3}, 5.0), out}), Error::Ok);
  EXPECT_EQ(out->const_data_ptr<float>()[5], 35.0f);  // (2 + 5) * 5
  delegate_->~Delegate();
}

TEST_F(SkeletonBackendTest, ArgumentsMustBeWhatWasCompiledFor) {
  ASSERT_EQ(load(), Error::Ok);
  const auto x = full({2, 3}, 1.0), out = full({2, 3}, 0.0);
  EXPECT_EQ(run({x, out}), Error::InvalidArgument);
  EXPECT_EQ(run({x, full({2, 2}, 1.0), out}), Error::InvalidArgument);
  EXPECT_EQ(run({x, full({2, 3}, 1, executorch::aten::ScalarType::Int), out}),
            Error::InvalidArgument);
  EXPECT_EQ(run({x, x, out}), Error::Ok);  // no worse for it
  delegate_->~Delegate();
}

TEST_F(SkeletonBackendTest, InfinityIsAnErrorWhereTheOptionSaysSo) {
  const auto x = full({2}, 1.0), out = full({2}, 0.0);
  const auto infinite = full({2}, std::numeric_limits<double>::infinity());
  for (const bool is_checked : {false, true}) {
    SkeletonOptions options;
    options.check_finite = is_checked;
    ASSERT_EQ(load(options), Error::Ok);
    EXPECT_EQ(run({x, infinite, out}), is_checked ? Error::InvalidArgument : Error::Ok);
    EXPECT_EQ(run({x, x, out}), Error::Ok);
    delegate_->~Delegate();
  }
}

TEST_F(SkeletonBackendTest, ValuesMustBeThereWhenTheyAreRead) {
  add(Operator::Add, 4, 0);  // itself
  EXPECT_EQ(load(), Error::DelegateInvalidCompatibility);
  graph_.calls.pop_back();
  graph_.outputs = {1};  // an input
  EXPECT_EQ(load(), Error::DelegateInvalidCompatibility);
  graph_.outputs = {4};
  EXPECT_EQ(load(), Error::DelegateInvalidCompatibility);
  graph_.outputs = {3};
  graph_.calls[0]->operator_ = static_cast<Operator>(7);
  EXPECT_EQ(load(), Error::DelegateInvalidCompatibility);
}

TEST_F(SkeletonBackendTest, ConstantsNeedNamedData) {
  graph_.constants.push_back(std::make_unique<fb_skeleton::ConstantT>());
  graph_.constants[0]->key = "absent";  // value 2; the calls are 3 and 4
  graph_.calls[1]->right = 2;
  EXPECT_EQ(load(), Error::DelegateInvalidCompatibility);  // of constants only
  graph_.calls[1]->left = 3;
  EXPECT_EQ(load(), Error::InvalidArgument);
}

TEST_F(SkeletonBackendTest, EveryPrefixIsRefused) {
  ASSERT_EQ(load(), Error::Ok);
  delegate_->~Delegate();
  for (size_t size = 0; size < payload_.size(); ++size) {
    EXPECT_NE(load_bytes(payload_.data(), size), Error::Ok) << size;
  }
  EXPECT_EQ(load_bytes(payload_.data() + 1, payload_.size() - 1), Error::InvalidArgument);
}

}  // namespace
}  // namespace executorch::backends::skeleton
