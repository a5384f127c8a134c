// SPDX-License-Identifier: BSD-3-Clause
// Each function of the SDK fails in turn: a named error with the library's version, nothing is
// leaked, and afterwards all is as before.
#include <executorch/backends/qualcomm/runtime/delegate.h>
#include <executorch/backends/qualcomm/runtime/sample_graph.h>
#include <executorch/backends/qualcomm/runtime/shared_memory.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/executor/test/ignoring_tracer.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <functional>

namespace executorch::backends::qualcomm {
namespace {

using extension::from_blob;
using runtime::Error;

constexpr Qnn_ErrorHandle_t kStatus = 4711;

/// Any function of the library, where it fails.
template <typename... Arguments>
Qnn_ErrorHandle_t failed(Arguments...) {
  return kStatus;
}
template <typename... Arguments>
void fail(Qnn_ErrorHandle_t (*&function)(Arguments...)) {
  function = failed<Arguments...>;
}

#define FAILS(documented, member) {documented, [](Functions& functions) { fail(functions.member); }}

struct Failure {
  const char* name;
  void (*plant)(Functions& functions);
};

class FailuresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    load_shared_memory();
    const auto library = find_library("libQnnHtp.so", stand_in_folder() + "libQnnHtp.so");
    ASSERT_TRUE(library.ok());
    whole_ = **library;
    const auto system = find_system_library(whole_);
    ASSERT_TRUE(system.ok());
    system_ = **system;
    library_ = whole_;
    options_ = sample_options();
    auto session = Session::create(whole_, options_);
    ASSERT_TRUE(session.ok());
    binary_ = compiled(**session, {"forward"});
    ASSERT_FALSE(binary_.empty());
  }

  /// All that a program does with a delegate, up to the first error.
  Error load_and_run() {
    auto session = ET_UNWRAP(Session::create(library_, options_));
    ET_CHECK_OK_OR_RETURN_ERROR(session->set_log_level(1));
    const runtime::Span<const uint8_t> bytes{reinterpret_cast<const uint8_t*>(binary_.data()),
                                             binary_.size()};
    auto context = ET_UNWRAP(Context::create(session, system_, bytes));
    const LoadedGraph& graph = *ET_UNWRAP(context->graph_for("forward"));
    auto delegate = ET_UNWRAP(Delegate::create(context, graph, options_));
    // A run may fail and the next one not.
    auto x = from_blob(input_, {2}), y = from_blob(output_, {2});
    runtime::EValue values[] = {*x, *y};
    runtime::EValue* pointers[] = {&values[0], &values[1]};
    return delegate->execute({pointers, 2}, &tracer_);
  }

  void expect_named(const Failure& failure) {
    library_ = whole_;
    failure.plant(library_.functions);
    testing::internal::CaptureStderr();
    const Error error = load_and_run();
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(error, Error::Internal) << failure.name;
    EXPECT_NE(log.find(failure.name), std::string::npos) << failure.name << ": " << log;
    EXPECT_NE(log.find("libQnnHtp.so (v2.37.0.stand-in) failed with error 4711"), std::string::npos)
        << log;
    library_ = whole_;
    EXPECT_EQ(load_and_run(), Error::Ok);
  }

  Library whole_, library_;
  SystemLibrary system_;
  Options options_;
  std::string binary_;
  float input_[2] = {1.0f, 5.0f}, output_[2] = {};
  runtime::testing::IgnoringTracer tracer_;
};

TEST_F(FailuresTest, NothingFails) {
  ASSERT_EQ(load_and_run(), Error::Ok);
  EXPECT_EQ(output_[0], 2.0f);
  EXPECT_EQ(output_[1], 3.0f);
}

TEST_F(FailuresTest, EachFunctionThatAProgramNeeds) {
  const Failure failures[] = {
      FAILS("QnnLog_create", logCreate),
      FAILS("QnnLog_setLogLevel", logSetLogLevel),
      FAILS("QnnBackend_create", backendCreate),
      FAILS("QnnDevice_create", deviceCreate),
      FAILS("QnnContext_createFromBinary", contextCreateFromBinary),
      FAILS("QnnGraph_retrieve", graphRetrieve),
      FAILS("QnnGraph_execute", graphExecute),
  };
  for (const Failure& failure : failures) {
    expect_named(failure);
  }
}

#ifdef ET_EVENT_TRACER_ENABLED
TEST_F(FailuresTest, EachFunctionOfProfiles) {
  options_.profile_level = 2;
  const Failure failures[] = {
      FAILS("QnnProfile_create", profileCreate),
      FAILS("QnnProfile_getEvents", profileGetEvents),
      FAILS("QnnProfile_getSubEvents", profileGetSubEvents),
      FAILS("QnnProfile_getEventData", profileGetEventData),
  };
  for (const Failure& failure : failures) {
    expect_named(failure);
  }
}
#endif

