// SPDX-License-Identifier: BSD-3-Clause
// CudaBackend on a stand-in of NVIDIA's CUDA runtime, whose memory the host cannot follow: what is
// computed, what is asked of CUDA and given back, and each of its functions failing.
#include <executorch/backends/aoti/runtime/memory_data.h>
#include <executorch/backends/aoti/runtime/sha256.h>
#include <executorch/backends/cuda/runtime/cuda_allocator.h>
#include <executorch/backends/cuda/runtime/cuda_backend.h>
#include <executorch/backends/cuda/runtime/cuda_delegate.h>
#include <executorch/backends/cuda/runtime/cuda_shims.h>
#include <executorch/backends/cuda/runtime/mutable_state.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <dlfcn.h>

#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

namespace executorch::backends::cuda {
namespace {

using aoti::bytes_of;
using aoti::DeviceType;
using runtime::Error;
using runtime::Result;

constexpr int kIllegalAddress = kCudaIllegalAddress;

/// A tensor of two floats, in memory of a device.
class OnDevice {
 public:
  explicit OnDevice(std::vector<float> values, int device = 0) : device_(device) {
    auto made = CudaAllocator::instance().allocate(sizeof(float) * 2, index());
    EXPECT_TRUE(made.ok());
    data_ = *made;
    EXPECT_EQ(CudaAllocator::instance().copy_host_to_device(data_, values.data(), sizeof(float) * 2,
                                                            index()),
              Error::Ok);
    tensor_.emplace(aten::ScalarType::Float, 1, sizes_, data_, order_, strides_,
                    aten::TensorShapeDynamism::STATIC, DeviceType::CUDA, index());
  }
  ~OnDevice() { CudaAllocator::instance().deallocate(data_, index()); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  aten::Tensor tensor() { return aten::Tensor(&*tensor_); }
  std::vector<float> values() const {
    std::vector<float> found(2);
    EXPECT_EQ(CudaAllocator::instance().copy_device_to_host(found.data(), data_, sizeof(float) * 2,
                                                            index()),
              Error::Ok);
    return found;
  }

 private:
  aoti::DeviceIndex index() const { return static_cast<aoti::DeviceIndex>(device_); }

  int device_;
  void* data_ = nullptr;
  aten::SizesType sizes_[1] = {2};
  aten::DimOrderType order_[1] = {0};
  aten::StridesType strides_[1] = {1};
  std::optional<aten::TensorImpl> tensor_;
};

std::string constants_of(float scale, float last = 0) {
  const float values[8] = {scale, 0, 0, last};
  return std::string(reinterpret_cast<const char*>(values), sizeof(values));
}

class CudaTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("EXECUTORCH_CUDA_RUNTIME", CUDART_STAND_IN, 1);
    void* library = dlopen(CUDART_STAND_IN, RTLD_NOW);
    fail_ = reinterpret_cast<decltype(fail_)>(dlsym(library, "cudart_stand_in_fail"));
    count_ = reinterpret_cast<decltype(count_)>(dlsym(library, "cudart_stand_in_count"));
  }
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_cuda_backend(), Error::Ok);
    fail_("", 0, 0);
  }
  void TearDown() override {
    for (const char* left : {"blocks", "bytes", "streams", "graphs", "wrong"}) {
      EXPECT_EQ(count_(left), 0) << left;
    }
  }

  Result<std::unique_ptr<CudaDelegate>> load(const CudaOptions& options = {},
                                             const std::string& constants = constants_of(3),
                                             const std::string& library = compiled()) {
    const std::string key = aoti::sha256_of(bytes_of(library)) + "_so_blob";
    data_.by_key = {{key, library}, {"weights", constants}};
    const std::string payload = key + "\nweights";
    return CudaDelegate::create(bytes_of(payload), &data_, options);
  }
  static Error run(CudaDelegate& delegate, aten::Tensor x, aten::Tensor y) {
    runtime::EValue values[] = {x, y};
    runtime::EValue* pointers[] = {&values[0], &values[1]};
    return delegate.execute({pointers, 2});
  }
  /// The first value of the method for 1 and 2.
  static float first_of(CudaDelegate& delegate) {
    OnDevice x({1, 2}), y({0, 0});
    EXPECT_EQ(run(delegate, x.tensor(), y.tensor()), Error::Ok);
    return y.values()[0];
  }
  template <typename Function>
  void expect_error(Function function, Error error, const std::string& text) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(function(), error);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(text), std::string::npos) << text << ": " << log;
  }
  static const std::string& compiled() {
    static const std::string bytes = aoti::text_of_file(CUDA_COMPILED_STAND_IN);
    return bytes;
  }

  static inline void (*fail_)(const char*, int, int) = nullptr;
  static inline int (*count_)(const char*) = nullptr;
  aoti::MemoryData data_;
};

