// SPDX-License-Identifier: BSD-3-Clause
// Where `adb push` puts programs and tokenizers.
package org.pytorch.executorch.llamademo

import java.io.File

class ModelFiles(private val folder: File = File("/data/local/tmp/llama")) {
  val models: List<String>
    get() = paths { it.extension == "pte" }
  val tokenizers: List<String>
    get() = paths { it.name.startsWith("tokenizer") || it.extension == "model" }

  private fun paths(wanted: (File) -> Boolean): List<String> =
    folder.listFiles().orEmpty().filter { it.isFile && wanted(it) }.map { it.path }.sorted()
}
