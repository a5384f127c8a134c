// SPDX-License-Identifier: BSD-3-Clause
// Language models for Objective-C. This API is experimental.
#import "ExecuTorchLLMConfig.h"
#import "ExecuTorchLLMMultimodalInput.h"
#import "ExecuTorchLLMRunners.h"
