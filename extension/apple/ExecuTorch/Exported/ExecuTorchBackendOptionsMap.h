// SPDX-License-Identifier: BSD-3-Clause
// Options of each backend by its name.
#import "ExecuTorchBackendOption.h"

NS_ASSUME_NONNULL_BEGIN

__attribute__((objc_subclassing_restricted))
@interface ExecuTorchBackendOptionsMap : NSObject {
 @private
  NSDictionary<NSString*, NSArray<ExecuTorchBackendOption*>*>* _options;
}

@property(nonatomic, readonly) NSDictionary<NSString*, NSArray<ExecuTorchBackendOption*>*>* options;

/// InvalidArgument with the reason: see the limits in runtime/backend/options.h.
- (nullable instancetype)initWithOptions:
                             (NSDictionary<NSString*, NSArray<ExecuTorchBackendOption*>*>*)options
                                   error:(NSError* _Nullable* _Nullable)error;
+ (nullable instancetype)mapWithOptions:
                             (NSDictionary<NSString*, NSArray<ExecuTorchBackendOption*>*>*)options
                                  error:(NSError* _Nullable* _Nullable)error;

@end

NS_ASSUME_NONNULL_END
