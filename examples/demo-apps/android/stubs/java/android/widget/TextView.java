// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.widget;

public class TextView extends android.view.View {
  private final StringBuilder text = new StringBuilder();

  public TextView(android.content.Context context) {
    super(context);
  }

  public CharSequence getText() {
    return text;
  }

  public final void setText(CharSequence changed) {
    text.setLength(0);
    text.append(changed);
  }

  public final void append(CharSequence more) {
    text.append(more);
  }
}
