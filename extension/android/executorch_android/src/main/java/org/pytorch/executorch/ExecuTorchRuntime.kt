// SPDX-License-Identifier: BSD-3-Clause
// The runtime that the native library holds: its kernels and backends.
package org.pytorch.executorch

import java.io.File
import org.pytorch.executorch.internal.Natives

/** The one runtime of the process. */
class ExecuTorchRuntime private constructor() {
  companion object {
    private val runtime = ExecuTorchRuntime()

    /** Loads the native library; UnsatisfiedLinkError says where it was looked for. */
    @JvmStatic
    fun getRuntime(): ExecuTorchRuntime {
      Natives.load()
      return runtime
    }

    /** Names of the operators that have kernels, such as "aten::add.out". */
    @JvmStatic
    fun getRegisteredOps(): Array<String> = Natives.registeredOps()

    /** Names of the backends that can run delegates. */
    @JvmStatic
    fun getRegisteredBackends(): Array<String> = Natives.registeredBackends()

    /** IllegalArgumentException unless the path is a file that can be read. */
    @JvmStatic
    fun validateFilePath(path: String?, description: String) {
      require(path != null) { "Cannot load $description: path is null" }
      val file = File(path)
      require(file.exists()) { "Cannot load $description: path does not exist: $path" }
      require(file.isFile) { "Cannot load $description: path is not a file: $path" }
      require(file.canRead()) { "Cannot load $description: path is not readable: $path" }
    }
  }
}