TEST_F(FailuresTest, TheVoteForPower) {
  options_.performance_mode = 2;
  expect_named(FAILS("QnnDevice_getInfrastructure", deviceGetInfrastructure));
  static QnnHtpDevice_Infrastructure_t infrastructure;
  QnnDevice_Infrastructure_t found = nullptr;
  ASSERT_EQ(whole_.functions.deviceGetInfrastructure(&found), QNN_SUCCESS);
  const auto use_ours = [](Functions& functions) {
    functions.deviceGetInfrastructure =
        [](const QnnDevice_Infrastructure_t* out) -> Qnn_ErrorHandle_t {
      *const_cast<QnnDevice_Infrastructure_t*>(out) = &infrastructure;
      return QNN_SUCCESS;
    };
  };
  infrastructure = *static_cast<QnnHtpDevice_Infrastructure_t*>(found);
  fail(infrastructure.perfInfra.createPowerConfigId);
  expect_named({"createPowerConfigId", use_ours});
  infrastructure = *static_cast<QnnHtpDevice_Infrastructure_t*>(found);
  fail(infrastructure.perfInfra.setPowerConfig);
  expect_named({"setPowerConfig", use_ours});
}

TEST_F(FailuresTest, SharedMemory) {
  options_.shared_buffer = true;
  void* shared = QnnExecuTorchAllocCustomMem(sizeof(input_), 64);
  ASSERT_NE(shared, nullptr);
  QnnExecuTorchAddCustomMemTensorAddr(input_, shared);
  expect_named(FAILS("QnnMem_register", memRegister));
  QnnExecuTorchFreeCustomMem(shared);
}

TEST_F(FailuresTest, TheSystemLibrary) {
  const SystemFunctions whole = system_.functions;
  for (const char* name : {"QnnSystemContext_create", "QnnSystemContext_getBinaryInfo"}) {
    if (std::string(name) == "QnnSystemContext_create") {
      fail(system_.functions.systemContextCreate);
    } else {
      fail(system_.functions.systemContextGetBinaryInfo);
    }
    testing::internal::CaptureStderr();
    EXPECT_EQ(load_and_run(), Error::Internal);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(name), std::string::npos) << log;
    EXPECT_NE(log.find("the context binary is of version "), std::string::npos) << log;
    EXPECT_NE(log.find("v2.37.0.stand-in"), std::string::npos) << log;
    system_.functions = whole;
  }
}

/// As of an SDK that is newer than the library.
TEST_F(FailuresTest, BothVersionsAreNamed) {
  RecordProperty("req", "NPU-020");
  system_.functions.systemContextGetBinaryInfo = [](QnnSystemContext_Handle_t, void*, uint64_t,
                                                    const QnnSystemContext_BinaryInfo_t** out,
                                                    Qnn_ContextBinarySize_t*) -> Qnn_ErrorHandle_t {
    static QnnSystemContext_BinaryInfo_t info{};
    info.version = QNN_SYSTEM_CONTEXT_BINARY_INFO_VERSION_1;
    info.contextBinaryInfoV1.buildId = "v2.41.0.26";
    *out = &info;
    return QNN_SUCCESS;
  };
  fail(library_.functions.contextCreateFromBinary);
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_and_run(), Error::Internal);
  std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      log.find(
          "(v2.37.0.stand-in) failed with error 4711; the context binary is of version v2.41.0.26"),
      std::string::npos)
      << log;
  // A form of what is told that is newer than this build.
  system_.functions.systemContextGetBinaryInfo = [](QnnSystemContext_Handle_t, void*, uint64_t,
                                                    const QnnSystemContext_BinaryInfo_t** out,
                                                    Qnn_ContextBinarySize_t*) -> Qnn_ErrorHandle_t {
    static QnnSystemContext_BinaryInfo_t info{};
    info.version = static_cast<QnnSystemContext_BinaryInfoVersion_t>(9);
    *out = &info;
    return QNN_SUCCESS;
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_and_run(), Error::Internal);
  log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("in a form that this build does not know"), std::string::npos) << log;
}

TEST_F(FailuresTest, EachFunctionOfTheCompiler) {
  const Failure failures[] = {
      FAILS("QnnContext_create", contextCreate),
      FAILS("QnnGraph_create", graphCreate),
      FAILS("QnnTensor_createGraphTensor", tensorCreateGraphTensor),
      FAILS("QnnGraph_addNode", graphAddNode),
      FAILS("QnnGraph_finalize", graphFinalize),
      FAILS("QnnContext_getBinarySize", contextGetBinarySize),
      FAILS("QnnContext_getBinary", contextGetBinary),
  };
  for (const Failure& failure : failures) {
    library_ = whole_;
    failure.plant(library_.functions);
    const auto session = Session::create(library_, options_);
    ASSERT_TRUE(session.ok());
    std::string why;
    EXPECT_EQ(compiled(**session, {"forward"}, &why), "");
    EXPECT_EQ(why.rfind(std::string(failure.name) + " of ", 0), 0u) << failure.name << ": " << why;
    EXPECT_NE(why.find("(v2.37.0.stand-in) failed with error 4711"), std::string::npos) << why;
  }
}

TEST_F(FailuresTest, OperatorsThatTheLibraryDoesNotTake) {
  const auto session = Session::create(whole_, options_);
  ASSERT_TRUE(session.ok());
  GraphData graph = sample_graph();
  EXPECT_EQ(why_refused(**session, graph), "");
  graph.operators[0].type = "ElementWiseAsinh";
  const std::string why = why_refused(**session, graph);
  EXPECT_NE(why.find("QnnBackend_validateOpConfig of "), std::string::npos) << why;
  EXPECT_NE(why.find("operator ElementWiseAsinh of qti.aisw is not in the stand-in"),
            std::string::npos)
      << why;
}

}  // namespace
}  // namespace executorch::backends::qualcomm