TEST_F(CudaTest, MethodsComputeAndKeepTheirState) {
  auto delegate = load();
  ASSERT_TRUE(delegate.ok());
  OnDevice x({1, 2}), y({0, 0});
  for (float calls = 0; calls < 3; ++calls) {
    ASSERT_EQ(run(**delegate, x.tensor(), y.tensor()), Error::Ok);
    EXPECT_EQ(y.values(), (std::vector<float>{3 + calls, 6 + calls}));
  }
}

TEST_F(CudaTest, NothingOfAMethodIsOnTheDefaultStream) {
  OnDevice x({1, 2}), y({0, 0});
  const int before = count_("on the default stream");
  auto delegate = load();
  ASSERT_TRUE(delegate.ok());
  ASSERT_EQ(run(**delegate, x.tensor(), y.tensor()), Error::Ok);
  EXPECT_EQ(count_("on the default stream"), before);
  EXPECT_EQ(count_("streams"), 1);
}

TEST_F(CudaTest, TheStreamOfTheCallerIsUsedAndNotWaitedFor) {
  auto delegate = load();
  ASSERT_TRUE(delegate.ok());
  OnDevice x({1, 2}), y({0, 0});
  const CudaApi& api = **cuda_library();
  cudaStream_t mine = nullptr;
  ASSERT_EQ(api.cudaStreamCreateWithFlags(&mine, kCudaStreamNonBlocking), 0);
  const int before = count_("cudaStreamSynchronize");
  {
    const extension::cuda::CallerStreamGuard guard(mine);
    EXPECT_EQ(extension::cuda::getCallerStream(), mine);
    ASSERT_EQ(run(**delegate, x.tensor(), y.tensor()), Error::Ok);
    EXPECT_EQ(count_("cudaStreamSynchronize"), before);
    {
      const extension::cuda::CallerStreamGuard inner(nullptr);  // the default one is one, too
      EXPECT_EQ(current_stream(), static_cast<cudaStream_t>(nullptr));
    }
    EXPECT_EQ(current_stream(), mine);
    std::thread([] { EXPECT_FALSE(extension::cuda::getCallerStream().has_value()); }).join();
  }
  EXPECT_FALSE(current_stream().has_value());
  EXPECT_EQ(y.values()[0], 3);
  ASSERT_EQ(run(**delegate, x.tensor(), y.tensor()), Error::Ok);
  EXPECT_EQ(count_("cudaStreamSynchronize"), before + 2);  // y.values() and the method
  EXPECT_EQ(api.cudaStreamDestroy(mine), 0);
}

TEST_F(CudaTest, MethodsMayHaveOneStream) {
  CudaOptions options;
  options.shares_stream = true;
  auto first = load(options), second = load(options);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(count_("streams"), 1);
  first->reset();
  EXPECT_EQ(count_("streams"), 1);
  EXPECT_EQ(first_of(**second), 3);
}

TEST_F(CudaTest, MemoryOfOthersIsRefused) {
  auto delegate = load();
  ASSERT_TRUE(delegate.ok());
  OnDevice x({1, 2}), y({0, 0}), other({1, 2}, 1);
  float host[2] = {1, 2};
  aten::SizesType sizes[] = {2};
  aten::DimOrderType order[] = {0};
  aten::StridesType strides[] = {1};
  const auto tensor = [&](DeviceType type) {
    return aten::TensorImpl(aten::ScalarType::Float, 1, sizes, host, order, strides,
                            aten::TensorShapeDynamism::STATIC, type);
  };
  aten::TensorImpl typed = tensor(DeviceType::CUDA), of_host = tensor(DeviceType::CPU);
  expect_error([&] { return run(**delegate, aten::Tensor(&typed), y.tensor()); },
               Error::InvalidArgument, "expected memory of cuda:0, found the host's");
  expect_error([&] { return run(**delegate, aten::Tensor(&of_host), y.tensor()); },
               Error::InvalidArgument, "expected a tensor on device 1:0, found one on 0:0");
  expect_error([&] { return run(**delegate, other.tensor(), y.tensor()); }, Error::InvalidArgument,
               "found one on 1:1");
}

