// SPDX-License-Identifier: BSD-3-Clause
// How a text is generated.
package org.pytorch.executorch.extension.llm

/** Made by [create]: `LlmGenerationConfig.create().seqLen(64).temperature(0f).build()`. */
class LlmGenerationConfig private constructor(builder: Builder) {
  /** The prompt goes to the callback before the answer. */
  @get:JvmName("isEcho")
  val echo: Boolean = builder.echo

  /** Tokens of the answer; -1: as many as there is room for. */
  val maxNewTokens: Int = builder.maxNewTokens

  /** A run whose answer nobody reads: the callback gets nothing. */
  @get:JvmName("isWarming")
  val warming: Boolean = builder.warming

  /** Tokens of prompt and answer together; -1: as many as the model takes. */
  val seqLen: Int = builder.seqLen

  /** 0: always the most probable token. */
  val temperature: Float = builder.temperature

  /** How many tokens that begin or end a text go before and behind the prompt, besides those of the module. */
  val numBos: Int = builder.numBos
  val numEos: Int = builder.numEos

  /** A JSON schema that the answer keeps; empty: any text. */
  val jsonSchema: String = builder.jsonSchema

  /** Of the random numbers: the same seed gives the same answer; null: they go on from those of the last call. */
  val seed: Long? = builder.seed

  class Builder internal constructor() {
    internal var echo = true
    internal var maxNewTokens = -1
    internal var warming = false
    internal var seqLen = -1
    internal var temperature = 0.8f
    internal var numBos = 0
    internal var numEos = 0
    internal var jsonSchema = ""
    internal var seed: Long? = null

    fun echo(echo: Boolean): Builder = apply { this.echo = echo }

    fun maxNewTokens(maxNewTokens: Int): Builder = apply { this.maxNewTokens = maxNewTokens }

    fun warming(warming: Boolean): Builder = apply { this.warming = warming }

    fun seqLen(seqLen: Int): Builder = apply { this.seqLen = seqLen }

    fun temperature(temperature: Float): Builder = apply { this.temperature = temperature }

    fun numBos(numBos: Int): Builder = apply { this.numBos = numBos }

    fun numEos(numEos: Int): Builder = apply { this.numEos = numEos }

    fun jsonSchema(jsonSchema: String): Builder = apply { this.jsonSchema = jsonSchema }

    fun seed(seed: Long): Builder = apply { this.seed = seed }

    fun build(): LlmGenerationConfig = LlmGenerationConfig(this)
  }

  companion object {
    @JvmStatic
    fun create(): Builder = Builder()
  }
}
