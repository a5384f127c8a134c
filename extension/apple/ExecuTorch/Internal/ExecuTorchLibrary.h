// SPDX-License-Identifier: BSD-3-Clause
// The table of C functions, and its statuses as NSError.
#import "../Exported/ExecuTorchError.h"
#import "ExecuTorchC.h"

NS_ASSUME_NONNULL_BEGIN

FOUNDATION_EXPORT const ExecuTorchApi* ExecuTorchLibrary(void);

/// YES for success; otherwise the error has the runtime's sentence. Releases the status.
FOUNDATION_EXPORT BOOL ExecuTorchCheck(ExecuTorchStatus status,
                                       NSError* _Nullable* _Nullable error);

/// For initializers that cannot fail: a wrong argument is the caller's error, an exception with the
/// sentence.
FOUNDATION_EXPORT void ExecuTorchRequire(ExecuTorchStatus status);
FOUNDATION_EXPORT void ExecuTorchRefuse(NSString* reason) __attribute__((noreturn));

NS_ASSUME_NONNULL_END
