// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.widget;

public class Spinner extends android.view.View {
  private SpinnerAdapter adapter;

  public Spinner(android.content.Context context) {
    super(context);
  }

  public SpinnerAdapter getAdapter() {
    return adapter;
  }

  public void setAdapter(SpinnerAdapter adapter) {
    this.adapter = adapter;
  }

  public Object getSelectedItem() {
    return null;
  }

  public int getSelectedItemPosition() {
    return 0;
  }
}