TEST_F(CudaTest, ProgramsNameTheirDevice) {
  CudaOptions options;
  options.target_device = "cuda:1";
  auto delegate = load(options);
  ASSERT_TRUE(delegate.ok());
  OnDevice x({1, 2}), y({0, 0});
  expect_error([&] { return run(**delegate, x.tensor(), y.tensor()); }, Error::InvalidArgument,
               "expected a tensor on device 1:1, found one on 1:0");
  int current = -1;
  EXPECT_EQ((*cuda_library())->cudaGetDevice(&current), 0);
  EXPECT_EQ(current, 0);  // as before
  options.target_device = "cuda:7";
  expect_error([&] { return load(options).error(); }, Error::NotFound,
               "cudaSetDevice of cuda:7: cudaErrorInvalidDevice (101)");
  for (const char* wrong : {"cuda:", "cuda:x", "mps", "", "cuda:1234"}) {
    options.target_device = wrong;
    expect_error([&] { return load(options).error(); }, Error::InvalidProgram,
                 "expected a target_device such as cuda:0");
  }
}

TEST_F(CudaTest, WeightsAndStateAreSharedByName) {
  CudaOptions options;
  options.common.shares_constants = true;
  auto prefill = load(options);
  ASSERT_TRUE(prefill.ok());
  const int bytes = count_("bytes");
  auto decode = load(options), apart = load({}, constants_of(5));
  ASSERT_TRUE(decode.ok() && apart.ok());
  EXPECT_EQ(count_("bytes"), 2 * bytes);  // of prefill, and apart
  EXPECT_EQ(first_of(**prefill), 3);
  EXPECT_EQ(first_of(**decode), 4);  // prefill counted
  EXPECT_EQ(first_of(**apart), 5);
  prefill->reset();  // the weights live on with the other
  EXPECT_EQ(count_("bytes"), 2 * bytes);
  EXPECT_EQ(first_of(**decode), 5);
}

TEST_F(CudaTest, NewWeightsAreLoadedBesideSharedOnes) {
  CudaOptions options;
  options.common.shares_constants = true;
  auto prefill = load(options);
  const std::string library = aoti::renamed_in(compiled(), "model.scale", "model.other");
  auto decode = load(options, constants_of(10), library);
  ASSERT_TRUE(prefill.ok() && decode.ok());
  EXPECT_EQ(first_of(**prefill), 3);
  EXPECT_EQ(first_of(**decode), 11);  // 1 * 10 + 1
  expect_error(
      [&] {
        return load(options, constants_of(10, 7),
                    aoti::renamed_in(compiled(), "model.count", "model.calls"))
            .error();
      },
      Error::Internal, "model.scale has another dtype, shape or strides");
}

TEST_F(CudaTest, SessionsHaveStateOfTheirOwn) {
  MutableStateContextOwner owner;
  ASSERT_EQ(owner.register_fqns({"model.count"}), Error::Ok);
  EXPECT_FALSE(owner.available());
  EXPECT_EQ(owner.create_session().error(), Error::NotFound);
  CudaOptions options;
  options.common.shares_constants = true;
  auto outside = load();
  auto prefill = owner.with_load_scope([&] { return load(options); });
  auto decode = owner.with_load_scope([&] { return load(options); });
  ASSERT_TRUE(outside.ok() && prefill.ok() && decode.ok());
  EXPECT_TRUE(owner.available());
  EXPECT_EQ(owner.bytes_per_session(), 4 * sizeof(float));
  EXPECT_EQ(first_of(**prefill), 3);  // of no session
  const auto a = owner.create_session(), b = owner.create_session();
  ASSERT_TRUE(a.ok() && b.ok());
  const auto in = [&](int session, CudaDelegate& delegate) {
    return owner.with_active_session(session, [&] { return first_of(delegate); });
  };
  EXPECT_EQ(in(*a, **prefill), 3);
  EXPECT_EQ(in(*a, **decode), 4);
  EXPECT_EQ(in(*b, **decode), 3);
  EXPECT_EQ(in(*a, **decode), 5);
  EXPECT_EQ(in(*b, **prefill), 4);
  EXPECT_EQ(first_of(**prefill), 4);
  EXPECT_EQ(in(*a, **outside), 3);  // not one of theirs
  EXPECT_EQ(in(*b, **decode), 5);
  EXPECT_EQ(owner.destroy_session(*b), Error::Ok);
  EXPECT_EQ(owner.destroy_session(*b), Error::NotFound);
  OnDevice x({1, 2}), y({0, 0});
  expect_error(
      [&] {
        return owner.with_active_session(*b, [&] { return run(**decode, x.tensor(), y.tensor()); });
      },
      Error::InvalidArgument, "is not there");
  EXPECT_EQ(in(*a, **decode), 6);
  EXPECT_EQ(owner.register_fqns({"model.scale"}), Error::InvalidState);
}

