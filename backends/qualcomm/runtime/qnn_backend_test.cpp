// SPDX-License-Identifier: BSD-3-Clause
// The backend as programs have it: payloads that are cut or changed, options, contexts that
// delegates share, arguments, profiles, shared memory.
#include <executorch/backends/qualcomm/runtime/delegate.h>
#include <executorch/backends/qualcomm/runtime/qnn_backend.h>
#include <executorch/backends/qualcomm/runtime/sample_graph.h>
#include <executorch/backends/qualcomm/runtime/shared_memory.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/executor/test/ignoring_tracer.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace executorch::backends::qualcomm {
namespace {

using executorch::aten::ScalarType;
using extension::from_blob;
using extension::full;
using runtime::BackendOption;
using runtime::BackendOptions;
using runtime::CompileSpec;
using runtime::Error;

class QnnBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    load_shared_memory();
    const auto library = find_library("libQnnHtp.so", stand_in_folder() + "libQnnHtp.so");
    ASSERT_TRUE(library.ok());
    session_ = *shared_session(**library, sample_options());
    payload_ = payload_of(compiled(*session_, {"forward"}));
    spec_ = sample_spec();
  }

  /// The handle's, which the caller destroys.
  runtime::Result<runtime::DelegateHandle*> init(const std::vector<uint8_t>& payload,
                                                 const char* method = "forward",
                                                 runtime::Span<const BackendOption> options = {}) {
    runtime::FreeableBuffer processed(payload.data(), payload.size(), nullptr);
    const CompileSpec specs[] = {{"qnn_compile_spec", {spec_.data(), spec_.size()}},
                                 {"newer", {nullptr, 0}}};
    runtime::BackendInitContext context(nullptr, nullptr, method, nullptr, options);
    return backend_.init(context, &processed, {specs, 2});
  }
  Error load(const std::vector<uint8_t>& payload, const char* method = "forward",
             runtime::Span<const BackendOption> options = {}) {
    const auto handle = init(payload, method, options);
    if (handle.ok()) {
      backend_.destroy(*handle);
    }
    return handle.error();
  }
  Error run(runtime::DelegateHandle* handle, std::vector<extension::TensorPtr> tensors,
            runtime::EventTracer* tracer = nullptr) {
    std::vector<runtime::EValue> values(tensors.begin(), tensors.end());
    std::vector<runtime::EValue*> pointers;
    for (runtime::EValue& value : values) {
      pointers.push_back(&value);
    }
    runtime::BackendExecutionContext context(tracer);
    return backend_.execute(context, handle, {pointers.data(), pointers.size()});
  }

  QnnBackend backend_;
  std::shared_ptr<Session> session_;
  std::vector<uint8_t> payload_, spec_;
};

TEST_F(QnnBackendTest, RunsAGraph) {
  const auto handle = init(payload_);
  ASSERT_TRUE(handle.ok());
  const auto y = full({2}, 0.0);
  EXPECT_EQ(run(*handle, {full({2}, 3.0), y}), Error::Ok);
  EXPECT_EQ(y->const_data_ptr<float>()[0], 4.0f);
  EXPECT_EQ(y->const_data_ptr<float>()[1], 1.0f);
  backend_.destroy(*handle);
}

TEST_F(QnnBackendTest, ArgumentsMustBeWhatWasCompiledFor) {
  const auto handle = init(payload_);
  ASSERT_TRUE(handle.ok());
  const auto x = full({2}, 1.0);
  EXPECT_EQ(run(*handle, {x}), Error::InvalidArgument);
  EXPECT_EQ(run(*handle, {full({3}, 1.0), x}), Error::InvalidArgument);
  EXPECT_EQ(run(*handle, {full({1, 2}, 1.0), x}), Error::InvalidArgument);
  EXPECT_EQ(run(*handle, {full({2}, 1, ScalarType::Int), x}), Error::InvalidArgument);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(*handle, {x, full({3}, 1.0)}), Error::InvalidArgument);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("QnnBackend: output 0 (output_y): expected sizes [2]"), std::string::npos)
      << log;
  EXPECT_EQ(run(*handle, {x, full({2}, 0.0)}), Error::Ok);  // no worse for it
  backend_.destroy(*handle);
}

