// SPDX-License-Identifier: BSD-3-Clause
// Pixels in, colours out, by a network that takes red for a person, green for a dog and blue for a sheep.
package org.pytorch.executorch.deeplabv3demo;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertThrows;

import org.junit.Test;

public class SegmentationTest {
  private static final int RED = 0xFFFF0000;
  private static final int GREEN = 0xFF00FF00;
  private static final int BLUE = 0xFF0000FF;

  @Test
  public void coloursWhatTheNetworkFinds() {
    String program = System.getProperty("executorch.test.programs") + "/segments.pte";
    try (Segmentation network = new Segmentation(program, 2)) {
      int[] pixels = {0xFFF01010, 0xFF10F010, 0xFF1010F0, 0xFF000000};
      assertArrayEquals(new int[] {RED, GREEN, BLUE, 0xFF000000}, network.segment(pixels));
      int[] others = {0xFF000000, 0xFF000000, 0xFFF01010, 0xFF1010F0};
      assertArrayEquals(new int[] {0xFF000000, 0xFF000000, RED, BLUE}, network.segment(others));
      assertThrows(IllegalArgumentException.class, () -> network.segment(new int[3]));
    }
  }
}
