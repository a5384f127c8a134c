// SPDX-License-Identifier: BSD-3-Clause
// Where the tests find programs: the folder that test/programs.py wrote.
package org.pytorch.executorch;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;

public final class TestPrograms {
  private TestPrograms() {}

  public static String path(String name) {
    return new File(System.getProperty("executorch.test.programs"), name).getPath();
  }

  public static byte[] bytes(String name) throws IOException {
    return Files.readAllBytes(new File(path(name)).toPath());
  }

  public static ByteBuffer direct(String name) throws IOException {
    byte[] bytes = bytes(name);
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length);
    buffer.put(bytes).flip();
    return buffer;
  }

  public static EValue floats(float... values) {
    return EValue.from(Tensor.fromBlob(values, new long[] {values.length}));
  }
}
