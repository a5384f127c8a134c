// SPDX-License-Identifier: BSD-3-Clause
// One file of many short methods: a category in a file of its own would be left out by the linker
// of an app.
#import "ExecuTorchTensor.h"

#import "../Internal/ExecuTorchLibrary.h"
#import "../Internal/ExecuTorchTensorInternal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

NSInteger ExecuTorchSizeOfDataType(ExecuTorchDataType dataType) {
  ExecuTorchDtypeInfo info = {.struct_size = sizeof(info)};
  return ExecuTorchCheck(ExecuTorchLibrary()->dtype_info(dataType, &info), NULL)
             ? (NSInteger)info.size
             : 0;
}

NSInteger ExecuTorchElementCountOfShape(NSArray<NSNumber*>* shape) {
  NSInteger count = 1;
  for (NSNumber* size in shape)
    count *= size.integerValue;
  return count;
}

// 24 bits, so that no float rounds up to 1.
static double ExecuTorchUniform(void) {
  return (double)(arc4random() >> 8) / (double)(1 << 24);
}

static NSString* ExecuTorchNameOfDataType(ExecuTorchDataType type) {
  NSArray<NSString*>* names = @[
    @"byte",
    @"char",
    @"short",
    @"int",
    @"long",
    @"half",
    @"float",
    @"double",
    @"complexHalf",
    @"complexFloat",
    @"complexDouble",
    @"bool",
    @"qint8",
    @"quint8",
    @"qint32",
    @"bfloat16",
    @"quint4x2",
    @"quint2x4",
    @"bits1x8",
    @"bits2x4",
    @"bits4x2",
    @"bits8",
    @"bits16",
    @"float8_e5m2",
    @"float8_e4m3fn",
    @"float8_e5m2fnuz",
    @"float8_e4m3fnuz",
    @"uint16",
    @"uint32",
    @"uint64"
  ];
  return type >= 0 && (NSUInteger)type < names.count ? [names objectAtIndex:(NSUInteger)type]
                                                     : @"undefined";
}

static ExecuTorchDataType ExecuTorchTypeOfNumber(NSNumber* number) {
  switch (number.objCType[0]) {
    case 'c':
    case 'C':
    case 'B':
      return ExecuTorchDataTypeByte;
    case 's':
    case 'S':
      return ExecuTorchDataTypeShort;
    case 'i':
    case 'I':
      return ExecuTorchDataTypeInt;
    case 'f':
      return ExecuTorchDataTypeFloat;
    case 'd':
      return ExecuTorchDataTypeDouble;
    default:
      return ExecuTorchDataTypeLong;
  }
}

static float ExecuTorchFloatOfBFloat16(uint16_t bits) {
  uint32_t pattern = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &pattern, sizeof(value));
  return value;
}

// Rounds to nearest, ties to even.
static uint16_t ExecuTorchBFloat16OfFloat(float value) {
  if (isnan(value))
    return 0x7fc0;
  uint32_t pattern;
  memcpy(&pattern, &value, sizeof(pattern));
  return (uint16_t)((pattern + 0x7fff + ((pattern >> 16) & 1)) >> 16);
}

// X(name, C type, how a number becomes one, how one becomes a number): types that numbers are read
// from and written to.
#define EXECUTORCH_ELEMENTS(X)                                          \
  X(Byte, uint8_t, (uint8_t)number.longLongValue, @(value))             \
  X(Char, int8_t, (int8_t)number.longLongValue, @(value))               \
  X(Short, int16_t, (int16_t)number.longLongValue, @(value))            \
  X(Int, int32_t, (int32_t)number.longLongValue, @(value))              \
  X(Long, int64_t, number.longLongValue, @(value))                      \
  X(Half, _Float16, (_Float16)number.floatValue, @((float)value))       \
  X(Float, float, number.floatValue, @(value))                          \
  X(Double, double, number.doubleValue, @(value))                       \
  X(Bool, uint8_t, number.doubleValue != 0, @(value))                   \
  X(BFloat16, uint16_t, ExecuTorchBFloat16OfFloat(number.floatValue),   \
    @(ExecuTorchFloatOfBFloat16(value)))                                \
  X(UInt16, uint16_t, (uint16_t)number.unsignedLongLongValue, @(value)) \
  X(UInt32, uint32_t, (uint32_t)number.unsignedLongLongValue, @(value)) \
  X(UInt64, uint64_t, number.unsignedLongLongValue, @(value))

