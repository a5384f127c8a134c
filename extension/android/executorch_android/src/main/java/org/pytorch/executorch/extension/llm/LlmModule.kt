// SPDX-License-Identifier: BSD-3-Clause
// LlmModule: text, images and sound in, text out.
package org.pytorch.executorch.extension.llm

import java.io.Closeable
import java.nio.ByteBuffer
import java.nio.ByteOrder
import org.pytorch.executorch.ExecuTorchRuntime
import org.pytorch.executorch.ExecutorchRuntimeException
import org.pytorch.executorch.annotations.Experimental
import org.pytorch.executorch.internal.NativeHandle
import org.pytorch.executorch.internal.Natives
import org.pytorch.executorch.internal.Storage
import org.pytorch.executorch.internal.TextSink

/**
 * A language model with its context, to which each prompt and answer is appended until [resetContext]. Threads: any;
 * calls wait for each other. [stop] waits for nobody. Calls block: start them where your app may wait, and call [stop]
 * when the coroutine or task is cancelled.
 *
 * Warning: this API is experimental and may change without notice.
 */
@Experimental
class LlmModule @JvmOverloads constructor(
  modelType: Int,
  modulePath: String,
  tokenizerPath: String,
  private val temperature: Float,
  dataFiles: List<String> = emptyList(),
  numBos: Int = 0,
  numEos: Int = 0,
  loadMode: Int = LlmModuleConfig.LOAD_MODE_MMAP
) : Closeable {
  private val handle: NativeHandle

  // Guards the two flags: while one says that a call generates, stop() may use the handle.
  private val stopLock = Any()
  private var isGenerating = false
  @Volatile private var isStopped = false

  init {
    ExecuTorchRuntime.validateFilePath(modulePath, "model path")
    ExecuTorchRuntime.validateFilePath(tokenizerPath, "tokenizer path")
    dataFiles.forEach { ExecuTorchRuntime.validateFilePath(it, "data path") }
    val address = Natives.llmCreate(
      modelType, modulePath, tokenizerPath, dataFiles.toTypedArray(), numBos, numEos, loadMode
    )
    handle = NativeHandle(this, address, "LlmModule")
  }

  /** A model of text. */
  constructor(modulePath: String, tokenizerPath: String, temperature: Float) :
    this(MODEL_TYPE_TEXT, modulePath, tokenizerPath, temperature)

  constructor(modulePath: String, tokenizerPath: String, temperature: Float, dataPath: String?) :
    this(MODEL_TYPE_TEXT, modulePath, tokenizerPath, temperature, listOfPath(dataPath))

  constructor(modelType: Int, modulePath: String, tokenizerPath: String, temperature: Float, dataPath: String?) :
    this(modelType, modulePath, tokenizerPath, temperature, listOfPath(dataPath))

  constructor(
    modelType: Int,
    modulePath: String,
    tokenizerPath: String,
    temperature: Float,
    dataPath: String?,
    numBos: Int,
    numEos: Int
  ) : this(modelType, modulePath, tokenizerPath, temperature, listOfPath(dataPath), numBos, numEos)

  constructor(config: LlmModuleConfig) : this(
    config.modelType, config.modulePath, config.tokenizerPath, config.temperature, listOfPath(config.dataPath),
    config.numBos, config.numEos, config.loadMode
  )

  /** Loads what generate() needs, which it does itself otherwise. */
  fun load() = handle.use { Natives.llmLoad(it) }

  /**
   * Appends the prompt and an answer, whose text goes to the callback piece by piece, on this thread. An error goes to
   * its onError, and is thrown. What the callback throws ends the generation and is thrown.
   */
  fun generate(prompt: String, llmCallback: LlmCallback) = generate(prompt, DEFAULT_SEQ_LEN, llmCallback, true)

  fun generate(prompt: String, seqLen: Int, llmCallback: LlmCallback) = generate(prompt, seqLen, llmCallback, true)

  fun generate(prompt: String, llmCallback: LlmCallback, echo: Boolean) =
    generate(prompt, DEFAULT_SEQ_LEN, llmCallback, echo)

  /** [temperature] of -1: that of the module. */
  @JvmOverloads
  fun generate(
    prompt: String,
    seqLen: Int,
    llmCallback: LlmCallback,
    echo: Boolean,
    temperature: Float = -1f,
    numBos: Int = 0,
    numEos: Int = 0
  ) = run(
    prompt,
    LlmGenerationConfig.create()
      .seqLen(seqLen)
      .echo(echo)
      .temperature(if (temperature < 0) this.temperature else temperature)
      .numBos(numBos)
      .numEos(numEos)
      .build(),
    llmCallback
  )

  fun generate(prompt: String, config: LlmGenerationConfig, llmCallback: LlmCallback) = run(prompt, config, llmCallback)

  /** Appends an image (see [prefillImages]), the prompt and an answer. */
  @JvmOverloads
  fun generate(
    image: IntArray,
    width: Int,
    height: Int,
    channels: Int,
    prompt: String,
    seqLen: Int,
    llmCallback: LlmCallback,
    echo: Boolean,
    temperature: Float = -1f,
    numBos: Int = 0,
    numEos: Int = 0
  ) {
    prefillImages(image, width, height, channels)
    generate(prompt, seqLen, llmCallback, echo, temperature, numBos, numEos)
  }

  /** Appends a text without an answer. */
  fun prefillPrompt(prompt: String) = handle.use { Natives.llmPrefillText(it, prompt) }

  /** Appends an image: bytes from 0 to 255, all of the first channel row by row, then of the second (CHW). */
  fun prefillImages(image: IntArray, width: Int, height: Int, channels: Int) {
    checkImage(image.size, width, height, channels)
    val bytes = Storage.allocateBytes(image.size)
    image.forEach { bytes.put(it.toByte()) }
    prefillImage(bytes, 0, false, width, height, channels)
  }

  /** Floats, as the model wants them. */
  fun prefillImages(image: FloatArray, width: Int, height: Int, channels: Int) {
    checkImage(image.size, width, height, channels)
    prefillImage(bytesOf(image), 0, true, width, height, channels)
  }

  /** Bytes of a direct buffer from its position on, which is not moved. */
  fun prefillImages(image: ByteBuffer, width: Int, height: Int, channels: Int) {
    checkBuffer(image, image.remaining(), width, height, channels)
    prefillImage(image, image.position(), false, width, height, channels)
  }

  /** Floats of a direct buffer in native order. */
  fun prefillNormalizedImage(image: ByteBuffer, width: Int, height: Int, channels: Int) {
    require(image.order() == ByteOrder.nativeOrder()) { "Input ByteBuffer must use native byte order." }
    require(image.position() % 4 == 0) { "Input ByteBuffer position (${image.position()}) must be 4-byte aligned." }
    require(image.remaining() % 4 == 0) { "Input ByteBuffer remaining (${image.remaining()}) must be a multiple of 4." }
    checkBuffer(image, image.remaining() / 4, width, height, channels)
    prefillImage(image, image.position(), true, width, height, channels)
  }

  /** Appends sound: features as the model's encoder takes them. */
  fun prefillAudio(audio: ByteArray, batchSize: Int, nBins: Int, nFrames: Int) {
    checkAudio(audio.size, batchSize, nBins, nFrames)
    handle.use { Natives.llmPrefillAudio(it, bytesOf(audio), false, batchSize, nBins, nFrames) }
  }

  fun prefillAudio(audio: FloatArray, batchSize: Int, nBins: Int, nFrames: Int) {
    checkAudio(audio.size, batchSize, nBins, nFrames)
    handle.use { Natives.llmPrefillAudio(it, bytesOf(audio), true, batchSize, nBins, nFrames) }
  }

  /** Samples before any processing. */
  fun prefillRawAudio(audio: ByteArray, batchSize: Int, nChannels: Int, nSamples: Int) {
    handle.use { Natives.llmPrefillRawAudio(it, bytesOf(audio), batchSize, nChannels, nSamples) }
  }

  /** Forgets the context. */
  fun resetContext() = handle.use { Natives.llmReset(it) }

  /**
   * Ends generate() after the token that it is at: from any thread, from the callback, at any time. No effect on later
   * calls. Never throws.
   */
  fun stop() {
    synchronized(stopLock) {
      if (isGenerating) {
        isStopped = true
        Natives.llmStop(handle.addressInCall())
      }
    }
  }

  /** Frees the model. No effect the second time. IllegalStateException while another thread generates. */
  override fun close() {
    handle.close("Cannot close LlmModule while it is generating")
  }

  @Deprecated("Use close()", ReplaceWith("close()"))
  fun resetNative() = close()

  private fun run(prompt: String, config: LlmGenerationConfig, callback: LlmCallback) {
    val sink = object : TextSink {
      override fun onText(text: String): Boolean {
        if (!config.warming) callback.onResult(text)
        return !isStopped
      }

      override fun onStats(json: String) {
        if (!config.warming) callback.onStats(json)
      }
    }
    try {
      handle.use {
        synchronized(stopLock) {
          isStopped = false
          isGenerating = true
        }
        try {
          Natives.llmGenerate(it, prompt, settings(config), config.temperature.toDouble(), config.jsonSchema, sink)
        } finally {
          synchronized(stopLock) { isGenerating = false }
        }
      }
    } catch (error: ExecutorchRuntimeException) {
      callback.onError(error.errorCode, error.message ?: "")
      throw ExecutorchRuntimeException(error.errorCode, "Failed to generate: ${error.message}", error)
    }
  }

  private fun prefillImage(bytes: ByteBuffer, offset: Int, isFloat: Boolean, width: Int, height: Int, channels: Int) =
    handle.use { Natives.llmPrefillImage(it, bytes, offset, isFloat, width, height, channels) }

  companion object {
    const val MODEL_TYPE_TEXT = 1
    const val MODEL_TYPE_TEXT_VISION = 2
    const val MODEL_TYPE_MULTIMODAL = 2
    private const val DEFAULT_SEQ_LEN = 128

    private fun listOfPath(path: String?): List<String> = if (path.isNullOrEmpty()) emptyList() else listOf(path)

    // The order that jni/llm.cpp reads; the seed is not there if there is none.
    private fun settings(config: LlmGenerationConfig): LongArray = listOfNotNull(
      config.seqLen.toLong(), config.maxNewTokens.toLong(), config.numBos.toLong(), config.numEos.toLong(),
      if (config.echo) 1L else 0L, if (config.warming) 1L else 0L, config.seed
    ).toLongArray()

    private fun product(vararg sizes: Int): Long {
      require(sizes.all { it > 0 }) { "Sizes must be positive, got ${sizes.joinToString("x")}." }
      return sizes.fold(1L) { product, size -> Math.multiplyExact(product, size.toLong()) }
    }

    private fun checkImage(numValues: Int, width: Int, height: Int, channels: Int) {
      val expected = product(width, height, channels)
      require(numValues.toLong() == expected) { "Expected $expected values for ${width}x${height}x$channels, got $numValues." }
    }

    private fun checkAudio(numValues: Int, batchSize: Int, nBins: Int, nFrames: Int) =
      checkImage(numValues, batchSize, nBins, nFrames)

    private fun checkBuffer(image: ByteBuffer, numValues: Int, width: Int, height: Int, channels: Int) {
      require(image.isDirect) { "Input ByteBuffer must be direct." }
      val expected = product(width, height, channels)
      require(numValues >= expected) {
        "ByteBuffer remaining ($numValues) must be at least width*height*channels ($expected)."
      }
    }

    private fun bytesOf(values: ByteArray): ByteBuffer = Storage.allocateBytes(values.size).put(values)

    private fun bytesOf(values: FloatArray): ByteBuffer {
      val bytes = Storage.allocateBytes(Math.multiplyExact(4, values.size))
      bytes.asFloatBuffer().put(values)
      return bytes
    }
  }
}
