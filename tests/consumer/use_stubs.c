/* SPDX-License-Identifier: Apache-2.0 */
/* Uses a header that kiln_add_pack made with its pack. */
#include "add.h"

int main(void) {
  const char *names = KERNELS_ADD_PROGRAM KERNELS_ADD_ADD;
  return names[0] == 'a' && KERNELS_ADD_HASH != 0 ? KERNELS_ADD_ADD_VALUES : 1;
}