static void ExecuTorchWrite(void* data, NSInteger index, ExecuTorchDataType type,
                            NSNumber* number) {
  switch (type) {
#define EXECUTORCH_WRITE(name, ctype, written, read) \
  case ExecuTorchDataType##name:                     \
    ((ctype*)data)[index] = written;                 \
    return;
    EXECUTORCH_ELEMENTS(EXECUTORCH_WRITE)
    default:
      ExecuTorchRefuse([NSString
          stringWithFormat:@"%@ tensors cannot be filled", ExecuTorchNameOfDataType(type)]);
  }
}

static NSNumber* ExecuTorchRead(const void* data, NSInteger index, ExecuTorchDataType type) {
  switch (type) {
#define EXECUTORCH_READ(name, ctype, written, read) \
  case ExecuTorchDataType##name: {                  \
    ctype value = ((const ctype*)data)[index];      \
    return read;                                    \
  }
    EXECUTORCH_ELEMENTS(EXECUTORCH_READ)
    default:
      return nil;
  }
}

static void ExecuTorchReleaseOwner(void* context, void* data) {
  id owner = (__bridge_transfer id)context;
  (void)owner;
  (void)data;
}

static NSInteger ExecuTorchAt(NSArray<NSNumber*>* numbers, NSUInteger index) {
  return [numbers objectAtIndex:index].integerValue;
}

// The dimensions from outermost to innermost, by what is given; strides must be those of that
// order.
static NSArray<NSNumber*>* ExecuTorchOrder(NSArray<NSNumber*>* shape, NSArray<NSNumber*>* strides,
                                           NSArray<NSNumber*>* order) {
  if (strides.count != 0 && strides.count != shape.count)
    ExecuTorchRefuse(@"one stride for each dimension is needed");
  if (order.count == 0) {
    NSMutableArray<NSNumber*>* all = [NSMutableArray array];
    for (NSUInteger dimension = 0; dimension < shape.count; ++dimension) {
      NSUInteger place = all.count;
      // Behind those of larger or equal strides.
      while (strides.count != 0 && place > 0 &&
             ExecuTorchAt(strides, [all objectAtIndex:place - 1].unsignedIntegerValue) <
                 ExecuTorchAt(strides, dimension)) {
        --place;
      }
      [all insertObject:@(dimension) atIndex:place];
    }
    order = all;
  }
  NSInteger stride = 1;
  for (NSNumber* dimension in (strides.count != 0 ? order.reverseObjectEnumerator.allObjects
                                                  : @[])) {
    NSInteger size = ExecuTorchAt(shape, dimension.unsignedIntegerValue);
    if (size != 1 && ExecuTorchAt(strides, dimension.unsignedIntegerValue) != stride) {
      ExecuTorchRefuse(@"strides leave gaps or overlap");
    }
    stride *= size > 1 ? size : 1;
  }
  return order;
}

@implementation ExecuTorchTensor

@synthesize shapeDynamism = _shapeDynamism;

- (instancetype)initWithHandle:(uint64_t)handle dynamism:(ExecuTorchShapeDynamism)dynamism {
  if ((self = [super init])) {
    _handle = handle;
    _shapeDynamism = dynamism;
  }
  return self;
}

- (void)dealloc {
  ExecuTorchLibrary()->release(_handle);
}

// Over data, whose owner is kept; without, zeroed memory of the library.
- (instancetype)initOver:(void*)data
                   owner:(id)owner
                   shape:(NSArray<NSNumber*>*)shape
                 strides:(NSArray<NSNumber*>*)strides
          dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                dataType:(ExecuTorchDataType)dataType
                dynamism:(ExecuTorchShapeDynamism)dynamism {
  NSArray<NSNumber*>* order = ExecuTorchOrder(shape, strides, dimensionOrder);
  int32_t sizes[16];
  uint8_t dims[16];
  if (shape.count > 16 || order.count != shape.count)
    ExecuTorchRefuse(@"shape and dimension order do not fit");
  for (NSUInteger i = 0; i < shape.count; ++i) {
    sizes[i] = (int32_t)ExecuTorchAt(shape, i);
    dims[i] = (uint8_t)ExecuTorchAt(order, i);
  }
  ExecuTorchTensorSpec spec = {.struct_size = sizeof(spec)};
  spec.dtype = dataType;
  spec.dynamism = dynamism == ExecuTorchShapeDynamismStatic ? EXECUTORCH_STATIC_SIZES
                                                            : EXECUTORCH_BOUNDED_SIZES;
  spec.rank = shape.count;
  spec.sizes = sizes;
  spec.dim_order = dims;
  if (data != NULL) {
    spec.data = data;
    spec.data_size =
        (size_t)(ExecuTorchElementCountOfShape(shape) * ExecuTorchSizeOfDataType(dataType));
  }
  if (owner != nil) {
    spec.context = (__bridge_retained void*)owner;
    spec.release = ExecuTorchReleaseOwner;
  }
  uint64_t handle = 0;
  ExecuTorchRequire(ExecuTorchLibrary()->tensor_new(&spec, &handle));
  return [self initWithHandle:handle dynamism:dynamism];
}

