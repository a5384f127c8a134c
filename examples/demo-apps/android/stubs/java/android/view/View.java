// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.view;

public class View {
  public interface OnClickListener {
    void onClick(View view);
  }

  public View(android.content.Context context) {}

  public void setOnClickListener(OnClickListener listener) {}
}
