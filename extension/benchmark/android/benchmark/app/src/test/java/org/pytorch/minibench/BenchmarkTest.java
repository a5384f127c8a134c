// SPDX-License-Identifier: BSD-3-Clause
// Measures a small program.
package org.pytorch.minibench;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.file.Files;
import org.junit.Test;

public class BenchmarkTest {
  @Test
  public void measures() throws Exception {
    String program = System.getProperty("executorch.test.programs") + "/doubled.pte";
    File results = File.createTempFile("results", ".json");
    String text = new Benchmark(program, 1, 3).report(results);
    assertEquals(text, new String(Files.readAllBytes(results.toPath())));
    assertTrue(results.delete());
    for (String metric : new String[] {"load", "load_method", "median_inference_latency", "planned_memory"}) {
      assertTrue(text, text.contains("{\"model\":\"doubled.pte\",\"metric\":\"" + metric + "\",\"unit\":"));
    }
    for (Metric metric : new Benchmark(program, 0, 1).measure()) {
      assertTrue(metric.getName(), metric.getValue() > 0);
    }
  }
}
