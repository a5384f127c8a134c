// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchModule.h"

#import "../Internal/ExecuTorchLibrary.h"
#import "../Internal/ExecuTorchTensorInternal.h"

#include <stdlib.h>

static NSArray<ExecuTorchValue*>* ExecuTorchValuesOfTensors(NSArray<ExecuTorchTensor*>* tensors) {
  NSMutableArray<ExecuTorchValue*>* values = [NSMutableArray array];
  for (ExecuTorchTensor* tensor in tensors)
    [values addObject:[ExecuTorchValue valueWithTensor:tensor]];
  return values;
}

// Text stays as long as the value.
static ExecuTorchCValue ExecuTorchValueInC(ExecuTorchValue* value) {
  ExecuTorchCValue given = {.kind = (int32_t)value.tag};
  given.tensor = value.isTensor ? [value.tensorValue handle] : 0;
  given.integer = value.isBoolean ? value.boolValue : value.intValue;
  given.number = value.doubleValue;
  if (value.isString) {
    given.text = value.stringValue.UTF8String;
    given.text_size = [value.stringValue lengthOfBytesUsingEncoding:NSUTF8StringEncoding];
  }
  return given;
}

static ExecuTorchValue* ExecuTorchValueOfC(ExecuTorchCValue value, NSError** error) {
  switch (value.kind) {
    case EXECUTORCH_TENSOR: {
      const ExecuTorchApi* api = ExecuTorchLibrary();
      ExecuTorchTensorInfo info = {.struct_size = sizeof(info)};
      uint64_t copy = 0;
      if (!ExecuTorchCheck(api->tensor_copy(value.tensor, &copy), error))
        return nil;
      ExecuTorchRequire(api->tensor_info(copy, &info));
      ExecuTorchTensor* tensor =
          [[ExecuTorchTensor alloc] initWithHandle:copy
                                          dynamism:(ExecuTorchShapeDynamism)info.dynamism];
      return [ExecuTorchValue valueWithTensor:tensor];
    }
    case EXECUTORCH_STRING:
      return [ExecuTorchValue valueWithString:[[NSString alloc] initWithBytes:value.text
                                                                       length:value.text_size
                                                                     encoding:NSUTF8StringEncoding]
                                                  ?: @""];
    case EXECUTORCH_DOUBLE:
      return [ExecuTorchValue valueWithDouble:value.number];
    case EXECUTORCH_INT:
      return [ExecuTorchValue valueWithInteger:(NSInteger)value.integer];
    case EXECUTORCH_BOOLEAN:
      return [ExecuTorchValue valueWithBoolean:value.integer != 0];
    default:
      return [[ExecuTorchValue alloc] init];
  }
}

static NSString* ExecuTorchString(const char* text) {
  return [NSString stringWithUTF8String:text ?: ""] ?: @"";
}

@implementation ExecuTorchTensorMetadata

@synthesize name = _name;
@synthesize shape = _shape;
@synthesize dimensionOrder = _dimensionOrder;
@synthesize dataType = _dataType;
@synthesize isMemoryPlanned = _isMemoryPlanned;

- (instancetype)initWithInfo:(ExecuTorchValueInfo)info {
  if ((self = [super init])) {
    NSMutableArray<NSNumber*>* shape = [NSMutableArray array];
    NSMutableArray<NSNumber*>* order = [NSMutableArray array];
    for (size_t i = 0; i < info.rank; ++i) {
      [shape addObject:@(info.sizes[i])];
      [order addObject:@((NSInteger)info.dim_order[i])];
    }
    _name = ExecuTorchString(info.name);
    _shape = shape;
    _dimensionOrder = order;
    _dataType = (ExecuTorchDataType)info.dtype;
    _isMemoryPlanned = info.is_planned != 0;
  }
  return self;
}

@end

@implementation ExecuTorchMethodMetadata

@synthesize name = _name;
@synthesize inputValueTags = _inputValueTags;
@synthesize outputValueTags = _outputValueTags;
@synthesize inputTensorMetadata = _inputTensorMetadata;
@synthesize outputTensorMetadata = _outputTensorMetadata;
@synthesize attributeTensorMetadata = _attributeTensorMetadata;
@synthesize memoryPlannedBufferSizes = _memoryPlannedBufferSizes;
@synthesize backendNames = _backendNames;

