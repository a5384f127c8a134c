// SPDX-License-Identifier: BSD-3-Clause
// How speech is transcribed.
package org.pytorch.executorch.extension.asr

/** Kotlin: `AsrTranscribeConfig(maxNewTokens = 64)`; Java: `new AsrTranscribeConfig.Builder().setMaxNewTokens(64).build()`. */
data class AsrTranscribeConfig @JvmOverloads constructor(
  val maxNewTokens: Long = 128,
  /** 0: always the most probable token. */
  val temperature: Float = 0f,
  /** The token that the text begins with. */
  val decoderStartTokenId: Long = 0
) {
  class Builder {
    private var config = AsrTranscribeConfig()

    fun setMaxNewTokens(value: Long): Builder = apply { config = config.copy(maxNewTokens = value) }

    fun setTemperature(value: Float): Builder = apply { config = config.copy(temperature = value) }

    fun setDecoderStartTokenId(value: Long): Builder = apply { config = config.copy(decoderStartTokenId = value) }

    fun build(): AsrTranscribeConfig = config
  }
}
