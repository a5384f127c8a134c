// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchBackendOptionsMap.h"

#import "ExecuTorchError.h"

typedef NSDictionary<NSString*, NSArray<ExecuTorchBackendOption*>*> Options;

static NSUInteger Size(NSString* text) {
  return [text lengthOfBytesUsingEncoding:NSUTF8StringEncoding];
}

static NSString* WrongOption(NSString* backend, ExecuTorchBackendOption* option,
                             NSMutableSet<NSString*>* keys) {
  if (option.key.length == 0)
    return [NSString stringWithFormat:@"option key for backend '%@' is empty", backend];
  NSString* place =
      [NSString stringWithFormat:@"option key '%@' for backend '%@'", option.key, backend];
  if (Size(option.key) > 63) {
    return [place
        stringByAppendingFormat:@" is %lu bytes; limit is 63", (unsigned long)Size(option.key)];
  }
  if ([keys containsObject:option.key])
    return [place stringByAppendingString:@" is given twice"];
  [keys addObject:option.key];
  if (option.intValue != (int32_t)option.intValue) {
    return [place
        stringByAppendingFormat:@" is %ld, which does not fit into 32 bits", (long)option.intValue];
  }
  if (Size(option.stringValue) > 255) {
    return [NSString stringWithFormat:@"the text of %@ is %lu bytes; limit is 255", place,
                                      (unsigned long)Size(option.stringValue)];
  }
  return nil;
}

static NSString* Wrong(Options* options) {
  if (options.count > 8)
    return [NSString stringWithFormat:@"%lu backends; limit is 8", (unsigned long)options.count];
  for (NSString* backend in options) {
    if (backend.length == 0)
      return @"backend id is empty";
    if (Size(backend) > 63) {
      return [NSString stringWithFormat:@"backend id '%@' is %lu bytes; limit is 63", backend,
                                        (unsigned long)Size(backend)];
    }
    NSMutableSet<NSString*>* keys = [NSMutableSet set];
    for (ExecuTorchBackendOption* option in [options objectForKey:backend]) {
      NSString* reason = WrongOption(backend, option, keys);
      if (reason != nil)
        return reason;
    }
  }
  return nil;
}

@implementation ExecuTorchBackendOptionsMap

@synthesize options = _options;

- (instancetype)initWithOptions:(Options*)options error:(NSError**)error {
  NSString* reason = Wrong(options);
  if (reason != nil) {
    if (error != NULL)
      *error = ExecuTorchErrorWithCodeAndDescription(ExecuTorchErrorCodeInvalidArgument, reason);
    return nil;
  }
  if ((self = [super init]))
    _options = [options copy];
  return self;
}

+ (instancetype)mapWithOptions:(Options*)options error:(NSError**)error {
  return [[self alloc] initWithOptions:options error:error];
}

- (NSString*)description {
  NSMutableArray<NSString*>* entries = [NSMutableArray array];
  for (NSString* backend in [_options.allKeys sortedArrayUsingSelector:@selector(compare:)]) {
    NSArray<NSString*>* texts = [[_options objectForKey:backend] valueForKey:@"text"];
    [entries addObject:[NSString stringWithFormat:@"%@=[%@]", backend,
                                                  [texts componentsJoinedByString:@", "]]];
  }
  return [NSString
      stringWithFormat:@"<ExecuTorchBackendOptionsMap %@>",
                       entries.count == 0 ? @"(empty)" : [entries componentsJoinedByString:@", "]];
}

@end
