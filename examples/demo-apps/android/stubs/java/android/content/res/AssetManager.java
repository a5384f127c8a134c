// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.content.res;

public class AssetManager {
  public java.io.InputStream open(String name) throws java.io.IOException {
    throw new UnsupportedOperationException();
  }
}
