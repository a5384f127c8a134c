// SPDX-License-Identifier: BSD-3-Clause
// Adds two large tensors again and again, for test/copies_test.py to count what is copied: usage: Copies PROGRAM SIZE
// CALLS, and "place" for outputs in place.
package org.pytorch.executorch;

import java.nio.FloatBuffer;

public final class Copies {
  private Copies() {}

  private static void check(EValue[] outputs, int call, int last) {
    FloatBuffer sums = (FloatBuffer) outputs[0].toTensor().getRawDataBuffer();
    if (sums.get(0) != call + 1 || sums.get(last) != call + 1) {
      throw new IllegalStateException("call " + call + " gave " + sums.get(0) + ", " + sums.get(last));
    }
  }

  public static void main(String[] words) {
    int size = Integer.parseInt(words[1]);
    int calls = Integer.parseInt(words[2]);
    long[] shape = {size};
    FloatBuffer data = Tensor.allocateFloatBuffer(size);
    EValue[] inputs = {
      EValue.from(Tensor.fromBlob(data, shape)), EValue.from(Tensor.ones(shape, DType.FLOAT))
    };
    try (Module module = Module.load(words[0])) {
      for (int call = 0; call < calls; ++call) {
        for (int i = 0; i < size; ++i) {
          data.put(i, call);
        }
        final int now = call;
        if (words.length > 3) {
          module.executeInPlace(
              "forward",
              inputs,
              outputs -> {
                check(outputs, now, size - 1);
                return null;
              });
        } else {
          check(module.forward(inputs), now, size - 1);
        }
      }
    }
  }
}
