// SPDX-License-Identifier: BSD-3-Clause
// What a language model is made from.
package org.pytorch.executorch.extension.llm

import org.pytorch.executorch.Module

/** Made by [create]: `LlmModuleConfig.create().modulePath(pte).tokenizerPath(json).build()`. */
class LlmModuleConfig private constructor(builder: Builder) {
  val modulePath: String
  val tokenizerPath: String
  val temperature: Float = builder.temperature

  /** A data file (.ptd); empty: none. */
  val dataPath: String = builder.dataPath
  val modelType: Int = builder.modelType
  val numBos: Int = builder.numBos
  val numEos: Int = builder.numEos
  val loadMode: Int = builder.loadMode

  init {
    val program = builder.modulePath
    val tokenizer = builder.tokenizerPath
    require(program != null && tokenizer != null) { "Module path and tokenizer path are required" }
    require(loadMode in LOAD_MODE_FILE..LOAD_MODE_MMAP_USE_MLOCK_IGNORE_ERRORS) { "Unknown load mode: $loadMode" }
    modulePath = program
    tokenizerPath = tokenizer
  }

  class Builder internal constructor() {
    internal var modulePath: String? = null
    internal var tokenizerPath: String? = null
    internal var temperature = 0.8f
    internal var dataPath = ""
    internal var modelType = MODEL_TYPE_TEXT
    internal var numBos = 0
    internal var numEos = 0
    internal var loadMode = LOAD_MODE_MMAP

    fun modulePath(modulePath: String): Builder = apply { this.modulePath = modulePath }

    fun tokenizerPath(tokenizerPath: String): Builder = apply { this.tokenizerPath = tokenizerPath }

    fun temperature(temperature: Float): Builder = apply { this.temperature = temperature }

    fun dataPath(dataPath: String): Builder = apply { this.dataPath = dataPath }

    fun modelType(modelType: Int): Builder = apply { this.modelType = modelType }

    fun numBos(numBos: Int): Builder = apply { this.numBos = numBos }

    fun numEos(numEos: Int): Builder = apply { this.numEos = numEos }

    fun loadMode(loadMode: Int): Builder = apply { this.loadMode = loadMode }

    fun build(): LlmModuleConfig = LlmModuleConfig(this)
  }

  companion object {
    const val LOAD_MODE_FILE = Module.LOAD_MODE_FILE
    const val LOAD_MODE_MMAP = Module.LOAD_MODE_MMAP
    const val LOAD_MODE_MMAP_USE_MLOCK = Module.LOAD_MODE_MMAP_USE_MLOCK
    const val LOAD_MODE_MMAP_USE_MLOCK_IGNORE_ERRORS = Module.LOAD_MODE_MMAP_USE_MLOCK_IGNORE_ERRORS
    const val MODEL_TYPE_TEXT = 1
    const val MODEL_TYPE_TEXT_VISION = 2
    const val MODEL_TYPE_MULTIMODAL = 2

    @JvmStatic
    fun create(): Builder = Builder()
  }
}
