// SPDX-License-Identifier: BSD-3-Clause
// What can be known about a method without loading it.
package org.pytorch.executorch

import org.pytorch.executorch.annotations.Experimental

/**
 * A method's name, backends, inputs, outputs and memory.
 *
 * Warning: this API is experimental and may change without notice.
 */
@Experimental
class MethodMetadata internal constructor(
  val name: String,
  /** Each backend that runs a part of the method, once. */
  val backends: Array<String>,
  val inputs: List<ValueMetadata>,
  val outputs: List<ValueMetadata>,
  /** Bytes of each buffer that the method plans its tensors in: what loading it takes besides constants. */
  val plannedMemory: LongArray
)

/** An input or output. */
class ValueMetadata internal constructor(
  /** Its name in the model's signature; empty if the program does not say. */
  val name: String,
  /** "Tensor", "Int", "Double", "Bool", "String" or "None". */
  val kind: String,
  /** Of a tensor; otherwise null. */
  val dtype: DType?,
  /** The least and the most that each size of a tensor may be; equal where it is static. */
  val minShape: LongArray,
  val maxShape: LongArray
) {
  override fun toString(): String {
    if (dtype == null) return "$name: $kind"
    val sizes = minShape.indices.joinToString { i ->
      if (minShape[i] == maxShape[i]) "${maxShape[i]}" else "${minShape[i]}..${maxShape[i]}"
    }
    return "$name: $dtype [$sizes]"
  }
}