TEST_F(CudaTest, BuffersThatNoMethodHasAreNamed) {
  MutableStateContextOwner owner;
  ASSERT_EQ(owner.register_fqns({"model.count", "model.cache"}), Error::Ok);
  auto delegate = owner.with_load_scope([&] { return load(); });
  ASSERT_TRUE(delegate.ok());
  expect_error([&] { return owner.create_session().error(); }, Error::NotFound,
               "no method that was loaded in a load scope has model.cache");
}

TEST_F(CudaTest, TwoHundredLoadsLeaveNothing) {
  const auto once = [&] {
    auto delegate = load();
    ASSERT_TRUE(delegate.ok());
    EXPECT_EQ(first_of(**delegate), 3);
    delegate->reset();
    EXPECT_EQ(count_("blocks") + count_("streams"), 0);
  };
  for (int i = 0; i < 10; ++i) {
    once();
  }
  const size_t before = aoti::mappings();
  for (int i = 0; i < 200; ++i) {
    once();
  }
  EXPECT_LE(aoti::mappings(), before + 2);
}

CudaOptions as_graph() {
  CudaOptions options;
  options.common.method_name = "decode";
  options.graph_methods = "prefill,decode";
  return options;
}

TEST_F(CudaTest, GraphsAreRecordedOnceAndHaveTheNumbersOfCalls) {
  auto delegate = load(as_graph());
  ASSERT_TRUE(delegate.ok());
  const int recorded = count_("cudaStreamBeginCapture"), launched = count_("cudaGraphLaunch"),
            allocated = count_("cudaMallocAsync");
  int allocated_before_replays = 0;
  for (int call = 0; call < 7; ++call) {
    const auto value = static_cast<float>(call);
    OnDevice x({value, 10 * value}), y({0, 0});  // elsewhere each time
    ASSERT_EQ(run(**delegate, x.tensor(), y.tensor()), Error::Ok);
    EXPECT_EQ(y.values(), (std::vector<float>{4 * value, 31 * value})) << call;
    EXPECT_EQ(count_("cudaStreamBeginCapture"), recorded + (call < kWarmUpCalls ? 0 : 1));
    EXPECT_EQ(count_("cudaGraphLaunch"), launched + std::max(0, call + 1 - kWarmUpCalls));
    if (call == kWarmUpCalls) {
      allocated_before_replays = count_("cudaMallocAsync");
    }
  }
  EXPECT_GT(allocated_before_replays, allocated);
  EXPECT_EQ(count_("cudaMallocAsync"), allocated_before_replays);
}

TEST_F(CudaTest, GraphsAreForTheMethodsThatAreNamed) {
  const int before = count_("cudaStreamBeginCapture");
  for (const char* name : {"code", "decode2", ""}) {
    CudaOptions options = as_graph();
    options.common.method_name = name;
    auto delegate = load(options);
    ASSERT_TRUE(delegate.ok());
    for (int call = 0; call <= kWarmUpCalls; ++call) {
      EXPECT_EQ(first_of(**delegate), 3 + static_cast<float>(call)) << name;
    }
  }
  EXPECT_EQ(count_("cudaStreamBeginCapture"), before);
}

