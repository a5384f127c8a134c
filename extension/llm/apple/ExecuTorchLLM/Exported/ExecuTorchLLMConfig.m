// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchLLMConfig.h"

@implementation ExecuTorchLLMConfig

@synthesize echoEnabled = _echoEnabled;
@synthesize maximumNewTokens = _maximumNewTokens;
@synthesize warming = _warming;
@synthesize sequenceLength = _sequenceLength;
@synthesize temperature = _temperature;
@synthesize bosCount = _bosCount;
@synthesize eosCount = _eosCount;

- (instancetype)init {
  if ((self = [super init])) {
    _echoEnabled = YES;
    _maximumNewTokens = -1;
    _sequenceLength = -1;
    _temperature = 0.8;
  }
  return self;
}

- (instancetype)initWithBlock:(NS_NOESCAPE void (^)(ExecuTorchLLMConfig*))block {
  if ((self = [self init]))
    block(self);
  return self;
}

- (instancetype)copyWithZone:(NSZone*)zone {
  return [[ExecuTorchLLMConfig alloc] initWithBlock:^(ExecuTorchLLMConfig* config) {
    config.echoEnabled = self.isEchoEnabled;
    config.maximumNewTokens = self.maximumNewTokens;
    config.warming = self.isWarming;
    config.sequenceLength = self.sequenceLength;
    config.temperature = self.temperature;
    config.bosCount = self.bosCount;
    config.eosCount = self.eosCount;
  }];
}

@end
