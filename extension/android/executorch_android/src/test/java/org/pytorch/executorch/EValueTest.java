// SPDX-License-Identifier: BSD-3-Clause
// Values: kinds, bytes, wrong use; exceptions and paths beside them. Needs no native library.
package org.pytorch.executorch;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.Test;

public class EValueTest {
  private static final EValue TENSOR = EValue.from(Tensor.fromBlob(new float[] {1, 2}, new long[] {2}));
  private static final EValue[] ALL = {
    EValue.optionalNone(), TENSOR, EValue.from("grüß 😀"), EValue.from(2.5), EValue.from(1L << 40), EValue.from(true)
  };

  @Test
  public void eachIsOfOneKind() {
    for (int i = 0; i < ALL.length; ++i) {
      boolean[] kinds = {
        ALL[i].isNone(), ALL[i].isTensor(), ALL[i].isString(), ALL[i].isDouble(), ALL[i].isInt(), ALL[i].isBool()
      };
      for (int kind = 0; kind < kinds.length; ++kind) {
        assertEquals(kind == i, kinds[kind]);
      }
    }
    assertArrayEquals(new float[] {1, 2}, ALL[1].toTensor().getDataAsFloatArray(), 0);
    assertEquals("grüß 😀", ALL[2].toStr());
    assertEquals(2.5, ALL[3].toDouble(), 0);
    assertEquals(1L << 40, ALL[4].toInt());
    assertTrue(ALL[5].toBool());
  }

  @Test
  public void anotherKindSaysBoth() {
    assertEquals(
        "Expected EValue type Tensor, actual type Int",
        assertThrows(IllegalStateException.class, () -> EValue.from(3L).toTensor()).getMessage());
    assertThrows(IllegalStateException.class, () -> TENSOR.toInt());
    assertThrows(IllegalStateException.class, () -> TENSOR.toDouble());
    assertThrows(IllegalStateException.class, () -> TENSOR.toBool());
    assertThrows(IllegalStateException.class, () -> TENSOR.toStr());
    assertThrows(IllegalStateException.class, () -> EValue.optionalNone().toTensor());
  }

  @Test
  public void bytesRoundTrip() {
    for (EValue value : ALL) {
      byte[] bytes = value.toByteArray();
      assertArrayEquals(bytes, EValue.fromByteArray(bytes).toByteArray());
    }
    assertArrayEquals(ByteBuffer.allocate(9).put((byte) 4).putLong(7).array(), EValue.from(7L).toByteArray());
    assertArrayEquals(new byte[] {5, 1}, EValue.from(true).toByteArray());
    assertEquals("grüß 😀", EValue.fromByteArray(ALL[2].toByteArray()).toStr());
  }

  @Test
  public void wrongBytesAreRefused() {
    assertEquals(
        "invalid buffer",
        assertThrows(IllegalArgumentException.class, () -> EValue.fromByteArray(new byte[0])).getMessage());
    assertEquals(
        "invalid type code: 9",
        assertThrows(IllegalArgumentException.class, () -> EValue.fromByteArray(new byte[] {9})).getMessage());
    for (EValue value : ALL) {
      byte[] bytes = value.toByteArray();
      for (int size = 1; size < bytes.length; ++size) {
        byte[] cut = Arrays.copyOf(bytes, size);
        assertThrows(IllegalArgumentException.class, () -> EValue.fromByteArray(cut));
      }
    }
  }

  @Test
  public void exceptionsHaveCodesAndSentences() {
    RuntimeException argument = ExecutorchRuntimeException.makeExecutorchException(0x12, "two inputs");
    assertTrue(argument instanceof ExecutorchRuntimeException.ExecutorchInvalidArgumentException);
    assertEquals("[ExecuTorch Error 0x12] Invalid argument: two inputs", argument.getMessage());
    ExecutorchRuntimeException unknown = new ExecutorchRuntimeException(0x99, "details");
    assertEquals("[ExecuTorch Error 0x99] Unknown error code 0x99: details", unknown.getMessage());
    assertEquals(0x99, unknown.getErrorCode());
    assertEquals(ExecutorchRuntimeException.DELEGATE_INVALID_HANDLE, 0x32);
    IllegalStateException cause = new IllegalStateException();
    assertEquals(cause, new ExecutorchRuntimeException(1, "", cause).getCause());
    assertFalse(unknown.getDetailedError() == null);
  }

  @Test
  public void pathsAreChecked() throws Exception {
    Path folder = Files.createTempDirectory("paths");
    String[][] rows = {
      {null, "Cannot load model path: path is null"},
      {folder + "/none", "Cannot load model path: path does not exist: " + folder + "/none"},
      {folder.toString(), "Cannot load model path: path is not a file: " + folder},
    };
    for (String[] row : rows) {
      assertEquals(
          row[1],
          assertThrows(
                  IllegalArgumentException.class, () -> ExecuTorchRuntime.validateFilePath(row[0], "model path"))
              .getMessage());
    }
    Path file = Files.createFile(folder.resolve("file"));
    ExecuTorchRuntime.validateFilePath(file.toString(), "model path");
    Files.delete(file);
    Files.delete(folder);
  }
}