- (instancetype)initWithModule:(uint64_t)module name:(NSString*)name error:(NSError**)error {
  const ExecuTorchApi* api = ExecuTorchLibrary();
  const char* method = name.UTF8String;
  ExecuTorchMethodInfo info = {.struct_size = sizeof(info)};
  if (!ExecuTorchCheck(api->method_info(module, method, &info), error) || !(self = [super init]))
    return nil;
  _name = [name copy];
  const size_t counts[] = {info.num_inputs, info.num_outputs, info.num_attributes};
  NSMutableArray *tags = [NSMutableArray array], *tensors = [NSMutableArray array];
  for (int32_t port = EXECUTORCH_INPUT; port <= EXECUTORCH_ATTRIBUTE; ++port) {
    [tags addObject:[NSMutableArray array]];
    [tensors addObject:[NSMutableDictionary dictionary]];
    for (size_t i = 0; i < counts[port]; ++i) {
      ExecuTorchValueInfo value = {.struct_size = sizeof(value)};
      if (!ExecuTorchCheck(api->value_info(module, method, port, i, &value), error))
        return nil;
      [[tags objectAtIndex:(NSUInteger)port] addObject:@((uint32_t)value.kind)];
      if (value.kind != EXECUTORCH_TENSOR)
        continue;
      ExecuTorchTensorMetadata* tensor = [[ExecuTorchTensorMetadata alloc] initWithInfo:value];
      [[tensors objectAtIndex:(NSUInteger)port] setObject:tensor forKey:@(i)];
    }
  }
  NSMutableArray<NSNumber*>* sizes = [NSMutableArray array];
  for (size_t i = 0; i < info.num_planned_buffers; ++i) {
    size_t size = 0;
    if (!ExecuTorchCheck(api->planned_buffer_size(module, method, i, &size), error))
      return nil;
    [sizes addObject:@(size)];
  }
  NSMutableArray<NSString*>* backends = [NSMutableArray array];
  for (size_t i = 0; i < info.num_backends; ++i) {
    const char* backend = NULL;
    if (!ExecuTorchCheck(api->method_backend(module, method, i, &backend), error))
      return nil;
    [backends addObject:ExecuTorchString(backend)];
  }
  _inputValueTags = [tags objectAtIndex:EXECUTORCH_INPUT];
  _outputValueTags = [tags objectAtIndex:EXECUTORCH_OUTPUT];
  _inputTensorMetadata = [tensors objectAtIndex:EXECUTORCH_INPUT];
  _outputTensorMetadata = [tensors objectAtIndex:EXECUTORCH_OUTPUT];
  NSDictionary<NSNumber*, ExecuTorchTensorMetadata*>* attributes =
      [tensors objectAtIndex:EXECUTORCH_ATTRIBUTE];
  _attributeTensorMetadata =
      [attributes objectsForKeys:[attributes.allKeys sortedArrayUsingSelector:@selector(compare:)]
                  notFoundMarker:(id)NSNull.null];
  _memoryPlannedBufferSizes = sizes;
  _backendNames = backends;
  return self;
}

@end

@implementation ExecuTorchModule

- (instancetype)initWithFilePath:(NSString*)filePath
                   dataFilePaths:(NSArray<NSString*>*)dataFilePaths
                        loadMode:(ExecuTorchModuleLoadMode)loadMode {
  if ((self = [super init])) {
    _filePath = [filePath copy];
    _dataFilePaths = [dataFilePaths copy];
    _loadMode = loadMode;
  }
  return self;
}

- (void)dealloc {
  ExecuTorchLibrary()->release(_handle);
}

- (BOOL)loadOnceWithOptions:(ExecuTorchBackendOptionsMap*)map error:(NSError**)error {
  @synchronized(self) {
    if (_handle != 0 && map == nil)
      return YES;
    if (_handle != 0) {
      NSString* reason =
          @"the program is loaded, and options of backends are given when it is loaded";
      if (error != NULL)
        *error = ExecuTorchErrorWithCodeAndDescription(ExecuTorchErrorCodeInvalidState, reason);
      return NO;
    }
    NSMutableData *files = [NSMutableData data], *settings = [NSMutableData data];
    for (NSString* path in _dataFilePaths) {
      ExecuTorchSource file = {.path = path.UTF8String};
      [files appendBytes:&file length:sizeof(file)];
    }
    for (NSString* backend in map.options) {
      for (ExecuTorchBackendOption* option in [map.options objectForKey:backend]) {
        static const int32_t kinds[] = {EXECUTORCH_BOOLEAN, EXECUTORCH_INT, EXECUTORCH_STRING};
        ExecuTorchOption setting = {backend.UTF8String, option.key.UTF8String, kinds[option.type],
                                    option.boolValue ? 1 : (int32_t)option.intValue,
                                    option.stringValue.UTF8String};
        [settings appendBytes:&setting length:sizeof(setting)];
      }
    }
    ExecuTorchModuleOptions options = {.struct_size = sizeof(options)};
    options.program.path = _filePath.UTF8String;
    options.load_mode = (int32_t)_loadMode;
    options.data_files = files.bytes;
    options.num_data_files = _dataFilePaths.count;
    options.backend_options = settings.bytes;
    options.num_backend_options = settings.length / sizeof(ExecuTorchOption);
    return ExecuTorchCheck(ExecuTorchLibrary()->module_load(&options, &_handle), error);
  }
}

