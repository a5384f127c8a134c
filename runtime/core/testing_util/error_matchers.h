// SPDX-License-Identifier: BSD-3-Clause
// GoogleTest matchers for Error and Result: EXPECT_THAT(f(), IsOk()), EXPECT_THAT(f(),
// ErrorIs(Error::NotFound)), EXPECT_THAT(g(), IsOkAndHolds(Eq(3))).
#pragma once

#include <ostream>
#include <type_traits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch {
namespace runtime {

/// How GoogleTest prints an Error.
inline void PrintTo(const Error& error, std::ostream* os) {
  *os << ::executorch::runtime::to_string(error);
}

namespace testing {
namespace internal {

inline Error error_of(Error error) {
  return error;
}
template <typename T>
Error error_of(const Result<T>& result) {
  return result.error();
}

/// Of an Error or a Result: whether its error matches.
template <typename InnerMatcher>
class ErrorIsMatcher {
 public:
  explicit ErrorIsMatcher(InnerMatcher inner)
      : inner_(::testing::SafeMatcherCast<const Error&>(inner)) {}

  using is_gtest_matcher = void;

  template <typename T>
  bool MatchAndExplain(const T& actual, ::testing::MatchResultListener* listener) const {
    const Error error = error_of(actual);
    *listener << "whose error is " << to_string(error);
    return inner_.Matches(error);
  }
  void DescribeTo(std::ostream* os) const {
    *os << "has an error that ";
    inner_.DescribeTo(os);
  }
  void DescribeNegationTo(std::ostream* os) const {
    *os << "has an error that ";
    inner_.DescribeNegationTo(os);
  }

 private:
  ::testing::Matcher<const Error&> inner_;
};

class IsOkMatcher : public ErrorIsMatcher<Error> {
 public:
  IsOkMatcher() : ErrorIsMatcher(Error::Ok) {}
};

/// Of a Result: whether it holds a value that matches.
template <typename InnerMatcher>
class IsOkAndHoldsMatcher {
 public:
  explicit IsOkAndHoldsMatcher(InnerMatcher inner) : inner_(std::move(inner)) {}

  using is_gtest_matcher = void;

  template <typename T>
  bool MatchAndExplain(const Result<T>& actual, ::testing::MatchResultListener* listener) const {
    if (!actual.ok()) {
      *listener << "whose error is " << to_string(actual.error());
      return false;
    }
    return ::testing::SafeMatcherCast<const T&>(inner_).MatchAndExplain(*actual, listener);
  }
  void DescribeTo(std::ostream* os) const { *os << "is OK and holds the expected value"; }
  void DescribeNegationTo(std::ostream* os) const { *os << "is not OK, or holds another value"; }

 private:
  InnerMatcher inner_;
};

}  // namespace internal

inline internal::IsOkMatcher IsOk() {
  return internal::IsOkMatcher();
}

template <typename ErrorMatcherT>
internal::ErrorIsMatcher<typename std::decay<ErrorMatcherT>::type> ErrorIs(
    ErrorMatcherT&& error_matcher) {
  return internal::ErrorIsMatcher<typename std::decay<ErrorMatcherT>::type>(
      std::forward<ErrorMatcherT>(error_matcher));
}

template <typename InnerMatcherT>
internal::IsOkAndHoldsMatcher<typename std::decay<InnerMatcherT>::type> IsOkAndHolds(
    InnerMatcherT&& inner_matcher) {
  return internal::IsOkAndHoldsMatcher<typename std::decay<InnerMatcherT>::type>(
      std::forward<InnerMatcherT>(inner_matcher));
}

}  // namespace testing
}  // namespace runtime
}  // namespace executorch

#define EXPECT_OK(expression) EXPECT_THAT((expression), ::executorch::runtime::testing::IsOk())
#define ASSERT_OK(expression) ASSERT_THAT((expression), ::executorch::runtime::testing::IsOk())

#if ET_HAVE_GNU_STATEMENT_EXPRESSIONS
/// The value of a Result; fails the test, which must return void, when there is none.
#define ASSERT_OK_AND_UNWRAP(result__)                                \
  ({                                                                  \
    auto&& et_result__ = (result__);                                  \
    ASSERT_THAT(et_result__, ::executorch::runtime::testing::IsOk()); \
    std::move(*et_result__);                                          \
  })
#endif