TEST_F(CudaTest, GraphsRefuseOtherShapesStreamsAndCopiesToTheHost) {
  auto delegate = load(as_graph());
  ASSERT_TRUE(delegate.ok());
  OnDevice x({1, 2}), y({0, 0}), far({100, 2});
  for (int call = 0; call < kWarmUpCalls; ++call) {
    EXPECT_EQ(first_of(**delegate), 3 + static_cast<float>(call));
  }
  expect_error(
      [&] { return run(**delegate, far.tensor(), y.tensor()); }, Error::Internal,
      "cudaErrorStreamCaptureUnsupported (900): as the stand-in was told: leave the method "
      "out of enable_cuda_graph_for_method");
  EXPECT_EQ(first_of(**delegate), 6);  // recorded now; the call that failed counted nothing
  aten::SizesType one[] = {1};
  const auto sized = [&](aten::Tensor tensor) {
    EXPECT_EQ(runtime::resize_tensor(tensor, {one, 1}), Error::Ok);
  };
  aten::SizesType sizes[] = {2};
  aten::DimOrderType order[] = {0};
  aten::StridesType strides[] = {1};
  aten::TensorImpl shorter(aten::ScalarType::Float, 1, sizes, x.tensor().mutable_data_ptr(), order,
                           strides, aten::TensorShapeDynamism::DYNAMIC_BOUND, DeviceType::CUDA, 0);
  sized(aten::Tensor(&shorter));
  expect_error([&] { return run(**delegate, aten::Tensor(&shorter), y.tensor()); },
               Error::InvalidArgument,
               "expected tensor 0 to have the shape and strides that it had");
  cudaStream_t mine = nullptr;
  ASSERT_EQ((*cuda_library())->cudaStreamCreateWithFlags(&mine, kCudaStreamNonBlocking), 0);
  {
    const extension::cuda::CallerStreamGuard guard(mine);
    expect_error([&] { return run(**delegate, x.tensor(), y.tensor()); }, Error::NotSupported,
                 "has a stream of its own");
  }
  EXPECT_EQ((*cuda_library())->cudaStreamDestroy(mine), 0);
  EXPECT_EQ(first_of(**delegate), 7);
}

TEST_F(CudaTest, SessionsRunBesideTheGraph) {
  MutableStateContextOwner owner;
  ASSERT_EQ(owner.register_fqns({"model.count"}), Error::Ok);
  auto delegate = owner.with_load_scope([&] { return load(as_graph()); });
  ASSERT_TRUE(delegate.ok());
  const auto session = owner.create_session();
  ASSERT_TRUE(session.ok());
  const auto in_session = [&] {
    return owner.with_active_session(*session, [&] { return first_of(**delegate); });
  };
  for (int call = 0; call < 6; ++call) {
    EXPECT_EQ(first_of(**delegate), 3 + static_cast<float>(call));
    EXPECT_EQ(in_session(), 3 + static_cast<float>(call));
  }
}

/// Loads, runs, has a session, unloads. Memory of the arguments is there already.
TEST_F(CudaTest, EachCallThatFailsIsNamedAndLeavesNothing) {
  const auto graph = [&](OnDevice& x, OnDevice& y) {
    auto loaded = load(as_graph());
    Error error = loaded.error();
    for (int call = 0; error == Error::Ok && call <= kWarmUpCalls; ++call) {
      error = run(**loaded, x.tensor(), y.tensor());
    }
    return error;
  };
  const auto whole = [&](OnDevice& x, OnDevice& y) {
    MutableStateContextOwner owner;
    ET_CHECK_OK_OR_RETURN_ERROR(owner.register_fqns({"model.count"}));
    CudaOptions options;
    options.common.shares_constants = true;
    auto loaded = owner.with_load_scope([&] { return load(options); });
    ET_CHECK_OK_OR_RETURN_ERROR(loaded.error());
    const auto session = owner.create_session();
    ET_CHECK_OK_OR_RETURN_ERROR(session.error());
    return owner.with_active_session(*session,
                                     [&] { return run(**loaded, x.tensor(), y.tensor()); });
  };
  const char* const of_graphs[] = {
      "cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiateWithFlags",
      "cudaGraphLaunch",        "cudaGraphDestroy",     "cudaGraphExecDestroy",
      "cudaMallocAsync",        "cudaMemcpyAsync"};
  const char* const functions[] = {"cudaGetDevice",
                                   "cudaMalloc",
                                   "cudaFree",
                                   "cudaMallocAsync",
                                   "cudaFreeAsync",
                                   "cudaMemcpyAsync",
                                   "cudaStreamCreateWithFlags",
                                   "cudaStreamDestroy",
                                   "cudaStreamSynchronize",
                                   "cudaPointerGetAttributes"};
  const auto expect_named = [&](const std::string& function, auto whole, float expected) {
    int failed = 0;
    for (int count = 1;; ++count) {
      OnDevice x({1, 2}), y({0, 0});
      const int blocks = count_("blocks");
      fail_(function.c_str(), count, kIllegalAddress);
      testing::internal::CaptureStderr();
      const Error error = whole(x, y);
      const std::string log = testing::internal::GetCapturedStderr();
      const bool was_called = count_("to fail") == 0;
      fail_("", 0, 0);
      ASSERT_EQ(count_("blocks"), blocks) << function << " " << count;
      ASSERT_EQ(count_("streams") + count_("graphs"), 0) << function << " " << count;
      if (!was_called) {
        EXPECT_EQ(error, Error::Ok);
        EXPECT_EQ(y.values()[0], expected);
        break;
      }
      ++failed;
      EXPECT_NE(log.find("CudaBackend: " + function), std::string::npos) << log;
      EXPECT_NE(log.find("cudaErrorIllegalAddress (700): as the stand-in was told: start the "
                         "process again"),
                std::string::npos)
          << function << " " << count << ": " << log;
    }
    EXPECT_GT(failed, 0) << function;
  };
  for (const char* function : functions) {
    expect_named(function, whole, 3);
  }
  for (const char* function : of_graphs) {
    expect_named(function, graph, 3 + kWarmUpCalls);
  }
}

