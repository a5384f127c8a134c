// SPDX-License-Identifier: BSD-3-Clause
// The delegate on a stand-in for Core ML: what it compiles, keeps, loads and gives to models.
#include <executorch/backends/apple/coreml/runtime/coreml_backend_options.h>
#include <executorch/backends/apple/coreml/test/fixture.h>
#include <executorch/runtime/executor/test/ignoring_tracer.h>

#include <array>
#include <thread>

namespace executorch::backends::coreml {
namespace {

using Calls = std::vector<std::string>;

runtime::BackendOption text_option(const char* key, const std::string& value) {
  runtime::BackendOption option;
  std::strncpy(option.key, key, sizeof(option.key) - 1);
  std::array<char, runtime::kMaxOptionValueLength> text{};
  std::copy(value.begin(), value.end(), text.begin());
  option.value = text;
  return option;
}

TensorPtr floats(std::vector<executorch::aten::SizesType> sizes, std::vector<float> data) {
  return make_tensor_ptr(std::move(sizes), std::move(data));
}

template <typename T = float>
std::vector<T> data_of(const TensorPtr& tensor) {
  const T* data = tensor->const_data_ptr<T>();
  return {data, data + tensor->numel()};
}

class CoreMLDelegateTest : public CoreMLFixture {};

TEST_F(CoreMLDelegateTest, AModelIsCompiledLoadedAndRun) {
  const auto delegate = load(payload());
  ASSERT_EQ(delegate->error(), Error::Ok);
  EXPECT_FALSE(delegate->has_bytes()) << "all of it is in the cache";
  const auto y = floats({2, 3}, std::vector<float>(6));
  ASSERT_EQ(delegate->run({floats({2, 3}, {1, 2, 3, 4, 5, 6}), y}), Error::Ok);
  EXPECT_EQ(data_of(y), (std::vector<float>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(stand_in_.calls(), (Calls{"prepare", "compile", "load all", "predict"}));
  EXPECT_EQ(kept(), (Calls{"executorch_1.accessed", "executorch_1.mlmodelc"}));
}

TEST_F(CoreMLDelegateTest, EqualModelsAreCompiledOnce) {
  ASSERT_EQ(load(payload())->error(), Error::Ok);
  ASSERT_EQ(load(payload(), {{"compute_units", "cpu_only"}})->error(), Error::Ok);
  StandIn later(cache_);
  later.describe = stand_in_.describe;
  later.preset.prewarms = false;
  const CoreMLBackendDelegate backend(later);
  const Loaded again(backend, runtime::BackendInitContext(nullptr), payload(), {});
  EXPECT_EQ(again.error(), Error::Ok);
  EXPECT_EQ(stand_in_.count("compile") + later.count("compile"), 1u);
  ASSERT_EQ(load(payload(), {}, {text_option("cache_dir", folder_ + "/own")})->error(), Error::Ok);
  EXPECT_EQ(stand_in_.count("compile"), 2u);
  EXPECT_TRUE(runtime::is_folder(folder_ + "/own/models/executorch_1.mlmodelc"));
}

TEST_F(CoreMLDelegateTest, ACompiledModelIsWrittenAsItIs) {
  const std::string bytes = blob({{"metadata.json", kMetadata},
                                  {"model.mlmodelc/coremldata.bin", "data"},
                                  {"model.mlmodelc/weights/weight.bin", ""}});
  ASSERT_EQ(load(bytes)->error(), Error::Ok);
  EXPECT_EQ(stand_in_.count("compile"), 0u);
  EXPECT_TRUE(runtime::is_file(cache_ + "/models/executorch_1.mlmodelc/weights/weight.bin"));
}

TEST_F(CoreMLDelegateTest, OptionsWinOverCompileSpecs) {
  const auto units = [&](const std::string& spec, std::vector<runtime::BackendOption> options) {
    EXPECT_EQ(load(payload(), {{"compute_units", spec}, {"model_type", "model"}}, options)->error(),
              Error::Ok);
    return stand_in_.calls().back();
  };
  EXPECT_EQ(units("cpu_and_gpu", {}), "load cpu_and_gpu");
  LoadOptionsBuilder builder;
  builder.setComputeUnit(LoadOptionsBuilder::ComputeUnit::CPU_AND_NE).setUseNewCache(true);
  builder.setCacheDirectory((folder_ + "/own").c_str());
  EXPECT_STREQ(builder.backend_id(), "CoreMLBackend");
  EXPECT_EQ(units("cpu_only", {builder.view().begin(), builder.view().end()}), "load cpu_and_ne");
  EXPECT_TRUE(runtime::is_folder(folder_ + "/own/models"));
  runtime::BackendOptionContext context;
  runtime::BackendOption option = text_option("compute_unit", "cpu_and_gpu");
  ASSERT_EQ(backend_.set_option(context, {&option, 1}), Error::Ok);
  EXPECT_EQ(units("cpu_only", {text_option("cache_dir", "")}), "load cpu_and_gpu");
  runtime::BackendOption asked = text_option("compute_unit", "");
  runtime::Span<runtime::BackendOption> all(&asked, 1);
  ASSERT_EQ(backend_.get_option(context, all), Error::Ok);
  EXPECT_EQ(asked.value, option.value);
  option = text_option("compute_unit", "");
  ASSERT_EQ(backend_.set_option(context, {&option, 1}), Error::Ok);
  EXPECT_EQ(units("cpu_only", {}), "load cpu_only");
  option = text_option("compute_units", "all");
  EXPECT_EQ(backend_.set_option(context, {&option, 1}), Error::InvalidArgument);
}

TEST_F(CoreMLDelegateTest, SpecsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(load(payload(), {{"compute_units", "npu"}})->error(), Error::InvalidProgram);
  EXPECT_EQ(load(payload(), {{"min_deployment_target", "iOS18"}})->error(), Error::InvalidProgram);
  EXPECT_EQ(load(payload(), {{"later", "1"}})->error(), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(load(payload(), {}, {text_option("compute_unit", "npu")})->error(),
            Error::InvalidProgram);
  EXPECT_EQ(load(payload(), {}, {{"compute_unit", 1}})->error(), Error::InvalidArgument);
  EXPECT_EQ(load(payload(), {}, {{"cache", true}})->error(), Error::InvalidArgument);
  EXPECT_TRUE(stand_in_.calls().empty());
}

/// Core ML itself would say "Unknown opset" when it compiles.
TEST_F(CoreMLDelegateTest, AModelOfALaterSystemIsRefused) {
  RecordProperty("req", "APL-015");
  stand_in_.latest = 7;
  EXPECT_EQ(load(payload(), {{"min_deployment_target", "8"}})->error(),
            Error::DelegateInvalidCompatibility);
  EXPECT_EQ(load(payload(), {{"min_deployment_target", "7"}})->error(), Error::Ok);
  EXPECT_EQ(load(payload(), {{"min_deployment_target", ""}})->error(), Error::Ok);
}

TEST_F(CoreMLDelegateTest, MethodsShareAModel) {
  named_data_.data["coreml_executorch_2"] = payload(
      R"({"identifier": "executorch_2", "methods": {"forward": {"inputNames": ["x"],
      "outputNames": ["y"]}, "prefill": {"inputNames": [], "outputNames": ["z"]}}})");
  const std::string name = R"(CMJR{"version": 1, "key": "coreml_executorch_2", "functionName": )";
  ASSERT_EQ(load(name + "\"forward\"}")->error(), Error::Ok);
  describes({}, {{"z", ScalarType::Float, {1}}});
  ASSERT_EQ(load(name + "\"prefill\"}")->error(), Error::Ok);
  ASSERT_EQ(load(R"(CMJR{"key": "coreml_executorch_2"})", {}, {}, "prefill")->error(), Error::Ok);
  EXPECT_EQ(stand_in_.calls(), (Calls{"prepare", "compile", "load all forward", "load all prefill",
                                      "load all prefill"}));
  stand_in_.latest = 8;
  EXPECT_EQ(load(name + "\"prefill\"}")->error(), Error::DelegateInvalidCompatibility);
  stand_in_.latest = 9;
  for (const std::string& wrong :
       {name + "\"other\"}", name + "3}", std::string("CMJR"), std::string("CMJR{}"),
        std::string(R"(CMJR{"key": "other"})"), std::string(R"(CMJR{"key": ["a"]})")}) {
    EXPECT_EQ(load(wrong)->error(), Error::InvalidProgram) << wrong;
  }
  const Loaded alone(backend_, runtime::BackendInitContext(nullptr), name + "\"forward\"}", {});
  EXPECT_EQ(alone.error(), Error::InvalidProgram) << "no named data at all";
}

TEST_F(CoreMLDelegateTest, MetadataThatMakesNoSenseIsRefused) {
  for (const char* metadata :
       {"", "[]", "{", R"({"inputNames": ["x"], "outputNames": ["y"]})",
        R"({"inputNames": ["x"], "outputNames": [], "identifier": "a"})",
        R"({"inputNames": ["x"], "outputNames": ["y"], "identifier": ""})",
        R"({"inputNames": ["x"], "outputNames": ["y"], "identifier": 1})",
        R"({"inputNames": [1], "outputNames": ["y"], "identifier": "a"})",
        R"({"inputNames": "x", "outputNames": ["y"], "identifier": "a"})",
        R"({"identifier": "a", "methods": {}})", R"({"identifier": "a", "methods": []})",
        // of another model: more, fewer, others
        R"({"inputNames": [], "outputNames": ["y"], "identifier": "a"})",
        R"({"inputNames": ["x"], "outputNames": ["y", "z"], "identifier": "a"})",
        R"({"inputNames": ["q"], "outputNames": ["y"], "identifier": "a"})"}) {
    EXPECT_EQ(load(payload(metadata))->error(), Error::InvalidProgram) << metadata;
  }
  EXPECT_EQ(load(blob({{"metadata.json", kMetadata}}))->error(), Error::InvalidProgram);
  EXPECT_EQ(load(blob({{"metadata.json", kMetadata}, {"model.mlpackage", ""}}))->error(),
            Error::InvalidProgram);
  EXPECT_EQ(load("")->error(), Error::InvalidProgram);
}

TEST_F(CoreMLDelegateTest, IdentifiersThatLeaveTheCacheAreRefused) {
  for (const char* identifier : {"..", "../../evil", "/evil", "a/b", ".hidden"}) {
    const std::string metadata = std::string(R"({"inputNames": ["x"], "outputNames": ["y"],)") +
                                 "\"identifier\": \"" + identifier + "\"}";
    EXPECT_EQ(load(payload(metadata))->error(), Error::InvalidArgument) << identifier;
  }
  EXPECT_EQ(stand_in_.count("compile"), 0u);
  EXPECT_TRUE(kept().empty());
}

TEST_F(CoreMLDelegateTest, NumbersBecomeTheModelsDtype) {
  describes({{"x", ScalarType::Int, {3}}}, {{"y", ScalarType::Float, {3}}});
  const auto delegate = load(payload());
  const auto flags = make_tensor_ptr({3}, std::vector<uint8_t>(3, 9), {}, {}, ScalarType::Byte);
  const auto wide = make_tensor_ptr({3}, std::vector<int64_t>{-1, 7, 1 << 30});
  const auto doubles = make_tensor_ptr({3}, std::vector<double>(3));
  ASSERT_EQ(delegate->run({wide, doubles}), Error::Ok);
  EXPECT_EQ(data_of<double>(doubles), (std::vector<double>{0, 8, (1 << 30)}))
      << "2**30 + 1 is no float32";
  ASSERT_EQ(delegate->run({flags, doubles}), Error::Ok);
  EXPECT_EQ(data_of<double>(doubles), (std::vector<double>{10, 10, 10}));
  const auto large = make_tensor_ptr({3}, std::vector<int64_t>{0, 0, int64_t{1} << 31});
  EXPECT_EQ(delegate->run({large, doubles}), Error::InvalidArgument);
  EXPECT_EQ(delegate->run({floats({3}, {1, 2, 0.5}), doubles}), Error::InvalidArgument);
  // coremltools gives some integers as floats.
  const auto counts = make_tensor_ptr({3}, std::vector<int64_t>(3));
  ASSERT_EQ(delegate->run({flags, counts}), Error::Ok);
  EXPECT_EQ(data_of<int64_t>(counts), (std::vector<int64_t>{10, 10, 10}));
  std::vector<executorch::aten::complex<float>> none(3);
  const auto complex = make_tensor_ptr({3}, none.data(), ScalarType::ComplexFloat);
  EXPECT_EQ(delegate->run({complex, doubles}), Error::InvalidArgument);
  EXPECT_EQ(delegate->run({wide, complex}), Error::InvalidArgument);
}

TEST_F(CoreMLDelegateTest, HalvesComeBackAsFloats) {
  describes({{"x", ScalarType::Half, {2}}}, {{"y", ScalarType::Half, {2}}});
  stand_in_.predict = [](const StandIn::Loaded&, const std::vector<NamedElements>& inputs,
                         const std::vector<NamedElements>& outputs, const Model::Take& take) {
    EXPECT_EQ(inputs[0].elements.dtype, ScalarType::Half);
    EXPECT_EQ(outputs[0].elements.dtype, ScalarType::Half);
    ET_CHECK_OK_OR_RETURN_ERROR(
        runtime::copy_elements("copy", inputs[0].elements, outputs[0].elements));
    return take(0, outputs[0].elements);
  };
  const auto delegate = load(payload());
  const auto y = floats({2}, {0, 0});
  ASSERT_EQ(delegate->run({floats({2}, {0.5, 1.0f / 3}), y}), Error::Ok);
  EXPECT_EQ(data_of(y), (std::vector<float>{0.5, 0.333251953125})) << "1/3 of 11 bits";
}

TEST_F(CoreMLDelegateTest, MemoryOfTheProgramIsTheModels) {
  const auto x = make_tensor_ptr({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}, {1, 0});
  const auto y = floats({2, 3}, std::vector<float>(6));
  stand_in_.predict = [&](const StandIn::Loaded&, const std::vector<NamedElements>& inputs,
                          const std::vector<NamedElements>& outputs, const Model::Take& take) {
    EXPECT_STREQ(inputs[0].name, "x");
    EXPECT_EQ(inputs[0].elements.data, x->const_data_ptr());
    EXPECT_EQ(inputs[0].elements.strides[0], 1);
    EXPECT_EQ(inputs[0].elements.strides[1], 2);
    EXPECT_EQ(outputs[0].elements.data, y->const_data_ptr());
    static_cast<float*>(outputs[0].elements.data)[5] = 42;
    return take(0, outputs[0].elements);
  };
  ASSERT_EQ(load(payload())->run({x, y}), Error::Ok);
  EXPECT_EQ(data_of(y)[5], 42);
}

TEST_F(CoreMLDelegateTest, NumbersWithoutDimensionsAreOfOne) {
  describes({{"x", ScalarType::Float, {1}}}, {{"y", ScalarType::Float, {1}}});
  const auto delegate = load(payload());
  const auto y = floats({}, {0});
  ASSERT_EQ(delegate->run({floats({}, {3}), y}), Error::Ok);
  EXPECT_EQ(data_of(y), std::vector<float>{4});
  EXPECT_EQ(y->dim(), 0);
  computes_sum(/*takes_memory=*/false);
  ASSERT_EQ(delegate->run({floats({}, {4}), y}), Error::Ok);
  EXPECT_EQ(data_of(y), std::vector<float>{5});
}

TEST_F(CoreMLDelegateTest, OutputsTakeTheSizesOfResults) {
  Feature x{"x", ScalarType::Float, {1, 3}, {{1, 4}, {3, -1}}, {}};
  Feature y{"y", ScalarType::Float, {}, {}, {}};
  describes({x}, {y});
  const auto delegate = load(payload());
  const auto out = floats({4, 3}, std::vector<float>(12));
  for (const int rows : {4, 1, 3}) {
    const std::vector<float> ones(static_cast<size_t>(rows) * 3, 1);
    ASSERT_EQ(delegate->run({floats({rows, 3}, ones), out}), Error::Ok);
    EXPECT_EQ(out->size(0), rows);
    EXPECT_EQ(data_of(out), std::vector<float>(ones.size(), 2));
  }
  EXPECT_EQ(delegate->run({floats({5, 3}, std::vector<float>(15)), out}), Error::InvalidArgument);
  EXPECT_EQ(delegate->run({floats({4, 2}, std::vector<float>(8)), out}), Error::InvalidArgument);
  EXPECT_EQ(delegate->run({floats({3}, {1, 2, 3}), out}), Error::InvalidArgument);
  // A result that is larger than what was planned for.
  EXPECT_EQ(delegate->run({floats({4, 4}, std::vector<float>(16)), out}), Error::NotSupported);
}

TEST_F(CoreMLDelegateTest, ListedSizesAreTheOnlyOnes) {
  describes({{"x", ScalarType::Float, {2}, {}, {{2}, {5}}}},
            {{"y", ScalarType::Float, {}, {}, {{2}, {5}}}});
  const auto delegate = load(payload());
  const auto y = floats({5}, std::vector<float>(5));
  EXPECT_EQ(delegate->run({floats({2}, {1, 2}), y}), Error::Ok);
  EXPECT_EQ(y->size(0), 2);
  EXPECT_EQ(delegate->run({floats({3}, {1, 2, 3}), y}), Error::InvalidArgument);
}

TEST_F(CoreMLDelegateTest, ArgumentsAreChecked) {
  const auto delegate = load(payload());
  const auto x = floats({2, 3}, std::vector<float>(6));
  EXPECT_EQ(delegate->run({x}), Error::InvalidArgument);
  EXPECT_EQ(delegate->run({x, x, x}), Error::InvalidArgument);
  EXPECT_EQ(delegate->run({floats({3, 2}, std::vector<float>(6)), x}), Error::InvalidArgument);
  const auto empty = make_tensor_ptr({2, 3}, static_cast<void*>(nullptr));
  EXPECT_EQ(delegate->run({empty, x}), Error::InvalidArgument);
  EXPECT_EQ(delegate->run({x, empty}), Error::InvalidArgument);
  EXPECT_EQ(stand_in_.count("predict"), 0u);
}

/// Core ML does not say which models write to memory that they are given.
TEST_F(CoreMLDelegateTest, AModelThatDoesNotTakeMemoryIsNotGivenItAgain) {
  const auto delegate = load(payload());
  std::vector<bool> given;
  stand_in_.predict = [&, sum = stand_in_.predict](
                          const StandIn::Loaded& model, const std::vector<NamedElements>& inputs,
                          const std::vector<NamedElements>& outputs, const Model::Take& take) {
    given.push_back(outputs[0].elements.data != nullptr);
    return given.back() ? Error::NotSupported : sum(model, inputs, outputs, take);
  };
  const auto y = floats({2, 3}, std::vector<float>(6));
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(delegate->run({floats({2, 3}, {1, 1, 1, 1, 1, 1}), y}), Error::Ok);
    EXPECT_EQ(data_of(y), std::vector<float>(6, 2));
  }
  EXPECT_EQ(given, (std::vector<bool>{true, false, false}));
}

TEST_F(CoreMLDelegateTest, WhatFailsInAPredictionIsSaid) {
  const auto delegate = load(payload());
  const std::vector<TensorPtr> tensors = {floats({2, 3}, std::vector<float>(6)),
                                          floats({2, 3}, std::vector<float>(6))};
  stand_in_.fails = [](const std::string& call) { return call == "predict"; };
  EXPECT_EQ(delegate->run(tensors), Error::DelegateInvalidHandle);
  stand_in_.fails = [](const std::string&) { return false; };
  stand_in_.predict = [](const StandIn::Loaded&, const std::vector<NamedElements>&,
                         const std::vector<NamedElements>&,
                         const Model::Take&) { return Error::Ok; };
  EXPECT_EQ(delegate->run(tensors), Error::DelegateInvalidHandle) << "no output";
  stand_in_.predict = [](const StandIn::Loaded&, const std::vector<NamedElements>& inputs,
                         const std::vector<NamedElements>&, const Model::Take& take) {
    Elements other = inputs[0].elements;
    other.sizes[0] = 1;
    return take(0, other);
  };
  EXPECT_EQ(delegate->run(tensors), Error::Ok) << "a result of fewer rows than were said";
  EXPECT_EQ(tensors[1]->size(0), 1);
}

TEST_F(CoreMLDelegateTest, WhatDoesNotLoadIsCompiledAgainOnce) {
  ASSERT_EQ(load(payload(), {{"compute_units", "cpu_only"}})->error(), Error::Ok);
  int num_left = 1;
  stand_in_.fails = [&](const std::string& call) { return call[0] == 'l' && num_left-- > 0; };
  EXPECT_EQ(load(payload(), {{"compute_units", "cpu_only"}})->error(), Error::Ok);
  EXPECT_EQ(stand_in_.count("compile"), 2u);
  num_left = 100;
  EXPECT_EQ(load(payload(), {{"compute_units", "cpu_only"}})->error(), Error::InvalidProgram);
  EXPECT_EQ(stand_in_.count("compile"), 3u);
  EXPECT_TRUE(kept().empty());
  stand_in_.fails = [](const std::string& call) { return call == "compile"; };
  EXPECT_EQ(load(payload())->error(), Error::Internal);
  std::vector<std::string> left;
  EXPECT_TRUE(runtime::list_folder(cache_ + "/temp", &left));
  EXPECT_TRUE(left.empty());
}

TEST_F(CoreMLDelegateTest, WhatTheNeuralEngineRefusesRunsOnOthers) {
  stand_in_.fails = [](const std::string& call) {
    return call == "load all" || call == "load cpu_and_ne";
  };
  EXPECT_EQ(load(payload())->error(), Error::Ok);
  EXPECT_EQ(stand_in_.calls().back(), "load cpu_and_gpu");
  EXPECT_EQ(load(payload(), {{"compute_units", "cpu_and_ne"}})->error(), Error::Ok);
  EXPECT_EQ(stand_in_.calls().back(), "load cpu_only");
  EXPECT_EQ(stand_in_.count("compile"), 1u);
}

TEST_F(CoreMLDelegateTest, TheFirstRunIsOneOfZeros) {
  stand_in_.preset.prewarms = true;
  Description description{
      {{"x", ScalarType::Half, {2, 3}}}, {{"y", ScalarType::Half, {2, 3}}}, true};
  stand_in_.describe = [&](const StandIn::Loaded&) { return description; };
  ASSERT_EQ(load(payload())->error(), Error::Ok);
  EXPECT_EQ(stand_in_.calls(), (Calls{"prepare", "compile", "load all", "predict", "reset_state"}));
  stand_in_.fails = [](const std::string& call) { return call == "predict"; };
  EXPECT_EQ(load(payload())->error(), Error::Ok) << "a model that does not run with zeros";
}

TEST_F(CoreMLDelegateTest, ThreadsLoadAndRunSideBySide) {
  const std::string bytes = payload();
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      const auto delegate = load(bytes);
      ASSERT_EQ(delegate->error(), Error::Ok);
      const auto y = floats({2, 3}, std::vector<float>(6));
      for (int run = 0; run < 50; ++run) {
        const auto value = static_cast<float>(number * 100 + run);
        ASSERT_EQ(delegate->run({floats({2, 3}, std::vector<float>(6, value)), y}), Error::Ok);
        ASSERT_EQ(data_of(y), std::vector<float>(6, value + 1));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(stand_in_.count("compile"), 1u);
  EXPECT_EQ(stand_in_.count("predict"), 200u);
}

class Recording final : public runtime::testing::IgnoringTracer {
 public:
  void log_profiling_delegate(const char* name, runtime::DelegateDebugIntId, et_timestamp_t start,
                              et_timestamp_t end, const void* metadata, size_t size) override {
    events.push_back({name, end - start, {static_cast<const char*>(metadata), size}});
  }
  struct Event {
    std::string name;
    et_timestamp_t time;
    std::string metadata;
  };
  std::vector<Event> events;
};

TEST_F(CoreMLDelegateTest, OperationsHaveTheirPartOfTheTime) {
#ifndef ET_EVENT_TRACER_ENABLED
  GTEST_SKIP() << "built without events";
#endif
  stand_in_.operations = {{"linear", {"linear_0", "other"}, 3, "NE", {"CPU", "NE"}},
                          {"relu", {"y"}, 1, "CPU", {"CPU"}}};
  stand_in_.predict = [sum = stand_in_.predict](auto&&... arguments) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return sum(arguments...);
  };
  const auto delegate = load(payload());
  const auto x = floats({2, 3}, std::vector<float>(6));
  Recording tracer;
  ASSERT_EQ(delegate->run({x, x}, &tracer), Error::Ok);
  ASSERT_EQ(delegate->run({x, x}, &tracer), Error::Ok);
  EXPECT_EQ(stand_in_.count("plan"), 1u);
  ASSERT_EQ(tracer.events.size(), 4u);
  EXPECT_EQ(tracer.events[0].name, "linear_0:linear");
  EXPECT_EQ(tracer.events[0].metadata,
            R"({"estimatedCost":3.0,"operatorName":"linear","outputNames":["linear_0","other"],)"
            R"("preferredComputeUnit":"NE","supportedComputeUnits":["CPU","NE"]})");
  EXPECT_NEAR(static_cast<double>(tracer.events[0].time),
              3 * static_cast<double>(tracer.events[1].time), 3);
  tracer.events.clear();
  tracer.set_event_tracer_profiling_level(runtime::EventTracerProfilingLevel::kProfileMethodOnly);
  ASSERT_EQ(delegate->run({x, x}, &tracer), Error::Ok);
  EXPECT_TRUE(tracer.events.empty());
}

TEST_F(CoreMLDelegateTest, TheRegisteredBackendEmptiesItsCaches) {
  static StandIn stand_in(cache_);
  static CoreMLBackendDelegate backend(stand_in);
  EXPECT_EQ(CoreMLBackendDelegate::get_registered_delegate(), nullptr);
  ASSERT_EQ(register_coreml_backend(&backend), Error::Ok);
  EXPECT_EQ(CoreMLBackendDelegate::get_registered_delegate(), &backend);
  EXPECT_TRUE(backend.is_available());
  stand_in.is_there = false;
  EXPECT_FALSE(backend.is_available());
  {
    const auto used = load(payload());
    ASSERT_EQ(used->error(), Error::Ok);
    EXPECT_FALSE(backend_.purge_models_cache());
  }
  EXPECT_TRUE(backend_.purge_models_cache());
  EXPECT_TRUE(kept().empty());
}

}  // namespace
}  // namespace executorch::backends::coreml