- (instancetype)initEmpty:(NSArray<NSNumber*>*)shape
                  strides:(NSArray<NSNumber*>*)strides
           dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                 dataType:(ExecuTorchDataType)dataType
                 dynamism:(ExecuTorchShapeDynamism)dynamism {
  return [self initOver:NULL
                  owner:nil
                  shape:shape
                strides:strides
         dimensionOrder:dimensionOrder
               dataType:dataType
               dynamism:dynamism];
}

- (instancetype)filledWith:(NSNumber* (^)(void))number {
  ExecuTorchTensorInfo info = [self info];
  for (size_t i = 0; number != nil && i < info.num_elements; ++i) {
    ExecuTorchWrite(info.data, (NSInteger)i, self.dataType, number());
  }
  return self;
}

- (uint64_t)handle {
  return _handle;
}

- (ExecuTorchTensorInfo)info {
  ExecuTorchTensorInfo info = {.struct_size = sizeof(info)};
  ExecuTorchRequire(ExecuTorchLibrary()->tensor_info(_handle, &info));
  return info;
}

- (ExecuTorchDataType)dataType {
  return (ExecuTorchDataType)[self info].dtype;
}

- (NSInteger)count {
  return (NSInteger)[self info].num_elements;
}

- (NSArray<NSNumber*>*)shape {
  ExecuTorchTensorInfo info = [self info];
  NSMutableArray<NSNumber*>* numbers = [NSMutableArray array];
  for (size_t i = 0; i < info.rank; ++i)
    [numbers addObject:@(info.sizes[i])];
  return numbers;
}

- (NSArray<NSNumber*>*)strides {
  ExecuTorchTensorInfo info = [self info];
  NSMutableArray<NSNumber*>* numbers = [NSMutableArray array];
  for (size_t i = 0; i < info.rank; ++i)
    [numbers addObject:@(info.strides[i])];
  return numbers;
}

- (NSArray<NSNumber*>*)dimensionOrder {
  ExecuTorchTensorInfo info = [self info];
  NSMutableArray<NSNumber*>* numbers = [NSMutableArray array];
  for (size_t i = 0; i < info.rank; ++i)
    [numbers addObject:@((NSInteger)info.dim_order[i])];
  return numbers;
}

- (instancetype)initWithTensor:(ExecuTorchTensor*)tensor
                         shape:(NSArray<NSNumber*>*)shape
                dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                       strides:(NSArray<NSNumber*>*)strides {
  NSArray<NSNumber*>* sizes = shape.count == 0 ? tensor.shape : shape;
  if (dimensionOrder.count == 0 && strides.count == 0 && [sizes isEqualToArray:tensor.shape]) {
    dimensionOrder = tensor.dimensionOrder;
  }
  return [self initOver:[tensor info].data
                  owner:tensor
                  shape:sizes
                strides:strides
         dimensionOrder:dimensionOrder
               dataType:tensor.dataType
               dynamism:tensor.shapeDynamism];
}

- (instancetype)initWithTensor:(ExecuTorchTensor*)tensor shape:(NSArray<NSNumber*>*)shape {
  return [self initWithTensor:tensor shape:shape dimensionOrder:@[] strides:@[]];
}

- (instancetype)initWithTensor:(ExecuTorchTensor*)tensor {
  return [self initWithTensor:tensor shape:@[]];
}

- (instancetype)copy {
  return [self copyWithZone:NULL];
}

- (instancetype)copyWithZone:(NSZone*)zone {
  uint64_t handle = 0;
  ExecuTorchRequire(ExecuTorchLibrary()->tensor_copy(_handle, &handle));
  return [[ExecuTorchTensor alloc] initWithHandle:handle dynamism:_shapeDynamism];
}

- (instancetype)copyToDataType:(ExecuTorchDataType)dataType {
  ExecuTorchTensor* result = [[ExecuTorchTensor alloc] initEmpty:self.shape
                                                         strides:@[]
                                                  dimensionOrder:self.dimensionOrder
                                                        dataType:dataType
                                                        dynamism:_shapeDynamism];
  const void* from = [self info].data;
  void* to = [result info].data;
  ExecuTorchDataType type = self.dataType;
  for (NSInteger i = 0; i < self.count; ++i)
    ExecuTorchWrite(to, i, dataType, ExecuTorchRead(from, i, type));
  return result;
}

- (void)bytesWithHandler:(void(NS_NOESCAPE ^)(const void*, NSInteger, ExecuTorchDataType))handler {
  handler([self info].data, self.count, self.dataType);
}

