// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchLLMRunners.h"

#import "../../../../apple/ExecuTorch/Internal/ExecuTorchLibrary.h"

#pragma clang diagnostic ignored "-Wdeprecated-declarations"

NSString* const ExecuTorchLLMErrorDomain = @"org.pytorch.executorch.llm.error";

static BOOL Check(ExecuTorchStatus status, NSError** error) {
  NSError* found = nil;
  if (ExecuTorchCheck(status, &found))
    return YES;
  if (error != NULL)
    *error = [NSError errorWithDomain:ExecuTorchLLMErrorDomain
                                 code:found.code
                             userInfo:found.userInfo];
  return NO;
}

static BOOL Refuse(ExecuTorchErrorCode code, NSString* reason, NSError** error) {
  NSDictionary* info = ExecuTorchErrorWithCodeAndDescription(code, reason).userInfo;
  if (error != NULL)
    *error = [NSError errorWithDomain:ExecuTorchLLMErrorDomain code:code userInfo:info];
  return NO;
}

typedef void (^TokenCallback)(NSString* token);

static NSString* Decoded(const char* text, size_t size) {
  return [[NSString alloc] initWithBytes:text length:size encoding:NSUTF8StringEncoding];
}

// With U+FFFD for what is no character: models may write any bytes.
static NSString* DecodedWithReplacements(const uint8_t* text, size_t size) {
  NSMutableString* result = [NSMutableString string];
  for (size_t i = 0; i < size;) {
    size_t length = text[i] >= 0xf0 && text[i] < 0xf5 ? 4
                    : text[i] >= 0xe0                 ? 3
                    : text[i] >= 0xc2                 ? 2
                                                      : 1;
    if (text[i] >= 0xf5)
      length = 1;
    size_t found = 1;
    while (found < length && i + found < size && (text[i + found] & 0xc0) == 0x80)
      ++found;
    [result
        appendString:(found == length ? Decoded((const char*)text + i, length) : nil) ?: @"\uFFFD"];
    i += found;
  }
  return result;
}

static int32_t OnText(void* context, const char* text, size_t size) {
  TokenCallback callback = (__bridge TokenCallback)context;
  if (callback != nil)
    callback(Decoded(text, size) ?: DecodedWithReplacements((const uint8_t*)text, size));
  return 0;
}

@implementation ExecuTorchLLMTextRunner

- (instancetype)initWithModelPath:(NSString*)modelPath tokenizerPath:(NSString*)tokenizerPath {
  return [self initWithModelPath:modelPath tokenizerPath:tokenizerPath specialTokens:@[]];
}

- (instancetype)initWithModelPath:(NSString*)modelPath
                    tokenizerPath:(NSString*)tokenizerPath
                    specialTokens:(NSArray<NSString*>*)specialTokens {
  if ((self = [super init])) {
    _modelPath = [modelPath copy];
    _tokenizerPath = [tokenizerPath copy];
    _calls = [[NSRecursiveLock alloc] init];
  }
  return self;
}

- (void)dealloc {
  ExecuTorchLibrary()->release(_session);
}

- (BOOL)isLoaded {
  @synchronized(self) {
    return _session != 0;
  }
}

- (BOOL)loadWithError:(NSError**)error {
  @synchronized(self) {
    if (_session != 0)
      return YES;
    ExecuTorchTextOptions options = {.struct_size = sizeof(options)};
    options.program = _modelPath.UTF8String;
    options.tokenizer = _tokenizerPath.length > 0 ? _tokenizerPath.UTF8String : NULL;
    return Check(ExecuTorchLibrary()->text_new(&options, 1, &_session), error);
  }
}

