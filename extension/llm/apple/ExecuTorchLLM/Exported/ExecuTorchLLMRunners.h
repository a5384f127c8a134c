// SPDX-License-Identifier: BSD-3-Clause
// Language models: a prompt goes in, pieces of text come out.
#import "ExecuTorchLLMConfig.h"
#import "ExecuTorchLLMMultimodalInput.h"

NS_ASSUME_NONNULL_BEGIN

/// Of errors of runners; code and text are the runtime's.
FOUNDATION_EXPORT NSString* const ExecuTorchLLMErrorDomain;

/// Nothing is loaded before it is needed. Answers go behind what was said before, until reset.
__attribute__((objc_subclassing_restricted, deprecated("This API is experimental.")))
@interface ExecuTorchLLMTextRunner : NSObject {
 @private
  NSString *_modelPath, *_tokenizerPath;
  uint64_t _session;
  NSRecursiveLock* _calls;
}

- (instancetype)initWithModelPath:(NSString*)modelPath tokenizerPath:(NSString*)tokenizerPath;
/// Special tokens are those of the tokenizer's file, as all of today's files have them.
- (instancetype)initWithModelPath:(NSString*)modelPath
                    tokenizerPath:(NSString*)tokenizerPath
                    specialTokens:(NSArray<NSString*>*)specialTokens NS_DESIGNATED_INITIALIZER;
- (BOOL)isLoaded;
- (BOOL)loadWithError:(NSError* _Nullable* _Nullable)error;
/// Calls back on this thread with each piece of whole characters.
- (BOOL)generateWithPrompt:(NSString*)prompt
                    config:(ExecuTorchLLMConfig*)config
             tokenCallback:(nullable void (^)(NSString* token))callback
                     error:(NSError* _Nullable* _Nullable)error;
/// Ends an answer, from any thread. No effect before loading.
- (void)stop;
/// Ends an answer, if one is being made, and forgets the context.
- (void)reset;
+ (instancetype)new NS_UNAVAILABLE;
- (instancetype)init NS_UNAVAILABLE;

@end

/// Takes text; images and sound are refused with a sentence as long as the C interface has none.
__attribute__((objc_subclassing_restricted, deprecated("This API is experimental.")))
@interface ExecuTorchLLMMultimodalRunner : NSObject {
 @private
  id _runner;
}

- (instancetype)initWithModelPath:(NSString*)modelPath
                    tokenizerPath:(NSString*)tokenizerPath NS_DESIGNATED_INITIALIZER;
- (BOOL)isLoaded;
- (BOOL)loadWithError:(NSError* _Nullable* _Nullable)error;
- (BOOL)generateWithInputs:(NSArray<ExecuTorchLLMMultimodalInput*>*)inputs
                    config:(ExecuTorchLLMConfig*)config
             tokenCallback:(nullable void (^)(NSString* token))callback
                     error:(NSError* _Nullable* _Nullable)error;
- (void)stop;
- (void)reset;
+ (instancetype)new NS_UNAVAILABLE;
- (instancetype)init NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END
