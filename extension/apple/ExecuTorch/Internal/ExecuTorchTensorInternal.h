// SPDX-License-Identifier: BSD-3-Clause
// What other classes need of a tensor.
#import "../Exported/ExecuTorchTensor.h"
#import "ExecuTorchC.h"

NS_ASSUME_NONNULL_BEGIN

@interface ExecuTorchTensor ()
- (instancetype)initWithHandle:(uint64_t)handle dynamism:(ExecuTorchShapeDynamism)dynamism;
- (instancetype)initEmpty:(NSArray<NSNumber*>*)shape
                  strides:(NSArray<NSNumber*>*)strides
           dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                 dataType:(ExecuTorchDataType)dataType
                 dynamism:(ExecuTorchShapeDynamism)dynamism;
- (instancetype)filledWith:(NSNumber* (^_Nullable)(void))number;
- (ExecuTorchTensorInfo)info;
- (uint64_t)handle;
@end

NS_ASSUME_NONNULL_END