- (BOOL)loadWithVerification:(ExecuTorchVerification)verification error:(NSError**)error {
  return [self loadOnceWithOptions:nil error:error];
}

- (BOOL)loadWithOptions:(ExecuTorchBackendOptionsMap*)options
           verification:(ExecuTorchVerification)verification
                  error:(NSError**)error {
  return [self loadOnceWithOptions:options error:error];
}

- (BOOL)isLoaded {
  return _handle != 0;
}

- (BOOL)loadMethod:(NSString*)methodName error:(NSError**)error {
  return [self loadOnceWithOptions:nil error:error] &&
         ExecuTorchCheck(ExecuTorchLibrary()->load_method(_handle, methodName.UTF8String, NULL, 0),
                         error);
}

- (BOOL)loadMethod:(NSString*)methodName
           options:(ExecuTorchBackendOptionsMap*)options
             error:(NSError**)error {
  return [self loadOnceWithOptions:options error:error] && [self loadMethod:methodName error:error];
}

- (BOOL)isMethodLoaded:(NSString*)methodName {
  ExecuTorchMethodInfo info = {.struct_size = sizeof(info)};
  return _handle != 0 &&
         ExecuTorchCheck(ExecuTorchLibrary()->method_info(_handle, methodName.UTF8String, &info),
                         NULL) &&
         info.is_loaded != 0;
}

- (BOOL)unloadMethod:(NSString*)methodName {
  return [self isMethodLoaded:methodName] &&
         ExecuTorchCheck(ExecuTorchLibrary()->unload_method(_handle, methodName.UTF8String), NULL);
}

- (NSSet<NSString*>*)methodNames:(NSError**)error {
  if (![self load:error])
    return nil;
  NSMutableSet<NSString*>* names = [NSMutableSet set];
  for (const char* name = NULL;; [names addObject:ExecuTorchString(name)]) {
    if (!ExecuTorchCheck(ExecuTorchLibrary()->method_name(_handle, names.count, &name), NULL))
      return names;
  }
}

- (ExecuTorchMethodMetadata*)methodMetadata:(NSString*)methodName error:(NSError**)error {
  if (![self load:error])
    return nil;
  return [[ExecuTorchMethodMetadata alloc] initWithModule:_handle name:methodName error:error];
}

