// SPDX-License-Identifier: BSD-3-Clause
// A program whose methods run, and what it says about them.
#import "ExecuTorchBackendOptionsMap.h"
#import "ExecuTorchValue.h"

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, ExecuTorchModuleLoadMode) {
  ExecuTorchModuleLoadModeFile = 0,
  ExecuTorchModuleLoadModeMmap = 1,
  ExecuTorchModuleLoadModeMmapUseMlock = 2,
  ExecuTorchModuleLoadModeMmapUseMlockIgnoreErrors = 3,
};

typedef NS_ENUM(uint8_t, ExecuTorchVerification) {
  ExecuTorchVerificationMinimal = 0,
  ExecuTorchVerificationInternalConsistency = 1,
};

__attribute__((objc_subclassing_restricted))
@interface ExecuTorchTensorMetadata : NSObject {
 @private
  NSString* _name;
  NSArray<NSNumber*>* _shape;
  NSArray<NSNumber*>* _dimensionOrder;
  ExecuTorchDataType _dataType;
  BOOL _isMemoryPlanned;
}
@property(nonatomic, readonly) NSString* name;
/// Upper bounds where sizes vary.
@property(nonatomic, readonly) NSArray<NSNumber*>* shape;
@property(nonatomic, readonly) NSArray<NSNumber*>* dimensionOrder;
@property(nonatomic, readonly) ExecuTorchDataType dataType;
@property(nonatomic, readonly) BOOL isMemoryPlanned;
@end

__attribute__((objc_subclassing_restricted))
@interface ExecuTorchMethodMetadata : NSObject {
 @private
  NSString* _name;
  NSArray<NSNumber*>* _inputValueTags;
  NSArray<NSNumber*>* _outputValueTags;
  NSDictionary<NSNumber*, ExecuTorchTensorMetadata*>* _inputTensorMetadata;
  NSDictionary<NSNumber*, ExecuTorchTensorMetadata*>* _outputTensorMetadata;
  NSArray<ExecuTorchTensorMetadata*>* _attributeTensorMetadata;
  NSArray<NSNumber*>* _memoryPlannedBufferSizes;
  NSArray<NSString*>* _backendNames;
}
@property(nonatomic, readonly) NSString* name;
@property(nonatomic, readonly) NSArray<NSNumber*>* inputValueTags;
@property(nonatomic, readonly) NSArray<NSNumber*>* outputValueTags;
/// Of inputs that are tensors, by their index.
@property(nonatomic, readonly)
    NSDictionary<NSNumber*, ExecuTorchTensorMetadata*>* inputTensorMetadata;
@property(nonatomic, readonly)
    NSDictionary<NSNumber*, ExecuTorchTensorMetadata*>* outputTensorMetadata;
@property(nonatomic, readonly) NSArray<ExecuTorchTensorMetadata*>* attributeTensorMetadata;
@property(nonatomic, readonly) NSArray<NSNumber*>* memoryPlannedBufferSizes;
@property(nonatomic, readonly) NSArray<NSString*>* backendNames;
@end

/// Nothing is opened before it is needed. One thread at a time: another one's call gets
/// InvalidState. Outputs are copies: they stay as they are when the method runs again.
@interface ExecuTorchModule : NSObject {
 @private
  NSString* _filePath;
  NSArray<NSString*>* _dataFilePaths;
  ExecuTorchModuleLoadMode _loadMode;
  uint64_t _handle;
}

- (instancetype)initWithFilePath:(NSString*)filePath
                   dataFilePaths:(NSArray<NSString*>*)dataFilePaths
                        loadMode:(ExecuTorchModuleLoadMode)loadMode NS_DESIGNATED_INITIALIZER;

/// The program is verified in full in any case, which costs little.
- (BOOL)loadWithVerification:(ExecuTorchVerification)verification
                       error:(NSError* _Nullable* _Nullable)error;
/// Options are of loading: InvalidState if the program is loaded already.
- (BOOL)loadWithOptions:(ExecuTorchBackendOptionsMap*)options
           verification:(ExecuTorchVerification)verification
                  error:(NSError* _Nullable* _Nullable)error;
- (BOOL)isLoaded;
- (BOOL)loadMethod:(NSString*)methodName error:(NSError* _Nullable* _Nullable)error;
- (BOOL)loadMethod:(NSString*)methodName
           options:(ExecuTorchBackendOptionsMap*)options
             error:(NSError* _Nullable* _Nullable)error;
