// SPDX-License-Identifier: BSD-3-Clause
// The runners of Objective-C with GNUstep's Foundation: arguments are a program, its tokenizer, a
// prompt. Prints the 16 best tokens behind it, twice, and what errors and limits say.
#import "ExecuTorchLLM.h"

#include <stdio.h>
#include <unistd.h>

#pragma clang diagnostic ignored "-Wdeprecated-declarations"

int main(int argc, const char* argv[]) {
  @autoreleasepool {
    NSString* prompt = [NSString stringWithUTF8String:argv[3]];
    NSError* error = nil;
    ExecuTorchLLMTextRunner* runner =
        [[ExecuTorchLLMTextRunner alloc] initWithModelPath:[NSString stringWithUTF8String:argv[1]]
                                             tokenizerPath:[NSString stringWithUTF8String:argv[2]]];
    ExecuTorchLLMConfig* config =
        [[ExecuTorchLLMConfig alloc] initWithBlock:^(ExecuTorchLLMConfig* c) {
          c.temperature = 0;
          c.maximumNewTokens = 16;
          c.echoEnabled = NO;
        }];
    for (int turn = 0; turn < 2; ++turn) {
      NSMutableString* text = [NSMutableString string];
      BOOL done = [runner generateWithPrompt:prompt
                                      config:[config copy]
                               tokenCallback:^(NSString* token) {
                                 [text appendString:token];
                               }
                                       error:&error];
      printf("%s\n---\n", done ? text.UTF8String : error.localizedDescription.UTF8String);
      [runner reset];
    }
    config.sequenceLength = 1;
    BOOL fits = [runner generateWithPrompt:prompt config:config tokenCallback:nil error:&error];
    printf("%d %s\n", fits, error.localizedDescription.UTF8String);
    ExecuTorchLLMImage* image = [[ExecuTorchLLMImage alloc] initWithData:[NSData data]
                                                                   width:1
                                                                  height:1
                                                                channels:3];
    NSArray* inputs = @[
      [ExecuTorchLLMMultimodalInput inputWithText:prompt],
      [ExecuTorchLLMMultimodalInput inputWithImage:image]
    ];
    ExecuTorchLLMMultimodalRunner* both =
        [[ExecuTorchLLMMultimodalRunner alloc] initWithModelPath:@"/nowhere/model.pte"
                                                   tokenizerPath:@""];
    BOOL taken = [both generateWithInputs:inputs config:config tokenCallback:nil error:&error];
    printf("%d %s\n%s\n", taken, error.localizedDescription.UTF8String, error.domain.UTF8String);
    fflush(stdout);
    _exit(0);
  }
}
