// SPDX-License-Identifier: BSD-3-Clause
// The one table of how elements lie in buffers; what differs between dtypes of tensors beyond it are their names.
package org.pytorch.executorch.internal

import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.DoubleBuffer
import java.nio.FloatBuffer
import java.nio.IntBuffer
import java.nio.LongBuffer
import java.nio.ShortBuffer

/**
 * [numBytes] of an element, [view] of bytes as elements, [put] of all elements of one buffer at another's position.
 * A buffer's own position and limit are never changed: several threads may read one tensor.
 */
internal enum class Storage(
  val numBytes: Int,
  val view: (ByteBuffer) -> Buffer,
  val duplicate: (Buffer) -> Buffer,
  val put: (Buffer, Buffer) -> Unit
) {
  BYTE(
    1,
    { it },
    { (it as ByteBuffer).duplicate() },
    { to, from -> (to as ByteBuffer).put(from as ByteBuffer) }
  ),
  SHORT(
    2,
    { it.asShortBuffer() },
    { (it as ShortBuffer).duplicate() },
    { to, from -> (to as ShortBuffer).put(from as ShortBuffer) }
  ),
  INT(
    4,
    { it.asIntBuffer() },
    { (it as IntBuffer).duplicate() },
    { to, from -> (to as IntBuffer).put(from as IntBuffer) }
  ),
  LONG(
    8,
    { it.asLongBuffer() },
    { (it as LongBuffer).duplicate() },
    { to, from -> (to as LongBuffer).put(from as LongBuffer) }
  ),
  FLOAT(
    4,
    { it.asFloatBuffer() },
    { (it as FloatBuffer).duplicate() },
    { to, from -> (to as FloatBuffer).put(from as FloatBuffer) }
  ),
  DOUBLE(
    8,
    { it.asDoubleBuffer() },
    { (it as DoubleBuffer).duplicate() },
    { to, from -> (to as DoubleBuffer).put(from as DoubleBuffer) }
  );

  /** The elements from the first to the last, whatever position and limit the buffer has. */
  fun all(buffer: Buffer): Buffer {
    val whole: Buffer = duplicate(buffer)
    whole.clear()
    return whole
  }

  /** Memory outside of the heap, in the processor's order, which native code reads in place. */
  fun allocate(numElements: Int): Buffer = view(allocateBytes(Math.multiplyExact(numElements, numBytes)))

  companion object {
    fun allocateBytes(numBytes: Int): ByteBuffer =
      ByteBuffer.allocateDirect(numBytes).order(ByteOrder.nativeOrder())
  }
}
