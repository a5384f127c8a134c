// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.content;

public class Context {
  public android.content.res.AssetManager getAssets() {
    throw new UnsupportedOperationException();
  }

  public java.io.File getFilesDir() {
    throw new UnsupportedOperationException();
  }
}
