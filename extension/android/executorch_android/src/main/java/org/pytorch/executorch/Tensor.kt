// SPDX-License-Identifier: BSD-3-Clause
// Tensors: a shape, a type of elements, and a buffer that native code reads in place.
package org.pytorch.executorch

import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.DoubleBuffer
import java.nio.FloatBuffer
import java.nio.IntBuffer
import java.nio.LongBuffer
import java.nio.ShortBuffer
import java.util.Arrays
import java.util.Locale
import org.pytorch.executorch.annotations.Experimental
import org.pytorch.executorch.internal.Storage
import org.pytorch.executorch.internal.bfloat16ToFloat
import org.pytorch.executorch.internal.halfToFloat

/**
 * A tensor with contiguous elements. Those that a method returns are copies: they stay valid after the next call and
 * after the module is closed. Threads: any number may read one tensor.
 *
 * Warning: this API is experimental and may change without notice.
 */
@Experimental
abstract class Tensor internal constructor(private val dtype: DType, data: Buffer, shape: LongArray) {
  private val shape: LongArray = shape.clone()
  private var memory: Buffer? = data
  private val data: Buffer
    get() = checkNotNull(memory) { "An output in place is valid during its call only: copy what you keep" }

  /** Number of elements. */
  fun numel(): Long = numel(shape)

  /** A copy of the sizes. */
  fun shape(): LongArray = shape.clone()

  fun dtype(): DType = dtype

  /** The runtime's number of the type. */
  fun dtypeJniCode(): Int = dtype.jniCode

  /** The elements themselves, not a copy: a buffer of the type's kind, bytes where it has none. */
  fun getRawDataBuffer(): Buffer = data

  /** Of INT8. */
  val dataAsByteArray: ByteArray
    get() = ByteArray(count()).also { read<ByteBuffer>("byte array", DType.INT8).get(it) }

  /** Of UINT8: values over 127 are negative bytes. */
  val dataAsUnsignedByteArray: ByteArray
    get() = ByteArray(count()).also { read<ByteBuffer>("byte array", DType.UINT8).get(it) }

  /** Of BOOL. */
  val dataAsBooleanArray: BooleanArray
    get() {
      val bytes = read<ByteBuffer>("boolean array", DType.BOOL)
      return BooleanArray(count()) { bytes.get(it) != 0.toByte() }
    }

  /** Of INT16 and UINT16; of HALF and BFLOAT16 their bits. */
  val dataAsShortArray: ShortArray
    get() = ShortArray(count()).also {
      read<ShortBuffer>("short array", DType.HALF, DType.INT16, DType.UINT16, DType.BFLOAT16).get(it)
    }

  /** Of INT32 and UINT32. */
  val dataAsIntArray: IntArray
    get() = IntArray(count()).also { read<IntBuffer>("int array", DType.INT32, DType.UINT32).get(it) }

  /** Of INT64 and UINT64. */
  val dataAsLongArray: LongArray
    get() = LongArray(count()).also { read<LongBuffer>("long array", DType.INT64, DType.UINT64).get(it) }

  /** Of FLOAT; HALF and BFLOAT16 are widened. */
  val dataAsFloatArray: FloatArray
    get() {
      val elements = read<Buffer>("float array", DType.FLOAT, DType.HALF, DType.BFLOAT16)
      return when (elements) {
        is ShortBuffer -> FloatArray(count()) { widened(elements.get(it)) }
        else -> FloatArray(count()).also { (elements as FloatBuffer).get(it) }
      }
    }

  /** Of DOUBLE. */
  val dataAsDoubleArray: DoubleArray
    get() = DoubleArray(count()).also { read<DoubleBuffer>("double array", DType.DOUBLE).get(it) }

  /** Elements at the buffer's position, which moves behind them; BufferOverflowException if they do not fit. */
  fun copyDataInto(buffer: ByteBuffer) {
    buffer.put(read<ByteBuffer>("byte buffer", DType.INT8))
  }

