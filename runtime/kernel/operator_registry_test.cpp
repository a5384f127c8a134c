// SPDX-License-Identifier: BSD-3-Clause
// The kernel registry: keys, look-up order, duplicates, exhaustion. Also KernelRuntimeContext and
// operator names.
#include <executorch/runtime/core/testing_util/error_matchers.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;
using executorch::aten::ScalarType;

namespace {

void first_kernel(KernelRuntimeContext&, Span<EValue*>) {}
void second_kernel(KernelRuntimeContext& context, Span<EValue*>) {
  context.fail(Error::NotSupported);
}

struct Meta {
  std::vector<uint8_t> order;
  TensorMeta meta;
  Meta(ScalarType dtype, std::vector<uint8_t> dim_order)
      : order(std::move(dim_order)), meta(dtype, Span<uint8_t>(order.data(), order.size())) {}
};

std::string key_of(const std::vector<TensorMeta>& metas, Error* error = nullptr,
                   size_t size = 659) {
  std::string text(KernelKey::MAX_SIZE, '#');
  const Error result = internal::make_kernel_key_string(
      Span<const TensorMeta>(metas.data(), metas.size()), text.data(), size);
  if (error != nullptr) {
    *error = result;
  }
  return text.c_str();
}

TEST(KernelKeyTest, Grammar) {
  const Meta a(ScalarType::Double, {0, 1, 2, 3});
  const Meta b(ScalarType::Char, {0, 1, 2, 3, 4, 5, 6, 7});
  const Meta wide(ScalarType::UInt64, {15, 10, 0});
  EXPECT_EQ(key_of({a.meta, b.meta}), "v1/7;0,1,2,3|1;0,1,2,3,4,5,6,7");
  EXPECT_EQ(key_of({wide.meta}), "v1/29;15,10,0");
  EXPECT_EQ(key_of({}), "");
  EXPECT_EQ(internal::make_kernel_key_string({}, nullptr, 0), Error::Ok);
  EXPECT_EQ(internal::make_kernel_key_string({&wide.meta, 1}, nullptr, 0), Error::InvalidArgument);
}

// Hardening: metas of a file never write past the buffer.
TEST(KernelKeyTest, LongestKeyFitsAndLongerOnesAreRefused) {
  std::vector<uint8_t> order(16);
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<uint8_t>(i);
  }
  const TensorMeta meta(ScalarType::UInt64, Span<uint8_t>(order.data(), order.size()));
  Error error;
  const std::string longest = key_of(std::vector<TensorMeta>(16, meta), &error);
  EXPECT_EQ(error, Error::Ok);
  EXPECT_EQ(longest.size(), KernelKey::MAX_SIZE - 1);
  for (size_t size = 1; size < KernelKey::MAX_SIZE; ++size) {
    const std::string cut = key_of(std::vector<TensorMeta>(16, meta), &error, size);
    EXPECT_EQ(error, Error::InvalidArgument);
    EXPECT_EQ(cut.size(), size - 1);
  }
  key_of(std::vector<TensorMeta>(17, meta), &error);
  EXPECT_EQ(error, Error::InvalidArgument);
  const Meta bad_dtype(static_cast<ScalarType>(100), {0});
  key_of({bad_dtype.meta}, &error);
  EXPECT_EQ(error, Error::InvalidArgument);
  const Meta bad_dim(ScalarType::Float, {100});
  key_of({bad_dim.meta}, &error);
  EXPECT_EQ(error, Error::InvalidArgument);
}

TEST(OperatorRegistryTest, ExactKeyThenFallback) {
  RecordProperty("req", "RT-027");
  const Kernel kernels[] = {Kernel("test::add.out", "v1/6;0,1", second_kernel),
                            Kernel("test::add.out", first_kernel),
                            Kernel("test::only.out", "v1/6;0,1", second_kernel)};
  ASSERT_EQ(register_kernels({kernels, 3}), Error::Ok);
  const Meta float2(ScalarType::Float, {0, 1});
  const Meta long2(ScalarType::Long, {0, 1});
  const auto find = [](const char* name, const TensorMeta& meta) {
    return get_op_function_from_registry(name, Span<const TensorMeta>(&meta, 1));
  };
  EXPECT_EQ(find("test::add.out", float2.meta).get(), &second_kernel);
  EXPECT_EQ(find("test::add.out", long2.meta).get(), &first_kernel);
  EXPECT_EQ(get_op_function_from_registry("test::add.out").get(), &first_kernel);
  EXPECT_EQ(find("test::only.out", long2.meta).error(), Error::OperatorMissing);
  EXPECT_EQ(find("test::absent.out", long2.meta).error(), Error::OperatorMissing);
  EXPECT_TRUE(registry_has_op_function("test::add.out"));
  EXPECT_FALSE(registry_has_op_function("test::ad"));
  EXPECT_FALSE(registry_has_op_function("test::only.out"));
  EXPECT_TRUE(torch::executor::hasOpsFn("test::add.out"));
  EXPECT_EQ(torch::executor::getOpsFn("test::add.out"), &first_kernel);
}