- (void)mutableBytesWithHandler:(void(NS_NOESCAPE ^)(void*, NSInteger, ExecuTorchDataType))handler {
  handler([self info].data, self.count, self.dataType);
}

- (BOOL)resizeToShape:(NSArray<NSNumber*>*)shape error:(NSError**)error {
  int32_t sizes[16];
  for (NSUInteger i = 0; i < shape.count && i < 16; ++i)
    sizes[i] = (int32_t)ExecuTorchAt(shape, i);
  return ExecuTorchCheck(
      ExecuTorchLibrary()->tensor_resize(_handle, shape.count > 16 ? 17 : shape.count, sizes),
      error);
}

- (BOOL)isEqualToTensor:(ExecuTorchTensor*)other {
  if (other == nil)
    return NO;
  ExecuTorchTensorInfo a = [self info], b = [other info];
  return a.dtype == b.dtype && [self.shape isEqualToArray:other.shape] &&
         [self.strides isEqualToArray:other.strides] &&
         [self.dimensionOrder isEqualToArray:other.dimensionOrder] &&
         (a.num_bytes == 0 || memcmp(a.data, b.data, a.num_bytes) == 0);
}

- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[ExecuTorchTensor class]] && [self isEqualToTensor:other];
}

- (NSUInteger)hash {
  return (NSUInteger)self.count * 31 + (NSUInteger)self.dataType;
}

- (NSString*)description {
  NSString* (^list)(NSArray<NSNumber*>*) = ^(NSArray<NSNumber*>* numbers) {
    return [[numbers valueForKey:@"stringValue"] componentsJoinedByString:@","];
  };
  NSArray<NSString*>* dynamisms = @[ @"static", @"dynamicBound", @"dynamicUnbound" ];
  NSMutableArray<NSString*>* scalars = [NSMutableArray array];
  const void* data = [self info].data;
  NSInteger count = self.count;
  ExecuTorchDataType type = self.dataType;
  for (NSInteger i = 0; i < count && i < 100; ++i) {
    [scalars addObject:ExecuTorchRead(data, i, type).stringValue ?: @"..."];
  }
  if (count > 100)
    [scalars addObject:@"..."];
  return [NSString
      stringWithFormat:
          @"Tensor {\n  dataType: %@,\n  shape: [%@],\n  strides: [%@],\n"
           "  dimensionOrder: [%@],\n  shapeDynamism: %@,\n  count: %ld,\n  scalars: [%@]\n}",
          ExecuTorchNameOfDataType(type), list(self.shape), list(self.strides),
          list(self.dimensionOrder), [dynamisms objectAtIndex:_shapeDynamism], (long)count,
          [scalars componentsJoinedByString:@","]];
}

// ---- Memory and numbers, with all arguments

- (instancetype)initWithBytesNoCopy:(void*)pointer
                              shape:(NSArray<NSNumber*>*)shape
                            strides:(NSArray<NSNumber*>*)strides
                     dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self initOver:pointer
                  owner:nil
                  shape:shape
                strides:strides
         dimensionOrder:dimensionOrder
               dataType:dataType
               dynamism:shapeDynamism];
}

- (instancetype)initWithBytes:(const void*)pointer
                        shape:(NSArray<NSNumber*>*)shape
                      strides:(NSArray<NSNumber*>*)strides
               dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                     dataType:(ExecuTorchDataType)dataType
                shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  self = [self initEmpty:shape
                 strides:strides
          dimensionOrder:dimensionOrder
                dataType:dataType
                dynamism:shapeDynamism];
  ExecuTorchTensorInfo info = [self info];
  if (info.num_bytes > 0)
    memcpy(info.data, pointer, info.num_bytes);
  return self;
}

- (instancetype)initWithData:(NSData*)data
                       shape:(NSArray<NSNumber*>*)shape
                     strides:(NSArray<NSNumber*>*)strides
              dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                    dataType:(ExecuTorchDataType)dataType
               shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  NSInteger needed = ExecuTorchElementCountOfShape(shape) * ExecuTorchSizeOfDataType(dataType);
  if ((NSInteger)data.length < needed)
    ExecuTorchRefuse(@"Data length is too small");
  return [self initOver:(void*)data.bytes
                  owner:data
                  shape:shape
                strides:strides
         dimensionOrder:dimensionOrder
               dataType:dataType
               dynamism:shapeDynamism];
}

- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                        strides:(NSArray<NSNumber*>*)strides
                 dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                       dataType:(ExecuTorchDataType)dataType
                  shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  if (ExecuTorchElementCountOfShape(shape) != (NSInteger)scalars.count) {
    ExecuTorchRefuse([NSString
        stringWithFormat:@"%lu scalars do not fill the shape", (unsigned long)scalars.count]);
  }
  if (dataType == ExecuTorchDataTypeUndefined) {
    dataType = scalars.count > 0 ? ExecuTorchTypeOfNumber([scalars objectAtIndex:0])
                                 : ExecuTorchDataTypeFloat;
  }
  self = [self initEmpty:shape
                 strides:strides
          dimensionOrder:dimensionOrder
                dataType:dataType
                dynamism:shapeDynamism];
  void* data = [self info].data;
  for (NSUInteger i = 0; i < scalars.count; ++i)
    ExecuTorchWrite(data, (NSInteger)i, dataType, [scalars objectAtIndex:i]);
  return self;
}

- (instancetype)initWithScalar:(NSNumber*)scalar dataType:(ExecuTorchDataType)dataType {
  return [self initWithScalars:@[ scalar ]
                         shape:@[]
                       strides:@[]
                dimensionOrder:@[]
                      dataType:dataType
                 shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

// ---- With fewer, each by the one with all

- (instancetype)initWithBytesNoCopy:(void*)pointer
                              shape:(NSArray<NSNumber*>*)shape
                            strides:(NSArray<NSNumber*>*)strides
                     dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                           dataType:(ExecuTorchDataType)dataType {
  return [self initWithBytesNoCopy:pointer
                             shape:shape
                           strides:strides
                    dimensionOrder:dimensionOrder
                          dataType:dataType
                     shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithBytesNoCopy:(void*)pointer
                              shape:(NSArray<NSNumber*>*)shape
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self initWithBytesNoCopy:pointer
                             shape:shape
                           strides:@[]
                    dimensionOrder:@[]
                          dataType:dataType
                     shapeDynamism:shapeDynamism];
}

- (instancetype)initWithBytesNoCopy:(void*)pointer
                              shape:(NSArray<NSNumber*>*)shape
                           dataType:(ExecuTorchDataType)dataType {
  return [self initWithBytesNoCopy:pointer
                             shape:shape
                           strides:@[]
                    dimensionOrder:@[]
                          dataType:dataType
                     shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithBytes:(const void*)pointer
                        shape:(NSArray<NSNumber*>*)shape
                      strides:(NSArray<NSNumber*>*)strides
               dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                     dataType:(ExecuTorchDataType)dataType {
  return [self initWithBytes:pointer
                       shape:shape
                     strides:strides
              dimensionOrder:dimensionOrder
                    dataType:dataType
               shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithBytes:(const void*)pointer
                        shape:(NSArray<NSNumber*>*)shape
                     dataType:(ExecuTorchDataType)dataType
                shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self initWithBytes:pointer
                       shape:shape
                     strides:@[]
              dimensionOrder:@[]
                    dataType:dataType
               shapeDynamism:shapeDynamism];
}

- (instancetype)initWithBytes:(const void*)pointer
                        shape:(NSArray<NSNumber*>*)shape
                     dataType:(ExecuTorchDataType)dataType {
  return [self initWithBytes:pointer
                       shape:shape
                     strides:@[]
              dimensionOrder:@[]
                    dataType:dataType
               shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithData:(NSData*)data
                       shape:(NSArray<NSNumber*>*)shape
                     strides:(NSArray<NSNumber*>*)strides
              dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                    dataType:(ExecuTorchDataType)dataType {
  return [self initWithData:data
                      shape:shape
                    strides:strides
             dimensionOrder:dimensionOrder
                   dataType:dataType
              shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithData:(NSData*)data
                       shape:(NSArray<NSNumber*>*)shape
                    dataType:(ExecuTorchDataType)dataType
               shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self initWithData:data
                      shape:shape
                    strides:@[]
             dimensionOrder:@[]
                   dataType:dataType
              shapeDynamism:shapeDynamism];
}

- (instancetype)initWithData:(NSData*)data
                       shape:(NSArray<NSNumber*>*)shape
                    dataType:(ExecuTorchDataType)dataType {
  return [self initWithData:data
                      shape:shape
                    strides:@[]
             dimensionOrder:@[]
                   dataType:dataType
              shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                        strides:(NSArray<NSNumber*>*)strides
                 dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                       dataType:(ExecuTorchDataType)dataType {
  return [self initWithScalars:scalars
                         shape:shape
                       strides:strides
                dimensionOrder:dimensionOrder
                      dataType:dataType
                 shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                       dataType:(ExecuTorchDataType)dataType
                  shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self initWithScalars:scalars
                         shape:shape
                       strides:@[]
                dimensionOrder:@[]
                      dataType:dataType
                 shapeDynamism:shapeDynamism];
}

- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                       dataType:(ExecuTorchDataType)dataType {
  return [self initWithScalars:scalars
                         shape:shape
                       strides:@[]
                dimensionOrder:@[]
                      dataType:dataType
                 shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                       dataType:(ExecuTorchDataType)dataType
                  shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self initWithScalars:scalars
                         shape:@[ @(scalars.count) ]
                       strides:@[]
                dimensionOrder:@[]
                      dataType:dataType
                 shapeDynamism:shapeDynamism];
}

- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars dataType:(ExecuTorchDataType)dataType {
  return [self initWithScalars:scalars
                         shape:@[ @(scalars.count) ]
                       strides:@[]
                dimensionOrder:@[]
                      dataType:dataType
                 shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                  shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self initWithScalars:scalars
                         shape:shape
                       strides:@[]
                dimensionOrder:@[]
                      dataType:ExecuTorchDataTypeUndefined
                 shapeDynamism:shapeDynamism];
}

- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars shape:(NSArray<NSNumber*>*)shape {
  return [self initWithScalars:scalars
                         shape:shape
                       strides:@[]
                dimensionOrder:@[]
                      dataType:ExecuTorchDataTypeUndefined
                 shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars {
  return [self initWithScalars:scalars
                         shape:@[ @(scalars.count) ]
                       strides:@[]
                dimensionOrder:@[]
                      dataType:ExecuTorchDataTypeUndefined
                 shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

- (instancetype)initWithScalar:(NSNumber*)scalar {
  return [self initWithScalar:scalar dataType:ExecuTorchDataTypeUndefined];
}

- (instancetype)initWithByte:(uint8_t)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeByte];
}

- (instancetype)initWithChar:(int8_t)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeChar];
}

- (instancetype)initWithShort:(int16_t)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeShort];
}

- (instancetype)initWithInt:(int32_t)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeInt];
}

- (instancetype)initWithLong:(int64_t)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeLong];
}

- (instancetype)initWithFloat:(float)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeFloat];
}

