// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchLog.h"

#import "../Internal/ExecuTorchLibrary.h"

static void Forward(void* context, int32_t level, const char* file, size_t line,
                    const char* message) {
  static const ExecuTorchLogLevel levels[] = {ExecuTorchLogLevelDebug, ExecuTorchLogLevelInfo,
                                              ExecuTorchLogLevelError, ExecuTorchLogLevelFatal};
  ExecuTorchLog* log = ExecuTorchLog.sharedLog;
  [log logWithLevel:level >= 0 && level < 4 ? levels[level] : ExecuTorchLogLevelUnknown
          timestamp:NSProcessInfo.processInfo.systemUptime
           filename:[NSString stringWithUTF8String:file ?: ""] ?: @""
               line:line
            message:[NSString stringWithUTF8String:message ?: ""] ?: @""];
}

@implementation ExecuTorchLog

+ (ExecuTorchLog*)sharedLog {
  static ExecuTorchLog* log;
  @synchronized(self) {
    if (log == nil) {
      log = [[super alloc] initOnce];
      ExecuTorchCheck(ExecuTorchLibrary()->set_log(Forward, NULL), NULL);
    }
  }
  return log;
}

- (instancetype)initOnce {
  if ((self = [super init])) {
    _sinks = [NSHashTable weakObjectsHashTable];
    _records = [[NSMutableArray alloc] init];
    _lock = [[NSRecursiveLock alloc] init];
  }
  return self;
}

- (void)addSink:(id<ExecuTorchLogSink>)sink {
  [_lock lock];
  if (![_sinks containsObject:sink]) {
    [_sinks addObject:sink];
    for (void (^send)(id<ExecuTorchLogSink>) in [_records copy])
      send(sink);
  }
  [_lock unlock];
}

- (void)removeSink:(id<ExecuTorchLogSink>)sink {
  [_lock lock];
  [_sinks removeObject:sink];
  [_lock unlock];
}

- (void)logWithLevel:(ExecuTorchLogLevel)level
           timestamp:(NSTimeInterval)timestamp
            filename:(NSString*)filename
                line:(NSUInteger)line
             message:(NSString*)message {
  void (^send)(id<ExecuTorchLogSink>) = ^(id<ExecuTorchLogSink> sink) {
    [sink logWithLevel:level timestamp:timestamp filename:filename line:line message:message];
  };
  [_lock lock];
  [_records addObject:[send copy]];
  if (_records.count > 100)
    [_records removeObjectAtIndex:0];
  for (id<ExecuTorchLogSink> sink in _sinks.allObjects)
    send(sink);
  [_lock unlock];
}

@end
