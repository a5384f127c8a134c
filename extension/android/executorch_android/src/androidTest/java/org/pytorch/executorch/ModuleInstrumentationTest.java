// SPDX-License-Identifier: BSD-3-Clause
// On a phone: the library loads and add.pte adds. Everything else is tested on a desktop's JVM (extension/android/test).
package org.pytorch.executorch;

import static org.junit.Assert.assertEquals;

import androidx.test.ext.junit.runners.AndroidJUnit4;
import androidx.test.platform.app.InstrumentationRegistry;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.junit.Test;
import org.junit.runner.RunWith;

@RunWith(AndroidJUnit4.class)
public class ModuleInstrumentationTest {
  @Test
  public void adds() throws Exception {
    byte[] bytes = new byte[1 << 16];
    int size = 0;
    try (InputStream file = InstrumentationRegistry.getInstrumentation().getContext().getAssets().open("add.pte")) {
      for (int read; (read = file.read(bytes, size, bytes.length - size)) > 0; ) {
        size += read;
      }
    }
    EValue one = EValue.from(Tensor.fromBlob(new float[] {1}, new long[] {1}));
    try (Module module = Module.load(ByteBuffer.wrap(bytes, 0, size))) {
      assertEquals(2, module.forward(one, one)[0].toTensor().getDataAsFloatArray()[0], 0);
    }
  }
}
