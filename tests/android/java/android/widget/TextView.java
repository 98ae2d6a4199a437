// SPDX-License-Identifier: Apache-2.0
package android.widget;

import android.content.Context;
import android.view.View;

public class TextView extends View {
  public volatile CharSequence shown;

  public TextView(Context context) {}

  public final void setText(CharSequence text) {
    shown = text;
  }
}