TEST_F(QnnBackendTest, EveryPrefixIsRefused) {
  for (size_t size = 0; size < payload_.size(); ++size) {
    EXPECT_NE(load({payload_.begin(), payload_.begin() + static_cast<ptrdiff_t>(size)}), Error::Ok)
        << size;
  }
}

/// Bytes of the padding, and the signature, may be any.
TEST_F(QnnBackendTest, EveryByteMayBeAnother) {
  std::mt19937 random(0);
  for (size_t place = 0; place < payload_.size(); ++place) {
    std::vector<uint8_t> changed = payload_;
    changed[place] ^= static_cast<uint8_t>(1 + random() % 255);
    const bool is_read = place < 4 || (place >= 12 && place < 20) || place >= 256;
    EXPECT_EQ(load(changed) == Error::Ok, !is_read) << place;
  }
}

/// Several bytes at once, and another end: an error or a delegate, which is freed.
TEST_F(QnnBackendTest, TenThousandChangedPayloads) {
  std::mt19937 random(1);
  size_t num_loaded = 0;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 10000; ++i) {
    std::vector<uint8_t> changed = payload_;
    for (size_t k = random() % 4; k > 0; --k) {
      // Half of them in the header.
      const size_t end = random() % 2 == 0 ? 20 : changed.size();
      changed[random() % end] = static_cast<uint8_t>(random());
    }
    if (random() % 4 == 0) {
      changed.resize(random() % (2 * payload_.size()));
    }
    num_loaded += load(changed) == Error::Ok ? 1 : 0;
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(num_loaded, 100u);
  EXPECT_LT(num_loaded, 5000u);
  EXPECT_EQ(load(payload_), Error::Ok);
}

TEST_F(QnnBackendTest, EveryByteOfASpecMayBeAnother) {
  const std::vector<uint8_t> whole = spec_;
  std::mt19937 random(0);
  for (size_t place = 0; place < whole.size(); ++place) {
    spec_ = whole;
    spec_[place] ^= static_cast<uint8_t>(1 + random() % 255);
    (void)load(payload_);  // an error or a delegate
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    spec_.assign(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_NE(load(payload_), Error::Ok) << size;
  }
}

TEST_F(QnnBackendTest, WhatIsCompiledOnTheDeviceIsRefused) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(load({'D', 'L', 'C', 0, 0}), Error::NotSupported);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("compile it ahead (online_prepare=False)"), std::string::npos) << log;
}

TEST_F(QnnBackendTest, MethodsHaveGraphsOfOneContext) {
  const std::vector<uint8_t> both =
      payload_of(compiled(*session_, {"kv_forward", "prefill_forward"}));
  const auto kv = init(both, "kv_forward"), prefill = init(both, "prefill_forward");
  ASSERT_TRUE(kv.ok() && prefill.ok());
  const long users = session_.use_count();
  const auto again = init(both, "kv_forward");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(session_.use_count(),
            users + 1);  // its vote for power; the context, which has another, is shared
  testing::internal::CaptureStderr();
  EXPECT_EQ(load(both, "forward"), Error::Internal);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      log.find(
          "the context binary has the graphs kv_forward, prefill_forward, none for method forward"),
      std::string::npos)
      << log;
  // Whoever goes first, the context stays.
  backend_.destroy(*kv);
  const auto y = full({2}, 0.0);
  EXPECT_EQ(run(*prefill, {full({2}, 3.0), y}), Error::Ok);
  EXPECT_EQ(y->const_data_ptr<float>()[0], 4.0f);
  backend_.destroy(*prefill);
  backend_.destroy(*again);
}

/// Of a file that is changed: the signature alone does not decide.
TEST_F(QnnBackendTest, OneSignatureOfTwoBinaries) {
  const std::vector<uint8_t> first = payload_of(compiled(*session_, {"a"}), 1);
  const std::vector<uint8_t> second = payload_of(compiled(*session_, {"b", "c"}), 1);
  const auto kept = init(first, "a");
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(load(second, "c"), Error::Ok);
  EXPECT_EQ(load(second, "a"), Error::Internal);
  backend_.destroy(*kept);
}