TEST_F(CudaTest, ErrorsSayWhatToDo) {
  fail_("cudaMallocAsync", 1, kCudaNoMemory);
  expect_error([&] { return load().error(); }, Error::Internal,
               "cudaMallocAsync of 16 bytes on cuda:0: cudaErrorMemoryAllocation (2)");
  fail_("cudaMalloc", 1, kCudaNoMemory);
  expect_error([&] { return CudaAllocator::instance().allocate(64, 0).error(); },
               Error::MemoryAllocationFailed, "free memory of the GPU");
  EXPECT_EQ(CudaAllocator::instance().allocate(64, 0, 4096).error(), Error::NotSupported);
  auto* backend = runtime::get_backend_class("CudaBackend");
  ASSERT_NE(backend, nullptr);
  EXPECT_TRUE(backend->is_available());
  fail_("cudaGetDeviceCount", 1, kCudaDriverTooOld);
  expect_error([&] { return backend->is_available() ? Error::Ok : Error::NotFound; },
               Error::NotFound, "cudaErrorInsufficientDriver (35)");
  fail_("cudaGetDeviceCount", 1, kCudaNoDevice);
  expect_error([&] { return backend->is_available() ? Error::Ok : Error::NotFound; },
               Error::NotFound, "where nvidia-smi lists a GPU");
}

TEST_F(CudaTest, ALibraryThatIsMissingIsASentence) {
  expect_error([] { return load_cuda_library({"libcudart.so.none"}).error(); }, Error::NotFound,
               "NVIDIA's CUDA runtime was not loaded (libcudart.so.none: not found): install CUDA");
  expect_error([] { return load_cuda_library({CUDA_COMPILED_STAND_IN}).error(); }, Error::NotFound,
               "lacks cudaGetLastError");
}

