// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/backend/dynamic_library.h>

#include <gtest/gtest.h>

#include <cstdlib>

using executorch::runtime::DynamicLibrary;
using executorch::runtime::Error;
using executorch::runtime::FunctionFinder;
using executorch::runtime::load_once;
using executorch::runtime::Result;

namespace {

#if defined(__APPLE__)
constexpr char kMath[] = "libSystem.dylib";
#elif defined(_WIN32)
constexpr char kMath[] = "msvcrt.dll";
#else
constexpr char kMath[] = "libm.so.6";
#endif

double half_of(double x) {
  return x / 2;
}

struct Table {
  int number = 0;
};
int num_loads = 0;

/// Fails the first time.
Result<Table> load_table() {
  ++num_loads;
  if (num_loads == 1) {
    return Error::NotFound;
  }
  return Table{num_loads};
}

}  // namespace

TEST(DynamicLibraryTest, TheFirstThatLoadsIsTaken) {
  const auto library = DynamicLibrary::open({"libthere_is_none.so", kMath}, "Math", "install it");
  ASSERT_TRUE(library.ok());
  EXPECT_EQ(library->name(), kMath);
  double (*cosine)(double) = nullptr;
  auto functions = library->functions();
  functions.find("cos", cosine);
  ASSERT_EQ(functions.check(Error::NotFound, "expected a C library"), Error::Ok);
  EXPECT_EQ(cosine(0.0), 1.0);
}

TEST(DynamicLibraryTest, OneThatIsMissingSaysHowToGetIt) {
  testing::internal::CaptureStderr();
  const auto library = DynamicLibrary::open({"libthere_is_none.so", "libnor_is_this.so"},
                                            "None's library", "install it");
  EXPECT_EQ(library.error(), Error::NotFound);
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("None's library was not loaded ("), std::string::npos) << message;
  EXPECT_NE(message.find("libthere_is_none.so"), std::string::npos) << message;
  EXPECT_NE(message.find("; libnor_is_this.so"), std::string::npos) << message;
  EXPECT_NE(message.find("): install it"), std::string::npos) << message;
}

TEST(DynamicLibraryTest, AVariableNamesTheFile) {
  constexpr char kVariable[] = "EXECUTORCH_TEST_LIBRARY";
  ASSERT_EQ(setenv(kVariable, kMath, 1), 0);
  EXPECT_TRUE(DynamicLibrary::open_named(kVariable, "there_is_none", "Math", "set it").ok());
  ASSERT_EQ(unsetenv(kVariable), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(DynamicLibrary::open_named(kVariable, "there_is_none", "Math", "set it").error(),
            Error::NotFound);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("there_is_none."), std::string::npos) << log;
}

TEST(DynamicLibraryTest, ATableIsLoadedUntilItIsThere) {
  EXPECT_EQ(load_once(load_table).error(), Error::NotFound);
  const Table* found = load_once(load_table).get();
  EXPECT_EQ(found->number, 2);
  EXPECT_EQ(load_once(load_table).get(), found);
  EXPECT_EQ(num_loads, 2);
}

TEST(FunctionFinderTest, AllMissingFunctionsAreNamed) {
  FunctionFinder functions("the driver", [](const char* name) {
    return std::string(name) == "half" ? reinterpret_cast<void*>(half_of) : nullptr;
  });
  double (*half)(double) = nullptr;
  void (*first)() = nullptr;
  void (*second)() = nullptr;
  void (*optional)() = nullptr;
  functions.find("first", first);
  functions.find("half", half);
  functions.find("second", second);
  EXPECT_FALSE(functions.find_optional("optional", optional));
  EXPECT_EQ(half(3.0), 1.5);
  testing::internal::CaptureStderr();
  EXPECT_EQ(functions.check(Error::NotSupported, "expected a driver of 2026"), Error::NotSupported);
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("the driver lacks first, second: expected a driver of 2026"),
            std::string::npos)
      << message;
}
