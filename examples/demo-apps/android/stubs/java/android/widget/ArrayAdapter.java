// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.widget;

public class ArrayAdapter<T> implements SpinnerAdapter {
  public ArrayAdapter(android.content.Context context, int resource, java.util.List<T> objects) {}
}