TEST_F(CudaTest, ProgramsSetOptions) {
  auto* backend = runtime::get_backend_class("CudaBackend");
  const std::string key = aoti::sha256_of(bytes_of(compiled())) + "_so_blob",
                    text = key + "\nweights";
  data_.by_key = {{key, compiled()}, {"weights", constants_of(5)}};
  OnDevice x({1, 2}), y({0, 0});
  const auto init = [&](runtime::Span<const runtime::BackendOption> options, int calls = 0) {
    runtime::BackendInitContext context(nullptr, nullptr, "forward", &data_, options);
    runtime::FreeableBuffer payload(text.data(), text.size(), nullptr);
    const auto made = backend->init(context, &payload, {});
    if (made.ok()) {
      runtime::EValue values[] = {x.tensor(), y.tensor()};
      runtime::EValue* pointers[] = {&values[0], &values[1]};
      runtime::BackendExecutionContext call;
      for (int i = 0; i < calls; ++i) {
        EXPECT_EQ(backend->execute(call, *made, {pointers, 2}), Error::Ok);
      }
      backend->destroy(*made);
    }
    return made.error();
  };
  runtime::BackendOption graphs{"enable_cuda_graph_for_method", {}};
  graphs.value = std::array<char, runtime::kMaxOptionValueLength>{"forward"};
  const int launched = count_("cudaGraphLaunch");
  EXPECT_EQ(init({&graphs, 1}, kWarmUpCalls + 1), Error::Ok);
  EXPECT_EQ(count_("cudaGraphLaunch"), launched + 1);
  for (const char* name : {"use_shared_cuda_stream", "weight_sharing_across_methods"}) {
    runtime::BackendOption right{"", true}, wrong{"", 1};
    std::strncpy(right.key, name, sizeof(right.key) - 1);
    std::strncpy(wrong.key, name, sizeof(wrong.key) - 1);
    EXPECT_EQ(init({&right, 1}), Error::Ok);
    EXPECT_EQ(init({&wrong, 1}), Error::InvalidArgument);
  }
  runtime::BackendOption refused{"allow_native_code", false};
  EXPECT_EQ(init({&refused, 1}), Error::NotSupported);
  data_.by_key.erase("weights");
  expect_error([&] { return init({}); }, Error::NotFound, "load aoti_cuda_blob.ptd");
}

// ---- Shims ----

template <typename... Arguments>
int32_t call(const std::string& name, Arguments... arguments) {
  for (const aoti::Shim& shim : cuda_shims()) {
    if (name == shim.name) {
      return reinterpret_cast<int32_t (*)(Arguments...)>(shim.function)(arguments...);
    }
  }
  ADD_FAILURE() << "no " << name;
  return -1;
}

int current_device() {
  int found = -1;
  EXPECT_EQ((*cuda_library())->cudaGetDevice(&found), 0);
  return found;
}

TEST_F(CudaTest, GuardsChangeTheDeviceAndTheStream) {
  void *guard = nullptr, *of_stream = nullptr, *stream = nullptr;
  int mark = 0;
  ASSERT_EQ(call("aoti_torch_create_cuda_guard", int32_t{1}, &guard), 0);
  EXPECT_EQ(current_device(), 1);
  ASSERT_EQ(call("aoti_torch_create_cuda_stream_guard", static_cast<void*>(&mark), int32_t{-1},
                 &of_stream),
            0);
  ASSERT_EQ(call("aoti_torch_get_current_cuda_stream", int32_t{-1}, &stream), 0);
  EXPECT_EQ(stream, &mark);
  EXPECT_EQ(current_device(), 1);
  ASSERT_EQ(call("aoti_torch_cuda_guard_set_index", guard, int32_t{0}), 0);
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(call("aoti_torch_cuda_guard_set_index", guard, int32_t{9}),
            static_cast<int32_t>(Error::NotFound));
  ASSERT_EQ(call("aoti_torch_delete_cuda_stream_guard", of_stream), 0);
  ASSERT_EQ(call("aoti_torch_get_current_cuda_stream", int32_t{0}, &stream), 0);
  EXPECT_EQ(stream, nullptr);
  ASSERT_EQ(call("aoti_torch_delete_cuda_guard", guard), 0);
  EXPECT_EQ(current_device(), 0);
  void* const none = nullptr;
  for (const char* name : {"aoti_torch_delete_cuda_guard", "aoti_torch_delete_cuda_stream_guard"}) {
    EXPECT_EQ(call(name, none), aoti::kInvalid);
  }
  EXPECT_EQ(call("aoti_torch_create_cuda_guard", int32_t{0}, none), aoti::kInvalid);
  EXPECT_EQ(call("aoti_torch_create_cuda_guard", int32_t{9}, &guard),
            static_cast<int32_t>(Error::NotFound));
  EXPECT_EQ(call("aoti_torch_cuda_guard_set_index", none, int32_t{0}), aoti::kInvalid);
  EXPECT_EQ(call("aoti_torch_get_current_cuda_stream", int32_t{0}, none), aoti::kInvalid);
  EXPECT_EQ(call("aoti_torch_create_cuda_stream_guard", none, int32_t{0}, none), aoti::kInvalid);
}

}  // namespace
}  // namespace executorch::backends::cuda
