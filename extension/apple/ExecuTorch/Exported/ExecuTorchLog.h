// SPDX-License-Identifier: BSD-3-Clause
// What the runtime says beside errors, to those who ask.
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, ExecuTorchLogLevel) {
  ExecuTorchLogLevelDebug = 'D',
  ExecuTorchLogLevelInfo = 'I',
  ExecuTorchLogLevelError = 'E',
  ExecuTorchLogLevelFatal = 'F',
  ExecuTorchLogLevelUnknown = '?',
};

@protocol ExecuTorchLogSink <NSObject>
/// timestamp: seconds since the first use of the log. Called by one thread at a time.
- (void)logWithLevel:(ExecuTorchLogLevel)level
           timestamp:(NSTimeInterval)timestamp
            filename:(NSString*)filename
                line:(NSUInteger)line
             message:(NSString*)message;
@end

/// Keeps its sinks weakly. A sink that is added first gets up to 100 messages from before.
__attribute__((objc_subclassing_restricted))
@interface ExecuTorchLog : NSObject {
 @private
  NSHashTable* _sinks;
  NSMutableArray* _records;
  NSRecursiveLock* _lock;  // a sink may use the runtime, which may log
}

@property(class, nonatomic, readonly) ExecuTorchLog* sharedLog;

- (void)addSink:(id<ExecuTorchLogSink>)sink;
- (void)removeSink:(id<ExecuTorchLogSink>)sink;
- (void)logWithLevel:(ExecuTorchLogLevel)level
           timestamp:(NSTimeInterval)timestamp
            filename:(NSString*)filename
                line:(NSUInteger)line
             message:(NSString*)message;
+ (instancetype)new NS_UNAVAILABLE;
- (instancetype)init NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END
