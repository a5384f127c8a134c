// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.graphics;

public final class Bitmap {
  public enum Config {
    ARGB_8888
  }

  public static Bitmap createScaledBitmap(Bitmap source, int width, int height, boolean filter) {
    return source;
  }

  public static Bitmap createBitmap(int[] colors, int width, int height, Config config) {
    return new Bitmap();
  }

  public void getPixels(int[] pixels, int offset, int stride, int x, int y, int width, int height) {}
}
