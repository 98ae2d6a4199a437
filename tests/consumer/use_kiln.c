/* SPDX-License-Identifier: Apache-2.0 */
/* A C program that uses Kiln as an application would: opens the pack that is named. No
 * device is needed. */
#include <kiln/kiln.h>
#include <stdio.h>

int main(int argc, char **argv) {
  kiln_error error = {KILN_OK, 0, ""};
  kiln_pack *pack = NULL;
  if (argc != 2 || kiln_pack_open_file(argv[1], &pack, &error) != KILN_OK) {
    printf("fault: %s\n", error.message);
    return 1;
  }
  kiln_pack_release(pack);
  puts("OK");
  return 0;
}