- (instancetype)initWithDouble:(double)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeDouble];
}

- (instancetype)initWithBool:(BOOL)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeBool];
}

- (instancetype)initWithUInt16:(uint16_t)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeUInt16];
}

- (instancetype)initWithUInt32:(uint32_t)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeUInt32];
}

- (instancetype)initWithUInt64:(uint64_t)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeUInt64];
}

- (instancetype)initWithInteger:(NSInteger)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeLong];
}

- (instancetype)initWithUnsignedInteger:(NSUInteger)scalar {
  return [self initWithScalar:@(scalar) dataType:ExecuTorchDataTypeUInt64];
}

+ (instancetype)emptyTensorWithShape:(NSArray<NSNumber*>*)shape
                             strides:(NSArray<NSNumber*>*)strides
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:shape
                          strides:strides
                   dimensionOrder:@[]
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:nil];
}

+ (instancetype)emptyTensorWithShape:(NSArray<NSNumber*>*)shape
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self emptyTensorWithShape:shape
                            strides:@[]
                           dataType:dataType
                      shapeDynamism:shapeDynamism];
}

+ (instancetype)emptyTensorWithShape:(NSArray<NSNumber*>*)shape
                            dataType:(ExecuTorchDataType)dataType {
  return [self emptyTensorWithShape:shape
                            strides:@[]
                           dataType:dataType
                      shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

+ (instancetype)emptyTensorLikeTensor:(ExecuTorchTensor*)tensor
                             dataType:(ExecuTorchDataType)dataType
                        shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:tensor.shape
                          strides:@[]
                   dimensionOrder:tensor.dimensionOrder
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:nil];
}

+ (instancetype)emptyTensorLikeTensor:(ExecuTorchTensor*)tensor
                             dataType:(ExecuTorchDataType)dataType {
  return [self emptyTensorLikeTensor:tensor dataType:dataType shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)emptyTensorLikeTensor:(ExecuTorchTensor*)tensor {
  return [self emptyTensorLikeTensor:tensor
                            dataType:tensor.dataType
                       shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)fullTensorWithShape:(NSArray<NSNumber*>*)shape
                             scalar:(NSNumber*)scalar
                            strides:(NSArray<NSNumber*>*)strides
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:shape
                          strides:strides
                   dimensionOrder:@[]
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return scalar;
  }];
}

+ (instancetype)fullTensorWithShape:(NSArray<NSNumber*>*)shape
                             scalar:(NSNumber*)scalar
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self fullTensorWithShape:shape
                            scalar:scalar
                           strides:@[]
                          dataType:dataType
                     shapeDynamism:shapeDynamism];
}

