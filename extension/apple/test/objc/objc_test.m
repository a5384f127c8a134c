// SPDX-License-Identifier: BSD-3-Clause
// The Objective-C layer, run with GNUstep's Foundation: argument 1 is add.pte. Prints the number of
// checks.
#import "ExecuTorch.h"

#include <stdio.h>
#include <unistd.h>

static int checks = 0, failures = 0;

// Variadic, as literals of arrays have commas.
#define CHECK(...)                                                      \
  do {                                                                  \
    ++checks;                                                           \
    if (!(__VA_ARGS__)) {                                               \
      ++failures;                                                       \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
    }                                                                   \
  } while (0)
#define CHECK_TEXT(found_text, expected) checkText(__LINE__, found_text, expected)

static void checkText(int line, NSString* found, NSString* expected) {
  ++checks;
  if ([found isEqualToString:expected])
    return;
  ++failures;
  fprintf(stderr, "line %d: expected %s, found %s\n", line, expected.UTF8String, found.UTF8String);
}

static BOOL throws(void (^block)(void)) {
  @try {
    block();
  } @catch (NSException* exception) {
    return [exception.name isEqualToString:NSInvalidArgumentException];
  }
  return NO;
}

static NSArray<NSNumber*>* scalars(ExecuTorchTensor* tensor) {
  NSMutableArray<NSNumber*>* numbers = [NSMutableArray array];
  ExecuTorchTensor* copy = [tensor copyToDataType:ExecuTorchDataTypeDouble];
  [copy bytesWithHandler:^(const void* pointer, NSInteger count, ExecuTorchDataType type) {
    for (NSInteger i = 0; i < count; ++i)
      [numbers addObject:@(((const double*)pointer)[i])];
  }];
  return numbers;
}

static void testErrors(void) {
  CHECK_TEXT(ExecuTorchErrorWithCode(ExecuTorchErrorCodeNotFound).localizedDescription,
             @"Resource not found");
  NSError* error =
      ExecuTorchErrorWithCodeAndDescription(ExecuTorchErrorCodeOperatorMissing, @"aten::add");
  CHECK_TEXT(error.localizedDescription, @"Operator missing: aten::add");
  CHECK_TEXT(error.domain, @"org.pytorch.executorch.error");
  CHECK(error.code == 20);
  CHECK_TEXT(ExecuTorchErrorDescription((ExecuTorchErrorCode)99), @"Unknown error");
}

