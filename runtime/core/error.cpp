// SPDX-License-Identifier: BSD-3-Clause
// Names of the error codes.
#include <executorch/runtime/core/error.h>

namespace executorch {
namespace runtime {

const char* to_string(const Error error) {
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
