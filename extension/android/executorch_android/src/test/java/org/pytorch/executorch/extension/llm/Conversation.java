// SPDX-License-Identifier: BSD-3-Clause
// Answers each prompt on a line of its own, the last one stopped after five pieces, then the first
// again: usage: Conversation PROGRAM TOKENIZER TOKENS PROMPT...
package org.pytorch.executorch.extension.llm;

import java.util.concurrent.atomic.AtomicInteger;

public final class Conversation {
  private Conversation() {}

  public static void main(String[] words) {
    int tokens = Integer.parseInt(words[2]);
    LlmGenerationConfig config =
        LlmGenerationConfig.create().temperature(0f).maxNewTokens(tokens).echo(false).build();
    try (LlmModule module = new LlmModule(words[0], words[1], 0f)) {
      for (int i = 3; i < words.length; ++i) {
        print(module, words[i], config, Integer.MAX_VALUE);
      }
      print(module, words[words.length - 1], config, 5);
      print(module, words[3], config, Integer.MAX_VALUE);
    }
  }

  private static void print(LlmModule module, String prompt, LlmGenerationConfig config, int pieces) {
    StringBuilder text = new StringBuilder();
    AtomicInteger count = new AtomicInteger();
    module.resetContext();
    module.generate(
        prompt,
        config,
        piece -> {
          text.append(piece);
          if (count.incrementAndGet() == pieces) {
            module.stop();
          }
        });
    System.out.println(text.toString().replace("\\", "\\\\").replace("\n", "\\n"));
  }
}
