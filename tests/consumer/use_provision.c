/* SPDX-License-Identifier: Apache-2.0 */
/* Mesa's cache from a pack, through the installed library. */
#include <kiln/provision.h>

#include <stdio.h>

int main(int argc, char **argv) {
  kiln_error error;
  if (kiln_provision(argc == 2 ? argv[1] : "", "mesa_cache", &error) != KILN_OK) {
    printf("fault: %s\n", error.message);
    return 1;
  }
  puts("OK");
  return 0;
}
