// SPDX-License-Identifier: BSD-3-Clause
// Module on the native library: calls, errors, threads, memory.
package org.pytorch.executorch;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;
import static org.pytorch.executorch.TestPrograms.direct;
import static org.pytorch.executorch.TestPrograms.floats;
import static org.pytorch.executorch.TestPrograms.path;

import java.io.File;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.Test;

public class ModuleTest {
  private static final int INVALID_ARGUMENT = ExecutorchRuntimeException.INVALID_ARGUMENT;
  // What the runtime says of another number of dimensions.
  private static final int NOT_SUPPORTED = ExecutorchRuntimeException.NOT_SUPPORTED;

  private static float sum(Module module, float a, float b) {
    return module.forward(floats(a), floats(b))[0].toTensor().getDataAsFloatArray()[0];
  }

  @Test
  public void adds() {
    Module module = Module.load(path("add.pte"));
    assertEquals(21, sum(module, 1, 20), 0);
    assertEquals(5, module.execute("forward", floats(2), floats(3))[0].toTensor().getDataAsFloatArray()[0], 0);
    module.loadMethod("forward");
    assertArrayEquals(new String[] {"forward"}, module.getMethods());
    module.destroy();
  }

  @Test
  public void withoutInputsItRunsOnOnes() {
    try (Module module = Module.load(path("add.pte"))) {
      assertEquals(2, module.forward()[0].toTensor().getDataAsFloatArray()[0], 0);
    }
  }

  @Test
  public void outputsStay() {
    Module module = Module.load(path("add.pte"));
    Tensor first = module.forward(floats(1), floats(2))[0].toTensor();
    Tensor second = module.forward(floats(3), floats(4))[0].toTensor();
    assertEquals(3, first.getDataAsFloatArray()[0], 0);
    module.close();
    for (int i = 0; i < 100; ++i) {
      try (Module other = Module.load(path("add.pte"))) {
        sum(other, 100, 100);
      }
    }
    assertEquals(3, first.getDataAsFloatArray()[0], 0);
    assertEquals(7, second.getDataAsFloatArray()[0], 0);
  }

  @Test
  public void outputsInPlaceAreTheMethodsMemory() {
    Module module = Module.load(path("add.pte"));
    EValue[] inputs = {floats(1), floats(20)};
    Tensor[] kept = new Tensor[2];
    float sum =
        module.executeInPlace(
            "forward",
            inputs,
            outputs -> {
              kept[0] = outputs[0].toTensor();
              assertThrows(IllegalStateException.class, () -> module.forward(inputs));
              return kept[0].getDataAsFloatArray()[0];
            });
    assertEquals(21, sum, 0);
    assertEquals(
        "An output in place is valid during its call only: copy what you keep",
        assertThrows(IllegalStateException.class, () -> kept[0].getDataAsFloatArray()).getMessage());
    // The same memory as in the next run: nothing was copied.
    Object first = module.executeInPlace("forward", inputs, outputs -> outputs[0].toTensor().getRawDataBuffer());
    module.executeInPlace(
        "forward", new EValue[] {floats(2), floats(20)}, outputs -> kept[1] = outputs[0].toTensor());
    assertEquals(22, ((java.nio.FloatBuffer) first).get(0), 0);
    module.close();
    try (Module other = Module.load(path("channels_last.pte"))) { // copied, as Java knows one order
      Tensor ones = Tensor.ones(new long[] {1, 2, 2, 3}, DType.FLOAT);
      float[] out =
          other.executeInPlace(
              "forward", new EValue[] {EValue.from(ones)}, outputs -> outputs[0].toTensor().getDataAsFloatArray());
      assertEquals(2, out[11], 0);
    }
  }

