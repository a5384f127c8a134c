// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchBackendOption.h"

@implementation ExecuTorchBackendOption

@synthesize key = _key;
@synthesize type = _type;

- (instancetype)initWithKey:(NSString*)key type:(ExecuTorchBackendOptionType)type value:(id)value {
  if ((self = [super init])) {
    _key = [key copy];
    _type = type;
    _value = [value copy];
  }
  return self;
}

+ (instancetype)optionWithKey:(NSString*)key booleanValue:(BOOL)value {
  return [[self alloc] initWithKey:key
                              type:ExecuTorchBackendOptionTypeBoolean
                             value:@(value ? 1 : 0)];
}
+ (instancetype)optionWithKey:(NSString*)key integerValue:(NSInteger)value {
  return [[self alloc] initWithKey:key type:ExecuTorchBackendOptionTypeInteger value:@(value)];
}
+ (instancetype)optionWithKey:(NSString*)key stringValue:(NSString*)value {
  return [[self alloc] initWithKey:key type:ExecuTorchBackendOptionTypeString value:value];
}

- (BOOL)boolValue {
  return _type == ExecuTorchBackendOptionTypeBoolean && [_value integerValue] != 0;
}
- (NSInteger)intValue {
  return _type == ExecuTorchBackendOptionTypeInteger ? [_value integerValue] : 0;
}
- (NSString*)stringValue {
  return _type == ExecuTorchBackendOptionTypeString ? _value : nil;
}

- (BOOL)isEqual:(id)other {
  if (![other isKindOfClass:[ExecuTorchBackendOption class]])
    return NO;
  ExecuTorchBackendOption* option = other;
  return [_key isEqual:option->_key] && _type == option->_type && [_value isEqual:option->_value];
}

- (NSUInteger)hash {
  return _key.hash ^ [_value hash];
}

- (NSString*)text {
  switch (_type) {
    case ExecuTorchBackendOptionTypeBoolean:
      return [NSString stringWithFormat:@"%@=%@ (bool)", _key, self.boolValue ? @"true" : @"false"];
    case ExecuTorchBackendOptionTypeInteger:
      return [NSString stringWithFormat:@"%@=%ld (int)", _key, (long)self.intValue];
    case ExecuTorchBackendOptionTypeString:
      return [NSString stringWithFormat:@"%@=\"%@\" (string)", _key, _value];
  }
}

- (NSString*)description {
  return [NSString stringWithFormat:@"<ExecuTorchBackendOption %@>", [self text]];
}

@end
