// SPDX-License-Identifier: BSD-3-Clause
// A small Llama generates, stops, forgets; what test/programs.py made it answer is in answers.properties.
package org.pytorch.executorch.extension.llm;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.pytorch.executorch.TestPrograms.path;

import java.io.InputStreamReader;
import java.io.FileInputStream;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.Test;
import org.pytorch.executorch.ExecutorchRuntimeException;
import org.pytorch.executorch.Module;

public class LlmModuleTest {
  private static final String PROMPT = "The quick";

  private static LlmModule load() {
    return new LlmModule(path("llama/llama.pte"), path("llama/tokenizer.json"), 0f);
  }

  private static String generate(LlmModule module, String prompt, LlmGenerationConfig config) {
    StringBuilder text = new StringBuilder();
    module.generate(prompt, config, text::append);
    return text.toString();
  }

  private static LlmGenerationConfig greedy(int tokens) {
    return LlmGenerationConfig.create().temperature(0f).maxNewTokens(tokens).echo(false).build();
  }

  @Test
  public void answersAsTheModelDoes() throws Exception {
    Properties answers = new Properties();
    try (Reader file = new InputStreamReader(new FileInputStream(path("answers.properties")), StandardCharsets.UTF_8)) {
      answers.load(file);
    }
    try (LlmModule module = load()) {
      module.load();
      for (String prompt : answers.stringPropertyNames()) {
        module.resetContext();
        assertEquals(answers.getProperty(prompt), generate(module, prompt, greedy(16)));
      }
    }
  }

  @Test
  public void theTemperatureOfACallWins() {
    LlmGenerationConfig config = LlmGenerationConfig.create().temperature(0f).maxNewTokens(12).echo(false).build();
    try (LlmModule cold = load();
        LlmModule warm = new LlmModule(path("llama/llama.pte"), path("llama/tokenizer.json"), 2f)) {
      assertEquals(generate(cold, PROMPT, config), generate(warm, PROMPT, config));
      warm.resetContext();
      StringBuilder text = new StringBuilder();
      warm.generate(PROMPT, 24, text::append, false); // of the module, which is 2
      cold.resetContext();
      StringBuilder greedy = new StringBuilder();
      cold.generate(PROMPT, 24, greedy::append, false);
      assertFalse(greedy.toString().equals(text.toString()));
    }
  }

  @Test
  public void answersKeepASchemaAndASeedRepeatsThem() {
    LlmGenerationConfig.Builder hot = LlmGenerationConfig.create().temperature(1.5f).maxNewTokens(40).echo(false);
    String schema =
        "{\"type\":\"object\",\"properties\":{\"sure\":{\"type\":\"boolean\"}},\"required\":[\"sure\"],\"additionalProperties\":false}";
    try (LlmModule module = load()) {
      String json = generate(module, PROMPT, hot.seed(7).jsonSchema(schema).build());
      assertTrue(json, json.replace("<|im_end|>", "").matches("\\s*\\{\\s*\"sure\"\\s*:\\s*(true|false)\\s*\\}\\s*"));
      String[] texts = new String[3];
      for (int i = 0; i < texts.length; ++i) {
        module.resetContext();
        texts[i] = generate(module, PROMPT, hot.jsonSchema("").seed(i < 2 ? 1 : 2).build());
      }
      assertEquals(texts[0], texts[1]);
      assertFalse(texts[0].equals(texts[2]));
      assertThrows(
          ExecutorchRuntimeException.class, () -> generate(module, PROMPT, hot.jsonSchema("{no schema").build()));
    }
  }

  @Test
  public void tokensThatBeginATextComeOnceInAContext() {
    String program = path("llama/llama.pte");
    String tokenizer = path("llama/tokenizer.json");
    try (LlmModule once = new LlmModule(1, program, tokenizer, 0f, "", 1, 0);
        LlmModule given = load()) {
      LlmGenerationConfig first = LlmGenerationConfig.create().temperature(0f).maxNewTokens(4).numBos(1).echo(false).build();
      for (int round = 0; round < 2; ++round) {
        assertEquals(generate(given, PROMPT, first), generate(once, PROMPT, greedy(4)));
        assertEquals(generate(given, PROMPT, greedy(4)), generate(once, PROMPT, greedy(4)));
        given.resetContext();
        once.resetContext();
      }
    }
  }

  @Test
  public void afterAResetItIsAsNew() {
    try (LlmModule module = load()) {
      String first = generate(module, PROMPT, greedy(12));
      generate(module, "something else", greedy(4));
      module.resetContext();
      assertEquals(first, generate(module, PROMPT, greedy(12)));
    }
  }

