// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchLibrary.h"

const ExecuTorchApi* ExecuTorchLibrary(void) {
  const ExecuTorchApi* table = executorch_get_api(EXECUTORCH_API_VERSION);
  if (table == NULL)
    ExecuTorchRefuse(@"the ExecuTorch library is older than its headers");
  return table;
}

BOOL ExecuTorchCheck(ExecuTorchStatus status, NSError** error) {
  if (status == 0)
    return YES;
  const ExecuTorchApi* api = ExecuTorchLibrary();
  if (error != NULL) {
    NSString* reason = [NSString stringWithUTF8String:api->status_message(status)];
    *error = ExecuTorchErrorWithCodeAndDescription((ExecuTorchErrorCode)api->status_code(status),
                                                   reason);
  }
  api->release(status);
  return NO;
}

void ExecuTorchRequire(ExecuTorchStatus status) {
  NSError* error = nil;
  if (!ExecuTorchCheck(status, &error))
    ExecuTorchRefuse(error.localizedDescription);
}

void ExecuTorchRefuse(NSString* reason) {
  @throw [NSException exceptionWithName:NSInvalidArgumentException reason:reason userInfo:nil];
}