  /** See above; of UINT8. */
  fun copyDataIntoUnsigned(buffer: ByteBuffer) {
    buffer.put(read<ByteBuffer>("byte buffer", DType.UINT8))
  }

  /** See above. */
  fun copyDataInto(buffer: ShortBuffer) {
    buffer.put(read<ShortBuffer>("short buffer", DType.HALF, DType.INT16, DType.UINT16, DType.BFLOAT16))
  }

  /** See above. */
  fun copyDataInto(buffer: IntBuffer) {
    buffer.put(read<IntBuffer>("int buffer", DType.INT32, DType.UINT32))
  }

  /** See above. */
  fun copyDataInto(buffer: LongBuffer) {
    buffer.put(read<LongBuffer>("long buffer", DType.INT64, DType.UINT64))
  }

  /** See above; HALF and BFLOAT16 are widened. */
  fun copyDataInto(buffer: FloatBuffer) {
    val elements = read<Buffer>("float buffer", DType.FLOAT, DType.HALF, DType.BFLOAT16)
    if (elements is FloatBuffer) {
      buffer.put(elements)
    } else {
      buffer.put(dataAsFloatArray)
    }
  }

  /** See above. */
  fun copyDataInto(buffer: DoubleBuffer) {
    buffer.put(read<DoubleBuffer>("double buffer", DType.DOUBLE))
  }

  /** Type, number of dimensions (a byte each), sizes (four bytes each), elements; all big-endian. */
  fun toByteArray(): ByteArray {
    val storage = dtype.storage ?: throw IllegalArgumentException("Unknown Tensor dtype: $dtype")
    val header = 2 + 4 * shape.size
    val bytes = ByteBuffer.allocate(Math.addExact(header, Math.multiplyExact(count(), storage.numBytes)))
    bytes.put(dtype.jniCode.toByte()).put(shape.size.toByte())
    shape.forEach { bytes.putInt(Math.toIntExact(it)) }
    storage.put(storage.view(bytes.slice()), storage.all(data))
    return bytes.array()
  }

  override fun toString(): String {
    val sizes = Arrays.toString(shape)
    return if (dtype.storage == null) "Unsupported tensor($sizes, dtype=$dtype)"
    else "Tensor($sizes, dtype=torch.${dtype.torchName})"
  }

  internal val rank: Int
    get() = shape.size

  internal fun copyShapeInto(numbers: LongArray, at: Int) {
    shape.copyInto(numbers, at)
  }

  /** The memory is not the tensor's any more. */
  internal fun invalidate() {
    memory = null
  }

  private fun count(): Int = Math.toIntExact(numel())

  private fun widened(bits: Short): Float = if (dtype == DType.HALF) halfToFloat(bits) else bfloat16ToFloat(bits)

  @Suppress("UNCHECKED_CAST")
  private fun <T : Buffer> read(kind: String, vararg dtypes: DType): T {
    check(dtype in dtypes) {
      val name = if (dtype.storage == null) dtype.name else dtype.torchName
      "Tensor of type Tensor_$name cannot return data as $kind."
    }
    return dtype.storage!!.all(data) as T
  }

  /** [owner] keeps memory alive that is not the buffer's own. */
  private class Stored(dtype: DType, data: Buffer, shape: LongArray, @Suppress("unused") private val owner: Any?) :
    Tensor(dtype, data, shape)

