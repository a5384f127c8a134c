// SPDX-License-Identifier: BSD-3-Clause
// Speech to text by a model that says the same whatever it hears.
package org.pytorch.executorch.extension.asr;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.pytorch.executorch.TestPrograms.path;

import org.junit.Test;
import org.pytorch.executorch.ExecutorchRuntimeException;

public class AsrModuleTest {
  private static final String SPOKEN = "hello wörld 😀";

  private static AsrModule load() {
    return new AsrModule(path("speech.pte"), path("llama/tokenizer.json"));
  }

  @Test
  public void transcribes() {
    try (AsrModule module = load()) {
      assertTrue(module.isValid());
      assertFalse(module.isLoaded());
      assertEquals(0, module.load());
      assertTrue(module.isLoaded());
      StringBuilder pieces = new StringBuilder();
      String text = module.transcribe(path("sound.wav"), null, pieces::append);
      assertEquals(text, pieces.toString());
      assertTrue(text, text.replace("<|im_end|>", "").trim().equals(SPOKEN));
      AsrTranscribeConfig few = new AsrTranscribeConfig.Builder().setMaxNewTokens(2).build();
      assertTrue(module.transcribe(path("sound.wav"), few).length() < SPOKEN.length());
    }
  }

  @Test
  public void wrongFiles() {
    assertThrows(IllegalArgumentException.class, () -> new AsrModule(path("none.pte"), path("llama/tokenizer.json")));
    assertThrows(IllegalArgumentException.class, () -> new AsrModule(path("speech.pte"), path("none.json")));
    AsrModule module = load();
    assertThrows(IllegalArgumentException.class, () -> module.transcribe(path("none.wav")));
    ExecutorchRuntimeException error =
        assertThrows(ExecutorchRuntimeException.class, () -> module.transcribe(path("add.pte")));
    assertTrue(error.getMessage(), error.getMessage().contains("expected a RIFF file of WAVE"));
    module.close();
    module.close();
    assertFalse(module.isValid());
    assertFalse(module.isLoaded());
    assertThrows(IllegalStateException.class, () -> module.transcribe(path("sound.wav")));
  }
}
