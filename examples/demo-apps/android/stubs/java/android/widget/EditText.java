// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.widget;

public class EditText extends TextView {
  public EditText(android.content.Context context) {
    super(context);
  }
}
