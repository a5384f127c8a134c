// SPDX-License-Identifier: BSD-3-Clause
// The backend registry, options and contexts.
#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/testing_util/error_matchers.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;

namespace {

class TestBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<DelegateHandle*> init(BackendInitContext&, FreeableBuffer*,
                               ArrayRef<CompileSpec>) const override {
    return static_cast<DelegateHandle*>(nullptr);
  }
  Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*>) const override {
    return Error::Ok;
  }
  Error set_option(BackendOptionContext&, const Span<BackendOption>& options) override {
    for (const BackendOption& option : options) {
      if (std::strcmp(option.key, "threads") == 0) {
        threads = std::get<int>(option.value);
      }
    }
    return Error::Ok;
  }
  Error get_option(BackendOptionContext&, Span<BackendOption>& options) override {
    for (BackendOption& option : options) {
      option.value = threads;
    }
    return Error::Ok;
  }

  int threads = 1;
};

// Backends live as long as the program.
TestBackend backend;
TestBackend others[20];

// Availability is the backend's own answer, asked through the interface of a constant backend.
TEST(BackendRegistryTest, AsksTheBackendWhetherItIsAvailable) {
  class Absent final : public BackendInterface {
   public:
    bool is_available() const override { return false; }
    Result<DelegateHandle*> init(BackendInitContext&, FreeableBuffer*,
                                 ArrayRef<CompileSpec>) const override {
      return Error::NotSupported;
    }
    Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*>) const override {
      return Error::NotSupported;
    }
  };
  const Absent absent;
  const BackendInterface& asked = absent;
  EXPECT_FALSE(asked.is_available());
  EXPECT_TRUE(static_cast<const BackendInterface&>(backend).is_available());
}

TEST(BackendRegistryTest, RegistersByName) {
  RecordProperty("req", "RT-030");
  const size_t before = get_num_registered_backends();
  EXPECT_EQ(get_backend_class("TestBackend"), nullptr);
  ASSERT_EQ(register_backend({"TestBackend", &backend}), Error::Ok);
  EXPECT_EQ(register_backend({"TestBackend", &backend}), Error::Ok);
  EXPECT_EQ(get_num_registered_backends(), before + 1);
  EXPECT_EQ(get_backend_class("TestBackend"), &backend);
  EXPECT_STREQ(get_backend_name(before).get(), "TestBackend");
  EXPECT_EQ(get_backend_name(before + 1).error(), Error::InvalidArgument);
  EXPECT_EQ(register_backend({"TestBackend", &others[0]}), Error::InvalidArgument);
  EXPECT_EQ(register_backend({nullptr, &backend}), Error::InvalidArgument);
  EXPECT_EQ(register_backend({"Null", nullptr}), Error::InvalidArgument);
}

TEST(BackendRegistryTest, OptionsReachTheBackend) {
  ASSERT_EQ(register_backend({"TestBackend", &backend}), Error::Ok);
  BackendOptions<2> options;
  ASSERT_EQ(options.set_option("threads", 8), Error::Ok);
  EXPECT_EQ(set_option("TestBackend", options.view()), Error::Ok);
  EXPECT_EQ(backend.threads, 8);
  backend.threads = 5;
  EXPECT_EQ(get_option("TestBackend", options.view()), Error::Ok);
  int threads = 0;
  EXPECT_EQ(options.get_option("threads", threads), Error::Ok);
  EXPECT_EQ(threads, 5);
  EXPECT_EQ(set_option("Missing", options.view()), Error::NotFound);
  EXPECT_EQ(get_option("Missing", options.view()), Error::NotFound);
}

TEST(BackendRegistryTest, HoldsSixteen) {
  static std::vector<std::string> names;
  names.reserve(20);
  size_t i = 0;
  while (get_num_registered_backends() < 16) {
    names.push_back("Backend" + std::to_string(i));
    ASSERT_EQ(register_backend({names.back().c_str(), &others[i++]}), Error::Ok);
  }
  EXPECT_EQ(register_backend({"OneMore", &others[19]}), Error::Internal);
  EXPECT_EQ(get_num_registered_backends(), 16u);
}

