// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.widget;

public class LinearLayout extends android.view.ViewGroup {
  public LinearLayout(android.content.Context context) {
    super(context);
  }

  public static final int VERTICAL = 1;
  private int orientation;

  public int getOrientation() {
    return orientation;
  }

  public void setOrientation(int orientation) {
    this.orientation = orientation;
  }
}