  @Test
  public void everyTypeComesOut() {
    try (Module module = Module.load(path("types.pte"))) {
      List<DType> types = new ArrayList<>();
      List<Tensor> outputs = new ArrayList<>();
      for (EValue value : module.forward(floats(1.5f, 0))) {
        outputs.add(value.toTensor());
        types.add(value.toTensor().dtype());
      }
      assertEquals(
          Arrays.asList(
              DType.UINT8, DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.HALF, DType.FLOAT, DType.DOUBLE,
              DType.BOOL, DType.BFLOAT16),
          types);
      assertArrayEquals(new byte[] {1, 0}, outputs.get(0).getDataAsUnsignedByteArray());
      assertArrayEquals(new byte[] {1, 0}, outputs.get(1).getDataAsByteArray());
      assertArrayEquals(new short[] {1, 0}, outputs.get(2).getDataAsShortArray());
      assertArrayEquals(new int[] {1, 0}, outputs.get(3).getDataAsIntArray());
      assertArrayEquals(new long[] {1, 0}, outputs.get(4).getDataAsLongArray());
      for (int i : new int[] {5, 6, 9}) {
        assertArrayEquals(new float[] {1.5f, 0}, outputs.get(i).getDataAsFloatArray(), 0);
      }
      assertArrayEquals(new double[] {1.5, 0}, outputs.get(7).getDataAsDoubleArray(), 0);
      assertArrayEquals(new boolean[] {true, false}, outputs.get(8).getDataAsBooleanArray());
    }
  }

  @Test
  public void elementsComeInTheOrderOfTheShape() {
    float[] values = new float[12];
    float[] expected = new float[12];
    for (int i = 0; i < 12; ++i) {
      values[i] = i;
      expected[i] = i + 1;
    }
    try (Module module = Module.load(path("channels_last.pte"))) {
      Tensor out = module.forward(EValue.from(Tensor.fromBlob(values, new long[] {1, 2, 2, 3})))[0].toTensor();
      assertArrayEquals(new long[] {1, 2, 2, 3}, out.shape());
      assertArrayEquals(expected, out.getDataAsFloatArray(), 0);
    }
  }

  @Test
  public void numbersGoIn() {
    try (Module module = Module.load(path("scaled.pte"))) {
      float[] out =
          module.forward(floats(1, 2), floats(10, 20), EValue.from(3.0))[0].toTensor().getDataAsFloatArray();
      assertArrayEquals(new float[] {31, 62}, out, 0);
      ExecutorchRuntimeException error =
          assertThrows(
              ExecutorchRuntimeException.class,
              () -> module.forward(floats(1, 2), floats(10, 20), EValue.from("three")));
      assertEquals(INVALID_ARGUMENT, error.getErrorCode());
      assertTrue(error.getMessage(), error.getMessage().contains("input 2: expected Tensor, Int, Double or Bool, got String"));
    }
  }

  @Test
  public void whatDoesNotFitIsNamed() {
    try (Module module = Module.load(path("doubled.pte"))) {
      Object[][] rows = {
        {Tensor.fromBlob(new double[3], new long[] {1, 3}), "got Double [1, 3]", INVALID_ARGUMENT},
        {Tensor.fromBlob(new float[2], new long[] {1, 2}), "got Float [1, 2]", INVALID_ARGUMENT},
        {Tensor.fromBlob(new float[27], new long[] {9, 3}), "got Float [9, 3]", INVALID_ARGUMENT},
        {Tensor.fromBlob(new float[3], new long[] {3}), "got Float [3]", NOT_SUPPORTED},
      };
      for (Object[] row : rows) {
        ExecutorchRuntimeException error =
            assertThrows(
                ExecutorchRuntimeException.class, () -> module.forward(EValue.from((Tensor) row[0])));
        String message = error.getMessage();
        assertEquals(row[2], error.getErrorCode());
        assertTrue(message, message.contains("input 0 (rows): expected Float [1..8, 3], " + row[1]));
        assertTrue(message, message.startsWith("[ExecuTorch Error 0x1"));
        assertTrue(message, message.contains(" | nativeLog="));
        assertTrue(error.getDetailedError(), error.getDetailedError().startsWith("\nDetailed logs:\n["));
      }
      Throwable count = assertThrows(ExecutorchRuntimeException.class, () -> module.forward(floats(1), floats(1)));
      assertTrue(count.getMessage(), count.getMessage().contains("expected 1 inputs, got 2"));
      // The module is as it was.
      Tensor rows2 = Tensor.fromBlob(new float[] {1, 2, 3, 4, 5, 6}, new long[] {2, 3});
      assertArrayEquals(
          new float[] {2, 4, 6, 8, 10, 12}, module.forward(EValue.from(rows2))[0].toTensor().getDataAsFloatArray(), 0);
    }
  }