- (BOOL)isMethodLoaded:(NSString*)methodName;
/// Whether the method was loaded. Inputs and outputs that were set go, too.
- (BOOL)unloadMethod:(NSString*)methodName;
- (nullable NSSet<NSString*>*)methodNames:(NSError* _Nullable* _Nullable)error;
- (nullable ExecuTorchMethodMetadata*)methodMetadata:(NSString*)methodName
                                               error:(NSError* _Nullable* _Nullable)error;

- (nullable NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName
                                          withInputs:(NSArray<ExecuTorchValue*>*)values
                                               error:(NSError* _Nullable* _Nullable)error;
- (BOOL)setInput:(ExecuTorchValue*)value
       forMethod:(NSString*)methodName
         atIndex:(NSInteger)index
           error:(NSError* _Nullable* _Nullable)error;
- (BOOL)setInputs:(NSArray<ExecuTorchValue*>*)values
        forMethod:(NSString*)methodName
            error:(NSError* _Nullable* _Nullable)error;
/// Tensors only, where the memory plan leaves the output to the caller.
- (BOOL)setOutput:(ExecuTorchValue*)value
        forMethod:(NSString*)methodName
          atIndex:(NSInteger)index
            error:(NSError* _Nullable* _Nullable)error;

// ---- With fewer arguments: "forward", index 0, one value, tensors
- (nullable NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName
                                           withInput:(ExecuTorchValue*)value
                                               error:(NSError* _Nullable* _Nullable)error;
- (nullable NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName
                                               error:(NSError* _Nullable* _Nullable)error;
- (nullable NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName
                                         withTensors:(NSArray<ExecuTorchTensor*>*)tensors
                                               error:(NSError* _Nullable* _Nullable)error;
- (nullable NSArray<ExecuTorchValue*>*)executeMethod:(NSString*)methodName
                                          withTensor:(ExecuTorchTensor*)tensor
                                               error:(NSError* _Nullable* _Nullable)error;
- (nullable NSArray<ExecuTorchValue*>*)forwardWithInputs:(NSArray<ExecuTorchValue*>*)values
                                                   error:(NSError* _Nullable* _Nullable)error;
- (nullable NSArray<ExecuTorchValue*>*)forwardWithInput:(ExecuTorchValue*)value
                                                  error:(NSError* _Nullable* _Nullable)error;
- (nullable NSArray<ExecuTorchValue*>*)forward:(NSError* _Nullable* _Nullable)error;
- (nullable NSArray<ExecuTorchValue*>*)forwardWithTensors:(NSArray<ExecuTorchTensor*>*)tensors
                                                    error:(NSError* _Nullable* _Nullable)error;
- (nullable NSArray<ExecuTorchValue*>*)forwardWithTensor:(ExecuTorchTensor*)tensor
                                                   error:(NSError* _Nullable* _Nullable)error;
- (BOOL)setInput:(ExecuTorchValue*)value error:(NSError* _Nullable* _Nullable)error;
- (BOOL)setInput:(ExecuTorchValue*)value
         atIndex:(NSInteger)index
           error:(NSError* _Nullable* _Nullable)error;
- (BOOL)setInput:(ExecuTorchValue*)value
       forMethod:(NSString*)methodName
           error:(NSError* _Nullable* _Nullable)error;
- (BOOL)setOutput:(ExecuTorchValue*)value error:(NSError* _Nullable* _Nullable)error;
- (BOOL)setOutput:(ExecuTorchValue*)value
          atIndex:(NSInteger)index
            error:(NSError* _Nullable* _Nullable)error;
- (BOOL)setOutput:(ExecuTorchValue*)value
        forMethod:(NSString*)methodName
            error:(NSError* _Nullable* _Nullable)error;
- (BOOL)setInputs:(NSArray<ExecuTorchValue*>*)values error:(NSError* _Nullable* _Nullable)error;
- (instancetype)initWithFilePath:(NSString*)filePath
                   dataFilePaths:(NSArray<NSString*>*)dataFilePaths;
- (instancetype)initWithFilePath:(NSString*)filePath loadMode:(ExecuTorchModuleLoadMode)loadMode;
- (instancetype)initWithFilePath:(NSString*)filePath;
- (BOOL)load:(NSError* _Nullable* _Nullable)error;
- (BOOL)loadWithOptions:(ExecuTorchBackendOptionsMap*)options
                  error:(NSError* _Nullable* _Nullable)error;

+ (instancetype)new NS_UNAVAILABLE;
- (instancetype)init NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END
