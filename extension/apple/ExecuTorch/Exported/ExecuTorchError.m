// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchError.h"

NSString* const ExecuTorchErrorDomain = @"org.pytorch.executorch.error";

NSString* ExecuTorchErrorDescription(ExecuTorchErrorCode code) {
  switch (code) {
    case ExecuTorchErrorCodeOk:
      return @"";
    case ExecuTorchErrorCodeInternal:
      return @"Internal error";
    case ExecuTorchErrorCodeInvalidState:
      return @"Invalid executor state";
    case ExecuTorchErrorCodeEndOfMethod:
      return @"No more execution steps";
    case ExecuTorchErrorCodeAlreadyLoaded:
      return @"Already loaded";
    case ExecuTorchErrorCodeNotSupported:
      return @"Operation not supported";
    case ExecuTorchErrorCodeNotImplemented:
      return @"Operation not implemented";
    case ExecuTorchErrorCodeInvalidArgument:
      return @"Invalid argument";
    case ExecuTorchErrorCodeInvalidType:
      return @"Invalid type";
    case ExecuTorchErrorCodeOperatorMissing:
      return @"Operator missing";
    case ExecuTorchErrorCodeRegistrationExceedingMaxKernels:
      return @"Exceeded maximum number of kernels";
    case ExecuTorchErrorCodeRegistrationAlreadyRegistered:
      return @"Kernel is already registered";
    case ExecuTorchErrorCodeNotFound:
      return @"Resource not found";
    case ExecuTorchErrorCodeMemoryAllocationFailed:
      return @"Memory allocation failed";
    case ExecuTorchErrorCodeAccessFailed:
      return @"Access failed";
    case ExecuTorchErrorCodeInvalidProgram:
      return @"Invalid program contents";
    case ExecuTorchErrorCodeInvalidExternalData:
      return @"Invalid external data";
    case ExecuTorchErrorCodeOutOfResources:
      return @"Out of resources";
    case ExecuTorchErrorCodeDelegateInvalidCompatibility:
      return @"Delegate version incompatible";
    case ExecuTorchErrorCodeDelegateMemoryAllocationFailed:
      return @"Delegate memory allocation failed";
    case ExecuTorchErrorCodeDelegateInvalidHandle:
      return @"Delegate handle invalid";
  }
  return @"Unknown error";
}

NSError* ExecuTorchErrorWithCode(ExecuTorchErrorCode code) {
  return ExecuTorchErrorWithCodeAndDescription(code, nil);
}

NSError* ExecuTorchErrorWithCodeAndDescription(ExecuTorchErrorCode code, NSString* description) {
  NSString* text = ExecuTorchErrorDescription(code);
  if (description.length > 0)
    text = [NSString stringWithFormat:@"%@: %@", text, description];
  return [NSError errorWithDomain:ExecuTorchErrorDomain
                             code:code
                         userInfo:@{NSLocalizedDescriptionKey : text}];
}
