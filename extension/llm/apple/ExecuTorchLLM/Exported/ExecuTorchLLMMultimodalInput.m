// SPDX-License-Identifier: BSD-3-Clause
#import "ExecuTorchLLMMultimodalInput.h"

@implementation ExecuTorchLLMImage

@synthesize data = _data;
@synthesize width = _width;
@synthesize height = _height;
@synthesize channels = _channels;
@synthesize isFloat = _isFloat;

- (instancetype)initWithData:(NSData*)data
                       width:(NSInteger)width
                      height:(NSInteger)height
                    channels:(NSInteger)channels {
  if ((self = [super init])) {
    _data = [data copy];
    _width = width;
    _height = height;
    _channels = channels;
  }
  return self;
}

- (instancetype)initWithFloatData:(NSData*)data
                            width:(NSInteger)width
                           height:(NSInteger)height
                         channels:(NSInteger)channels {
  if ((self = [self initWithData:data width:width height:height channels:channels]))
    _isFloat = YES;
  return self;
}

@end

@implementation ExecuTorchLLMAudio

@synthesize data = _data;
@synthesize batchSize = _batchSize;
@synthesize bins = _bins;
@synthesize frames = _frames;
@synthesize isFloat = _isFloat;

- (instancetype)initWithData:(NSData*)data
                   batchSize:(NSInteger)batchSize
                        bins:(NSInteger)bins
                      frames:(NSInteger)frames {
  if ((self = [super init])) {
    _data = [data copy];
    _batchSize = batchSize;
    _bins = bins;
    _frames = frames;
  }
  return self;
}

- (instancetype)initWithFloatData:(NSData*)data
                        batchSize:(NSInteger)batchSize
                             bins:(NSInteger)bins
                           frames:(NSInteger)frames {
  if ((self = [self initWithData:data batchSize:batchSize bins:bins frames:frames]))
    _isFloat = YES;
  return self;
}

@end

@implementation ExecuTorchLLMMultimodalInput

@synthesize type = _type;

- (instancetype)initWithType:(ExecuTorchLLMMultimodalInputType)type content:(id)content {
  if ((self = [super init])) {
    _type = type;
    _content = content;
  }
  return self;
}

+ (instancetype)inputWithText:(NSString*)text {
  return [[self alloc] initWithType:ExecuTorchLLMMultimodalInputTypeText content:[text copy]];
}
+ (instancetype)inputWithImage:(ExecuTorchLLMImage*)image {
  return [[self alloc] initWithType:ExecuTorchLLMMultimodalInputTypeImage content:image];
}
+ (instancetype)inputWithAudio:(ExecuTorchLLMAudio*)audio {
  return [[self alloc] initWithType:ExecuTorchLLMMultimodalInputTypeAudio content:audio];
}

- (NSString*)text {
  return _type == ExecuTorchLLMMultimodalInputTypeText ? _content : nil;
}
- (ExecuTorchLLMImage*)image {
  return _type == ExecuTorchLLMMultimodalInputTypeImage ? _content : nil;
}
- (ExecuTorchLLMAudio*)audio {
  return _type == ExecuTorchLLMMultimodalInputTypeAudio ? _content : nil;
}

@end
