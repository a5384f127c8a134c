// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/devtools/bundled_program/self_test.h>

#include <executorch/devtools/bundled_program/schema/bundled_program_schema_generated.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include <executorch/runtime/platform/log.h>

namespace executorch {
namespace BUNDLED_PROGRAM_NAMESPACE {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;

namespace {

namespace fb = bundled_program_flatbuffer;

constexpr size_t kAlignment = 16;  // of the data of a tensor

struct Tolerances {
  double rtol;
  double atol;
};

const auto* suites_of(const FreeableBuffer& cases) {
  return fb::GetBundledProgram(cases.data())->method_test_suites();
}

/// Every method has a name and cases, which the accessors rely on.
Error check(const FreeableBuffer& cases) {
  const auto* const bytes = static_cast<const uint8_t*>(cases.data());
  flatbuffers::Verifier verifier(bytes, cases.size());
  ET_CHECK_OR_RETURN_ERROR(reinterpret_cast<uintptr_t>(bytes) % kAlignment == 0 &&
                               fb::VerifyBundledProgramBuffer(verifier),
                           InvalidProgram,
                           "the self-test of the program is corrupted: add it again");
  const auto* const suites = suites_of(cases);
  ET_CHECK_OR_RETURN_ERROR(suites != nullptr, InvalidProgram,
                           "the self-test of the program has no cases");
  for (const fb::BundledMethodTestSuite* suite : *suites) {
    ET_CHECK_OR_RETURN_ERROR(suite->method_name() != nullptr && suite->test_cases() != nullptr,
                             InvalidProgram,
                             "the self-test of the program has a method without name or cases");
  }
  return Error::Ok;
}

Error read(const NamedDataMap& data, Tolerances* out) {
  FreeableBuffer bytes = ET_UNWRAP(data.get_data(kSelfTestTolerances));
  ET_CHECK_OR_RETURN_ERROR(bytes.size() == sizeof(*out), InvalidProgram,
                           "the tolerances of the self-test have %zu bytes, expected %zu",
                           bytes.size(), sizeof(*out));
  std::memcpy(out, bytes.data(), sizeof(*out));
  ET_CHECK_OR_RETURN_ERROR(out->rtol >= 0 && out->atol >= 0, InvalidProgram,
                           "the tolerances of the self-test are %g and %g, expected none below 0",
                           out->rtol, out->atol);
  return Error::Ok;
}

}  // namespace

Result<SelfTest> SelfTest::load(const runtime::Program& program) {
  const NamedDataMap* const data = ET_UNWRAP(program.get_named_data_map());
  FreeableBuffer cases = ET_UNWRAP(data->get_data(kSelfTestCases));
  ET_CHECK_OK_OR_RETURN_ERROR(check(cases));
  Tolerances tolerances{};
  ET_CHECK_OK_OR_RETURN_ERROR(read(*data, &tolerances));
  return SelfTest(std::move(cases), tolerances.rtol, tolerances.atol);
}

size_t SelfTest::num_methods() const {
  return suites_of(cases_)->size();
}

const char* SelfTest::method_name(size_t index) const {
  return suites_of(cases_)->Get(static_cast<uint32_t>(index))->method_name()->c_str();
}

size_t SelfTest::num_cases(size_t index) const {
  return suites_of(cases_)->Get(static_cast<uint32_t>(index))->test_cases()->size();
}

Error SelfTest::give_inputs(Method& method, size_t case_index) const {
  return load_bundled_input(method, cases_.data(), case_index);
}

Error SelfTest::run(Method& method, size_t case_index) const {
  ET_CHECK_OK_OR_RETURN_ERROR(give_inputs(method, case_index));
  ET_CHECK_OK_OR_RETURN_ERROR(method.execute());
  return verify_method_outputs(method, cases_.data(), case_index, rtol_, atol_);
}

ErrorStats SelfTest::error_stats(Method& method, size_t case_index) const {
  return compute_method_output_error_stats(method, cases_.data(), case_index);
}

}  // namespace BUNDLED_PROGRAM_NAMESPACE
}  // namespace executorch