// How many tokens may be made: 0 for as many as there is room for, negative for none.
- (int64_t)roomFor:(NSString*)prompt config:(ExecuTorchLLMConfig*)config {
  int64_t room = config.maximumNewTokens > 0 ? config.maximumNewTokens : 0;
  if (config.sequenceLength < 0)
    return room;
  size_t count = 0;
  int64_t position = 0;
  Check(ExecuTorchLibrary()->text_encode(_session, prompt.UTF8String, NULL, 0, &count), NULL);
  Check(ExecuTorchLibrary()->text_position(_session, &position), NULL);
  int64_t left = config.sequenceLength - (int64_t)count - position;
  if (left <= 0)
    return -1;
  return room == 0 || left < room ? left : room;
}

- (BOOL)generateWithPrompt:(NSString*)prompt
                    config:(ExecuTorchLLMConfig*)config
             tokenCallback:(void (^)(NSString*))callback
                     error:(NSError**)error {
  [_calls lock];
  BOOL done = [self loadWithError:error] && [self answer:prompt
                                                  config:config
                                                callback:callback
                                                   error:error];
  [_calls unlock];
  return done;
}

- (BOOL)answer:(NSString*)prompt
        config:(ExecuTorchLLMConfig*)config
      callback:(TokenCallback)callback
         error:(NSError**)error {
  TokenCallback heard = config.isWarming ? (TokenCallback)NULL : callback;
  if (config.isEchoEnabled && heard != nil)
    heard(prompt);
  int64_t room = [self roomFor:prompt config:config];
  if (room < 0)
    return Refuse(ExecuTorchErrorCodeInvalidArgument, @"the prompt leaves no room in the sequence",
                  error);
  const ExecuTorchSetting temperature = {"temperature", config.temperature};
  ExecuTorchGenerateOptions options = {.struct_size = sizeof(options)};
  options.sampling = &temperature;
  options.num_sampling = 1;
  options.max_new_tokens = room > INT32_MAX ? INT32_MAX : (int32_t)room;
  options.num_bos = (int32_t)config.bosCount;
  options.num_eos = (int32_t)config.eosCount;
  options.on_text = OnText;
  options.context = (__bridge void*)heard;
  return Check(ExecuTorchLibrary()->text_generate(_session, prompt.UTF8String, &options, NULL),
               error);
}

- (void)stop {
  if ([self isLoaded])
    Check(ExecuTorchLibrary()->text_stop(_session), NULL);
}

- (void)reset {
  [self stop];
  [_calls lock];
  if ([self isLoaded])
    Check(ExecuTorchLibrary()->text_rewind(_session, 0), NULL);
  [_calls unlock];
}

@end

@implementation ExecuTorchLLMMultimodalRunner

- (instancetype)initWithModelPath:(NSString*)modelPath tokenizerPath:(NSString*)tokenizerPath {
  if ((self = [super init])) {
    _runner = [[ExecuTorchLLMTextRunner alloc] initWithModelPath:modelPath
                                                   tokenizerPath:tokenizerPath];
  }
  return self;
}

- (BOOL)isLoaded {
  return [_runner isLoaded];
}
- (BOOL)loadWithError:(NSError**)error {
  return [(ExecuTorchLLMTextRunner*)_runner loadWithError:error];
}
- (void)stop {
  [(ExecuTorchLLMTextRunner*)_runner stop];
}
- (void)reset {
  [(ExecuTorchLLMTextRunner*)_runner reset];
}

- (BOOL)generateWithInputs:(NSArray<ExecuTorchLLMMultimodalInput*>*)inputs
                    config:(ExecuTorchLLMConfig*)config
             tokenCallback:(void (^)(NSString*))callback
                     error:(NSError**)error {
  NSMutableString* prompt = [NSMutableString string];
  for (ExecuTorchLLMMultimodalInput* input in inputs) {
    if (input.text == nil)
      return Refuse(ExecuTorchErrorCodeNotSupported, @"the C interface takes text alone", error);
    [prompt appendString:input.text];
  }
  return [_runner generateWithPrompt:prompt config:config tokenCallback:callback error:error];
}

@end
