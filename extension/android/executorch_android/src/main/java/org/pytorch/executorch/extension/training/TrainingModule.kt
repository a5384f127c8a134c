// SPDX-License-Identifier: BSD-3-Clause
// TrainingModule: a program that computes gradients beside its outputs.
package org.pytorch.executorch.extension.training

import java.io.Closeable
import org.pytorch.executorch.EValue
import org.pytorch.executorch.ExecuTorchRuntime
import org.pytorch.executorch.Tensor
import org.pytorch.executorch.annotations.Experimental
import org.pytorch.executorch.internal.NativeHandle
import org.pytorch.executorch.internal.Natives
import org.pytorch.executorch.internal.Values

/**
 * Threads: any; calls wait for each other.
 *
 * Warning: this API is experimental and may change without notice.
 */
@Experimental
class TrainingModule private constructor(address: Long) : Closeable {
  private val handle = NativeHandle(this, address, "TrainingModule")

  /** Runs a method: its loss and other outputs, as copies. Gradients are in [namedGradients] then. */
  fun executeForwardBackward(methodName: String, vararg inputs: EValue): Array<EValue> {
    val packed = Values.pack(inputs)
    return Values.unpack(handle.use { Natives.trainingExecute(it, methodName, packed.header, packed.objects) })
  }

  /**
   * The parameters by their names in the PyTorch model. They share the method's memory, where an optimizer writes them;
   * it stays while anyone has them, also after [close].
   */
  fun namedParameters(methodName: String): Map<String, Tensor> = tensors(methodName, gradients = false)

  /** Of the last run, which every other run overwrites. */
  fun namedGradients(methodName: String): Map<String, Tensor> = tensors(methodName, gradients = true)

  /** No effect the second time. IllegalStateException while another thread executes. */
  override fun close() {
    handle.close("Cannot close TrainingModule while method is executing")
  }

  @Suppress("UNCHECKED_CAST")
  private fun tensors(methodName: String, gradients: Boolean): Map<String, Tensor> {
    val packed = handle.use { Natives.trainingTensors(it, methodName, gradients) }
    val names = packed[0] as Array<String>
    // Freed with the last of the tensors, which all refer to it.
    val memory = SharedMemory()
    memory.handle = NativeHandle(memory, (packed[2] as LongArray)[0], "TrainingModule")
    val tensors = Values.unpack(packed[1] as Array<Any?>, memory)
    return names.indices.associate { names[it] to tensors[it].toTensor() }
  }

  private class SharedMemory {
    var handle: NativeHandle? = null
  }

  companion object {
    /** [dataPath]: the program's data file (.ptd), if it has one. */
    @JvmStatic
    @JvmOverloads
    fun load(modelPath: String, dataPath: String? = null): TrainingModule {
      ExecuTorchRuntime.validateFilePath(modelPath, "model path")
      dataPath?.let { ExecuTorchRuntime.validateFilePath(it, "data path") }
      return TrainingModule(Natives.trainingLoad(modelPath, dataPath))
    }
  }
}
