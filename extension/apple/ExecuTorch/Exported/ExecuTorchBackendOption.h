// SPDX-License-Identifier: BSD-3-Clause
// One option of a backend.
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, ExecuTorchBackendOptionType) {
  ExecuTorchBackendOptionTypeBoolean = 0,
  ExecuTorchBackendOptionTypeInteger = 1,
  ExecuTorchBackendOptionTypeString = 2,
};

__attribute__((objc_subclassing_restricted))
@interface ExecuTorchBackendOption : NSObject {
 @private
  NSString* _key;
  ExecuTorchBackendOptionType _type;
  id _value;
}

@property(nonatomic, readonly) NSString* key;
@property(nonatomic, readonly) ExecuTorchBackendOptionType type;
@property(nonatomic, readonly) BOOL boolValue;
@property(nonatomic, readonly) NSInteger intValue;
@property(nonatomic, readonly, nullable) NSString* stringValue;

+ (instancetype)optionWithKey:(NSString*)key booleanValue:(BOOL)value;
+ (instancetype)optionWithKey:(NSString*)key integerValue:(NSInteger)value;
+ (instancetype)optionWithKey:(NSString*)key stringValue:(NSString*)value;
/// key=value (type), as descriptions have it.
- (NSString*)text;

@end

NS_ASSUME_NONNULL_END
