// SPDX-License-Identifier: BSD-3-Clause
// Tensors: every type in and out, bytes, checks. Needs no native library.
package org.pytorch.executorch;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.Test;
import org.junit.function.ThrowingRunnable;

public class TensorTest {
  private static final long[] SHAPE = {2, 2};
  private static final Tensor BYTES = Tensor.fromBlob(new byte[] {1, 2, -3, 4}, SHAPE);
  private static final Tensor UNSIGNED = Tensor.fromBlobUnsigned(new byte[] {1, 2, -3, 4}, SHAPE);
  private static final Tensor BOOLS = Tensor.fromBlob(new boolean[] {true, false, true, true}, SHAPE);
  private static final Tensor HALVES = Tensor.fromBlob(new short[] {0x3C00, (short) 0xC100, 0x0001, 0x7BFF}, SHAPE);
  private static final Tensor SHORTS = Tensor.fromBlob(new short[] {1, -2, 3, 4}, SHAPE, DType.INT16);
  private static final Tensor BFLOATS = Tensor.fromBlob(new short[] {0x3F80, (short) 0xC040, 0, 0x4348}, SHAPE, DType.BFLOAT16);
  private static final Tensor INTS = Tensor.fromBlob(new int[] {1, -2, 3, 1 << 30}, SHAPE);
  private static final Tensor LONGS = Tensor.fromBlob(new long[] {1, -2, 3, 1L << 40}, SHAPE);
  private static final Tensor FLOATS = Tensor.fromBlob(new float[] {1, -2.5f, 3, Float.MAX_VALUE}, SHAPE);
  private static final Tensor DOUBLES = Tensor.fromBlob(new double[] {1, -2.5, 3, Double.MIN_VALUE}, SHAPE);
  private static final List<Tensor> ALL =
      Arrays.asList(BYTES, UNSIGNED, BOOLS, HALVES, SHORTS, BFLOATS, INTS, LONGS, FLOATS, DOUBLES);

  private static void assertFails(String message, Class<? extends Throwable> type, ThrowingRunnable call) {
    assertEquals(message, assertThrows(type, call).getMessage());
  }

  @Test
  public void arraysComeBack() {
    assertArrayEquals(new byte[] {1, 2, -3, 4}, BYTES.getDataAsByteArray());
    assertArrayEquals(new byte[] {1, 2, -3, 4}, UNSIGNED.getDataAsUnsignedByteArray());
    assertArrayEquals(new boolean[] {true, false, true, true}, BOOLS.getDataAsBooleanArray());
    assertArrayEquals(new short[] {0x3C00, (short) 0xC100, 0x0001, 0x7BFF}, HALVES.getDataAsShortArray());
    assertArrayEquals(new short[] {1, -2, 3, 4}, SHORTS.getDataAsShortArray());
    assertArrayEquals(new int[] {1, -2, 3, 1 << 30}, INTS.getDataAsIntArray());
    assertArrayEquals(new long[] {1, -2, 3, 1L << 40}, LONGS.getDataAsLongArray());
    assertArrayEquals(new float[] {1, -2.5f, 3, Float.MAX_VALUE}, FLOATS.getDataAsFloatArray(), 0);
    assertArrayEquals(new double[] {1, -2.5, 3, Double.MIN_VALUE}, DOUBLES.getDataAsDoubleArray(), 0);
  }

  @Test
  public void floatsOf16BitsAreWidened() {
    // 1; -2.5; the least, 2^-24; the most, 65504
    assertArrayEquals(new float[] {1, -2.5f, 1f / (1 << 24), 65504}, HALVES.getDataAsFloatArray(), 0);
    assertArrayEquals(new float[] {1, -3, 0, 200}, BFLOATS.getDataAsFloatArray(), 0);
    Tensor special = Tensor.fromBlob(new short[] {0x7C00, (short) 0xFC00, 0x7E00, (short) 0x8000}, SHAPE);
    float[] values = special.getDataAsFloatArray();
    assertEquals(Float.POSITIVE_INFINITY, values[0], 0);
    assertEquals(Float.NEGATIVE_INFINITY, values[1], 0);
    assertTrue(Float.isNaN(values[2]));
    assertEquals(Float.floatToRawIntBits(-0f), Float.floatToRawIntBits(values[3]));
  }