TEST(BackendOptionsTest, HoldsTypedValues) {
  BackendOptions<3> options;
  EXPECT_EQ(options.set_option("flag", true), Error::Ok);
  EXPECT_EQ(options.set_option("count", 3), Error::Ok);
  EXPECT_EQ(options.set_option("path", "/tmp"), Error::Ok);
  EXPECT_EQ(options.set_option("fourth", 1), Error::InvalidArgument);
  EXPECT_EQ(options.set_option("count", 4), Error::Ok);
  EXPECT_EQ(options.view().size(), 3u);
  int count = 0;
  bool flag = false;
  const char* path = nullptr;
  EXPECT_EQ(options.get_option("count", count), Error::Ok);
  EXPECT_EQ(options.get_option("flag", flag), Error::Ok);
  EXPECT_EQ(options.get_option("path", path), Error::Ok);
  EXPECT_EQ(count, 4);
  EXPECT_TRUE(flag);
  EXPECT_STREQ(path, "/tmp");
  EXPECT_EQ(options.get_option("flag", count), Error::InvalidArgument);
  EXPECT_EQ(options.get_option("path", count), Error::InvalidArgument);
  EXPECT_EQ(options.get_option("count", path), Error::InvalidArgument);
  EXPECT_EQ(options.get_option("none", count), Error::NotFound);
  const std::string too_long(kMaxOptionValueLength, 'x');
  EXPECT_EQ(options.set_option("path", too_long.c_str()), Error::InvalidArgument);
  const char* no_text = nullptr;
  EXPECT_DEATH((void)options.set_option("path", no_text), "");
  BackendOptions<3> copy = options;
  EXPECT_EQ(copy.set_option("count", 9), Error::Ok);
  EXPECT_EQ(options.get_option("count", count), Error::Ok);
  EXPECT_EQ(count, 4);
}

struct Builder {
  const char* backend_id() const { return "Built"; }
  Span<BackendOption> view() { return options.view(); }
  BackendOptions<1> options;
};

TEST(BackendOptionsMapTest, FindsOptionsByBackend) {
  LoadBackendOptionsMap map;
  BackendOptions<1> options;
  ASSERT_EQ(options.set_option("threads", 2), Error::Ok);
  EXPECT_EQ(map.set_options("First", options.view()), Error::Ok);
  EXPECT_EQ(map.set_options("First", options.view()), Error::Ok);
  EXPECT_EQ(map.size(), 1u);
  EXPECT_TRUE(map.has_options("First"));
  EXPECT_FALSE(map.has_options("Second"));
  EXPECT_EQ(map.get_options("First").size(), 1u);
  EXPECT_TRUE(map.get_options("Second").empty());
  EXPECT_TRUE(map.get_options(nullptr).empty());
  Builder builder;
  EXPECT_EQ(map.set_options(builder), Error::Ok);
  EXPECT_STREQ(map.entry_at(1).backend_id, "Built");
  EXPECT_EQ(map.entry_at(2).backend_id, nullptr);
  EXPECT_EQ(map.set_options("", options.view()), Error::InvalidArgument);
  EXPECT_EQ(map.set_options(nullptr, options.view()), Error::InvalidArgument);
  EXPECT_EQ(map.set_options(std::string(64, 'x').c_str(), options.view()), Error::InvalidArgument);
  EXPECT_EQ(map.set_options(std::string(63, 'x').c_str(), options.view()), Error::Ok);
  while (map.size() < 8) {
    ASSERT_EQ(map.set_options(std::to_string(map.size()).c_str(), options.view()), Error::Ok);
  }
  EXPECT_EQ(map.set_options("Ninth", options.view()), Error::InvalidArgument);
}

TEST(BackendContextTest, HandOutWhatTheyWereGiven) {
  uint8_t pool[64];
  MemoryAllocator allocator(sizeof(pool), pool);
  BackendOptions<2> options;
  ASSERT_EQ(options.set_option("threads", 4), Error::Ok);
  ASSERT_EQ(options.set_option("mode", "fast"), Error::Ok);
  const auto view = options.view();
  BackendInitContext init(&allocator, nullptr, "forward", nullptr, {view.data(), view.size()});
  EXPECT_EQ(init.get_runtime_allocator(), &allocator);
  EXPECT_STREQ(init.get_method_name(), "forward");
  EXPECT_EQ(init.get_runtime_spec<int>("threads").get(), 4);
  EXPECT_STREQ(init.get_runtime_spec<const char*>("mode").get(), "fast");
  EXPECT_EQ(init.get_runtime_spec<bool>("threads").error(), Error::InvalidArgument);
  EXPECT_EQ(init.get_runtime_spec<int>("none").error(), Error::NotFound);
  BackendExecutionContext execution(nullptr, &allocator, "forward");
  EXPECT_NE(execution.allocate(32), nullptr);
  EXPECT_EQ(execution.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(BackendExecutionContext().allocate(1), nullptr);
}

}  // namespace