+ (instancetype)fullTensorWithShape:(NSArray<NSNumber*>*)shape
                             scalar:(NSNumber*)scalar
                           dataType:(ExecuTorchDataType)dataType {
  return [self fullTensorWithShape:shape
                            scalar:scalar
                           strides:@[]
                          dataType:dataType
                     shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

+ (instancetype)fullTensorLikeTensor:(ExecuTorchTensor*)tensor
                              scalar:(NSNumber*)scalar
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:tensor.shape
                          strides:@[]
                   dimensionOrder:tensor.dimensionOrder
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return scalar;
  }];
}

+ (instancetype)fullTensorLikeTensor:(ExecuTorchTensor*)tensor
                              scalar:(NSNumber*)scalar
                            dataType:(ExecuTorchDataType)dataType {
  return [self fullTensorLikeTensor:tensor
                             scalar:scalar
                           dataType:dataType
                      shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)fullTensorLikeTensor:(ExecuTorchTensor*)tensor scalar:(NSNumber*)scalar {
  return [self fullTensorLikeTensor:tensor
                             scalar:scalar
                           dataType:tensor.dataType
                      shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)onesTensorWithShape:(NSArray<NSNumber*>*)shape
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:shape
                          strides:@[]
                   dimensionOrder:@[]
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return @1;
  }];
}

+ (instancetype)onesTensorWithShape:(NSArray<NSNumber*>*)shape
                           dataType:(ExecuTorchDataType)dataType {
  return [self onesTensorWithShape:shape
                          dataType:dataType
                     shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

+ (instancetype)onesTensorLikeTensor:(ExecuTorchTensor*)tensor
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:tensor.shape
                          strides:@[]
                   dimensionOrder:tensor.dimensionOrder
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return @1;
  }];
}

+ (instancetype)onesTensorLikeTensor:(ExecuTorchTensor*)tensor
                            dataType:(ExecuTorchDataType)dataType {
  return [self onesTensorLikeTensor:tensor dataType:dataType shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)onesTensorLikeTensor:(ExecuTorchTensor*)tensor {
  return [self onesTensorLikeTensor:tensor
                           dataType:tensor.dataType
                      shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)zerosTensorWithShape:(NSArray<NSNumber*>*)shape
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:shape
                          strides:@[]
                   dimensionOrder:@[]
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:nil];
}

+ (instancetype)zerosTensorWithShape:(NSArray<NSNumber*>*)shape
                            dataType:(ExecuTorchDataType)dataType {
  return [self zerosTensorWithShape:shape
                           dataType:dataType
                      shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

+ (instancetype)zerosTensorLikeTensor:(ExecuTorchTensor*)tensor
                             dataType:(ExecuTorchDataType)dataType
                        shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:tensor.shape
                          strides:@[]
                   dimensionOrder:tensor.dimensionOrder
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:nil];
}

+ (instancetype)zerosTensorLikeTensor:(ExecuTorchTensor*)tensor
                             dataType:(ExecuTorchDataType)dataType {
  return [self zerosTensorLikeTensor:tensor dataType:dataType shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)zerosTensorLikeTensor:(ExecuTorchTensor*)tensor {
  return [self zerosTensorLikeTensor:tensor
                            dataType:tensor.dataType
                       shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)randomTensorWithShape:(NSArray<NSNumber*>*)shape
                              strides:(NSArray<NSNumber*>*)strides
                             dataType:(ExecuTorchDataType)dataType
                        shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:shape
                          strides:strides
                   dimensionOrder:@[]
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return @(ExecuTorchUniform());
  }];
}

+ (instancetype)randomTensorWithShape:(NSArray<NSNumber*>*)shape
                             dataType:(ExecuTorchDataType)dataType
                        shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self randomTensorWithShape:shape
                             strides:@[]
                            dataType:dataType
                       shapeDynamism:shapeDynamism];
}

+ (instancetype)randomTensorWithShape:(NSArray<NSNumber*>*)shape
                             dataType:(ExecuTorchDataType)dataType {
  return [self randomTensorWithShape:shape
                             strides:@[]
                            dataType:dataType
                       shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

+ (instancetype)randomTensorLikeTensor:(ExecuTorchTensor*)tensor
                              dataType:(ExecuTorchDataType)dataType
                         shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:tensor.shape
                          strides:@[]
                   dimensionOrder:tensor.dimensionOrder
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return @(ExecuTorchUniform());
  }];
}