  companion object {
    /** Bytes in the processor's order. */
    @JvmStatic
    fun allocateByteBuffer(numElements: Int): ByteBuffer = Storage.BYTE.allocate(numElements) as ByteBuffer

    @JvmStatic
    fun allocateIntBuffer(numElements: Int): IntBuffer = Storage.INT.allocate(numElements) as IntBuffer

    @JvmStatic
    fun allocateFloatBuffer(numElements: Int): FloatBuffer = Storage.FLOAT.allocate(numElements) as FloatBuffer

    @JvmStatic
    fun allocateLongBuffer(numElements: Int): LongBuffer = Storage.LONG.allocate(numElements) as LongBuffer

    /** The bits of halves. */
    @JvmStatic
    fun allocateHalfBuffer(numElements: Int): ShortBuffer = Storage.SHORT.allocate(numElements) as ShortBuffer

    @JvmStatic
    fun allocateDoubleBuffer(numElements: Int): DoubleBuffer = Storage.DOUBLE.allocate(numElements) as DoubleBuffer

    /** Arrays are copied. */
    @JvmStatic
    fun fromBlobUnsigned(data: ByteArray, shape: LongArray): Tensor =
      copied(DType.UINT8, ByteBuffer.wrap(data), shape)

    @JvmStatic
    fun fromBlob(data: ByteArray, shape: LongArray): Tensor = copied(DType.INT8, ByteBuffer.wrap(data), shape)

    @JvmStatic
    fun fromBlob(data: BooleanArray, shape: LongArray): Tensor =
      copied(DType.BOOL, ByteBuffer.wrap(ByteArray(data.size) { if (data[it]) 1 else 0 }), shape)

    /** The bits of halves; see the next one for INT16, UINT16 and BFLOAT16. */
    @JvmStatic
    fun fromBlob(data: ShortArray, shape: LongArray): Tensor = fromBlob(data, shape, DType.HALF)

    @JvmStatic
    fun fromBlob(data: ShortArray, shape: LongArray, dtype: DType): Tensor =
      copied(ofShorts(dtype), ShortBuffer.wrap(data), shape)

    @JvmStatic
    fun fromBlob(data: IntArray, shape: LongArray): Tensor = copied(DType.INT32, IntBuffer.wrap(data), shape)

    @JvmStatic
    fun fromBlob(data: LongArray, shape: LongArray): Tensor = copied(DType.INT64, LongBuffer.wrap(data), shape)

    @JvmStatic
    fun fromBlob(data: FloatArray, shape: LongArray): Tensor = copied(DType.FLOAT, FloatBuffer.wrap(data), shape)

    @JvmStatic
    fun fromBlob(data: DoubleArray, shape: LongArray): Tensor = copied(DType.DOUBLE, DoubleBuffer.wrap(data), shape)

    /** Buffers are not copied: what is written to them later is in the tensor. They are direct, in native order. */
    @JvmStatic
    fun fromBlobUnsigned(data: ByteBuffer, shape: LongArray): Tensor =
      borrowed(DType.UINT8, data, data.isDirect, data.order(), shape)

    @JvmStatic
    fun fromBlob(data: ByteBuffer, shape: LongArray): Tensor =
      borrowed(DType.INT8, data, data.isDirect, data.order(), shape)

    @JvmStatic
    fun fromBlob(data: ShortBuffer, shape: LongArray): Tensor = fromBlob(data, shape, DType.HALF)

    @JvmStatic
    fun fromBlob(data: ShortBuffer, shape: LongArray, dtype: DType): Tensor =
      borrowed(ofShorts(dtype), data, data.isDirect, data.order(), shape)

    @JvmStatic
    fun fromBlob(data: IntBuffer, shape: LongArray): Tensor =
      borrowed(DType.INT32, data, data.isDirect, data.order(), shape)

    @JvmStatic
    fun fromBlob(data: LongBuffer, shape: LongArray): Tensor =
      borrowed(DType.INT64, data, data.isDirect, data.order(), shape)

    @JvmStatic
    fun fromBlob(data: FloatBuffer, shape: LongArray): Tensor =
      borrowed(DType.FLOAT, data, data.isDirect, data.order(), shape)

    @JvmStatic
    fun fromBlob(data: DoubleBuffer, shape: LongArray): Tensor =
      borrowed(DType.DOUBLE, data, data.isDirect, data.order(), shape)

    @JvmStatic
    fun ones(shape: LongArray, dtype: DType): Tensor {
      val count = checkedCount(shape)
      return when (dtype) {
        DType.UINT8 -> fromBlobUnsigned(ByteArray(count) { 1 }, shape)
        DType.INT8 -> fromBlob(ByteArray(count) { 1 }, shape)
        DType.INT32 -> fromBlob(IntArray(count) { 1 }, shape)
        DType.FLOAT -> fromBlob(FloatArray(count) { 1f }, shape)
        DType.INT64 -> fromBlob(LongArray(count) { 1L }, shape)
        DType.DOUBLE -> fromBlob(DoubleArray(count) { 1.0 }, shape)
        else -> throw IllegalArgumentException("Tensor.ones() cannot be used with DType $dtype")
      }
    }

    @JvmStatic
    fun zeros(shape: LongArray, dtype: DType): Tensor {
      val count = checkedCount(shape)
      return when (dtype) {
        DType.UINT8, DType.INT8, DType.INT32, DType.FLOAT, DType.INT64, DType.DOUBLE ->
          Stored(dtype, dtype.storage!!.allocate(count), shape, null)
        else -> throw IllegalArgumentException("Tensor.zeros() cannot be used with DType $dtype")
      }
    }

    /** The product of the sizes. */
    @JvmStatic
    fun numel(shape: LongArray): Long {
      require(shape.all { it >= 0 }) { "Shape elements must be non negative" }
      return shape.fold(1L) { product, size -> Math.multiplyExact(product, size) }
    }

    /** Reads what [toByteArray] wrote. */
    @JvmStatic
    fun fromByteArray(bytes: ByteArray): Tensor {
      val buffer = ByteBuffer.wrap(bytes)
      require(buffer.remaining() >= 2) { "invalid buffer" }
      val dtype = DType.fromJniCode(buffer.get().toInt())
      val storage = dtype.storage ?: throw IllegalArgumentException("Unknown Tensor dtype: $dtype")
      val rank = buffer.get().toInt()
      require(rank >= 0 && buffer.remaining() >= 4 * rank) { "invalid buffer" }
      val shape = LongArray(rank) { buffer.int.toLong() }
      val count = checkedCount(shape)
      require(buffer.remaining().toLong() == count.toLong() * storage.numBytes) { "invalid buffer" }
      return copied(dtype, storage.view(buffer.slice()), shape)
    }

    /** What native code returns: [bytes] are the tensor's, or [owner]'s, which lives as long as the tensor then. */
    internal fun ofNative(bytes: ByteBuffer, shape: LongArray, dtypeCode: Int, owner: Any? = null): Tensor {
      val dtype = DType.fromJniCode(dtypeCode)
      bytes.order(ByteOrder.nativeOrder())
      return Stored(dtype, dtype.storage?.view?.invoke(bytes) ?: bytes, shape, owner)
    }

    private fun ofShorts(dtype: DType): DType {
      require(dtype.storage == Storage.SHORT) { "Expected HALF, INT16, UINT16 or BFLOAT16 for shorts, got $dtype" }
      return dtype
    }

    private fun checkedCount(shape: LongArray): Int = Math.toIntExact(numel(shape))

    private fun checkCapacity(data: Buffer, shape: LongArray) {
      val count = numel(shape)
      require(count == data.capacity().toLong()) {
        String.format(
          Locale.US, "Inconsistent data capacity:%d and shape number elements:%d shape:%s", data.capacity(), count,
          Arrays.toString(shape)
        )
      }
    }

    private fun copied(dtype: DType, data: Buffer, shape: LongArray): Tensor {
      checkCapacity(data, shape)
      val storage = dtype.storage!!
      val copy = storage.allocate(data.capacity())
      storage.put(storage.all(copy), storage.all(data))
      return Stored(dtype, copy, shape, null)
    }

    private fun borrowed(dtype: DType, data: Buffer, isDirect: Boolean, order: ByteOrder, shape: LongArray): Tensor {
      checkCapacity(data, shape)
      require(isDirect) { "Data buffer must be direct (java.nio.ByteBuffer#allocateDirect)" }
      require(order == ByteOrder.nativeOrder()) {
        "Data buffer must have native byte order (java.nio.ByteOrder#nativeOrder)"
      }
      return Stored(dtype, data, shape, null)
    }
  }
}
