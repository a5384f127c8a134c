// SPDX-License-Identifier: BSD-3-Clause
// What core_ml.mm uses of Foundation and Core ML, as their documentation has it: so that its syntax
// and types are checked where there is neither, and, by a compiler for Macs, that no call is newer
// than the oldest system unless it asks. Nothing of it runs.
#pragma once

#if __has_include(<os/availability.h>)
#include <os/availability.h>
#else
#define API_AVAILABLE(...)
#define API_DEPRECATED(...)
#endif

using BOOL = bool;
using NSInteger = long;
using NSUInteger = unsigned long;
struct NSRange {
  NSUInteger location;
  NSUInteger length;
};
struct NSFastEnumerationState {
  unsigned long state;
  id __unsafe_unretained* itemsPtr;
  unsigned long* mutationsPtr;
  unsigned long extra[5];
};
#define nil __null
#define YES true
#define NO false

@protocol NSObject
- (BOOL)isKindOfClass:(Class)kind;
@end
@protocol NSCopying
@end
__attribute__((objc_root_class))
@interface NSObject<NSObject>
+ (instancetype)alloc;
+ (Class)class;
- (instancetype)init;
@end

@interface NSString : NSObject <NSCopying>
+ (instancetype)stringWithUTF8String:(const char*)text;
@property(readonly) const char* UTF8String;
@end
@interface NSConstantString : NSString
@end
@interface NSValue : NSObject
@property(readonly) NSRange rangeValue;
@end
@interface NSNumber : NSValue
+ (NSNumber*)numberWithBool:(BOOL)value;
+ (NSNumber*)numberWithLong:(long)value;
+ (NSNumber*)numberWithLongLong:(long long)value;
@property(readonly) BOOL boolValue;
@property(readonly) long long longLongValue;
@property(readonly) unsigned long long unsignedLongLongValue;
@end
@interface NSArray<__covariant T> : NSObject
@property(readonly) NSUInteger count;
@property(readonly) T firstObject;
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained*)buffer
                                    count:(NSUInteger)count;
@end
@interface NSMutableArray<T> : NSArray <T>
+ (instancetype)array;
- (void)addObject:(T)object;
@end
@interface NSDictionary<__covariant K, __covariant V> : NSObject
+ (instancetype)dictionaryWithObjects:(const V __unsafe_unretained*)objects
                              forKeys:(const K __unsafe_unretained*)keys
                                count:(NSUInteger)count;
+ (NSDictionary<NSString*, id>*)dictionaryWithContentsOfFile:(NSString*)path;
@property(readonly) NSUInteger count;
- (V)objectForKeyedSubscript:(K)key;
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained*)buffer
                                    count:(NSUInteger)count;
@end
@interface NSMutableDictionary<K, V> : NSDictionary <K, V>
+ (instancetype)dictionary;
- (void)setObject:(V)object forKeyedSubscript:(K)key;
@end
@interface NSError : NSObject
@property(readonly) NSString* localizedDescription;
@end
@interface NSException : NSObject
@property(readonly) NSString* reason;
@end
@interface NSURL : NSObject
+ (NSURL*)fileURLWithPath:(NSString*)path;
@property(readonly) NSString* path;
- (BOOL)setResourceValue:(id)value forKey:(NSString*)key error:(NSError**)error;
@end
@interface NSBundle : NSObject
@property(class, readonly) NSBundle* mainBundle;
- (NSString*)pathForResource:(NSString*)name ofType:(NSString*)extension;
@end
@interface NSFileManager : NSObject
@property(class, readonly) NSFileManager* defaultManager;
- (BOOL)moveItemAtURL:(NSURL*)from toURL:(NSURL*)to error:(NSError**)error;
- (BOOL)setAttributes:(NSDictionary<NSString*, id>*)attributes
         ofItemAtPath:(NSString*)path
                error:(NSError**)error;
