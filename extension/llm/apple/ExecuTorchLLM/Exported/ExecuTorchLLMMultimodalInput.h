// SPDX-License-Identifier: BSD-3-Clause
// Inputs of multimodal models: text, an image, features of sound.
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

/// Pixels, channels first: bytes or floats.
__attribute__((objc_subclassing_restricted))
@interface ExecuTorchLLMImage : NSObject {
 @private
  NSData* _data;
  NSInteger _width, _height, _channels;
  BOOL _isFloat;
}
@property(nonatomic, readonly) NSData* data;
@property(nonatomic, readonly) NSInteger width;
@property(nonatomic, readonly) NSInteger height;
@property(nonatomic, readonly) NSInteger channels;
@property(nonatomic, readonly) BOOL isFloat;
- (instancetype)initWithData:(NSData*)data
                       width:(NSInteger)width
                      height:(NSInteger)height
                    channels:(NSInteger)channels;
- (instancetype)initWithFloatData:(NSData*)data
                            width:(NSInteger)width
                           height:(NSInteger)height
                         channels:(NSInteger)channels;
@end

__attribute__((objc_subclassing_restricted))
@interface ExecuTorchLLMAudio : NSObject {
 @private
  NSData* _data;
  NSInteger _batchSize, _bins, _frames;
  BOOL _isFloat;
}
@property(nonatomic, readonly) NSData* data;
@property(nonatomic, readonly) NSInteger batchSize;
@property(nonatomic, readonly) NSInteger bins;
@property(nonatomic, readonly) NSInteger frames;
@property(nonatomic, readonly) BOOL isFloat;
- (instancetype)initWithData:(NSData*)data
                   batchSize:(NSInteger)batchSize
                        bins:(NSInteger)bins
                      frames:(NSInteger)frames;
- (instancetype)initWithFloatData:(NSData*)data
                        batchSize:(NSInteger)batchSize
                             bins:(NSInteger)bins
                           frames:(NSInteger)frames;
@end

typedef NS_ENUM(NSInteger, ExecuTorchLLMMultimodalInputType) {
  ExecuTorchLLMMultimodalInputTypeText = 0,
  ExecuTorchLLMMultimodalInputTypeImage = 1,
  ExecuTorchLLMMultimodalInputTypeAudio = 2,
  ExecuTorchLLMMultimodalInputTypeUnsupported = 3,
};

__attribute__((objc_subclassing_restricted))
@interface ExecuTorchLLMMultimodalInput : NSObject {
 @private
  ExecuTorchLLMMultimodalInputType _type;
  id _content;
}
@property(nonatomic, readonly) ExecuTorchLLMMultimodalInputType type;
@property(nonatomic, readonly, nullable) NSString* text;
@property(nonatomic, readonly, nullable) ExecuTorchLLMImage* image;
@property(nonatomic, readonly, nullable) ExecuTorchLLMAudio* audio;
+ (instancetype)inputWithText:(NSString*)text;
+ (instancetype)inputWithImage:(ExecuTorchLLMImage*)image;
+ (instancetype)inputWithAudio:(ExecuTorchLLMAudio*)audio;
@end

NS_ASSUME_NONNULL_END
