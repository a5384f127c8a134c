// SPDX-License-Identifier: BSD-3-Clause
// All of ExecuTorch for Objective-C.
#import "ExecuTorchBackendOption.h"
#import "ExecuTorchBackendOptionsMap.h"
#import "ExecuTorchError.h"
#import "ExecuTorchLog.h"
#import "ExecuTorchModule.h"
#import "ExecuTorchTensor.h"
#import "ExecuTorchValue.h"