static void testTensors(void) {
  float values[] = {1, 2, 3, 4};
  NSArray* square = @[ @2, @2 ];
  ExecuTorchTensor* shared = [[ExecuTorchTensor alloc] initWithBytesNoCopy:values
                                                                     shape:square
                                                                  dataType:ExecuTorchDataTypeFloat];
  ExecuTorchTensor* copied = [[ExecuTorchTensor alloc] initWithBytes:values
                                                               shape:square
                                                            dataType:ExecuTorchDataTypeFloat];
  NSData* data = [NSData dataWithBytes:values length:sizeof(values)];
  ExecuTorchTensor* kept = [[ExecuTorchTensor alloc] initWithData:data
                                                            shape:square
                                                         dataType:ExecuTorchDataTypeFloat];
  CHECK([shared isEqual:copied] && [copied isEqualToTensor:kept] && shared.hash == copied.hash);
  ExecuTorchTensor* view = [[ExecuTorchTensor alloc] initWithTensor:shared shape:@[ @4 ]];
  values[0] = 7;
  CHECK([scalars(view) isEqual:(@[ @7.0, @2.0, @3.0, @4.0 ])]);
  CHECK([scalars(copied) isEqual:(@[ @1.0, @2.0, @3.0, @4.0 ])]);
  CHECK(![shared isEqualToTensor:copied]);
  [copied mutableBytesWithHandler:^(void* pointer, NSInteger count, ExecuTorchDataType type) {
    ((float*)pointer)[count - 1] = 9;
  }];
  CHECK([scalars([copied copy]) isEqual:(@[ @1.0, @2.0, @3.0, @9.0 ])]);
  CHECK([shared.shape isEqual:square] && [shared.strides isEqual:(@[ @2, @1 ])] &&
        shared.count == 4);
  CHECK([shared.dimensionOrder isEqual:(@[ @0, @1 ])] &&
        shared.shapeDynamism == ExecuTorchShapeDynamismDynamicBound);
  ExecuTorchTensor* columns = [[ExecuTorchTensor alloc] initWithBytes:values
                                                                shape:square
                                                              strides:@[ @1, @2 ]
                                                       dimensionOrder:@[]
                                                             dataType:ExecuTorchDataTypeFloat];
  CHECK([columns.dimensionOrder isEqual:(@[ @1, @0 ])]);

  NSError* error = nil;
  CHECK([copied resizeToShape:@[ @4, @1 ] error:&error] && [copied.shape isEqual:(@[ @4, @1 ])]);
  CHECK(![copied resizeToShape:@[ @5, @1 ] error:&error] && error.localizedDescription.length > 20);
  CHECK(throws(^{
    (void)[[ExecuTorchTensor alloc] initWithData:data
                                           shape:@[ @5 ]
                                        dataType:ExecuTorchDataTypeFloat];
  }));
  CHECK(throws(^{
    (void)[[ExecuTorchTensor alloc] initWithScalars:@[ @1 ] shape:@[ @2 ]];
  }));

  CHECK([[ExecuTorchTensor alloc] initWithFloat:3.5f].dataType == ExecuTorchDataTypeFloat);
  CHECK([[ExecuTorchTensor alloc] initWithInteger:3].dataType == ExecuTorchDataTypeLong);
  CHECK([[ExecuTorchTensor alloc] initWithUInt16:3].dataType == ExecuTorchDataTypeUInt16);
  CHECK([[ExecuTorchTensor alloc] initWithBool:YES].dataType == ExecuTorchDataTypeBool);
  CHECK([[ExecuTorchTensor alloc] initWithScalars:@[ @1, @2 ]].dataType == ExecuTorchDataTypeInt);
  ExecuTorchTensor* halves = [[ExecuTorchTensor alloc] initWithScalars:@[ @1.5, @-2.0 ]
                                                              dataType:ExecuTorchDataTypeHalf];
  CHECK([scalars(halves) isEqual:(@[ @1.5, @-2.0 ])] &&
        ExecuTorchSizeOfDataType(ExecuTorchDataTypeHalf) == 2);
  CHECK([scalars([halves copyToDataType:ExecuTorchDataTypeBFloat16]) isEqual:(@[ @1.5, @-2.0 ])]);
  CHECK(ExecuTorchElementCountOfShape(@[ @2, @3, @4 ]) == 24);

  ExecuTorchTensor* ones = [ExecuTorchTensor onesTensorWithShape:@[ @3 ]
                                                        dataType:ExecuTorchDataTypeDouble];
  CHECK([scalars(ones) isEqual:(@[ @1.0, @1.0, @1.0 ])]);
  CHECK([scalars([ExecuTorchTensor zerosTensorLikeTensor:ones]) isEqual:(@[ @0.0, @0.0, @0.0 ])]);
  CHECK([scalars([ExecuTorchTensor fullTensorLikeTensor:ones
                                                 scalar:@2.5]) isEqual:(@[ @2.5, @2.5, @2.5 ])]);
  ExecuTorchTensor* dice = [ExecuTorchTensor randomIntegerTensorWithLow:1
                                                                   high:7
                                                                  shape:@[ @500 ]
                                                               dataType:ExecuTorchDataTypeInt];
  CHECK([[NSSet setWithArray:scalars(dice)]
      isEqual:([NSSet setWithObjects:@1.0, @2.0, @3.0, @4.0, @5.0, @6.0, nil])]);
  for (NSNumber* number in scalars(
           [ExecuTorchTensor randomTensorWithShape:@[ @50 ] dataType:ExecuTorchDataTypeFloat])) {
    CHECK(number.doubleValue >= 0 && number.doubleValue < 1);
  }
  ExecuTorchTensor* fixed =
      [[ExecuTorchTensor alloc] initWithScalars:@[ @3.0 ]
                                          shape:@[ @1 ]
                                        strides:@[]
                                 dimensionOrder:@[]
                                       dataType:ExecuTorchDataTypeFloat
                                  shapeDynamism:ExecuTorchShapeDynamismStatic];
  CHECK_TEXT(
      fixed.description,
      @"Tensor {\n  dataType: float,\n  shape: [1],\n  strides: [1],\n  dimensionOrder: [0],\n"
       "  shapeDynamism: static,\n  count: 1,\n  scalars: [3]\n}");
}

