// SPDX-License-Identifier: BSD-3-Clause
// Tensors: memory, a shape and a type of elements.
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(int8_t, ExecuTorchDataType) {
  ExecuTorchDataTypeByte = 0,
  ExecuTorchDataTypeChar = 1,
  ExecuTorchDataTypeShort = 2,
  ExecuTorchDataTypeInt = 3,
  ExecuTorchDataTypeLong = 4,
  ExecuTorchDataTypeHalf = 5,
  ExecuTorchDataTypeFloat = 6,
  ExecuTorchDataTypeDouble = 7,
  ExecuTorchDataTypeComplexHalf = 8,
  ExecuTorchDataTypeComplexFloat = 9,
  ExecuTorchDataTypeComplexDouble = 10,
  ExecuTorchDataTypeBool = 11,
  ExecuTorchDataTypeQInt8 = 12,
  ExecuTorchDataTypeQUInt8 = 13,
  ExecuTorchDataTypeQInt32 = 14,
  ExecuTorchDataTypeBFloat16 = 15,
  ExecuTorchDataTypeQUInt4x2 = 16,
  ExecuTorchDataTypeQUInt2x4 = 17,
  ExecuTorchDataTypeBits1x8 = 18,
  ExecuTorchDataTypeBits2x4 = 19,
  ExecuTorchDataTypeBits4x2 = 20,
  ExecuTorchDataTypeBits8 = 21,
  ExecuTorchDataTypeBits16 = 22,
  ExecuTorchDataTypeFloat8_e5m2 = 23,
  ExecuTorchDataTypeFloat8_e4m3fn = 24,
  ExecuTorchDataTypeFloat8_e5m2fnuz = 25,
  ExecuTorchDataTypeFloat8_e4m3fnuz = 26,
  ExecuTorchDataTypeUInt16 = 27,
  ExecuTorchDataTypeUInt32 = 28,
  ExecuTorchDataTypeUInt64 = 29,
  ExecuTorchDataTypeUndefined = 30,
  ExecuTorchDataTypeNumOptions = 31,
};

typedef NS_ENUM(uint8_t, ExecuTorchShapeDynamism) {
  ExecuTorchShapeDynamismStatic = 0,
  ExecuTorchShapeDynamismDynamicBound = 1,
  ExecuTorchShapeDynamismDynamicUnbound = 2,
};

/// Bytes of an element; 0 of what is no type.
FOUNDATION_EXPORT NSInteger ExecuTorchSizeOfDataType(ExecuTorchDataType dataType);
FOUNDATION_EXPORT NSInteger ExecuTorchElementCountOfShape(NSArray<NSNumber*>* shape);

/// Initializers throw NSInvalidArgumentException when shape, strides and size of the data do not
/// agree. Empty strides and an empty dimension order stand for those of contiguous memory.
__attribute__((objc_subclassing_restricted))
@interface ExecuTorchTensor : NSObject<NSCopying> {
 @private
  uint64_t _handle;
  ExecuTorchShapeDynamism _shapeDynamism;
}

@property(nonatomic, readonly) ExecuTorchDataType dataType;
@property(nonatomic, readonly) ExecuTorchShapeDynamism shapeDynamism;
@property(nonatomic, readonly) NSArray<NSNumber*>* shape;
@property(nonatomic, readonly) NSArray<NSNumber*>* dimensionOrder;
@property(nonatomic, readonly) NSArray<NSNumber*>* strides;
@property(nonatomic, readonly) NSInteger count;

// ---- Views, which share memory, and copies. What is empty in a view is as in the tensor.
- (instancetype)initWithTensor:(ExecuTorchTensor*)tensor
                         shape:(NSArray<NSNumber*>*)shape
                dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                       strides:(NSArray<NSNumber*>*)strides;
- (instancetype)initWithTensor:(ExecuTorchTensor*)tensor shape:(NSArray<NSNumber*>*)shape;
- (instancetype)initWithTensor:(ExecuTorchTensor*)tensor;
- (instancetype)copy;
- (instancetype)copyToDataType:(ExecuTorchDataType)dataType;

- (void)bytesWithHandler:(void(NS_NOESCAPE ^)(const void* pointer, NSInteger count,
                                              ExecuTorchDataType type))handler;
- (void)mutableBytesWithHandler:(void(NS_NOESCAPE ^)(void* pointer, NSInteger count,
                                                     ExecuTorchDataType type))handler;
- (BOOL)resizeToShape:(NSArray<NSNumber*>*)shape error:(NSError* _Nullable* _Nullable)error;
/// Of type, shape, strides, dimension order and bytes; not of shape dynamism.
- (BOOL)isEqualToTensor:(nullable ExecuTorchTensor*)other;

// ---- Memory: of the caller, copied, and of NSData, which is kept
- (instancetype)initWithBytesNoCopy:(void*)pointer
                              shape:(NSArray<NSNumber*>*)shape
                            strides:(NSArray<NSNumber*>*)strides
                     dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithBytesNoCopy:(void*)pointer
                              shape:(NSArray<NSNumber*>*)shape
                            strides:(NSArray<NSNumber*>*)strides
                     dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                           dataType:(ExecuTorchDataType)dataType;
