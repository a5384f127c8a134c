// SPDX-License-Identifier: BSD-3-Clause
// The types of a tensor's elements, and how each lies in memory.
package org.pytorch.executorch

import org.pytorch.executorch.annotations.Experimental
import org.pytorch.executorch.internal.Storage

/**
 * Type of a tensor's elements. [jniCode] is the runtime's number of it.
 *
 * Warning: this API is experimental and may change without notice.
 */
@Experimental
enum class DType(
  @JvmField val jniCode: Int,
  internal val torchName: String = "",
  // Null: such a tensor has a shape and a type, and its elements cannot be read.
  internal val storage: Storage? = null
) {
  UINT8(0, "uint8", Storage.BYTE),
  INT8(1, "int8", Storage.BYTE),
  INT16(2, "int16", Storage.SHORT),
  INT32(3, "int32", Storage.INT),
  INT64(4, "int64", Storage.LONG),
  HALF(5, "float16", Storage.SHORT),
  FLOAT(6, "float32", Storage.FLOAT),
  DOUBLE(7, "float64", Storage.DOUBLE),
  COMPLEX_HALF(8),
  COMPLEX_FLOAT(9),
  COMPLEX_DOUBLE(10),
  BOOL(11, "bool", Storage.BYTE),
  QINT8(12),
  QUINT8(13),
  QINT32(14),
  BFLOAT16(15, "bfloat16", Storage.SHORT),
  QINT4X2(16),
  QINT2X4(17),
  BITS1X8(18),
  BITS2X4(19),
  BITS4X2(20),
  BITS8(21),
  BITS16(22),
  FLOAT8_E5M2(23),
  FLOAT8_E4M3FN(24),
  FLOAT8_E5M2FNUZ(25),
  FLOAT8_E4M3FNUZ(26),
  UINT16(27, "uint16", Storage.SHORT),
  UINT32(28, "uint32", Storage.INT),
  UINT64(29, "uint64", Storage.LONG);

  companion object {
    private val byCode = values().associateBy { it.jniCode }

    /** The type of this number; IllegalArgumentException if there is none. */
    @JvmStatic
    fun fromJniCode(jniCode: Int): DType =
      byCode[jniCode] ?: throw IllegalArgumentException("No DType found for jniCode $jniCode")
  }
}