@end
extern NSString* const NSURLIsExcludedFromBackupKey;
extern NSString* const NSFileProtectionKey;
extern NSString* const NSFileProtectionCompleteUntilFirstUserAuthentication;
constexpr NSUInteger NSCachesDirectory = 13;
constexpr NSUInteger NSUserDomainMask = 1;
NSArray<NSString*>* NSSearchPathForDirectoriesInDomains(NSUInteger folder, NSUInteger domains,
                                                        BOOL expands);

enum MLMultiArrayDataType : NSInteger {
  MLMultiArrayDataTypeDouble = 0x10000 | 64,
  MLMultiArrayDataTypeFloat32 = 0x10000 | 32,
  MLMultiArrayDataTypeFloat16 API_AVAILABLE(macos(12.0), ios(16.0)) = 0x10000 | 16,
  MLMultiArrayDataTypeInt32 = 0x20000 | 32,
};
enum MLFeatureType : NSInteger { MLFeatureTypeMultiArray = 5 };
enum MLMultiArrayShapeConstraintType : NSInteger {
  MLMultiArrayShapeConstraintTypeUnspecified = 1,
  MLMultiArrayShapeConstraintTypeEnumerated = 2,
  MLMultiArrayShapeConstraintTypeRange = 3,
};
enum MLComputeUnits : NSInteger {
  MLComputeUnitsCPUOnly,
  MLComputeUnitsCPUAndGPU,
  MLComputeUnitsAll,
  MLComputeUnitsCPUAndNeuralEngine API_AVAILABLE(macos(13.0), ios(16.0)),
};

@interface MLMultiArray : NSObject
- (instancetype)initWithDataPointer:(void*)data
                              shape:(NSArray<NSNumber*>*)shape
                           dataType:(MLMultiArrayDataType)dtype
                            strides:(NSArray<NSNumber*>*)strides
                        deallocator:(void (^)(void* bytes))deallocator
                              error:(NSError**)error;
@property(readonly) MLMultiArrayDataType dataType;
@property(readonly) NSArray<NSNumber*>* shape;
@property(readonly) NSArray<NSNumber*>* strides;
@property(readonly) void* dataPointer;
- (void)getBytesWithHandler:(void (^)(const void* bytes, NSInteger size))handler
    API_AVAILABLE(macos(12.3), ios(15.4));
@end
@interface MLMultiArrayShapeConstraint : NSObject
@property(readonly) MLMultiArrayShapeConstraintType type;
@property(readonly) NSArray<NSValue*>* sizeRangeForDimension;
@property(readonly) NSArray<NSArray<NSNumber*>*>* enumeratedShapes;
@end
@interface MLMultiArrayConstraint : NSObject
@property(readonly) NSArray<NSNumber*>* shape;
@property(readonly) MLMultiArrayDataType dataType;
@property(readonly) MLMultiArrayShapeConstraint* shapeConstraint;
@end
@interface MLFeatureDescription : NSObject
@property(readonly) NSString* name;
@property(readonly) MLFeatureType type;
@property(readonly) MLMultiArrayConstraint* multiArrayConstraint;
@end
@interface MLModelDescription : NSObject
@property(readonly) NSDictionary<NSString*, MLFeatureDescription*>* inputDescriptionsByName;
@property(readonly) NSDictionary<NSString*, MLFeatureDescription*>* outputDescriptionsByName;
@property(readonly)
    NSDictionary<NSString*, MLFeatureDescription*>* stateDescriptionsByName API_AVAILABLE(
        macos(15.0), ios(18.0));
@end
@interface MLFeatureValue : NSObject
+ (instancetype)featureValueWithMultiArray:(MLMultiArray*)array;
@property(readonly) MLMultiArray* multiArrayValue;
@end
@protocol MLFeatureProvider
- (MLFeatureValue*)featureValueForName:(NSString*)name;
@end
@interface MLDictionaryFeatureProvider : NSObject <MLFeatureProvider>
- (instancetype)initWithDictionary:(NSDictionary<NSString*, id>*)values error:(NSError**)error;
@end
@interface MLPredictionOptions : NSObject
@property(copy) NSDictionary<NSString*, id>* outputBackings API_AVAILABLE(macos(11.0), ios(16.0));
@end
@interface MLModelConfiguration : NSObject
@property MLComputeUnits computeUnits;
@property(copy) NSString* functionName API_AVAILABLE(macos(15.0), ios(18.0));
@end
API_AVAILABLE(macos(15.0), ios(18.0))
@interface MLState : NSObject
@end
@interface MLModel : NSObject
+ (void)compileModelAtURL:(NSURL*)url
        completionHandler:(void (^)(NSURL* compiled, NSError* error))handler
    API_AVAILABLE(macos(13.0), ios(16.0));