- (instancetype)initWithBytesNoCopy:(void*)pointer
                              shape:(NSArray<NSNumber*>*)shape
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithBytesNoCopy:(void*)pointer
                              shape:(NSArray<NSNumber*>*)shape
                           dataType:(ExecuTorchDataType)dataType;
- (instancetype)initWithBytes:(const void*)pointer
                        shape:(NSArray<NSNumber*>*)shape
                      strides:(NSArray<NSNumber*>*)strides
               dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                     dataType:(ExecuTorchDataType)dataType
                shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithBytes:(const void*)pointer
                        shape:(NSArray<NSNumber*>*)shape
                      strides:(NSArray<NSNumber*>*)strides
               dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                     dataType:(ExecuTorchDataType)dataType;
- (instancetype)initWithBytes:(const void*)pointer
                        shape:(NSArray<NSNumber*>*)shape
                     dataType:(ExecuTorchDataType)dataType
                shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithBytes:(const void*)pointer
                        shape:(NSArray<NSNumber*>*)shape
                     dataType:(ExecuTorchDataType)dataType;
- (instancetype)initWithData:(NSData*)data
                       shape:(NSArray<NSNumber*>*)shape
                     strides:(NSArray<NSNumber*>*)strides
              dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                    dataType:(ExecuTorchDataType)dataType
               shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithData:(NSData*)data
                       shape:(NSArray<NSNumber*>*)shape
                     strides:(NSArray<NSNumber*>*)strides
              dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                    dataType:(ExecuTorchDataType)dataType;
- (instancetype)initWithData:(NSData*)data
                       shape:(NSArray<NSNumber*>*)shape
                    dataType:(ExecuTorchDataType)dataType
               shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithData:(NSData*)data
                       shape:(NSArray<NSNumber*>*)shape
                    dataType:(ExecuTorchDataType)dataType;

// ---- Numbers: in the type of the first of them, if none is given
- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                        strides:(NSArray<NSNumber*>*)strides
                 dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                       dataType:(ExecuTorchDataType)dataType
                  shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                        strides:(NSArray<NSNumber*>*)strides
                 dimensionOrder:(NSArray<NSNumber*>*)dimensionOrder
                       dataType:(ExecuTorchDataType)dataType;
- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                       dataType:(ExecuTorchDataType)dataType
                  shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                       dataType:(ExecuTorchDataType)dataType;
- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                       dataType:(ExecuTorchDataType)dataType
                  shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars dataType:(ExecuTorchDataType)dataType;
- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars
                          shape:(NSArray<NSNumber*>*)shape
                  shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars shape:(NSArray<NSNumber*>*)shape;
- (instancetype)initWithScalars:(NSArray<NSNumber*>*)scalars;
- (instancetype)initWithScalar:(NSNumber*)scalar dataType:(ExecuTorchDataType)dataType;
- (instancetype)initWithScalar:(NSNumber*)scalar;
- (instancetype)initWithByte:(uint8_t)scalar;
- (instancetype)initWithChar:(int8_t)scalar;
- (instancetype)initWithShort:(int16_t)scalar;
- (instancetype)initWithInt:(int32_t)scalar;
- (instancetype)initWithLong:(int64_t)scalar;
- (instancetype)initWithFloat:(float)scalar;
- (instancetype)initWithDouble:(double)scalar;
- (instancetype)initWithBool:(BOOL)scalar;
- (instancetype)initWithUInt16:(uint16_t)scalar;
- (instancetype)initWithUInt32:(uint32_t)scalar;
- (instancetype)initWithUInt64:(uint64_t)scalar;
- (instancetype)initWithInteger:(NSInteger)scalar;
- (instancetype)initWithUnsignedInteger:(NSUInteger)scalar;

// ---- Factories; those like a tensor take its shape and dimension order, and its type and dynamism
// if none is given
+ (instancetype)emptyTensorWithShape:(NSArray<NSNumber*>*)shape
                             strides:(NSArray<NSNumber*>*)strides
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)emptyTensorWithShape:(NSArray<NSNumber*>*)shape
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)emptyTensorWithShape:(NSArray<NSNumber*>*)shape
                            dataType:(ExecuTorchDataType)dataType;
+ (instancetype)emptyTensorLikeTensor:(ExecuTorchTensor*)tensor
                             dataType:(ExecuTorchDataType)dataType
                        shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)emptyTensorLikeTensor:(ExecuTorchTensor*)tensor
                             dataType:(ExecuTorchDataType)dataType;
+ (instancetype)emptyTensorLikeTensor:(ExecuTorchTensor*)tensor;
+ (instancetype)fullTensorWithShape:(NSArray<NSNumber*>*)shape
                             scalar:(NSNumber*)scalar
                            strides:(NSArray<NSNumber*>*)strides
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)fullTensorWithShape:(NSArray<NSNumber*>*)shape
                             scalar:(NSNumber*)scalar
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)fullTensorWithShape:(NSArray<NSNumber*>*)shape
                             scalar:(NSNumber*)scalar
                           dataType:(ExecuTorchDataType)dataType;
