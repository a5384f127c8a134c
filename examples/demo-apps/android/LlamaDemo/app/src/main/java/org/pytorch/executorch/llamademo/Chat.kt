// SPDX-License-Identifier: BSD-3-Clause
// What the app does with a model; no view is known here, so that it runs in tests on a desktop.
package org.pytorch.executorch.llamademo

import java.io.Closeable
import org.pytorch.executorch.ExecutorchRuntimeException
import org.pytorch.executorch.extension.llm.LlmCallback
import org.pytorch.executorch.extension.llm.LlmGenerationConfig
import org.pytorch.executorch.extension.llm.LlmModule

/** Called on the thread that works: a view posts to its own. */
interface ChatView {
  fun onStatus(text: String)

  fun onAnswer(piece: String)
}

/** One model and its conversation. Calls block, but [stop]. */
class Chat(private val view: ChatView, private val temperature: Float = 0.8f) : Closeable {
  private var module: LlmModule? = null
  private var format = PromptFormat.NONE

  /** Frees an earlier model first: two may not fit into a phone. */
  fun load(modelPath: String, tokenizerPath: String, format: PromptFormat) {
    close()
    this.format = format
    view.onStatus("Loading model...")
    try {
      val loaded = LlmModule(modelPath, tokenizerPath, temperature)
      module = loaded
      loaded.load()
      view.onStatus("Successfully loaded model.")
    } catch (error: ExecutorchRuntimeException) {
      close()
      view.onStatus("Model load failure: ${error.message}")
    } catch (error: IllegalArgumentException) {
      view.onStatus("Model load failure: ${error.message}")
    }
  }

  /** Appends what the user wrote to the conversation, and the answer. */
  fun ask(text: String, maxNewTokens: Int = 512) {
    val model = module
    if (model == null) {
      view.onStatus("Load a model first.")
      return
    }
    val config = LlmGenerationConfig.create()
      .echo(false)
      .maxNewTokens(maxNewTokens)
      .temperature(temperature)
      .build()
    try {
      model.generate(format.prompt(text), config, object : LlmCallback {
        override fun onResult(result: String) {
          if (!format.isEnd(result)) view.onAnswer(result)
        }

        override fun onStats(stats: String) = view.onStatus(speed(stats))
      })
    } catch (error: ExecutorchRuntimeException) {
      view.onStatus(error.message ?: "Failed to generate")
    }
  }

  fun stop() {
    module?.stop()
  }

  /** Begins a new conversation. */
  fun clear() {
    module?.resetContext()
  }

  override fun close() {
    module?.close()
    module = null
  }

  companion object {
    private fun number(stats: String, key: String): Double? =
      Regex("\"$key\":\\s*([-0-9.]+)").find(stats)?.groupValues?.get(1)?.toDoubleOrNull()

    /** Tokens per second behind the prompt, from the runner's JSON. */
    fun speed(stats: String): String {
      val tokens = number(stats, "generated_tokens") ?: return ""
      val begun = number(stats, "prompt_eval_end_ms") ?: return ""
      val ended = number(stats, "inference_end_ms") ?: return ""
      val seconds = (ended - begun) / 1000
      return if (seconds <= 0) "${tokens.toInt()} tokens"
      else String.format(java.util.Locale.US, "%d tokens, %.1f tokens/s", tokens.toInt(), tokens / seconds)
    }
  }
}
