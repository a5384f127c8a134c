// SPDX-License-Identifier: BSD-3-Clause
// Values that methods take and return.
package org.pytorch.executorch

import java.nio.ByteBuffer
import org.pytorch.executorch.annotations.Experimental

/**
 * A tensor, a number, a boolean, a text, or nothing. Threads: any number may read one.
 *
 * Warning: this API is experimental and may change without notice.
 */
@Experimental
class EValue private constructor(internal val mTypeCode: Int, internal val mData: Any?) {
  val isNone: Boolean
    get() = mTypeCode == TYPE_CODE_NONE
  val isTensor: Boolean
    get() = mTypeCode == TYPE_CODE_TENSOR
  val isBool: Boolean
    get() = mTypeCode == TYPE_CODE_BOOL
  val isInt: Boolean
    get() = mTypeCode == TYPE_CODE_INT
  val isDouble: Boolean
    get() = mTypeCode == TYPE_CODE_DOUBLE
  val isString: Boolean
    get() = mTypeCode == TYPE_CODE_STRING

  /** IllegalStateException if it is another kind of value, as of the following ones. */
  fun toTensor(): Tensor = data(TYPE_CODE_TENSOR) as Tensor

  fun toBool(): Boolean = data(TYPE_CODE_BOOL) as Boolean

  fun toInt(): Long = data(TYPE_CODE_INT) as Long

  fun toDouble(): Double = data(TYPE_CODE_DOUBLE) as Double

  fun toStr(): String = data(TYPE_CODE_STRING) as String

  /** The kind's number, then what it holds, big-endian. */
  fun toByteArray(): ByteArray {
    val payload: ByteArray = when (mTypeCode) {
      TYPE_CODE_TENSOR -> toTensor().toByteArray()
      TYPE_CODE_STRING -> {
        val text = toStr().toByteArray(Charsets.UTF_8)
        ByteBuffer.allocate(4 + text.size).putInt(text.size).put(text).array()
      }
      TYPE_CODE_DOUBLE -> ByteBuffer.allocate(8).putDouble(toDouble()).array()
      TYPE_CODE_INT -> ByteBuffer.allocate(8).putLong(toInt()).array()
      TYPE_CODE_BOOL -> byteArrayOf(if (toBool()) 1 else 0)
      else -> ByteArray(0)
    }
    return byteArrayOf(mTypeCode.toByte()) + payload
  }

  override fun toString(): String = if (isNone) "None" else "${NAMES[mTypeCode]}($mData)"

  private fun data(typeCode: Int): Any {
    check(mTypeCode == typeCode) { "Expected EValue type ${NAMES[typeCode]}, actual type ${NAMES[mTypeCode]}" }
    return mData!!
  }

  companion object {
    internal const val TYPE_CODE_NONE = 0
    internal const val TYPE_CODE_TENSOR = 1
    internal const val TYPE_CODE_STRING = 2
    internal const val TYPE_CODE_DOUBLE = 3
    internal const val TYPE_CODE_INT = 4
    internal const val TYPE_CODE_BOOL = 5
    private val NAMES = arrayOf("None", "Tensor", "String", "Double", "Int", "Bool")

    @JvmStatic
    fun optionalNone(): EValue = EValue(TYPE_CODE_NONE, null)

    @JvmStatic
    fun from(value: Tensor): EValue = EValue(TYPE_CODE_TENSOR, value)

    @JvmStatic
    fun from(value: Boolean): EValue = EValue(TYPE_CODE_BOOL, value)

    @JvmStatic
    fun from(value: Long): EValue = EValue(TYPE_CODE_INT, value)

    @JvmStatic
    fun from(value: Double): EValue = EValue(TYPE_CODE_DOUBLE, value)

    @JvmStatic
    fun from(value: String): EValue = EValue(TYPE_CODE_STRING, value)

    /** Reads what [toByteArray] wrote. */
    @JvmStatic
    fun fromByteArray(bytes: ByteArray): EValue {
      val buffer = ByteBuffer.wrap(bytes)
      require(buffer.hasRemaining()) { "invalid buffer" }
      val code = buffer.get().toInt()
      return when (code) {
        TYPE_CODE_NONE -> optionalNone()
        TYPE_CODE_TENSOR -> from(Tensor.fromByteArray(bytes.copyOfRange(1, bytes.size)))
        TYPE_CODE_STRING -> {
          require(buffer.remaining() >= 4) { "invalid buffer" }
          val length = buffer.int
          require(length >= 0 && buffer.remaining() >= length) { "invalid buffer" }
          from(String(bytes, buffer.position(), length, Charsets.UTF_8))
        }
        TYPE_CODE_DOUBLE -> from(atLeast(buffer, 8).double)
        TYPE_CODE_INT -> from(atLeast(buffer, 8).long)
        TYPE_CODE_BOOL -> from(atLeast(buffer, 1).get() != 0.toByte())
        else -> throw IllegalArgumentException("invalid type code: $code")
      }
    }

    private fun atLeast(buffer: ByteBuffer, numBytes: Int): ByteBuffer {
      require(buffer.remaining() >= numBytes) { "invalid buffer" }
      return buffer
    }
  }
}
