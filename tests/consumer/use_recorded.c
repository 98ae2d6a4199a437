/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a recorded program, through the installed library. */
#include <kiln/recorded.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  const char *source = "kernel void k() {}";
  char name[KILN_RECORDED_NAME_SIZE];
  kiln_error error;
  if (kiln_recorded_name(source, strlen(source), "", name, sizeof(name), &error) != KILN_OK) {
    printf("fault: %s\n", error.message);
    return 1;
  }
  puts(strncmp(name, "cl-", 3) == 0 ? "OK" : name);
  return 0;
}
