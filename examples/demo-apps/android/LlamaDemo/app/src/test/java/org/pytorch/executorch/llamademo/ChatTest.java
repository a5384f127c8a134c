// SPDX-License-Identifier: BSD-3-Clause
// The chat with a small Llama, as the screen drives it.
package org.pytorch.executorch.llamademo;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;

public class ChatTest {
  private static final String FOLDER = System.getProperty("executorch.test.programs") + "/llama";

  private static final class Screen implements ChatView {
    final List<String> status = new ArrayList<>();
    final StringBuilder answer = new StringBuilder();
    Runnable onPiece = () -> {};

    @Override
    public void onStatus(String text) {
      status.add(text);
    }

    @Override
    public void onAnswer(String piece) {
      answer.append(piece);
      onPiece.run();
    }

    String last() {
      return status.get(status.size() - 1);
    }
  }

  @Test
  public void loadsAsksStopsAndBeginsAnew() {
    Screen screen = new Screen();
    try (Chat chat = new Chat(screen, 0f)) {
      chat.ask("hello", 8);
      assertEquals("Load a model first.", screen.last());
      ModelFiles files = new ModelFiles(new File(FOLDER));
      assertTrue(files.getTokenizers().contains(FOLDER + "/tokenizer.json"));
      chat.load(files.getModels().get(0), FOLDER + "/tokenizer.json", PromptFormat.CHAT_ML);
      assertEquals("Successfully loaded model.", screen.last());
      chat.ask("hello", 8);
      String first = screen.answer.toString();
      assertFalse(first.isEmpty());
      assertTrue(screen.last(), screen.last().matches("\\d+ tokens.*"));
      chat.clear();
      screen.answer.setLength(0);
      chat.ask("hello", 8);
      assertEquals("a new chat answers as the first", first, screen.answer.toString());
      chat.clear();
      screen.answer.setLength(0);
      screen.onPiece = chat::stop;
      chat.ask("hello", 64);
      assertTrue(first.startsWith(screen.answer.toString()));
    }
  }

  @Test
  public void aFileThatIsNoneIsSaid() {
    Screen screen = new Screen();
    try (Chat chat = new Chat(screen, 0f)) {
      chat.load(FOLDER + "/none.pte", FOLDER + "/tokenizer.json", PromptFormat.NONE);
      assertTrue(screen.last(), screen.last().startsWith("Model load failure: Cannot load model path: path does not exist"));
      chat.load(FOLDER + "/tokenizer.json", FOLDER + "/tokenizer.json", PromptFormat.NONE);
      assertTrue(screen.last(), screen.last().startsWith("Model load failure: [ExecuTorch Error 0x"));
    }
  }

  @Test
  public void formatsAndSpeed() {
    assertEquals("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", PromptFormat.CHAT_ML.prompt("hi"));
    assertTrue(PromptFormat.LLAMA_3.isEnd("<|eot_id|>"));
    assertFalse(PromptFormat.NONE.isEnd(""));
    String stats = "{\"generated_tokens\":20,\"prompt_eval_end_ms\":1000,\"inference_end_ms\":3000}";
    assertEquals("20 tokens, 10.0 tokens/s", Chat.Companion.speed(stats));
    assertEquals("", Chat.Companion.speed("{}"));
  }
}
