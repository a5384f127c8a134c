// SPDX-License-Identifier: BSD-3-Clause
// What only callers in Kotlin see: names of arguments, defaults, properties.
package org.pytorch.executorch

import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Test
import org.pytorch.executorch.TestPrograms.floats
import org.pytorch.executorch.TestPrograms.path
import org.pytorch.executorch.extension.asr.AsrTranscribeConfig
import org.pytorch.executorch.extension.llm.LlmGenerationConfig

class KotlinCallersTest {
  @Test
  fun argumentsByName() {
    Module.load(modelPath = path("add.pte"), loadMode = Module.LOAD_MODE_MMAP).use { module ->
      val sum = module.forward(floats(1f), floats(20f))[0].toTensor()
      assertArrayEquals(floatArrayOf(21f), sum.dataAsFloatArray, 0f)
    }
    Module.load(modelPath = path("add.pte"), numThreads = 1).close()
  }

  @Test
  fun properties() {
    val config = LlmGenerationConfig.create().echo(false).seqLen(7).build()
    assertFalse(config.echo)
    assertEquals(7, config.seqLen)
    assertEquals(64, AsrTranscribeConfig(maxNewTokens = 64).copy(temperature = 1f).maxNewTokens)
    assertEquals(3, EValue.from(3L).toInt())
    assertEquals(0x12, ExecutorchRuntimeException(0x12, "x").errorCode)
  }
}
