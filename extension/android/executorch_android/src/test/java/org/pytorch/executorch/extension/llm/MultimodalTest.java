// SPDX-License-Identifier: BSD-3-Clause
// Images and sound before a prompt; what eager PyTorch answers is in multimodal/answers.properties (test/programs.py).
package org.pytorch.executorch.extension.llm;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.pytorch.executorch.TestPrograms.direct;
import static org.pytorch.executorch.TestPrograms.path;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Properties;
import org.junit.Test;
import org.pytorch.executorch.ExecutorchRuntimeException;

public class MultimodalTest {
  private static final String BEFORE = "The quick";
  private static final String AFTER = " fox?";
  private static final int TOKENS = 16;
  private static final int SIZE = 8; // of the image, which has three channels

  private static LlmModule load(String program) {
    String tokenizer = path("llama/tokenizer.json");
    return new LlmModule(LlmModule.MODEL_TYPE_MULTIMODAL, path("multimodal/" + program), tokenizer, 0f);
  }

  private static ByteBuffer bytes(String file) throws IOException {
    return direct("multimodal/" + file).order(ByteOrder.nativeOrder());
  }

  private static float[] floats(String file) throws IOException {
    ByteBuffer bytes = bytes(file);
    float[] values = new float[bytes.remaining() / 4];
    bytes.asFloatBuffer().get(values);
    return values;
  }

  private static String expected(String name) throws IOException {
    Properties answers = new Properties();
    try (InputStream file = new FileInputStream(path("multimodal/answers.properties"))) {
      answers.load(file);
    }
    return answers.getProperty(name);
  }

  private static String answer(LlmModule module) {
    StringBuilder text = new StringBuilder();
    module.generate(
        AFTER,
        LlmGenerationConfig.create().temperature(0f).maxNewTokens(TOKENS).echo(false).build(),
        text::append);
    return text.toString();
  }

  @Test
  public void textAnImageAndSound() throws IOException {
    try (LlmModule module = load("floats.pte")) {
      module.load();
      module.prefillPrompt(BEFORE);
      assertEquals(expected("text"), answer(module));
      module.resetContext();
      module.prefillPrompt(BEFORE);
      module.prefillNormalizedImage(bytes("image.floats"), SIZE, SIZE, 3);
      module.prefillAudio(floats("sound.floats"), 1, 4, 6);
      assertEquals(expected("all"), answer(module));
      module.resetContext();
      module.prefillPrompt(BEFORE);
      module.prefillImages(floats("image.floats"), SIZE, SIZE, 3);
      module.prefillAudio(floats("sound.floats"), 1, 4, 6);
      assertEquals(expected("all"), answer(module));
    }
  }

  @Test
  public void imagesOfBytes() throws IOException {
    ByteBuffer image = bytes("image.bytes");
    int[] colors = new int[image.remaining()];
    for (int i = 0; i < colors.length; ++i) {
      colors[i] = image.get(i) & 255;
    }
    try (LlmModule module = load("bytes.pte")) {
      module.prefillImages(colors, SIZE, SIZE, 3);
      assertEquals(expected("bytes"), answer(module));
      module.resetContext();
      ByteBuffer behind = ByteBuffer.allocateDirect(5 + colors.length);
      behind.position(5);
      behind.put(image.duplicate()).position(5);
      module.prefillImages(behind, SIZE, SIZE, 3);
      assertEquals(5, behind.position());
      assertEquals(expected("bytes"), answer(module));
      module.resetContext();
      StringBuilder text = new StringBuilder();
      int length = 4 + TOKENS; // the image has four rows, the prompt is a part of the others
      module.generate(colors, SIZE, SIZE, 3, AFTER, length, text::append, false, 0f);
      String whole = text.toString().replaceAll("\ufffd+$", ""); // it may end within a character
      assertTrue(whole, whole.length() > 3 && expected("bytes").startsWith(whole));
    }
  }

  @Test
  public void whatTheModelDoesNotTake() throws IOException {
    try (LlmModule module = load("floats.pte")) {
      Throwable[] errors = {
        assertThrows(
            ExecutorchRuntimeException.class, () -> module.prefillImages(bytes("image.bytes"), SIZE, SIZE, 3)),
        assertThrows(ExecutorchRuntimeException.class, () -> module.prefillAudio(new byte[24], 1, 4, 6)),
        assertThrows(ExecutorchRuntimeException.class, () -> module.prefillRawAudio(new byte[8], 1, 2, 4)),
      };
      String[] sentences = {
        "vision_encoder: expected values of dtype 6, got 0",
        "audio_encoder: expected values of dtype 6, got 0",
        "Expected text, tokens, image or audio, got raw_audio: process it before",
      };
      for (int i = 0; i < errors.length; ++i) {
        String message = errors[i].getMessage();
        assertTrue(message, message.contains("Prefill failed") && message.contains(sentences[i]));
      }
    }
  }
}
