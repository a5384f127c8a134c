// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android;

public final class R {
  public static final class layout {
    public static final int simple_spinner_dropdown_item = 17367049;
  }
}
