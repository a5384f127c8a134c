// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.view;

public class ViewGroup extends View {
  public ViewGroup(android.content.Context context) {
    super(context);
  }

  public void addView(View child) {}
}
