// SPDX-License-Identifier: BSD-3-Clause
// Errors: codes of the runtime, each with a text, and behind it what the runtime said.
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

FOUNDATION_EXPORT NSString* const ExecuTorchErrorDomain;

typedef NS_ENUM(NSInteger, ExecuTorchErrorCode) {
  ExecuTorchErrorCodeOk = 0,
  ExecuTorchErrorCodeInternal = 1,
  ExecuTorchErrorCodeInvalidState = 2,
  ExecuTorchErrorCodeEndOfMethod = 3,
  ExecuTorchErrorCodeAlreadyLoaded = 4,
  ExecuTorchErrorCodeNotSupported = 16,
  ExecuTorchErrorCodeNotImplemented = 17,
  ExecuTorchErrorCodeInvalidArgument = 18,
  ExecuTorchErrorCodeInvalidType = 19,
  ExecuTorchErrorCodeOperatorMissing = 20,
  ExecuTorchErrorCodeRegistrationExceedingMaxKernels = 21,
  ExecuTorchErrorCodeRegistrationAlreadyRegistered = 22,
  ExecuTorchErrorCodeNotFound = 32,
  ExecuTorchErrorCodeMemoryAllocationFailed = 33,
  ExecuTorchErrorCodeAccessFailed = 34,
  ExecuTorchErrorCodeInvalidProgram = 35,
  ExecuTorchErrorCodeInvalidExternalData = 36,
  ExecuTorchErrorCodeOutOfResources = 37,
  ExecuTorchErrorCodeDelegateInvalidCompatibility = 48,
  ExecuTorchErrorCodeDelegateMemoryAllocationFailed = 49,
  ExecuTorchErrorCodeDelegateInvalidHandle = 50,
};

FOUNDATION_EXPORT NSString* ExecuTorchErrorDescription(ExecuTorchErrorCode code);
FOUNDATION_EXPORT NSError* ExecuTorchErrorWithCode(ExecuTorchErrorCode code);
/// localizedDescription is the code's text, then ": " and the description.
FOUNDATION_EXPORT NSError* ExecuTorchErrorWithCodeAndDescription(ExecuTorchErrorCode code,
                                                                 NSString* _Nullable description);

NS_ASSUME_NONNULL_END
