// SPDX-License-Identifier: BSD-3-Clause
// What the apps call of Android's class: enough to compile them where no SDK is.
package android.widget;

public class ImageView extends android.view.View {
  public ImageView(android.content.Context context) {
    super(context);
  }

  public void setImageBitmap(android.graphics.Bitmap bitmap) {}
}
