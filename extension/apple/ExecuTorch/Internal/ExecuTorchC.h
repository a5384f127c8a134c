// SPDX-License-Identifier: BSD-3-Clause
// The C interface, in which the names of some classes are types: they are called otherwise here.
#define ExecuTorchLog ExecuTorchCLog
#define ExecuTorchLogLevel ExecuTorchCLogLevel
#define ExecuTorchModule ExecuTorchCModule
#define ExecuTorchTensor ExecuTorchCTensor
#define ExecuTorchValue ExecuTorchCValue
#import "../CExecuTorch/CExecuTorch.h"
#undef ExecuTorchLog
#undef ExecuTorchLogLevel
#undef ExecuTorchModule
#undef ExecuTorchTensor
#undef ExecuTorchValue
