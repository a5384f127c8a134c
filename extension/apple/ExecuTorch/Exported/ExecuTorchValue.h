// SPDX-License-Identifier: BSD-3-Clause
// What methods take and give: nothing, a tensor, a text, a number or a truth value.
#import "ExecuTorchTensor.h"

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(uint32_t, ExecuTorchValueTag) {
  ExecuTorchValueTagNone = 0,
  ExecuTorchValueTagTensor = 1,
  ExecuTorchValueTagString = 2,
  ExecuTorchValueTagDouble = 3,
  ExecuTorchValueTagInteger = 4,
  ExecuTorchValueTagBoolean = 5,
};

typedef NSNumber* ExecuTorchScalarValue;
typedef NSString* ExecuTorchStringValue;
typedef BOOL ExecuTorchBooleanValue;
typedef NSInteger ExecuTorchIntegerValue;
typedef double ExecuTorchDoubleValue;
typedef float ExecuTorchFloatValue;

/// Properties of another tag are nil, NO or 0.
__attribute__((objc_subclassing_restricted))
@interface ExecuTorchValue : NSObject<NSCopying> {
 @private
  ExecuTorchValueTag _tag;
  id _object;
}

@property(nonatomic, readonly) ExecuTorchValueTag tag;
@property(nonatomic, readonly, nullable) ExecuTorchTensor* tensorValue;
@property(nonatomic, readonly, nullable) ExecuTorchStringValue stringValue;
@property(nonatomic, readonly, nullable) ExecuTorchScalarValue scalarValue;
@property(nonatomic, readonly) ExecuTorchBooleanValue boolValue;
@property(nonatomic, readonly) ExecuTorchIntegerValue intValue;
@property(nonatomic, readonly) ExecuTorchDoubleValue doubleValue;
@property(nonatomic, readonly) ExecuTorchFloatValue floatValue;
@property(nonatomic, readonly) BOOL isNone;
@property(nonatomic, readonly) BOOL isTensor;
@property(nonatomic, readonly) BOOL isString;
@property(nonatomic, readonly) BOOL isScalar;
@property(nonatomic, readonly) BOOL isBoolean;
@property(nonatomic, readonly) BOOL isInteger;
@property(nonatomic, readonly) BOOL isDouble;
@property(nonatomic, readonly) BOOL isFloat;

+ (instancetype)valueWithTensor:(ExecuTorchTensor*)value;
+ (instancetype)valueWithString:(ExecuTorchStringValue)value;
+ (instancetype)valueWithBoolean:(ExecuTorchBooleanValue)value;
+ (instancetype)valueWithInteger:(ExecuTorchIntegerValue)value;
+ (instancetype)valueWithDouble:(ExecuTorchDoubleValue)value;
+ (instancetype)valueWithFloat:(ExecuTorchFloatValue)value;
+ (instancetype)valueWithScalar:(ExecuTorchScalarValue)value;
- (instancetype)init;
- (BOOL)isEqualToValue:(nullable ExecuTorchValue*)other;

@end

NS_ASSUME_NONNULL_END
