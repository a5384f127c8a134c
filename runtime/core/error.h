// SPDX-License-Identifier: BSD-3-Clause
// Error codes of the runtime, and the checks that return them.
#pragma once

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/log.h>

#include <cstdint>

namespace executorch {
namespace runtime {

using error_code_t = uint32_t;

/// The values are part of the interface: they stand in logs and cross language borders.
enum class ET_NODISCARD Error : error_code_t {
  // System
  Ok = 0x00, // success
  Internal = 0x01, // a defect of ours
  InvalidState = 0x02, // the object is not in a state in which this can be called
  EndOfMethod = 0x03, // nothing is left to step over
  AlreadyLoaded = 0x04, // a resource is there already

  // Logical
  NotSupported = 0x10, // not available in this build or for this value
  NotImplemented = 0x11, // no implementation exists
  InvalidArgument = 0x12, // an argument of the caller
  InvalidType = 0x13, // a value of another type than expected
  OperatorMissing = 0x14, // no kernel is registered for an operator
  RegistrationExceedingMaxKernels = 0x15, // the kernel table is full
  RegistrationAlreadyRegistered = 0x16, // another kernel has this name and key

  // Resource
  NotFound = 0x20,
  MemoryAllocationFailed = 0x21,
  AccessFailed = 0x22, // a file or device could not be read
  InvalidProgram = 0x23, // the program file is damaged or malformed
  InvalidExternalData = 0x24, // the data file is damaged or does not fit the program
  OutOfResources = 0x25,

  // Delegate
  DelegateInvalidCompatibility = 0x30,
  DelegateMemoryAllocationFailed = 0x31,
  DelegateInvalidHandle = 0x32,
};

/// "Error::<Name>"; never null.
const char* to_string(const Error error);

} // namespace runtime
} // namespace executorch

#include <executorch/runtime/core/historic_namespaces.h>

/// Logs the message and returns `error` from the calling function unless `cond`.
#define ET_CHECK_OR_RETURN_ERROR(cond__, error__, message__, ...) \
  do {                                                            \
    if (ET_UNLIKELY(!(cond__))) {                                 \
      ET_LOG(Error, message__, ##__VA_ARGS__);                    \
      return ::executorch::runtime::Error::error__;               \
    }                                                             \
  } while (0)

/// Logs the message and returns false from the calling function unless `cond`.
#define ET_CHECK_OR_RETURN_FALSE(cond__, message__, ...)                      \
  do {                                                                        \
    if (ET_UNLIKELY(!(cond__))) {                                             \
      ET_LOG(Error, "Check failed (%s): " message__, #cond__, ##__VA_ARGS__); \
      return false;                                                           \
    }                                                                         \
  } while (0)

/// Returns the error from the calling function unless it is Ok: (error) or (error, format, ...).
#define ET_CHECK_OK_OR_RETURN_ERROR(...)                                       \
  ET_INTERNAL_SELECT_3(                                                        \
      __VA_ARGS__,                                                             \
      ET_INTERNAL_CHECK_OK_MESSAGE,                                            \
      ET_INTERNAL_CHECK_OK_MESSAGE,                                            \
      ET_INTERNAL_CHECK_OK_MESSAGE,                                            \
      ET_INTERNAL_CHECK_OK_MESSAGE,                                            \
      ET_INTERNAL_CHECK_OK_MESSAGE,                                            \
      ET_INTERNAL_CHECK_OK_MESSAGE,                                            \
      ET_INTERNAL_CHECK_OK_MESSAGE,                                            \
      ET_INTERNAL_CHECK_OK_MESSAGE,                                            \
      ET_INTERNAL_CHECK_OK_MESSAGE,                                            \
      ET_INTERNAL_CHECK_OK_SILENT)                                             \
  (__VA_ARGS__)

#define ET_INTERNAL_SELECT_3(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, name, ...) name

#define ET_INTERNAL_CHECK_OK_SILENT(error__)                          \
  do {                                                                \
    const ::executorch::runtime::Error et_error__ = (error__);        \
    if (ET_UNLIKELY(et_error__ != ::executorch::runtime::Error::Ok)) { \
      return et_error__;                                              \
    }                                                                 \
  } while (0)

#define ET_INTERNAL_CHECK_OK_MESSAGE(error__, message__, ...)         \
  do {                                                                \
    const ::executorch::runtime::Error et_error__ = (error__);        \
    if (ET_UNLIKELY(et_error__ != ::executorch::runtime::Error::Ok)) { \
      ET_LOG(Error, message__, ##__VA_ARGS__);                        \
      return et_error__;                                              \
    }                                                                 \
  } while (0)
