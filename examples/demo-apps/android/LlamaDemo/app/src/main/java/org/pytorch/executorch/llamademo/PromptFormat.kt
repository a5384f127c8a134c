// SPDX-License-Identifier: BSD-3-Clause
// How instruction-tuned models want to be asked.
package org.pytorch.executorch.llamademo

/** [ask] has a %s for what the user wrote; an answer ends at [end], which is not shown. */
enum class PromptFormat(val label: String, private val ask: String, private val end: String) {
  LLAMA_3(
    "Llama 3",
    "<|start_header_id|>user<|end_header_id|>\n\n%s<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    "<|eot_id|>"
  ),
  CHAT_ML("Qwen, SmolLM", "<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>"),
  NONE("text as it is", "%s", "");

  fun prompt(text: String): String = ask.replace("%s", text)

  fun isEnd(piece: String): Boolean = end.isNotEmpty() && piece == end
}