  @Test
  public void methodsAreDescribed() {
    try (Module module = Module.load(path("doubled.pte"))) {
      MethodMetadata meta = module.getMethodMetadata("forward");
      assertEquals("forward", meta.getName());
      assertArrayEquals(new String[] {"XnnpackBackend"}, meta.getBackends());
      assertEquals("[rows: FLOAT [1..8, 3]]", meta.getInputs().toString());
      assertEquals("doubled", meta.getOutputs().get(0).getName());
      assertEquals(DType.FLOAT, meta.getOutputs().get(0).getDtype());
      assertArrayEquals(new long[] {8, 3}, meta.getOutputs().get(0).getMaxShape());
      assertTrue(meta.getPlannedMemory().length > 0);
      assertEquals(
          "method other does not exist for this module",
          assertThrows(IllegalArgumentException.class, () -> module.getMethodMetadata("other")).getMessage());
    }
  }

  @Test
  public void unknownMethods() {
    try (Module module = Module.load(path("add.pte"))) {
      assertEquals(
          INVALID_ARGUMENT,
          assertThrows(ExecutorchRuntimeException.class, () -> module.loadMethod("other")).getErrorCode());
      ExecutorchRuntimeException error =
          assertThrows(ExecutorchRuntimeException.class, () -> module.execute("grüß 😀", floats(1)));
      assertTrue(error.getMessage(), error.getMessage().contains("method grüß 😀"));
    }
  }

  @Test
  public void filesThatAreNone() throws Exception {
    assertThrows(IllegalArgumentException.class, () -> Module.load(path("none.pte")));
    assertEquals(
        "Cannot load model path: path is null",
        assertThrows(IllegalArgumentException.class, () -> Module.load((String) null)).getMessage());
    File text = File.createTempFile("text", ".pte");
    Files.write(text.toPath(), "This is no program, whatever its name says; it has more than a header's bytes.".getBytes());
    ExecutorchRuntimeException error =
        assertThrows(ExecutorchRuntimeException.class, () -> Module.load(text.getPath()));
    assertEquals(ExecutorchRuntimeException.INVALID_PROGRAM, error.getErrorCode());
    assertTrue(text.delete());
  }

  @Test
  public void afterDestroy() {
    Module module = Module.load(path("add.pte"));
    module.destroy();
    module.destroy();
    module.close();
    assertEquals(
        "Module has been destroyed",
        assertThrows(IllegalStateException.class, () -> module.forward(floats(1), floats(1))).getMessage());
    assertThrows(IllegalStateException.class, () -> module.loadMethod("forward"));
    assertThrows(IllegalStateException.class, module::getMethods);
    assertThrows(IllegalStateException.class, () -> module.getMethodMetadata("forward"));
  }

  @Test
  public void everyLoadMode() {
    for (int mode : new int[] {0, 1, 3, 7}) {
      try (Module module = Module.load(path("add.pte"), mode)) {
        assertEquals(3, sum(module, 1, 2), 0);
      }
    }
    try (Module module = Module.load(path("doubled.pte"), Module.LOAD_MODE_MMAP, 2)) {
      assertEquals(24, module.forward()[0].toTensor().numel());
    }
  }

