// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.graphics;

public class BitmapFactory {
  public static Bitmap decodeFile(String path) {
    return new Bitmap();
  }

  public static Bitmap decodeStream(java.io.InputStream stream) {
    return new Bitmap();
  }
}