+ (NSURL*)compileModelAtURL:(NSURL*)url
                      error:(NSError**)error
    API_DEPRECATED("Use compileModelAtURL:completionHandler:", macos(10.13, 13.0), ios(11.0, 16.0));
+ (instancetype)modelWithContentsOfURL:(NSURL*)url
                         configuration:(MLModelConfiguration*)configuration
                                 error:(NSError**)error;
@property(readonly) MLModelDescription* modelDescription;
- (MLState*)newState API_AVAILABLE(macos(15.0), ios(18.0));
- (id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input
                                        options:(MLPredictionOptions*)options
                                          error:(NSError**)error;
- (id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input
                                     usingState:(MLState*)state
                                        options:(MLPredictionOptions*)options
                                          error:(NSError**)error
    API_AVAILABLE(macos(15.0), ios(18.0));
@end

API_AVAILABLE(macos(14.0), ios(17.0))
@protocol MLComputeDeviceProtocol <NSObject>
@end
API_AVAILABLE(macos(14.0), ios(17.0))
@interface MLGPUComputeDevice : NSObject <MLComputeDeviceProtocol>
@end
API_AVAILABLE(macos(14.0), ios(17.0))
@interface MLNeuralEngineComputeDevice : NSObject <MLComputeDeviceProtocol>
@end
API_AVAILABLE(macos(14.4), ios(17.4))
@interface MLModelStructureProgramNamedValueType : NSObject
@property(readonly) NSString* name;
@end
API_AVAILABLE(macos(14.4), ios(17.4))
@interface MLModelStructureProgramOperation : NSObject
@property(readonly) NSString* operatorName;
@property(readonly) NSArray<MLModelStructureProgramNamedValueType*>* outputs;
@end
API_AVAILABLE(macos(14.4), ios(17.4))
@interface MLModelStructureProgramBlock : NSObject
@property(readonly) NSArray<MLModelStructureProgramOperation*>* operations;
@end
API_AVAILABLE(macos(14.4), ios(17.4))
@interface MLModelStructureProgramFunction : NSObject
@property(readonly) MLModelStructureProgramBlock* block;
@end
API_AVAILABLE(macos(14.4), ios(17.4))
@interface MLModelStructureProgram : NSObject
@property(readonly) NSDictionary<NSString*, MLModelStructureProgramFunction*>* functions;
@end
API_AVAILABLE(macos(14.4), ios(17.4))
@interface MLModelStructure : NSObject
@property(readonly) MLModelStructureProgram* program;
@end
API_AVAILABLE(macos(14.4), ios(17.4))
@interface MLComputePlanCost : NSObject
@property(readonly) double weight;
@end
API_AVAILABLE(macos(14.4), ios(17.4))
@interface MLComputePlanDeviceUsage : NSObject
@property(readonly) NSArray<id<MLComputeDeviceProtocol>>* supportedComputeDevices;
@property(readonly) id<MLComputeDeviceProtocol> preferredComputeDevice;
@end
API_AVAILABLE(macos(14.4), ios(17.4))
@interface MLComputePlan : NSObject
+ (void)loadContentsOfURL:(NSURL*)url
            configuration:(MLModelConfiguration*)configuration
        completionHandler:(void (^)(MLComputePlan* plan, NSError* error))handler;
@property(readonly) MLModelStructure* modelStructure;
- (MLComputePlanCost*)estimatedCostOfMLProgramOperation:(MLModelStructureProgramOperation*)one;
- (MLComputePlanDeviceUsage*)computeDeviceUsageForMLProgramOperation:
    (MLModelStructureProgramOperation*)one;
@end
