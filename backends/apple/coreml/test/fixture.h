// SPDX-License-Identifier: BSD-3-Clause
// What tests of the delegate have in common: payloads, a stand-in for Core ML, loading and running.
#pragma once

#include <executorch/backends/apple/coreml/runtime/coreml_backend.h>
#include <executorch/backends/apple/coreml/runtime/directory_blob.h>
#include <executorch/backends/apple/coreml/test/stand_in.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/backend/files/folders.h>
#include <executorch/runtime/backend/files/whole_file.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace executorch::backends::coreml {

using executorch::aten::ScalarType;
using extension::make_tensor_ptr;
using extension::TensorPtr;
using runtime::Elements;
using runtime::Error;
using runtime::Result;

using Files = std::map<std::string, std::string>;

/// Named data of a program.
class NamedData final : public runtime::NamedDataMap {
 public:
  std::map<std::string, std::string, std::less<>> data;

  Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = data.find(key);
    if (found == data.end()) {
      return Error::NotFound;
    }
    return runtime::FreeableBuffer(found->second.data(), found->second.size(), nullptr);
  }
  Result<const runtime::TensorLayout> get_tensor_layout(std::string_view) const override {
    return Error::NotSupported;
  }
  Error load_data_into(std::string_view, void*, size_t) const override {
    return Error::NotSupported;
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(data.size()); }
  Result<const char*> get_key(uint32_t) const override { return Error::NotSupported; }
};

/// A loaded delegate.
class Loaded {
 public:
  Loaded(const CoreMLBackendDelegate& backend, runtime::BackendInitContext context,
         const std::string& payload, runtime::ArrayRef<runtime::CompileSpec> specs)
      : backend_(backend), bytes_(payload.data(), payload.size(), nullptr) {
    const auto handle = backend.init(context, &bytes_, specs);
    error_ = handle.error();
    handle_ = handle.ok() ? *handle : nullptr;
  }
  ~Loaded() {
    if (handle_ != nullptr) {
      backend_.destroy(handle_);
    }
  }
  Loaded(const Loaded&) = delete;

  Error error() const { return error_; }
  bool has_bytes() const { return bytes_.data() != nullptr; }

  Error run(const std::vector<TensorPtr>& tensors, runtime::EventTracer* tracer = nullptr) const {
    std::vector<runtime::EValue> values;
    for (const TensorPtr& tensor : tensors) {
      values.emplace_back(*tensor);
    }
    std::vector<runtime::EValue*> args;
    for (runtime::EValue& value : values) {
      args.push_back(&value);
    }
    runtime::BackendExecutionContext context(tracer);
    return backend_.execute(context, handle_, {args.data(), args.size()});
  }

 private:
  const CoreMLBackendDelegate& backend_;
  runtime::FreeableBuffer bytes_;
  Error error_ = Error::Ok;
  runtime::DelegateHandle* handle_ = nullptr;
};

class CoreMLFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_TRUE(runtime::make_folders(folder_));
    stand_in_.preset.prewarms = false;
    describes({{"x", ScalarType::Float, {2, 3}}}, {{"y", ScalarType::Float, {2, 3}}});
    computes_sum();
  }
  void TearDown() override { runtime::remove_all(folder_); }

  void describes(std::vector<Feature> inputs, std::vector<Feature> outputs) {
    Description description{std::move(inputs), std::move(outputs), false};
    stand_in_.describe = [description](const StandIn::Loaded&) { return description; };
  }

  /// Each output is the sum of all inputs and 1, in float32 memory of its own or what it is given.
  void computes_sum(bool takes_memory = true) {
    stand_in_.predict = [takes_memory](
                            const StandIn::Loaded&, const std::vector<NamedElements>& inputs,
                            const std::vector<NamedElements>& outputs, const Model::Take& take) {
      for (size_t index = 0; index < outputs.size(); ++index) {
        const Elements& like = inputs.at(0).elements;
        const std::vector<int64_t> sizes(like.sizes, like.sizes + like.rank);
        std::vector<float> sum(like.numel(), 1);
        std::vector<float> each(like.numel());
        for (const NamedElements& input : inputs) {
          ET_CHECK_OK_OR_RETURN_ERROR(runtime::copy_elements(
              "sum", input.elements, Elements::row_major(each.data(), ScalarType::Float, sizes)));
          for (size_t i = 0; i < sum.size(); ++i) {
            sum[i] += each[i];
          }
        }
        const Elements result = Elements::row_major(sum.data(), ScalarType::Float, sizes);
        const Elements& given = outputs[index].elements;
        if (given.data != nullptr && takes_memory && given.dtype == ScalarType::Float) {
          ET_CHECK_OK_OR_RETURN_ERROR(runtime::copy_elements("sum", result, given));
          ET_CHECK_OK_OR_RETURN_ERROR(take(index, given));
        } else {
          ET_CHECK_OK_OR_RETURN_ERROR(take(index, result));
        }
      }
      return Error::Ok;
    };
  }

  static constexpr char kMetadata[] =
      R"({"inputNames": ["x"], "outputNames": ["y"], "identifier": "executorch_1"})";

  std::string payload(const std::string& metadata = kMetadata) {
    return blob({{"metadata.json", metadata},
                 {"model.mlpackage/Manifest.json", "{}"},
                 {"model.mlpackage/Data/com.apple.CoreML/model.mlmodel", "model"}});
  }

  std::string blob(const Files& files) {
    const std::string root = folder_ + "/lowered_module";
    for (const auto& [path, contents] : files) {
      const std::string place = root + "/" + path;
      EXPECT_TRUE(runtime::make_folders(place.substr(0, place.find_last_of('/'))));
      EXPECT_EQ(runtime::write_whole_file(place, contents), Error::Ok);
    }
    std::string bytes;
    std::string error;
    EXPECT_TRUE(make_directory_blob(root, &bytes, &error)) << error;
    runtime::remove_all(root);
    return bytes;
  }

  std::unique_ptr<Loaded> load(const std::string& bytes,
                               const std::map<std::string, std::string>& specs = {},
                               std::vector<runtime::BackendOption> options = {},
                               const char* method = "forward") {
    std::vector<runtime::CompileSpec> given;
    for (const auto& [key, value] : specs) {
      given.push_back({key.c_str(), {const_cast<char*>(value.data()), value.size()}});
    }
    const runtime::BackendInitContext context(nullptr, nullptr, method, &named_data_,
                                              {options.data(), options.size()});
    return std::make_unique<Loaded>(
        backend_, context, bytes,
        runtime::ArrayRef<runtime::CompileSpec>(given.data(), given.size()));
  }

  /// What is kept of compiled models.
  std::vector<std::string> kept() {
    std::vector<std::string> names;
    runtime::list_folder(cache_ + "/models", &names);
    return names;
  }

  std::string folder_ = ::testing::TempDir() + "coreml_test_" + runtime::unique_name();
  std::string cache_ = folder_ + "/caches/executorchcoreml";
  StandIn stand_in_{cache_};
  CoreMLBackendDelegate backend_{stand_in_};
  NamedData named_data_;
};

}  // namespace executorch::backends::coreml