static void testValues(void) {
  ExecuTorchValue* text = [ExecuTorchValue valueWithString:@"hello"];
  CHECK(text.isString && !text.isScalar && text.tensorValue == nil && text.intValue == 0 &&
        !text.boolValue);
  CHECK_TEXT(text.stringValue, @"hello");
  CHECK([ExecuTorchValue valueWithInteger:3].scalarValue.integerValue == 3);
  CHECK([ExecuTorchValue valueWithFloat:2.5f].doubleValue == 2.5 &&
        [ExecuTorchValue valueWithDouble:2.5].isFloat);
  CHECK([ExecuTorchValue valueWithScalar:@2.5].tag == ExecuTorchValueTagDouble);
  CHECK([ExecuTorchValue valueWithScalar:@3].tag == ExecuTorchValueTagInteger);
  CHECK([ExecuTorchValue valueWithScalar:[NSNumber numberWithBool:YES]].tag ==
        ExecuTorchValueTagBoolean);
  CHECK([[ExecuTorchValue valueWithInteger:3] isEqual:[ExecuTorchValue valueWithInteger:3]]);
  CHECK(![[ExecuTorchValue valueWithInteger:3] isEqual:[ExecuTorchValue valueWithDouble:3]]);
  CHECK([[[ExecuTorchValue alloc] init] isNone] && [[text copy] isEqual:text]);
  CHECK_TEXT([[ExecuTorchValue alloc] init].description, @"Value {\n  tag: none,\n  value: nil\n}");
}

static void testModules(NSString* path) {
  NSError* error = nil;
  ExecuTorchModule* module =
      [[ExecuTorchModule alloc] initWithFilePath:path loadMode:ExecuTorchModuleLoadModeMmap];
  CHECK(![module isLoaded] && ![module isMethodLoaded:@"forward"]);
  CHECK([[module methodNames:&error] isEqual:[NSSet setWithObject:@"forward"]] &&
        [module isLoaded]);
  CHECK([module loadMethod:@"forward" error:&error] && [module isMethodLoaded:@"forward"]);
  ExecuTorchTensor* one = [[ExecuTorchTensor alloc] initWithScalars:@[ @1.0f ]
                                                           dataType:ExecuTorchDataTypeFloat];
  ExecuTorchTensor* two = [[ExecuTorchTensor alloc] initWithScalars:@[ @2.0f ]
                                                           dataType:ExecuTorchDataTypeFloat];
  NSArray<ExecuTorchValue*>* outputs = [module forwardWithTensors:@[ one, two ] error:&error];
  CHECK(outputs.count == 1 && [scalars(outputs.firstObject.tensorValue) isEqual:@[ @3.0 ]]);
  NSArray<ExecuTorchValue*>* again = [module forwardWithTensors:@[ two, two ] error:&error];
  CHECK([scalars(again.firstObject.tensorValue) isEqual:@[ @4.0 ]]);
  CHECK([scalars(outputs.firstObject.tensorValue) isEqual:@[ @3.0 ]]);
  ExecuTorchMethodMetadata* metadata = [module methodMetadata:@"forward" error:&error];
  CHECK([metadata.inputValueTags isEqual:(@[ @1, @1 ])] &&
        [metadata.outputValueTags isEqual:@[ @1 ]]);
  ExecuTorchTensorMetadata* input = [metadata.inputTensorMetadata objectForKey:@0];
  CHECK([input.shape isEqual:@[ @1 ]] && input.dataType == ExecuTorchDataTypeFloat);
  CHECK(metadata.backendNames.count == 0 && metadata.memoryPlannedBufferSizes.count > 0);
  CHECK([module setInput:[ExecuTorchValue valueWithTensor:two] atIndex:1 error:&error]);
  CHECK([module setInput:[ExecuTorchValue valueWithTensor:two] error:&error]);
  CHECK([scalars([module forward:&error].firstObject.tensorValue) isEqual:@[ @4.0 ]]);
  CHECK(![module setOutput:[ExecuTorchValue valueWithString:@"no"] error:&error] &&
        error.code == 18);
  CHECK([module executeMethod:@"backward" error:&error] == nil &&
        [error.localizedDescription containsString:@"backward"]);
  CHECK([module forwardWithTensor:[[ExecuTorchTensor alloc] initWithInt:1] error:NULL] == nil);
  CHECK([module unloadMethod:@"forward"] && ![module unloadMethod:@"forward"]);

  ExecuTorchModule* missing = [[ExecuTorchModule alloc] initWithFilePath:@"/nowhere/model.pte"];
  CHECK(![missing load:&error] && error.code == 34 &&
        [error.localizedDescription containsString:@"/nowhere/model.pte"]);

  ExecuTorchBackendOption* option = [ExecuTorchBackendOption optionWithKey:@"compute_unit"
                                                               stringValue:@"cpu_only"];
  CHECK_TEXT(option.description, @"<ExecuTorchBackendOption compute_unit=\"cpu_only\" (string)>");
  ExecuTorchBackendOptionsMap* map = [ExecuTorchBackendOptionsMap
      mapWithOptions:[NSDictionary dictionaryWithObject:@[ option ] forKey:@"B"]
               error:&error];
  CHECK_TEXT(map.description,
             @"<ExecuTorchBackendOptionsMap B=[compute_unit=\"cpu_only\" (string)]>");
  CHECK(![module loadWithOptions:map error:&error] && error.code == 2);
  CHECK([ExecuTorchBackendOptionsMap
            mapWithOptions:[NSDictionary dictionaryWithObject:@[ option, option ] forKey:@"B"]
                     error:&error] == nil &&
        [error.localizedDescription containsString:@"given twice"]);
}