  @Test
  public void typesAndShapes() {
    DType[] expected = {
      DType.INT8, DType.UINT8, DType.BOOL, DType.HALF, DType.INT16, DType.BFLOAT16, DType.INT32, DType.INT64, DType.FLOAT,
      DType.DOUBLE
    };
    for (int i = 0; i < expected.length; ++i) {
      Tensor tensor = ALL.get(i);
      assertEquals(expected[i], tensor.dtype());
      assertEquals(expected[i].jniCode, tensor.dtypeJniCode());
      assertEquals(expected[i], DType.fromJniCode(tensor.dtypeJniCode()));
      assertEquals(4, tensor.numel());
      assertArrayEquals(SHAPE, tensor.shape());
      assertTrue(tensor.getRawDataBuffer().isDirect());
    }
    FLOATS.shape()[0] = 7; // a copy
    assertArrayEquals(SHAPE, FLOATS.shape());
    assertEquals("Tensor([2, 2], dtype=torch.float32)", FLOATS.toString());
    assertEquals("Tensor([2, 2], dtype=torch.uint8)", UNSIGNED.toString());
    assertFails("No DType found for jniCode 99", IllegalArgumentException.class, () -> DType.fromJniCode(99));
  }

  @Test
  public void aTensorOfAnotherTypeSaysWhichItIs() {
    assertFails(
        "Tensor of type Tensor_int32 cannot return data as float array.", IllegalStateException.class,
        INTS::getDataAsFloatArray);
    assertFails(
        "Tensor of type Tensor_float32 cannot return data as int array.", IllegalStateException.class,
        FLOATS::getDataAsIntArray);
    assertThrows(IllegalStateException.class, FLOATS::getDataAsByteArray);
    assertThrows(IllegalStateException.class, BYTES::getDataAsUnsignedByteArray);
    assertThrows(IllegalStateException.class, FLOATS::getDataAsLongArray);
    assertThrows(IllegalStateException.class, FLOATS::getDataAsDoubleArray);
    assertThrows(IllegalStateException.class, FLOATS::getDataAsShortArray);
    assertThrows(IllegalStateException.class, FLOATS::getDataAsBooleanArray);
  }

  @Test
  public void buffersAreNotCopied() {
    FloatBuffer data = Tensor.allocateFloatBuffer(4);
    Tensor tensor = Tensor.fromBlob(data, SHAPE);
    data.put(new float[] {1, 2, 3, 4});
    assertSame(data, tensor.getRawDataBuffer());
    assertArrayEquals(new float[] {1, 2, 3, 4}, tensor.getDataAsFloatArray(), 0);
    assertEquals("the position is the caller's", 4, data.position());
    float[] array = {5};
    Tensor copy = Tensor.fromBlob(array, new long[] {1});
    array[0] = 6;
    assertEquals(5, copy.getDataAsFloatArray()[0], 0);
  }

