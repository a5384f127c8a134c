// SPDX-License-Identifier: BSD-3-Clause
// AsrModule: speech in, text out, as Whisper does it.
package org.pytorch.executorch.extension.asr

import java.io.Closeable
import org.pytorch.executorch.ExecuTorchRuntime
import org.pytorch.executorch.ExecutorchRuntimeException
import org.pytorch.executorch.annotations.Experimental
import org.pytorch.executorch.internal.NativeHandle
import org.pytorch.executorch.internal.Natives
import org.pytorch.executorch.internal.TextSink

/**
 * An encoder and decoder in one program. [preprocessorPath] is a program that makes features of samples; without one the
 * samples go to the encoder. Threads: any; calls wait for each other.
 *
 * Warning: this API is experimental and may change without notice.
 */
@Experimental
class AsrModule @JvmOverloads constructor(
  modelPath: String,
  tokenizerPath: String,
  dataPath: String? = null,
  preprocessorPath: String? = null
) : Closeable {
  private val handle: NativeHandle

  init {
    ExecuTorchRuntime.validateFilePath(modelPath, "model path")
    ExecuTorchRuntime.validateFilePath(tokenizerPath, "tokenizer path")
    dataPath?.let { ExecuTorchRuntime.validateFilePath(it, "data path") }
    preprocessorPath?.let { ExecuTorchRuntime.validateFilePath(it, "preprocessor path") }
    handle = NativeHandle(this, Natives.asrCreate(modelPath, tokenizerPath, dataPath, preprocessorPath), "AsrModule")
  }

  /** Until it is closed. */
  val isValid: Boolean
    get() = !handle.isFreed

  val isLoaded: Boolean
    get() = isValid && handle.use { Natives.asrIsLoaded(it) }

  /** Loads program and tokenizer, which [transcribe] does itself otherwise. The runtime's error code; 0 is success. */
  fun load(): Int = handle.use { Natives.asrLoad(it) }

  /** The text that is said in a .wav file at the rate that the model takes, also piece by piece to the callback. */
  @JvmOverloads
  fun transcribe(wavPath: String, config: AsrTranscribeConfig? = null, callback: AsrCallback? = null): String {
    ExecuTorchRuntime.validateFilePath(wavPath, "WAV path")
    val wanted = config ?: AsrTranscribeConfig()
    val sink = object : TextSink {
      override fun onText(text: String): Boolean {
        callback?.onToken(text)
        return true
      }

      override fun onStats(json: String) = Unit
    }
    try {
      return handle.use {
        Natives.asrTranscribe(
          it, wavPath, wanted.maxNewTokens, wanted.temperature, wanted.decoderStartTokenId, sink
        )
      }
    } catch (error: ExecutorchRuntimeException) {
      callback?.onError(error.errorCode, error.message ?: "")
      throw error
    }
  }

  /** No effect the second time. IllegalStateException while another thread transcribes. */
  override fun close() {
    handle.close("Cannot close AsrModule while it is transcribing")
  }
}
