// SPDX-License-Identifier: BSD-3-Clause
// Stochastic gradient descent, as torch.optim.SGD.
package org.pytorch.executorch.extension.training

import org.pytorch.executorch.EValue
import org.pytorch.executorch.Tensor
import org.pytorch.executorch.annotations.Experimental
import org.pytorch.executorch.internal.NativeHandle
import org.pytorch.executorch.internal.Natives
import org.pytorch.executorch.internal.Values

/**
 * Writes the parameters that it was made with. Threads: any; steps wait for each other.
 *
 * Warning: this API is experimental and may change without notice.
 */
@Experimental
class SGD private constructor(
  address: Long,
  // Their memory is what native code writes.
  @Suppress("unused") private val parameters: Map<String, Tensor>
) {
  private val handle = NativeHandle(this, address, "SGD")

  /** Updates every parameter that has a gradient of its name. */
  fun step(namedGradients: Map<String, Tensor>) {
    val packed = pack(namedGradients)
    handle.use { Natives.sgdStep(it, namedGradients.keys.toTypedArray(), packed.header, packed.objects) }
  }

  companion object {
    /** [namedParameters]: of [TrainingModule.namedParameters]. */
    @JvmStatic
    @JvmOverloads
    fun create(
      namedParameters: Map<String, Tensor>,
      learningRate: Double,
      momentum: Double = 0.0,
      dampening: Double = 0.0,
      weightDecay: Double = 0.0,
      nesterov: Boolean = false
    ): SGD {
      val packed = pack(namedParameters)
      val address = Natives.sgdCreate(
        namedParameters.keys.toTypedArray(), packed.header, packed.objects, learningRate, momentum, dampening,
        weightDecay, nesterov
      )
      return SGD(address, namedParameters.toMap())
    }

    private fun pack(tensors: Map<String, Tensor>): Values =
      Values.pack(tensors.values.map { EValue.from(it) }.toTypedArray())
  }
}