- (NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName
                                 withInputs:(NSArray<ExecuTorchValue*>*)values
                                      error:(NSError**)error {
  if (![self loadMethod:methodName error:error])
    return nil;
  const ExecuTorchApi* api = ExecuTorchLibrary();
  const char* method = methodName.UTF8String;
  ExecuTorchMethodInfo info = {.struct_size = sizeof(info)};
  if (!ExecuTorchCheck(api->method_info(_handle, method, &info), error))
    return nil;
  const size_t size = sizeof(ExecuTorchCValue);
  NSMutableData* inputs = [NSMutableData data];
  for (ExecuTorchValue* value in values) {
    ExecuTorchCValue given = ExecuTorchValueInC(value);
    [inputs appendBytes:&given length:size];
  }
  NSMutableData* outputs = [NSMutableData dataWithLength:info.num_outputs * size];
  if (!ExecuTorchCheck(api->execute(_handle, method, inputs.bytes, values.count,
                                    outputs.mutableBytes, info.num_outputs),
                       error)) {
    return nil;
  }
  NSMutableArray<ExecuTorchValue*>* results = [NSMutableArray array];
  for (size_t i = 0; i < info.num_outputs; ++i) {
    ExecuTorchValue* value = ExecuTorchValueOfC(((const ExecuTorchCValue*)outputs.bytes)[i], error);
    if (value == nil)
      return nil;
    [results addObject:value];
  }
  return results;
}

- (BOOL)setInput:(ExecuTorchValue*)value
       forMethod:(NSString*)methodName
         atIndex:(NSInteger)index
           error:(NSError**)error {
  ExecuTorchCValue given = ExecuTorchValueInC(value);
  return [self load:error] &&
         ExecuTorchCheck(
             ExecuTorchLibrary()->set_input(_handle, methodName.UTF8String, (size_t)index, &given),
             error);
}

- (BOOL)setInputs:(NSArray<ExecuTorchValue*>*)values
        forMethod:(NSString*)methodName
            error:(NSError**)error {
  for (NSUInteger index = 0; index < values.count; ++index) {
    if (![self setInput:[values objectAtIndex:index]
              forMethod:methodName
                atIndex:(NSInteger)index
                  error:error])
      return NO;
  }
  return YES;
}

- (BOOL)setOutput:(ExecuTorchValue*)value
        forMethod:(NSString*)methodName
          atIndex:(NSInteger)index
            error:(NSError**)error {
  if (!value.isTensor) {
    if (error != NULL)
      *error = ExecuTorchErrorWithCodeAndDescription(ExecuTorchErrorCodeInvalidArgument,
                                                     @"an output is written to a tensor");
    return NO;
  }
  return [self load:error] &&
         ExecuTorchCheck(ExecuTorchLibrary()->set_output(_handle, methodName.UTF8String,
                                                         (size_t)index, [value.tensorValue handle]),
                         error);
}

// ---- With fewer arguments

- (NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName
                                  withInput:(ExecuTorchValue*)value
                                      error:(NSError**)error {
  return [self executeMethod:methodName withInputs:@[ value ] error:error];
}

- (NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName error:(NSError**)error {
  return [self executeMethod:methodName withInputs:@[] error:error];
}

- (NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName
                                withTensors:(NSArray<ExecuTorchTensor*>*)tensors
                                      error:(NSError**)error {
  return [self executeMethod:methodName withInputs:ExecuTorchValuesOfTensors(tensors) error:error];
}

- (NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName
                                 withTensor:(ExecuTorchTensor*)tensor
                                      error:(NSError**)error {
  return [self executeMethod:methodName
                  withInputs:ExecuTorchValuesOfTensors(@[ tensor ])
                       error:error];
}

- (NSArray<ExecuTorchValue*>*)forwardWithInputs:(NSArray<ExecuTorchValue*>*)values
                                          error:(NSError**)error {
  return [self executeMethod:@"forward" withInputs:values error:error];
}

- (NSArray<ExecuTorchValue*>*)forwardWithInput:(ExecuTorchValue*)value error:(NSError**)error {
  return [self executeMethod:@"forward" withInputs:@[ value ] error:error];
}

- (NSArray<ExecuTorchValue*>*)forward:(NSError**)error {
  return [self executeMethod:@"forward" withInputs:@[] error:error];
}

- (NSArray<ExecuTorchValue*>*)forwardWithTensors:(NSArray<ExecuTorchTensor*>*)tensors
                                           error:(NSError**)error {
  return [self executeMethod:@"forward" withInputs:ExecuTorchValuesOfTensors(tensors) error:error];
}

- (NSArray<ExecuTorchValue*>*)forwardWithTensor:(ExecuTorchTensor*)tensor error:(NSError**)error {
  return [self executeMethod:@"forward"
                  withInputs:ExecuTorchValuesOfTensors(@[ tensor ])
                       error:error];
}

- (BOOL)setInput:(ExecuTorchValue*)value error:(NSError**)error {
  return [self setInput:value forMethod:@"forward" atIndex:0 error:error];
}

- (BOOL)setInput:(ExecuTorchValue*)value atIndex:(NSInteger)index error:(NSError**)error {
  return [self setInput:value forMethod:@"forward" atIndex:index error:error];
}

- (BOOL)setInput:(ExecuTorchValue*)value forMethod:(NSString*)methodName error:(NSError**)error {
  return [self setInput:value forMethod:methodName atIndex:0 error:error];
}

- (BOOL)setOutput:(ExecuTorchValue*)value error:(NSError**)error {
  return [self setOutput:value forMethod:@"forward" atIndex:0 error:error];
}

- (BOOL)setOutput:(ExecuTorchValue*)value atIndex:(NSInteger)index error:(NSError**)error {
  return [self setOutput:value forMethod:@"forward" atIndex:index error:error];
}

- (BOOL)setOutput:(ExecuTorchValue*)value forMethod:(NSString*)methodName error:(NSError**)error {
  return [self setOutput:value forMethod:methodName atIndex:0 error:error];
}

- (BOOL)setInputs:(NSArray<ExecuTorchValue*>*)values error:(NSError**)error {
  return [self setInputs:values forMethod:@"forward" error:error];
}

- (instancetype)initWithFilePath:(NSString*)filePath
                   dataFilePaths:(NSArray<NSString*>*)dataFilePaths {
  return [self initWithFilePath:filePath
                  dataFilePaths:dataFilePaths
                       loadMode:ExecuTorchModuleLoadModeFile];
}

- (instancetype)initWithFilePath:(NSString*)filePath loadMode:(ExecuTorchModuleLoadMode)loadMode {
  return [self initWithFilePath:filePath dataFilePaths:@[] loadMode:loadMode];
}

- (instancetype)initWithFilePath:(NSString*)filePath {
  return [self initWithFilePath:filePath loadMode:ExecuTorchModuleLoadModeFile];
}

- (BOOL)load:(NSError**)error {
  return [self loadWithVerification:ExecuTorchVerificationMinimal error:error];
}

- (BOOL)loadWithOptions:(ExecuTorchBackendOptionsMap*)options error:(NSError**)error {
  return [self loadWithOptions:options verification:ExecuTorchVerificationMinimal error:error];
}

@end
