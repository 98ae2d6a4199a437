// SPDX-License-Identifier: Apache-2.0
package android.view;

public class View {}
