// SPDX-License-Identifier: BSD-3-Clause
// What native code says of a method.
package org.pytorch.executorch.internal

import org.pytorch.executorch.DType
import org.pytorch.executorch.MethodMetadata
import org.pytorch.executorch.ValueMetadata

private val KINDS = arrayOf("None", "Tensor", "String", "Double", "Int", "Bool")

/**
 * [packed] has numbers, backends, and names of inputs and outputs. The numbers: how many inputs; for each its kind and, of
 * tensors, dtype, number of dimensions, least and most of each size; the outputs likewise; how many buffers, and the
 * bytes of each.
 */
@Suppress("UNCHECKED_CAST")
internal fun unpackMethodMeta(name: String, packed: Array<Any?>): MethodMetadata {
  val numbers = (packed[0] as LongArray).iterator()
  val names = (packed[2] as Array<String>).iterator()
  fun values() = List(numbers.nextLong().toInt()) { readValue(names.next(), numbers) }
  return MethodMetadata(
    name,
    packed[1] as Array<String>,
    inputs = values(),
    outputs = values(),
    plannedMemory = LongArray(numbers.nextLong().toInt()) { numbers.nextLong() }
  )
}

private fun readValue(name: String, numbers: LongIterator): ValueMetadata {
  val kind = KINDS[numbers.nextLong().toInt()]
  if (kind != "Tensor") return ValueMetadata(name, kind, null, LongArray(0), LongArray(0))
  val dtype = DType.fromJniCode(numbers.nextLong().toInt())
  val ranges = Array(numbers.nextLong().toInt()) { Pair(numbers.nextLong(), numbers.nextLong()) }
  return ValueMetadata(
    name, kind, dtype, ranges.map { it.first }.toLongArray(), ranges.map { it.second }.toLongArray()
  )
}
