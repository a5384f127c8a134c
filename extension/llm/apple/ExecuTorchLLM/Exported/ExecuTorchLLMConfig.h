// SPDX-License-Identifier: BSD-3-Clause
// How an answer is made.
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

__attribute__((objc_subclassing_restricted))
@interface ExecuTorchLLMConfig : NSObject<NSCopying> {
 @private
  BOOL _echoEnabled, _warming;
  NSInteger _maximumNewTokens, _sequenceLength, _bosCount, _eosCount;
  double _temperature;
}

/// Whether the prompt is given to the callback, too. Default: YES.
@property(nonatomic, getter=isEchoEnabled) BOOL echoEnabled;
/// At most so many tokens are made; -1: as many as there is room for.
@property(nonatomic) NSInteger maximumNewTokens;
/// Whether this is a run whose text nobody sees.
@property(nonatomic, getter=isWarming) BOOL warming;
/// At most so many tokens of prompt and answer together; -1: the model's limit.
@property(nonatomic) NSInteger sequenceLength;
/// 0 takes the best token. Default: 0.8.
@property(nonatomic) double temperature;
@property(nonatomic) NSInteger bosCount;
@property(nonatomic) NSInteger eosCount;

- (instancetype)init;
- (instancetype)initWithBlock:(NS_NOESCAPE void (^)(ExecuTorchLLMConfig* config))block;

@end

NS_ASSUME_NONNULL_END
