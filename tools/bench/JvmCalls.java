// SPDX-License-Identifier: BSD-3-Clause
// What a call of a program that adds two numbers costs on a JVM, by ExecuTorch's classes and by ONNX Runtime's, in turns;
// jvm_calls.py compiles and runs it.

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.pytorch.executorch.EValue;
import org.pytorch.executorch.Module;
import org.pytorch.executorch.Tensor;

public final class JvmCalls {
  private static final int ROUNDS = 51;
  private static final int CALLS = 2000;
  private static final long[] SHAPE = {1};

  private interface Call {
    float sum() throws OrtException;
  }

  private static final class Way {
    final String name;
    final Call ours;
    final Call theirs;

    Way(String name, Call ours, Call theirs) {
      this.name = name;
      this.ours = ours;
      this.theirs = theirs;
    }
  }

  private static double nanoseconds(Call call) throws OrtException {
    float sum = 0;
    long start = System.nanoTime();
    for (int i = 0; i < CALLS; ++i) {
      sum += call.sum();
    }
    double time = (System.nanoTime() - start) / (double) CALLS;
    if (sum != 3f * CALLS) {
      throw new IllegalStateException("1 + 2 is " + sum / CALLS);
    }
    return time;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static void measure(Way way) throws OrtException {
    double[] ours = new double[ROUNDS];
    double[] theirs = new double[ROUNDS];
    double[] ratios = new double[ROUNDS];
    for (int round = -ROUNDS; round < ROUNDS; ++round) { // the first half compiles
      double one = nanoseconds(way.ours);
      double other = nanoseconds(way.theirs);
      if (round >= 0) {
        ours[round] = one;
        theirs[round] = other;
        ratios[round] = one / other;
      }
    }
    System.out.printf(
        Locale.ROOT, "%s: %.0f ns, ONNX Runtime %.0f ns, ratio %.3f%n", way.name, median(ours), median(theirs),
        median(ratios));
  }

  private static FloatBuffer direct(float value) {
    FloatBuffer buffer = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder()).asFloatBuffer();
    buffer.put(0, value);
    return buffer;
  }

  private static EValue of(float value) {
    return EValue.from(Tensor.fromBlob(new float[] {value}, SHAPE));
  }

  public static void main(String[] files) throws OrtException {
    OrtEnvironment environment = OrtEnvironment.getEnvironment();
    OrtSession.SessionOptions options = new OrtSession.SessionOptions();
    options.setIntraOpNumThreads(1);
    List<Way> ways = new ArrayList<>();
    try (Module module = Module.load(files[0], Module.LOAD_MODE_FILE, 1);
        OrtSession session = environment.createSession(files[1], options);
        OnnxTensor x = OnnxTensor.createTensor(environment, direct(1), SHAPE);
        OnnxTensor y = OnnxTensor.createTensor(environment, direct(2), SHAPE);
        OnnxTensor z = OnnxTensor.createTensor(environment, direct(0), SHAPE)) {
      EValue[] inputs = {
        EValue.from(Tensor.fromBlob(direct(1), SHAPE)), EValue.from(Tensor.fromBlob(direct(2), SHAPE))
      };
      Map<String, OnnxTensor> fed = Map.of("x", x, "y", y);
      Map<String, OnnxTensor> pinned = Map.of("z", z);
      FloatBuffer result = z.getBufferRef().map(FloatBuffer.class::cast).get();
      ways.add(
          new Way(
              "inputs made once, output read from an array",
              () -> module.forward(inputs)[0].toTensor().getDataAsFloatArray()[0],
              () -> {
                try (OrtSession.Result outputs = session.run(fed)) {
                  return ((float[]) outputs.get(0).getValue())[0];
                }
              }));
      ways.add(
          new Way(
              "inputs made once, output in place",
              () ->
                  module.executeInPlace(
                      "forward",
                      inputs,
                      outputs -> ((FloatBuffer) outputs[0].toTensor().getRawDataBuffer()).get(0)),
              () -> {
                try (OrtSession.Result outputs = session.run(fed, pinned)) {
                  return result.get(0);
                }
              }));
      ways.add(
          new Way(
              "inputs from arrays, output read from an array",
              () -> module.forward(of(1), of(2))[0].toTensor().getDataAsFloatArray()[0],
              () -> {
                try (OnnxTensor one = OnnxTensor.createTensor(environment, new float[] {1});
                    OnnxTensor two = OnnxTensor.createTensor(environment, new float[] {2});
                    OrtSession.Result outputs = session.run(Map.of("x", one, "y", two))) {
                  return ((float[]) outputs.get(0).getValue())[0];
                }
              }));
      System.out.println("ONNX Runtime " + environment.getVersion());
      for (Way way : ways) {
        measure(way);
      }
    }
  }
}