  @Test
  public void loadsFromMemory() throws Exception {
    ByteBuffer program = direct("add.pte");
    Module module = Module.load(program);
    program = null;
    System.gc();
    assertEquals(3, sum(module, 1, 2), 0);
    module.close();
    ByteBuffer heap = ByteBuffer.wrap(TestPrograms.bytes("add.pte"));
    try (Module other = Module.load(heap)) {
      assertEquals(3, sum(other, 1, 2), 0);
      assertEquals(0, heap.position());
    }
    for (int shift = 1; shift < 8; shift += 3) { // as in an archive, at any byte
      ByteBuffer bytes = ByteBuffer.allocateDirect(shift + heap.remaining());
      bytes.position(shift);
      bytes.put(heap.duplicate()).position(shift);
      try (Module other = Module.load(bytes)) {
        assertEquals(3, sum(other, 1, 2), 0);
      }
    }
    ByteBuffer half = ByteBuffer.wrap(heap.array(), 0, heap.remaining() / 2);
    assertThrows(ExecutorchRuntimeException.class, () -> Module.load(half));
  }

  @Test
  public void loadsFromAPartOfAFile() throws Exception {
    byte[] program = TestPrograms.bytes("add.pte");
    File file = File.createTempFile("assets", ".bin");
    Module module;
    try (RandomAccessFile writer = new RandomAccessFile(file, "rw")) {
      writer.write(new byte[13]);
      writer.write(program);
      writer.write(new byte[50]);
      module = Module.load(writer.getFD(), 13, program.length);
      writer.seek(0); // still open
    }
    assertEquals(3, sum(module, 1, 2), 0);
    module.close();
    assertTrue(file.delete());
  }

  @Test
  public void dataFilesBesideTheProgram() throws Exception {
    Tensor rows = Tensor.fromBlob(new float[] {1, 2, 3, 4, 5, 6}, new long[] {2, 3});
    float[] expected = {2, 4, 6, 8, 10, 12};
    List<String> data = Collections.singletonList(path("outside.ptd"));
    try (Module module = Module.load(path("outside.pte"), data)) {
      assertArrayEquals(expected, module.forward(EValue.from(rows))[0].toTensor().getDataAsFloatArray(), 0);
    }
    try (Module module = Module.load(direct("outside.pte"), direct("outside.ptd"))) {
      assertArrayEquals(expected, module.forward(EValue.from(rows))[0].toTensor().getDataAsFloatArray(), 0);
    }
    try (Module module = Module.load(path("outside.pte"))) {
      assertThrows(ExecutorchRuntimeException.class, () -> module.forward(EValue.from(rows)));
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> Module.load(path("outside.pte"), Collections.singletonList(path("none.ptd"))));
  }

  @Test
  public void backendOptions() {
    try (Module module = Module.load(path("doubled.pte"))) {
      module.loadMethod(
          "forward",
          Collections.singletonMap("XnnpackBackend", Collections.singletonMap("workspace_sharing_mode", (Object) 0)));
      assertEquals(24, module.forward()[0].toTensor().numel());
      assertThrows(
          ExecutorchRuntimeException.class,
          () ->
              module.loadMethod(
                  "forward", Collections.singletonMap("XnnpackBackend", Collections.singletonMap("x", (Object) 1.5))));
    }
  }

