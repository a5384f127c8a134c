// SPDX-License-Identifier: BSD-3-Clause
// Values as native code takes and gives them: one array of numbers and one of objects, so that a call crosses the border
// once and not once for each field. jni/values.cpp is the other side.
package org.pytorch.executorch.internal

import java.nio.ByteBuffer
import org.pytorch.executorch.EValue
import org.pytorch.executorch.Tensor

/**
 * [header] has for each value its kind, and of tensors dtype, number of dimensions and sizes, of numbers their bits.
 * [objects] has for each value its buffer or text, or null.
 */
internal class Values private constructor(@JvmField val header: LongArray, @JvmField val objects: Array<Any?>) {
  companion object {
    fun pack(values: Array<out EValue>): Values {
      var length = 0
      for (value in values) length += lengthOf(value)
      val header = LongArray(length)
      val objects = arrayOfNulls<Any?>(values.size)
      var at = 0
      values.forEachIndexed { i, value ->
        header[at++] = value.mTypeCode.toLong()
        when (value.mTypeCode) {
          EValue.TYPE_CODE_TENSOR -> {
            val tensor = value.toTensor()
            header[at++] = tensor.dtypeJniCode().toLong()
            header[at++] = tensor.rank.toLong()
            tensor.copyShapeInto(header, at)
            at += tensor.rank
            objects[i] = tensor.getRawDataBuffer()
          }
          EValue.TYPE_CODE_INT -> header[at++] = value.toInt()
          EValue.TYPE_CODE_DOUBLE -> header[at++] = java.lang.Double.doubleToRawLongBits(value.toDouble())
          EValue.TYPE_CODE_BOOL -> header[at++] = if (value.toBool()) 1 else 0
          EValue.TYPE_CODE_STRING -> objects[i] = value.toStr()
        }
      }
      return Values(header, objects)
    }

    /** What native code returns: the header first, then the objects. [owner]: see [Tensor.ofNative]. */
    fun unpack(packed: Array<Any?>, owner: Any? = null): Array<EValue> {
      val header = packed[0] as LongArray
      var at = 0
      return Array(packed.size - 1) { i ->
        val data = packed[i + 1]
        when (val kind = header[at++].toInt()) {
          EValue.TYPE_CODE_TENSOR -> {
            val dtype = header[at].toInt()
            val rank = header[at + 1].toInt()
            val shape = header.copyOfRange(at + 2, at + 2 + rank)
            at += 2 + rank
            EValue.from(Tensor.ofNative(data as ByteBuffer, shape, dtype, owner))
          }
          EValue.TYPE_CODE_INT -> EValue.from(header[at++])
          EValue.TYPE_CODE_DOUBLE -> EValue.from(java.lang.Double.longBitsToDouble(header[at++]))
          EValue.TYPE_CODE_BOOL -> EValue.from(header[at++] != 0L)
          EValue.TYPE_CODE_STRING -> EValue.from(data as String)
          EValue.TYPE_CODE_NONE -> EValue.optionalNone()
          else -> throw IllegalStateException("native code returned a value of kind $kind")
        }
      }
    }

    private fun lengthOf(value: EValue): Int = when (value.mTypeCode) {
      EValue.TYPE_CODE_TENSOR -> 3 + value.toTensor().rank
      EValue.TYPE_CODE_INT, EValue.TYPE_CODE_DOUBLE, EValue.TYPE_CODE_BOOL -> 2
      else -> 1
    }
  }
}
