// SPDX-License-Identifier: BSD-3-Clause
// Error codes, and the macros that check a condition, say what is wrong and return.
//
// Values are part of the interface (users see them as 0x%x) and never change. Messages can be
// compiled out (log.h); what is returned does not depend on that.
#pragma once

#include <cstdint>

#include <executorch/runtime/platform/log.h>

namespace executorch {
namespace runtime {

using error_code_t = uint32_t;

enum class [[nodiscard]] Error : error_code_t {
  // System.
  Ok = 0x00,
  Internal = 0x01,
  InvalidState = 0x02,
  EndOfMethod = 0x03,
  AlreadyLoaded = 0x04,
  // What was asked for.
  NotSupported = 0x10,
  NotImplemented = 0x11,
  InvalidArgument = 0x12,
  InvalidType = 0x13,
  OperatorMissing = 0x14,
  RegistrationExceedingMaxKernels = 0x15,
  RegistrationAlreadyRegistered = 0x16,
  // Resources.
  NotFound = 0x20,
  MemoryAllocationFailed = 0x21,
  AccessFailed = 0x22,
  InvalidProgram = 0x23,
  InvalidExternalData = 0x24,
  OutOfResources = 0x25,
  // Delegates.
  DelegateInvalidCompatibility = 0x30,
  DelegateMemoryAllocationFailed = 0x31,
  DelegateInvalidHandle = 0x32,
};

/// "Error::<Name>", or "Error::Unknown". A string constant.
constexpr const char* to_string(const Error error) {
#define ET_ERROR_NAME(name) \
  case Error::name:         \
    return "Error::" #name
  switch (error) {
    ET_ERROR_NAME(Ok);
    ET_ERROR_NAME(Internal);
    ET_ERROR_NAME(InvalidState);
    ET_ERROR_NAME(EndOfMethod);
    ET_ERROR_NAME(AlreadyLoaded);
    ET_ERROR_NAME(NotSupported);
    ET_ERROR_NAME(NotImplemented);
    ET_ERROR_NAME(InvalidArgument);
    ET_ERROR_NAME(InvalidType);
    ET_ERROR_NAME(OperatorMissing);
    ET_ERROR_NAME(RegistrationExceedingMaxKernels);
    ET_ERROR_NAME(RegistrationAlreadyRegistered);
    ET_ERROR_NAME(NotFound);
    ET_ERROR_NAME(MemoryAllocationFailed);
    ET_ERROR_NAME(AccessFailed);
    ET_ERROR_NAME(InvalidProgram);
    ET_ERROR_NAME(InvalidExternalData);
    ET_ERROR_NAME(OutOfResources);
    ET_ERROR_NAME(DelegateInvalidCompatibility);
    ET_ERROR_NAME(DelegateMemoryAllocationFailed);
    ET_ERROR_NAME(DelegateInvalidHandle);
  }
#undef ET_ERROR_NAME
  return "Error::Unknown";
}

}  // namespace runtime
}  // namespace executorch

/// Returns Error::error__ with a message unless the condition holds.
// A block, because it is written without a semicolon, too.
#define ET_CHECK_OR_RETURN_ERROR(cond__, error__, message__, ...) \
  {                                                               \
    if (ET_UNLIKELY(!(cond__))) {                                 \
      ET_LOG(Error, message__, ##__VA_ARGS__);                    \
      return ::executorch::runtime::Error::error__;               \
    }                                                             \
  }

/// Returns false with a message unless the condition holds.
#define ET_CHECK_OR_RETURN_FALSE(cond__, message__, ...)                      \
  {                                                                           \
    if (ET_UNLIKELY(!(cond__))) {                                             \
      ET_LOG(Error, "Check failed (%s): " message__, #cond__, ##__VA_ARGS__); \
      return false;                                                           \
    }                                                                         \
  }

/// ET_CHECK_OK_OR_RETURN_ERROR(error) or (error, format, ...): returns `error`, with the message,
/// unless it is Ok.
#define ET_CHECK_OK_OR_RETURN_ERROR(...)                                                   \
  ET_INTERNAL_ONE_OR_MORE(__VA_ARGS__, ET_INTERNAL_CHECK_OK_MSG, ET_INTERNAL_CHECK_OK_MSG, \
                          ET_INTERNAL_CHECK_OK_MSG, ET_INTERNAL_CHECK_OK_MSG,              \
                          ET_INTERNAL_CHECK_OK_MSG, ET_INTERNAL_CHECK_OK_MSG,              \
                          ET_INTERNAL_CHECK_OK_MSG, ET_INTERNAL_CHECK_OK_MSG,              \
                          ET_INTERNAL_CHECK_OK_MSG, ET_INTERNAL_CHECK_OK, 0)               \
  (__VA_ARGS__)

// Picks its eleventh argument: lets a macro with 1 to 10 arguments tell one from more.
#define ET_INTERNAL_ONE_OR_MORE(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, name, ...) name

#define ET_INTERNAL_CHECK_OK(error__)                                  \
  do {                                                                 \
    const ::executorch::runtime::Error et_error__ = (error__);         \
    if (ET_UNLIKELY(et_error__ != ::executorch::runtime::Error::Ok)) { \
      return et_error__;                                               \
    }                                                                  \
  } while (0)

#define ET_INTERNAL_CHECK_OK_MSG(error__, message__, ...)              \
  do {                                                                 \
    const ::executorch::runtime::Error et_error__ = (error__);         \
    if (ET_UNLIKELY(et_error__ != ::executorch::runtime::Error::Ok)) { \
      ET_LOG(Error, message__, ##__VA_ARGS__);                         \
      return et_error__;                                               \
    }                                                                  \
  } while (0)

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::Error;
using ::executorch::runtime::error_code_t;
}  // namespace torch::executor
