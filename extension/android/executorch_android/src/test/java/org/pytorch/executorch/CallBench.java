// SPDX-License-Identifier: BSD-3-Clause
// What a call of a program that adds two numbers costs, beside the program itself.
package org.pytorch.executorch;

import java.nio.FloatBuffer;

public final class CallBench {
  private static final int ROUNDS = 9;

  private CallBench() {}

  /** The least time of several rounds: others of the machine only add. */
  private static double nanoseconds(int calls, Runnable call) {
    double least = Double.MAX_VALUE;
    for (int round = 0; round < ROUNDS; ++round) {
      long start = System.nanoTime();
      for (int i = 0; i < calls; ++i) {
        call.run();
      }
      least = Math.min(least, (System.nanoTime() - start) / (double) calls);
    }
    return least;
  }

  public static void main(String[] arguments) {
    FloatBuffer data = Tensor.allocateFloatBuffer(1);
    EValue value = EValue.from(Tensor.fromBlob(data, new long[] {1}));
    try (Module module = Module.load(arguments[0], Module.LOAD_MODE_FILE, 1)) {
      System.out.printf("forward, inputs made once: %.0f ns%n", nanoseconds(20000, () -> module.forward(value, value)));
      EValue[] inputs = {value, value};
      System.out.printf(
          "the same, output in place: %.0f ns%n",
          nanoseconds(20000, () -> module.executeInPlace("forward", inputs, outputs -> outputs.length)));
      float[] array = {1};
      long[] shape = {1};
      System.out.printf(
          "forward, inputs of arrays, output to an array: %.0f ns%n",
          nanoseconds(
              20000,
              () ->
                  module.forward(
                      EValue.from(Tensor.fromBlob(array, shape)), EValue.from(Tensor.fromBlob(array, shape)))[0]
                      .toTensor()
                      .getDataAsFloatArray()));
    }
  }
}
