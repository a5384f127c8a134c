// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchLog.h"

#import "../Internal/ExecuTorchLibrary.h"

// A message that was sent.
@interface ExecuTorchLogRecord : NSObject {
 @public
  ExecuTorchLogLevel _level;
  NSTimeInterval _timestamp;
  NSString* _filename;
  NSUInteger _line;
  NSString* _message;
}
- (void)sendTo:(id<ExecuTorchLogSink>)sink;
@end

@implementation ExecuTorchLogRecord
- (void)sendTo:(id<ExecuTorchLogSink>)sink {
  [sink logWithLevel:_level timestamp:_timestamp filename:_filename line:_line message:_message];
}
@end

static NSTimeInterval start;  // of the log, by the clock of systemUptime

static void Forward(void* context, int32_t level, const char* file, size_t line,
                    const char* message) {
  static const ExecuTorchLogLevel levels[] = {ExecuTorchLogLevelDebug, ExecuTorchLogLevelInfo,
                                              ExecuTorchLogLevelError, ExecuTorchLogLevelFatal};
  ExecuTorchLog* log = ExecuTorchLog.sharedLog;
  [log logWithLevel:level >= 0 && level < 4 ? levels[level] : ExecuTorchLogLevelUnknown
          timestamp:NSProcessInfo.processInfo.systemUptime - start
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
      start = NSProcessInfo.processInfo.systemUptime;
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
    for (ExecuTorchLogRecord* record in [_records copy])
      [record sendTo:sink];
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
  ExecuTorchLogRecord* record = [[ExecuTorchLogRecord alloc] init];
  record->_level = level;
  record->_timestamp = timestamp;
  record->_filename = [filename copy];
  record->_line = line;
  record->_message = [message copy];
  [_lock lock];
  [_records addObject:record];
  if (_records.count > 100)
    [_records removeObjectAtIndex:0];
  for (id<ExecuTorchLogSink> sink in _sinks.allObjects)
    [record sendTo:sink];
  [_lock unlock];
}

@end