TEST_F(QnnBackendTest, OptionsOfProgramsAreChecked) {
  BackendOptions<4> options;
  ASSERT_EQ(options.set_option("qnn_runtime_htp_performance_mode", 2), Error::Ok);
  ASSERT_EQ(options.set_option("qnn_runtime_log_level", 5), Error::Ok);
  ASSERT_EQ(options.set_option("qnn_runtime_lpai_fps", 30), Error::Ok);
  ASSERT_EQ(options.set_option("qnn_runtime_heap_profiling_path", "heap.txt"), Error::Ok);
  runtime::BackendOptionContext context;
  ASSERT_EQ(backend_.set_option(context, options.view()), Error::Ok);
  BackendOption asked[1] = {};
  std::strcpy(asked[0].key, "qnn_runtime_htp_performance_mode");
  runtime::Span<BackendOption> view(asked, 1);
  ASSERT_EQ(backend_.get_option(context, view), Error::Ok);
  EXPECT_EQ(std::get<int>(asked[0].value), 2);
  EXPECT_EQ(load(payload_), Error::Ok);
  BackendOptions<1> wrong;
  ASSERT_EQ(wrong.set_option("qnn_runtime_htp_performance_mode", 9), Error::Ok);
  EXPECT_EQ(load(payload_, "forward", wrong.view()), Error::InvalidArgument);
  ASSERT_EQ(wrong.set_option("qnn_runtime_htp_performance_mode", true), Error::Ok);
  EXPECT_EQ(backend_.set_option(context, wrong.view()), Error::InvalidArgument);
  BackendOptions<1> unknown;
  ASSERT_EQ(unknown.set_option("qnn_runtime_speed", 1), Error::Ok);
  EXPECT_EQ(load(payload_, "forward", unknown.view()), Error::InvalidArgument);
}

#ifdef ET_EVENT_TRACER_ENABLED
class Names final : public runtime::testing::IgnoringTracer {
 public:
  void log_profiling_delegate(const char* name, runtime::DelegateDebugIntId, et_timestamp_t,
                              et_timestamp_t, const void*, size_t) override {
    logged.push_back(name);
  }
  std::vector<std::string> logged;
};

TEST_F(QnnBackendTest, ProfilesHaveEventsOfTheRunAndOfOperators) {
  const std::vector<std::string> expected[] = {{}, {"execute"}, {"execute", "sum", "relu"}};
  for (int level = 0; level < 3; ++level) {
    spec_ = sample_spec(level);
    Names names;
    const auto handle = init(payload_);
    ASSERT_TRUE(handle.ok());
    EXPECT_EQ(run(*handle, {full({2}, 3.0), full({2}, 0.0)}, &names), Error::Ok);
    EXPECT_EQ(names.logged, expected[level]);
    backend_.destroy(*handle);
  }
}
#endif

TEST_F(QnnBackendTest, SharedMemoryIsReadWhereItIs) {
  spec_ = sample_spec(0, /*shared_buffer=*/true);
  auto* x = static_cast<float*>(QnnExecuTorchAllocCustomMem(2 * sizeof(float), 64));
  auto* y = static_cast<float*>(QnnExecuTorchAllocCustomMem(2 * sizeof(float), 64));
  ASSERT_TRUE(x != nullptr && y != nullptr);
  EXPECT_TRUE(shared_memory_at(x, 8).has_value());
  EXPECT_FALSE(shared_memory_at(x, 9).has_value());
  EXPECT_FALSE(shared_memory_at(x + 1, 4).has_value());
  const auto handle = init(payload_);
  ASSERT_TRUE(handle.ok());
  for (const float number : {3.0f, 5.0f}) {
    x[0] = x[1] = number;
    EXPECT_EQ(run(*handle, {from_blob(x, {2}), from_blob(y, {2})}), Error::Ok);
    EXPECT_EQ(y[0], number + 1);
  }
  backend_.destroy(*handle);
  QnnExecuTorchFreeCustomMem(x);
  QnnExecuTorchFreeCustomMem(y);
  EXPECT_FALSE(shared_memory_at(x, 8).has_value());
  EXPECT_EQ(QnnExecuTorchAllocCustomMem(0, 64), nullptr);
  EXPECT_EQ(QnnExecuTorchAllocCustomMem(8, 3), nullptr);
}

TEST_F(QnnBackendTest, ItIsRegistered) {
  ASSERT_EQ(register_qnn_backend(), Error::Ok);
  EXPECT_NE(runtime::get_backend_class("QnnBackend"), nullptr);
}

}  // namespace
}  // namespace executorch::backends::qualcomm