+ (instancetype)fullTensorLikeTensor:(ExecuTorchTensor*)tensor
                              scalar:(NSNumber*)scalar
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)fullTensorLikeTensor:(ExecuTorchTensor*)tensor
                              scalar:(NSNumber*)scalar
                            dataType:(ExecuTorchDataType)dataType;
+ (instancetype)fullTensorLikeTensor:(ExecuTorchTensor*)tensor scalar:(NSNumber*)scalar;
+ (instancetype)onesTensorWithShape:(NSArray<NSNumber*>*)shape
                           dataType:(ExecuTorchDataType)dataType
                      shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)onesTensorWithShape:(NSArray<NSNumber*>*)shape
                           dataType:(ExecuTorchDataType)dataType;
+ (instancetype)onesTensorLikeTensor:(ExecuTorchTensor*)tensor
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)onesTensorLikeTensor:(ExecuTorchTensor*)tensor
                            dataType:(ExecuTorchDataType)dataType;
+ (instancetype)onesTensorLikeTensor:(ExecuTorchTensor*)tensor;
+ (instancetype)zerosTensorWithShape:(NSArray<NSNumber*>*)shape
                            dataType:(ExecuTorchDataType)dataType
                       shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)zerosTensorWithShape:(NSArray<NSNumber*>*)shape
                            dataType:(ExecuTorchDataType)dataType;
+ (instancetype)zerosTensorLikeTensor:(ExecuTorchTensor*)tensor
                             dataType:(ExecuTorchDataType)dataType
                        shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)zerosTensorLikeTensor:(ExecuTorchTensor*)tensor
                             dataType:(ExecuTorchDataType)dataType;
+ (instancetype)zerosTensorLikeTensor:(ExecuTorchTensor*)tensor;
+ (instancetype)randomTensorWithShape:(NSArray<NSNumber*>*)shape
                              strides:(NSArray<NSNumber*>*)strides
                             dataType:(ExecuTorchDataType)dataType
                        shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)randomTensorWithShape:(NSArray<NSNumber*>*)shape
                             dataType:(ExecuTorchDataType)dataType
                        shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)randomTensorWithShape:(NSArray<NSNumber*>*)shape
                             dataType:(ExecuTorchDataType)dataType;
+ (instancetype)randomTensorLikeTensor:(ExecuTorchTensor*)tensor
                              dataType:(ExecuTorchDataType)dataType
                         shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)randomTensorLikeTensor:(ExecuTorchTensor*)tensor
                              dataType:(ExecuTorchDataType)dataType;
+ (instancetype)randomTensorLikeTensor:(ExecuTorchTensor*)tensor;
+ (instancetype)randomNormalTensorWithShape:(NSArray<NSNumber*>*)shape
                                    strides:(NSArray<NSNumber*>*)strides
                                   dataType:(ExecuTorchDataType)dataType
                              shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)randomNormalTensorWithShape:(NSArray<NSNumber*>*)shape
                                   dataType:(ExecuTorchDataType)dataType
                              shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)randomNormalTensorWithShape:(NSArray<NSNumber*>*)shape
                                   dataType:(ExecuTorchDataType)dataType;
+ (instancetype)randomNormalTensorLikeTensor:(ExecuTorchTensor*)tensor
                                    dataType:(ExecuTorchDataType)dataType
                               shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)randomNormalTensorLikeTensor:(ExecuTorchTensor*)tensor
                                    dataType:(ExecuTorchDataType)dataType;
+ (instancetype)randomNormalTensorLikeTensor:(ExecuTorchTensor*)tensor;
+ (instancetype)randomIntegerTensorWithLow:(NSInteger)low
                                      high:(NSInteger)high
                                     shape:(NSArray<NSNumber*>*)shape
                                   strides:(NSArray<NSNumber*>*)strides
                                  dataType:(ExecuTorchDataType)dataType
                             shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)randomIntegerTensorWithLow:(NSInteger)low
                                      high:(NSInteger)high
                                     shape:(NSArray<NSNumber*>*)shape
                                  dataType:(ExecuTorchDataType)dataType
                             shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)randomIntegerTensorWithLow:(NSInteger)low
                                      high:(NSInteger)high
                                     shape:(NSArray<NSNumber*>*)shape
                                  dataType:(ExecuTorchDataType)dataType;
+ (instancetype)randomIntegerTensorLikeTensor:(ExecuTorchTensor*)tensor
                                          low:(NSInteger)low
                                         high:(NSInteger)high
                                     dataType:(ExecuTorchDataType)dataType
                                shapeDynamism:(ExecuTorchShapeDynamism)shapeDynamism;
+ (instancetype)randomIntegerTensorLikeTensor:(ExecuTorchTensor*)tensor
                                          low:(NSInteger)low
                                         high:(NSInteger)high
                                     dataType:(ExecuTorchDataType)dataType;
+ (instancetype)randomIntegerTensorLikeTensor:(ExecuTorchTensor*)tensor
                                          low:(NSInteger)low
                                         high:(NSInteger)high;

+ (instancetype)new NS_UNAVAILABLE;
- (instancetype)init NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END