  @Test
  public void buffersOfEveryType() {
    assertEquals(DType.INT8, Tensor.fromBlob(Tensor.allocateByteBuffer(4), SHAPE).dtype());
    assertEquals(DType.UINT8, Tensor.fromBlobUnsigned(Tensor.allocateByteBuffer(4), SHAPE).dtype());
    assertEquals(DType.INT32, Tensor.fromBlob(Tensor.allocateIntBuffer(4), SHAPE).dtype());
    assertEquals(DType.INT64, Tensor.fromBlob(Tensor.allocateLongBuffer(4), SHAPE).dtype());
    assertEquals(DType.FLOAT, Tensor.fromBlob(Tensor.allocateFloatBuffer(4), SHAPE).dtype());
    assertEquals(DType.DOUBLE, Tensor.fromBlob(Tensor.allocateDoubleBuffer(4), SHAPE).dtype());
    assertEquals(DType.HALF, Tensor.fromBlob(Tensor.allocateHalfBuffer(4), SHAPE).dtype());
    assertEquals(DType.INT16, Tensor.fromBlob(Tensor.allocateHalfBuffer(4), SHAPE, DType.INT16).dtype());
    Tensor unsigned = Tensor.fromBlob(new short[] {1, -1, 2, 3}, SHAPE, DType.UINT16);
    assertArrayEquals(new short[] {1, -1, 2, 3}, Tensor.fromByteArray(unsigned.toByteArray()).getDataAsShortArray());
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBlob(Tensor.allocateHalfBuffer(4), SHAPE, DType.INT8));
  }

  @Test
  public void wrongBuffersAreRefused() {
    assertFails(
        "Data buffer must be direct (java.nio.ByteBuffer#allocateDirect)", IllegalArgumentException.class,
        () -> Tensor.fromBlob(FloatBuffer.allocate(4), SHAPE));
    ByteOrder other =
        ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
    assertFails(
        "Data buffer must have native byte order (java.nio.ByteOrder#nativeOrder)", IllegalArgumentException.class,
        () -> Tensor.fromBlob(ByteBuffer.allocateDirect(16).order(other).asFloatBuffer(), SHAPE));
    assertFails(
        "Inconsistent data capacity:3 and shape number elements:4 shape:[2, 2]", IllegalArgumentException.class,
        () -> Tensor.fromBlob(new float[3], SHAPE));
    assertFails(
        "Shape elements must be non negative", IllegalArgumentException.class,
        () -> Tensor.fromBlob(new float[3], new long[] {-1}));
  }

  @Test
  public void copiesIntoBuffers() {
    FloatBuffer floats = FloatBuffer.allocate(8);
    FLOATS.copyDataInto(floats);
    HALVES.copyDataInto(floats);
    assertArrayEquals(
        new float[] {1, -2.5f, 3, Float.MAX_VALUE, 1, -2.5f, 1f / (1 << 24), 65504}, floats.array(), 0);
    ByteBuffer bytes = ByteBuffer.allocate(8);
    BYTES.copyDataInto(bytes);
    UNSIGNED.copyDataIntoUnsigned(bytes);
    assertArrayEquals(new byte[] {1, 2, -3, 4, 1, 2, -3, 4}, bytes.array());
    IntBuffer ints = IntBuffer.allocate(4);
    INTS.copyDataInto(ints);
    assertArrayEquals(INTS.getDataAsIntArray(), ints.array());
    LongBuffer longs = LongBuffer.allocate(4);
    LONGS.copyDataInto(longs);
    assertArrayEquals(LONGS.getDataAsLongArray(), longs.array());
    DoubleBuffer doubles = DoubleBuffer.allocate(4);
    DOUBLES.copyDataInto(doubles);
    assertArrayEquals(DOUBLES.getDataAsDoubleArray(), doubles.array(), 0);
    ShortBuffer shorts = ShortBuffer.allocate(4);
    HALVES.copyDataInto(shorts);
    assertArrayEquals(HALVES.getDataAsShortArray(), shorts.array());
    assertThrows(BufferOverflowException.class, () -> FLOATS.copyDataInto(FloatBuffer.allocate(3)));
    assertThrows(IllegalStateException.class, () -> FLOATS.copyDataInto(IntBuffer.allocate(4)));
  }

  @Test
  public void onesAndZeros() {
    for (DType dtype : new DType[] {DType.UINT8, DType.INT8, DType.INT32, DType.FLOAT, DType.INT64, DType.DOUBLE}) {
      assertEquals(dtype, Tensor.ones(SHAPE, dtype).dtype());
      assertFalse(Arrays.equals(Tensor.ones(SHAPE, dtype).toByteArray(), Tensor.zeros(SHAPE, dtype).toByteArray()));
    }
    assertArrayEquals(new float[] {1, 1, 1, 1}, Tensor.ones(SHAPE, DType.FLOAT).getDataAsFloatArray(), 0);
    assertArrayEquals(new long[4], Tensor.zeros(SHAPE, DType.INT64).getDataAsLongArray());
    assertFails(
        "Tensor.ones() cannot be used with DType HALF", IllegalArgumentException.class,
        () -> Tensor.ones(SHAPE, DType.HALF));
    assertFails(
        "Tensor.zeros() cannot be used with DType BOOL", IllegalArgumentException.class,
        () -> Tensor.zeros(SHAPE, DType.BOOL));
  }

  @Test
  public void bytesRoundTrip() {
    for (Tensor tensor : ALL) {
      byte[] bytes = tensor.toByteArray();
      Tensor read = Tensor.fromByteArray(bytes);
      assertEquals(tensor.dtype(), read.dtype());
      assertArrayEquals(tensor.shape(), read.shape());
      assertArrayEquals(bytes, read.toByteArray());
    }
    // Type 3, two dimensions of 2 and 2, then 1, -2, 3, 2^30: big-endian
    ByteBuffer expected = ByteBuffer.allocate(26);
    expected.put((byte) 3).put((byte) 2).putInt(2).putInt(2).putInt(1).putInt(-2).putInt(3).putInt(1 << 30);
    assertArrayEquals(expected.array(), INTS.toByteArray());
  }

  @Test
  public void wrongBytesAreRefused() {
    byte[] bytes = INTS.toByteArray();
    for (int size = 0; size < bytes.length; ++size) {
      byte[] cut = Arrays.copyOf(bytes, size);
      assertThrows(IllegalArgumentException.class, () -> Tensor.fromByteArray(cut));
    }
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromByteArray(Arrays.copyOf(bytes, bytes.length + 1)));
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromByteArray(new byte[] {8, 0}));
  }

  @Test
  public void scalarsAndNothing() {
    Tensor scalar = Tensor.fromBlob(new float[] {3}, new long[] {});
    assertEquals(1, scalar.numel());
    assertEquals("Tensor([], dtype=torch.float32)", scalar.toString());
    Tensor empty = Tensor.fromBlob(new float[] {}, new long[] {3, 0});
    assertEquals(0, empty.getDataAsFloatArray().length);
    assertArrayEquals(empty.shape(), Tensor.fromByteArray(empty.toByteArray()).shape());
    assertEquals(6, Tensor.numel(new long[] {1, 2, 3}));
  }
}