+ (instancetype)randomTensorLikeTensor:(ExecuTorchTensor*)tensor
                              dataType:(ExecuTorchDataType)dataType {
  return [self randomTensorLikeTensor:tensor dataType:dataType shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)randomTensorLikeTensor:(ExecuTorchTensor*)tensor {
  return [self randomTensorLikeTensor:tensor
                             dataType:tensor.dataType
                        shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)randomNormalTensorWithShape:(NSArray<NSNumber*>*)shape
                                    strides:(NSArray<NSNumber*>*)strides
                                   dataType:(ExecuTorchDataType)dataType
                              shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:shape
                          strides:strides
                   dimensionOrder:@[]
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return @(sqrt(-2 * log(1 - ExecuTorchUniform())) * cos(2 * M_PI * ExecuTorchUniform()));
  }];
}

+ (instancetype)randomNormalTensorWithShape:(NSArray<NSNumber*>*)shape
                                   dataType:(ExecuTorchDataType)dataType
                              shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self randomNormalTensorWithShape:shape
                                   strides:@[]
                                  dataType:dataType
                             shapeDynamism:shapeDynamism];
}

+ (instancetype)randomNormalTensorWithShape:(NSArray<NSNumber*>*)shape
                                   dataType:(ExecuTorchDataType)dataType {
  return [self randomNormalTensorWithShape:shape
                                   strides:@[]
                                  dataType:dataType
                             shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

+ (instancetype)randomNormalTensorLikeTensor:(ExecuTorchTensor*)tensor
                                    dataType:(ExecuTorchDataType)dataType
                               shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:tensor.shape
                          strides:@[]
                   dimensionOrder:tensor.dimensionOrder
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return @(sqrt(-2 * log(1 - ExecuTorchUniform())) * cos(2 * M_PI * ExecuTorchUniform()));
  }];
}

+ (instancetype)randomNormalTensorLikeTensor:(ExecuTorchTensor*)tensor
                                    dataType:(ExecuTorchDataType)dataType {
  return [self randomNormalTensorLikeTensor:tensor
                                   dataType:dataType
                              shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)randomNormalTensorLikeTensor:(ExecuTorchTensor*)tensor {
  return [self randomNormalTensorLikeTensor:tensor
                                   dataType:tensor.dataType
                              shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)randomIntegerTensorWithLow:(NSInteger)low
                                      high:(NSInteger)high
                                     shape:(NSArray<NSNumber*>*)shape
                                   strides:(NSArray<NSNumber*>*)strides
                                  dataType:(ExecuTorchDataType)dataType
                             shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:shape
                          strides:strides
                   dimensionOrder:@[]
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return @(low + (NSInteger)((double)(high - low) * ExecuTorchUniform()));
  }];
}

+ (instancetype)randomIntegerTensorWithLow:(NSInteger)low
                                      high:(NSInteger)high
                                     shape:(NSArray<NSNumber*>*)shape
                                  dataType:(ExecuTorchDataType)dataType
                             shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [self randomIntegerTensorWithLow:low
                                     high:high
                                    shape:shape
                                  strides:@[]
                                 dataType:dataType
                            shapeDynamism:shapeDynamism];
}

+ (instancetype)randomIntegerTensorWithLow:(NSInteger)low
                                      high:(NSInteger)high
                                     shape:(NSArray<NSNumber*>*)shape
                                  dataType:(ExecuTorchDataType)dataType {
  return [self randomIntegerTensorWithLow:low
                                     high:high
                                    shape:shape
                                  strides:@[]
                                 dataType:dataType
                            shapeDynamism:ExecuTorchShapeDynamismDynamicBound];
}

+ (instancetype)randomIntegerTensorLikeTensor:(ExecuTorchTensor*)tensor
                                          low:(NSInteger)low
                                         high:(NSInteger)high
                                     dataType:(ExecuTorchDataType)dataType
                                shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism {
  return [[[self alloc] initEmpty:tensor.shape
                          strides:@[]
                   dimensionOrder:tensor.dimensionOrder
                         dataType:dataType
                         dynamism:shapeDynamism] filledWith:^{
    return @(low + (NSInteger)((double)(high - low) * ExecuTorchUniform()));
  }];
}

+ (instancetype)randomIntegerTensorLikeTensor:(ExecuTorchTensor*)tensor
                                          low:(NSInteger)low
                                         high:(NSInteger)high
                                     dataType:(ExecuTorchDataType)dataType {
  return [self randomIntegerTensorLikeTensor:tensor
                                         low:low
                                        high:high
                                    dataType:dataType
                               shapeDynamism:tensor.shapeDynamism];
}

+ (instancetype)randomIntegerTensorLikeTensor:(ExecuTorchTensor*)tensor
                                          low:(NSInteger)low
                                         high:(NSInteger)high {
  return [self randomIntegerTensorLikeTensor:tensor
                                         low:low
                                        high:high
                                    dataType:tensor.dataType
                               shapeDynamism:tensor.shapeDynamism];
}

@end