  @Test
  public void allFormsOfGenerate() {
    try (LlmModule module = load()) {
      StringBuilder text = new StringBuilder();
      AtomicReference<String> stats = new AtomicReference<>("");
      LlmCallback callback =
          new LlmCallback() {
            @Override
            public void onResult(String result) {
              text.append(result);
            }

            @Override
            public void onStats(String json) {
              stats.set(json);
            }
          };
      module.generate(PROMPT, 24, callback);
      assertTrue("the prompt is echoed", text.toString().startsWith(PROMPT));
      assertTrue(stats.get(), stats.get().contains("\"generated_tokens\""));
      text.setLength(0);
      module.resetContext();
      module.generate(PROMPT, 24, callback, false, 0f, 0, 0);
      assertFalse(text.toString().startsWith(PROMPT));
      module.resetContext();
      module.generate(PROMPT, callback, false);
      module.resetContext();
      module.generate(PROMPT, callback);
      text.setLength(0);
      stats.set("");
      module.resetContext();
      module.generate(PROMPT, LlmGenerationConfig.create().warming(true).maxNewTokens(2).build(), callback);
      assertEquals("nobody reads a warm-up", "", text + stats.get());
      module.resetContext();
      module.prefillPrompt(PROMPT);
      module.generate("", greedy(2), callback);
    }
  }

  @Test
  public void stopsFromTheCallback() {
    try (LlmModule module = load()) {
      AtomicInteger pieces = new AtomicInteger();
      module.generate(
          PROMPT,
          greedy(100),
          result -> {
            if (pieces.incrementAndGet() == 3) {
              module.stop();
            }
          });
      assertEquals(3, pieces.get());
    }
  }

  @Test
  public void stopsFromAnotherThreadAndIdle() throws Exception {
    try (LlmModule module = load()) {
      module.stop(); // nothing runs: no effect on what follows
      CountDownLatch begun = new CountDownLatch(1);
      AtomicInteger pieces = new AtomicInteger();
      Thread stopper =
          new Thread(
              () -> {
                try {
                  begun.await();
                } catch (InterruptedException ignored) {
                  return;
                }
                module.stop();
              });
      stopper.start();
      module.generate(
          PROMPT,
          greedy(100),
          result -> {
            pieces.incrementAndGet();
            begun.countDown();
            try {
              stopper.join();
            } catch (InterruptedException ignored) {
              Thread.currentThread().interrupt();
            }
          });
      assertEquals(1, pieces.get());
      module.resetContext();
      assertFalse(generate(module, PROMPT, greedy(8)).isEmpty());
    }
  }

  @Test
  public void whatTheCallbackMayNotDo() {
    try (LlmModule module = load()) {
      AtomicReference<Throwable> error = new AtomicReference<>();
      module.generate(
          PROMPT, greedy(1), result -> error.set(assertThrows(IllegalStateException.class, module::resetContext)));
      assertEquals("Cannot call LlmModule methods from within a callback", error.get().getMessage());
      RuntimeException mine = new RuntimeException("mine");
      AtomicInteger pieces = new AtomicInteger();
      Throwable thrown =
          assertThrows(
              RuntimeException.class,
              () ->
                  module.generate(
                      PROMPT,
                      greedy(50),
                      result -> {
                        pieces.incrementAndGet();
                        throw mine;
                      }));
      assertSame(mine, thrown);
      assertEquals(1, pieces.get());
    }
  }

  @Test
  public void aCallbackMayRunOtherModules() {
    try (LlmModule llm = load()) {
      AtomicReference<Float> sum = new AtomicReference<>();
      llm.generate(
          PROMPT,
          greedy(1),
          result -> {
            // Asks for another number of threads while this one runs a method.
            try (Module module = Module.load(path("add.pte"), Module.LOAD_MODE_FILE, 3)) {
              sum.set(module.forward()[0].toTensor().getDataAsFloatArray()[0]);
            }
          });
      assertEquals(2f, sum.get(), 0);
    }
  }

  @Test
  public void closingWhileItGenerates() throws Exception {
    LlmModule module = load();
    AtomicReference<Throwable> error = new AtomicReference<>();
    module.generate(
        PROMPT,
        greedy(1),
        result -> {
          Thread closer = new Thread(() -> error.set(assertThrows(IllegalStateException.class, module::close)));
          closer.start();
          try {
            closer.join();
          } catch (InterruptedException ignored) {
            Thread.currentThread().interrupt();
          }
        });
    assertTrue(error.get().getMessage(), error.get().getMessage().contains("generating"));
    module.close();
    module.close();
    module.stop();
    assertEquals(
        "LlmModule has been destroyed", assertThrows(IllegalStateException.class, module::load).getMessage());
  }