  @Test
  public void oneHundredThreadsOnOneModule() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(100);
    try (Module module = Module.load(path("add.pte"))) {
      List<Future<Boolean>> done = new ArrayList<>();
      for (int i = 0; i < 100; ++i) {
        final float value = i;
        done.add(threads.submit(() -> sum(module, value, 1) == value + 1));
      }
      for (Future<Boolean> result : done) {
        assertTrue(result.get());
      }
    } finally {
      threads.shutdown();
    }
  }

  /** Its own module, numbers of its own, and an error whose message is of its own call. */
  private static Void useOneOfMany(int thread) {
    Tensor wrong = Tensor.fromBlob(new float[thread + 4], new long[] {1, thread + 4});
    float[] values = {thread, thread + 1, thread + 2};
    for (int round = 0; round < 10; ++round) {
      try (Module module = Module.load(path("doubled.pte"), Module.LOAD_MODE_MMAP, 1 + thread % 2)) {
        EValue rows = EValue.from(Tensor.fromBlob(values, new long[] {1, 3}));
        assertArrayEquals(
            new float[] {2 * thread, 2 * thread + 2, 2 * thread + 4},
            module.forward(rows)[0].toTensor().getDataAsFloatArray(),
            0);
        String message =
            assertThrows(ExecutorchRuntimeException.class, () -> module.forward(EValue.from(wrong))).getMessage();
        assertTrue(message, message.contains("got Float [1, " + (thread + 4) + "]"));
        assertTrue(message, message.contains("expected 3, found " + (thread + 4) + "."));
        assertTrue(Module.readLogBufferStatic().length > 0);
      }
    }
    return null;
  }

  @Test
  public void manyModulesAtOnce() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    List<Future<Void>> done = new ArrayList<>();
    for (int i = 0; i < 8; ++i) {
      final int thread = i;
      done.add(threads.submit(() -> useOneOfMany(thread)));
    }
    threads.shutdown();
    for (Future<Void> result : done) {
      result.get();
    }
  }

  @Test
  public void destroyedUnderThreadsThatCall() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    for (int round = 0; round < 20; ++round) {
      Module module = Module.load(path("doubled.pte"), Module.LOAD_MODE_MMAP, 1 + round % 2);
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < 4; ++i) {
        done.add(
            threads.submit(
                () -> {
                  try {
                    for (int call = 0; call < 50; ++call) {
                      module.forward();
                    }
                  } catch (IllegalStateException expected) {
                    assertEquals("Module has been destroyed", expected.getMessage());
                  }
                }));
      }
      try {
        module.destroy();
      } catch (IllegalStateException busy) {
        assertEquals("Cannot destroy module while method is executing", busy.getMessage());
      }
      for (Future<?> result : done) {
        result.get();
      }
      module.destroy();
    }
    threads.shutdown();
  }

  @Test
  public void messagesAreKept() {
    assertThrows(
        ExecutorchRuntimeException.class,
        () -> {
          try (Module module = Module.load(path("add.pte"))) {
            module.execute("no such method", floats(1));
          }
        });
    String[] lines = Module.readLogBufferStatic();
    assertTrue(lines.length > 0 && lines.length <= 16);
    String last = lines[lines.length - 1];
    assertTrue(last, last.matches("(?s)\\[\\d+ \\S+ \\S+\\.(cpp|h):\\d+\\] [DIEF] .*no such method.*"));
  }

  @Test
  public void eventsAreWrittenWhereTheBuildHasThem() throws Exception {
    File file = File.createTempFile("events", ".etdump");
    try (Module module = Module.load(path("add.pte"))) {
      sum(module, 1, 2);
      boolean isWritten = module.etdump(file.getPath());
      assertEquals(isWritten, file.length() > 0);
      assertFalse(module.etdump("/no/such/folder/result.etdump"));
    }
    assertTrue(file.delete());
  }

  @Test
  public void theRuntimeSaysWhatItHas() {
    ExecuTorchRuntime.getRuntime();
    List<String> ops = Arrays.asList(ExecuTorchRuntime.getRegisteredOps());
    assertTrue(ops.contains("aten::add.out"));
    assertTrue(ops.contains("quantized_decomposed::quantize_per_tensor.out"));
    assertTrue(ops.contains("llama::custom_sdpa.out"));
    assertTrue(Arrays.asList(ExecuTorchRuntime.getRegisteredBackends()).contains("XnnpackBackend"));
  }

  private static long residentKilobytes() throws Exception {
    for (String line : Files.readAllLines(new File("/proc/self/status").toPath())) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IllegalStateException();
  }

  @Test
  public void aThousandLoadsLeaveNothing() throws Exception {
    assumeTrue("ThreadSanitizer's own memory grows", System.getenv("TSAN_OPTIONS") == null);
    long before = 0;
    for (int i = 0; i < 1000; ++i) {
      Module module = Module.load(path("doubled.pte"), Module.LOAD_MODE_MMAP);
      module.loadMethod("forward");
      if (i % 2 == 0) {
        module.close(); // the others are left to the garbage collector
      }
      if (i % 100 == 99) {
        System.gc();
      }
      if (i == 299) {
        before = residentKilobytes();
      }
    }
    long grown = residentKilobytes() - before;
    assertTrue("grown by " + grown + " kB in 700 loads", grown < 16 * 1024);
  }
}
