// SPDX-License-Identifier: Apache-2.0
package android.os;

public final class Bundle {}