TEST(OperatorRegistryTest, AListOfTheCallerIsSearchedAlone) {
  ASSERT_EQ(register_kernel(Kernel("test::scoped.out", first_kernel)), Error::Ok);
  const Meta float2(ScalarType::Float, {0, 1});
  const Span<const TensorMeta> metas(&float2.meta, 1);
  const Kernel list[] = {Kernel("test::other.out", first_kernel),
                         Kernel("test::scoped.out", "v1/6;0,1", second_kernel)};
  EXPECT_EQ(get_op_function_from_registry("test::scoped.out", metas, {list, 2}).get(),
            &second_kernel);
  EXPECT_EQ(get_op_function_from_registry("test::scoped.out", {}, {list, 2}).error(),
            Error::OperatorMissing);
  const Kernel fallbacks[] = {Kernel("test::new.out", first_kernel),
                              Kernel("test::new.out", second_kernel), Kernel()};
  EXPECT_EQ(get_op_function_from_registry("test::new.out", metas, {fallbacks, 3}).get(),
            &second_kernel);
  EXPECT_FALSE(registry_has_op_function("test::new.out"));
}

TEST(OperatorRegistryTest, DuplicatesAreHarmlessOrErrors) {
  RecordProperty("req", "RT-027");
  const Kernel kernel("test::twice.out", first_kernel);
  ASSERT_EQ(register_kernel(kernel), Error::Ok);
  const size_t count = get_registered_kernels().size();
  EXPECT_EQ(register_kernel(kernel), Error::Ok);
  EXPECT_EQ(get_registered_kernels().size(), count);
  // All or none: the good one before the bad one is taken back.
  const Kernel conflicting[] = {Kernel("test::before.out", first_kernel),
                                Kernel("test::twice.out", second_kernel)};
  EXPECT_EQ(register_kernels({conflicting, 2}), Error::RegistrationAlreadyRegistered);
  EXPECT_EQ(get_registered_kernels().size(), count);
  EXPECT_FALSE(registry_has_op_function("test::before.out"));
  EXPECT_EQ(get_op_function_from_registry("test::twice.out").get(), &first_kernel);
  // At start, where nobody reads an Error, the same ends the program.
  EXPECT_DEATH(internal::register_kernels_or_abort({conflicting, 2}), "");
  EXPECT_TRUE(internal::register_kernels_or_abort({&kernel, 1}));
  EXPECT_EQ(register_kernel(Kernel(nullptr, first_kernel)), Error::InvalidArgument);
  EXPECT_EQ(register_kernel(Kernel("test::null.out", nullptr)), Error::InvalidArgument);
}

TEST(OperatorRegistryTest, FullTableRefusesAndStaysAsItWas) {
  // Names must outlive the registry.
  static std::vector<std::string> names;
  names.reserve(4000);
  const size_t before = get_registered_kernels().size();
  std::vector<Kernel> kernels;
  for (int i = 0; i < 4000; ++i) {
    names.push_back("fill::op" + std::to_string(i));
    kernels.push_back(Kernel(names.back().c_str(), i % 2 == 0 ? first_kernel : second_kernel));
  }
  EXPECT_EQ(register_kernels({kernels.data(), kernels.size()}),
            Error::RegistrationExceedingMaxKernels);
  EXPECT_EQ(get_registered_kernels().size(), before);
  EXPECT_FALSE(registry_has_op_function("fill::op0"));
  const size_t places = 2000 - before;
  ASSERT_EQ(register_kernels({kernels.data(), places}), Error::Ok);
  EXPECT_EQ(register_kernel(kernels[places]), Error::RegistrationExceedingMaxKernels);
  for (size_t i = 0; i < places; ++i) {
    ASSERT_EQ(get_op_function_from_registry(names[i].c_str()).get(), kernels[i].op_);
  }
}

TEST(OperatorRegistryTest, Prints) {
  std::ostringstream text;
  const Meta meta(ScalarType::Float, {0, 1});
  text << KernelKey() << KernelKey("v1/6;0,1") << meta.meta;
  EXPECT_EQ(text.str(), "KernelKey(fallback)KernelKey(v1/6;0,1)TensorMeta(Float, [0, 1])");
  EXPECT_TRUE(meta.meta == Meta(ScalarType::Float, {0, 1}).meta);
  EXPECT_TRUE(meta.meta != Meta(ScalarType::Float, {1, 0}).meta);
  EXPECT_TRUE(KernelKey("a") == KernelKey("a") && KernelKey("a") != KernelKey());
}

TEST(KernelRuntimeContextTest, FailureAndScratchMemory) {
  uint8_t pool[64];
  MemoryAllocator allocator(sizeof(pool), pool);
  KernelRuntimeContext context(nullptr, &allocator);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_TRUE(context.allocate_temp(32).ok());
  EXPECT_EQ(context.allocate_temp(64).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(context.allocate_temp(SIZE_MAX).error(), Error::MemoryAllocationFailed);
  context.fail(Error::NotSupported);
  EXPECT_EQ(context.failure_state(), Error::NotSupported);
  EXPECT_EQ(KernelRuntimeContext().allocate_temp(1).error(), Error::NotFound);
}

template <typename Name>
constexpr const char* text_of(const Name& name) {
  return name;
}

TEST(OperatorNameTest, IsAStringConstant) {
  ET_DEFINE_OPERATOR_NAME(op_name, "add.out");
  EXPECT_STREQ(text_of(op_name), "add.out");
  constexpr OperatorName name("mul.out");
  EXPECT_STREQ(name, "mul.out");
}

}  // namespace