// Of the test's own: a runtime of Release has no messages.
@interface Sink : NSObject <ExecuTorchLogSink> {
 @public
  NSMutableArray* lines;
}
@end

@implementation Sink
- (void)logWithLevel:(ExecuTorchLogLevel)level
           timestamp:(NSTimeInterval)timestamp
            filename:(NSString*)filename
                line:(NSUInteger)line
             message:(NSString*)message {
  [lines addObject:[NSString stringWithFormat:@"%c %.1f %@:%d %@", (char)level, timestamp, filename,
                                              (int)line, message]];
}
@end

static void testLog(void) {
  ExecuTorchLog* log = ExecuTorchLog.sharedLog;
  CHECK(log == ExecuTorchLog.sharedLog);
  for (int i = 0; i < 101; ++i) {
    [log logWithLevel:ExecuTorchLogLevelInfo
            timestamp:0.5
             filename:@"a.cpp"
                 line:i
              message:@"before"];
  }
  Sink* sink = [[Sink alloc] init];
  sink->lines = [[NSMutableArray alloc] init];
  [log addSink:sink];
  [log addSink:sink];
  CHECK(sink->lines.count == 100);
  CHECK_TEXT([sink->lines objectAtIndex:0], @"I 0.5 a.cpp:1 before");
  [log logWithLevel:ExecuTorchLogLevelError
          timestamp:1
           filename:@"b.cpp"
               line:7
            message:@"after"];
  CHECK(sink->lines.count == 101);
  CHECK_TEXT([sink->lines lastObject], @"E 1.0 b.cpp:7 after");
  [log removeSink:sink];
  [log logWithLevel:ExecuTorchLogLevelFatal timestamp:2 filename:@"" line:0 message:@"removed"];
  CHECK(sink->lines.count == 101);
}

int main(int argc, const char* argv[]) {
  @autoreleasepool {
    testErrors();
    testTensors();
    testValues();
    testModules([NSString stringWithUTF8String:argv[1]]);
    testLog();
    printf("%d checks, %d failures\n", checks, failures);
    fflush(stdout);
    _exit(failures == 0 ? 0 : 1);
  }
}
