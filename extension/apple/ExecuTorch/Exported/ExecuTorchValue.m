// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchValue.h"

#include <string.h>

@implementation ExecuTorchValue

@synthesize tag = _tag;

- (instancetype)init {
  return [self initWithTag:ExecuTorchValueTagNone object:nil];
}

- (instancetype)initWithTag:(ExecuTorchValueTag)tag object:(id)object {
  if ((self = [super init])) {
    _tag = tag;
    _object = object;
  }
  return self;
}

+ (instancetype)valueWithTensor:(ExecuTorchTensor*)value {
  return [[self alloc] initWithTag:ExecuTorchValueTagTensor object:value];
}
+ (instancetype)valueWithString:(ExecuTorchStringValue)value {
  return [[self alloc] initWithTag:ExecuTorchValueTagString object:[value copy]];
}
+ (instancetype)valueWithBoolean:(ExecuTorchBooleanValue)value {
  return [[self alloc] initWithTag:ExecuTorchValueTagBoolean
                            object:[NSNumber numberWithBool:value]];
}
+ (instancetype)valueWithInteger:(ExecuTorchIntegerValue)value {
  return [[self alloc] initWithTag:ExecuTorchValueTagInteger object:@(value)];
}
+ (instancetype)valueWithDouble:(ExecuTorchDoubleValue)value {
  return [[self alloc] initWithTag:ExecuTorchValueTagDouble object:@(value)];
}
+ (instancetype)valueWithFloat:(ExecuTorchFloatValue)value {
  return [self valueWithDouble:value];
}
// Foundation has no type of its own for truth values: they are characters there, on some systems
// unsigned ones.
+ (instancetype)valueWithScalar:(ExecuTorchScalarValue)value {
  char type = value.objCType[0];
  if (strchr("cCB", type) != NULL)
    return [self valueWithBoolean:value.boolValue];
  if (strchr("fd", type) != NULL)
    return [self valueWithDouble:value.doubleValue];
  return [self valueWithInteger:value.integerValue];
}

- (BOOL)isNone {
  return _tag == ExecuTorchValueTagNone;
}
- (BOOL)isTensor {
  return _tag == ExecuTorchValueTagTensor;
}
- (BOOL)isString {
  return _tag == ExecuTorchValueTagString;
}
- (BOOL)isScalar {
  return self.isBoolean || self.isInteger || self.isDouble;
}
- (BOOL)isBoolean {
  return _tag == ExecuTorchValueTagBoolean;
}
- (BOOL)isInteger {
  return _tag == ExecuTorchValueTagInteger;
}
- (BOOL)isDouble {
  return _tag == ExecuTorchValueTagDouble;
}
- (BOOL)isFloat {
  return self.isDouble;
}

- (ExecuTorchTensor*)tensorValue {
  return self.isTensor ? _object : nil;
}
- (ExecuTorchStringValue)stringValue {
  return self.isString ? _object : nil;
}
- (ExecuTorchScalarValue)scalarValue {
  return self.isScalar ? _object : nil;
}
- (ExecuTorchBooleanValue)boolValue {
  return self.isBoolean ? [_object boolValue] : NO;
}
- (ExecuTorchIntegerValue)intValue {
  return self.isInteger ? [_object integerValue] : 0;
}
- (ExecuTorchDoubleValue)doubleValue {
  return self.isDouble ? [_object doubleValue] : 0;
}
- (ExecuTorchFloatValue)floatValue {
  return (float)self.doubleValue;
}

- (instancetype)copyWithZone:(NSZone*)zone {
  return [[ExecuTorchValue alloc] initWithTag:_tag object:[_object copy]];
}

- (BOOL)isEqualToValue:(ExecuTorchValue*)other {
  return other != nil && _tag == other->_tag &&
         (_object == other->_object || [_object isEqual:other->_object]);
}

- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[ExecuTorchValue class]] && [self isEqualToValue:other];
}

- (NSUInteger)hash {
  return [_object hash] ^ _tag;
}

- (NSString*)description {
  NSArray<NSString*>* tags = @[ @"none", @"tensor", @"string", @"double", @"integer", @"boolean" ];
  NSString* text = _object == nil ? @"nil" : [_object description];
  return [NSString
      stringWithFormat:@"Value {\n  tag: %@,\n  value: %@\n}", [tags objectAtIndex:_tag],
                       [text stringByReplacingOccurrencesOfString:@"\n" withString:@"\n  "]];
}

@end
