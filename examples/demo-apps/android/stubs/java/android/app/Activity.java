// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.app;

public class Activity extends android.content.Context {
  protected void onCreate(android.os.Bundle savedInstanceState) {}

  protected void onDestroy() {}

  public void setContentView(android.view.View view) {}

  public final void runOnUiThread(Runnable action) {
    action.run();
  }
}