  @Test
  public void twoThreadsWaitForEachOther() throws Exception {
    try (LlmModule module = load()) {
      Runnable call = () -> assertFalse(generate(module, "a", greedy(8)).isEmpty());
      AtomicReference<Throwable> error = new AtomicReference<>();
      Thread other = new Thread(call);
      other.setUncaughtExceptionHandler((thread, thrown) -> error.set(thrown));
      other.start();
      call.run();
      other.join();
      assertEquals(null, error.get());
    }
  }

  @Test
  public void errorsGoToTheCallbackAndAreThrown() {
    try (LlmModule module = load()) {
      StringBuilder prompt = new StringBuilder();
      for (int i = 0; i < 400; ++i) {
        prompt.append("fox ");
      }
      AtomicInteger code = new AtomicInteger();
      LlmCallback callback =
          new LlmCallback() {
            @Override
            public void onResult(String result) {}

            @Override
            public void onError(int errorCode, String message) {
              code.set(errorCode);
            }
          };
      ExecutorchRuntimeException error =
          assertThrows(
              ExecutorchRuntimeException.class, () -> module.generate(prompt.toString(), greedy(4), callback));
      assertEquals(ExecutorchRuntimeException.INVALID_ARGUMENT, code.get());
      assertTrue(error.getMessage(), error.getMessage().contains("Failed to generate"));
    }
  }

  @Test
  public void wrongFilesAndConfigurations() {
    assertThrows(
        IllegalArgumentException.class, () -> new LlmModule(path("none.pte"), path("llama/tokenizer.json"), 0f));
    assertThrows(
        IllegalArgumentException.class, () -> new LlmModule(path("llama/llama.pte"), path("none.json"), 0f));
    assertThrows(
        ExecutorchRuntimeException.class, () -> new LlmModule(path("add.pte"), path("llama/tokenizer.json"), 0f));
    assertThrows(ExecutorchRuntimeException.class, () -> new LlmModule(path("llama/llama.pte"), path("add.pte"), 0f));
    assertEquals(
        "Module path and tokenizer path are required",
        assertThrows(IllegalArgumentException.class, () -> LlmModuleConfig.create().build()).getMessage());
    assertEquals(
        "Unknown load mode: 9",
        assertThrows(
                IllegalArgumentException.class,
                () -> LlmModuleConfig.create().modulePath("a").tokenizerPath("b").loadMode(9).build())
            .getMessage());
    LlmModuleConfig config =
        LlmModuleConfig.create()
            .modulePath(path("llama/llama.pte"))
            .tokenizerPath(path("llama/tokenizer.json"))
            .temperature(0f)
            .build();
    try (LlmModule module = new LlmModule(config)) {
      assertFalse(generate(module, PROMPT, greedy(4)).isEmpty());
    }
  }

  @Test
  public void buffersOfImagesAreChecked() {
    try (LlmModule module = load()) {
      ByteBuffer heap = ByteBuffer.allocate(12);
      ByteBuffer direct = ByteBuffer.allocateDirect(12).order(ByteOrder.nativeOrder());
      String[] messages = {
        assertThrows(IllegalArgumentException.class, () -> module.prefillImages(heap, 2, 2, 3)).getMessage(),
        assertThrows(IllegalArgumentException.class, () -> module.prefillImages(direct, 2, 3, 3)).getMessage(),
        assertThrows(IllegalArgumentException.class, () -> module.prefillImages(direct, 0, 2, 3)).getMessage(),
        assertThrows(IllegalArgumentException.class, () -> module.prefillNormalizedImage(direct, 2, 2, 3)).getMessage(),
      };
      assertEquals("Input ByteBuffer must be direct.", messages[0]);
      assertEquals("ByteBuffer remaining (12) must be at least width*height*channels (18).", messages[1]);
      assertTrue(messages[2], messages[2].contains("positive"));
      assertEquals("ByteBuffer remaining (3) must be at least width*height*channels (12).", messages[3]);
      // A model of text takes no image.
      ExecutorchRuntimeException error =
          assertThrows(ExecutorchRuntimeException.class, () -> module.prefillImages(direct, 2, 2, 3));
      assertTrue(error.getMessage(), error.getMessage().contains("Prefill failed"));
      assertEquals(0, direct.position());
    }
  }
}
