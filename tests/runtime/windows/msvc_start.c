/* SPDX-License-Identifier: Apache-2.0 */
/* What MSVC's linker and C library would add to a program; for windows_runtime.cmake. */
#include <stdlib.h>

int _fltused; /* wanted by code that has floats */

int __getmainargs(int *count, char ***arguments, char ***environment, int expands, int *mode);
int main(int count, char **arguments);

int atexit(void (*function)(void)) { return _onexit((_onexit_t)function) == NULL; }

void start(void) {
  int count = 0, mode = 0;
  char **arguments, **environment;
  __getmainargs(&count, &arguments, &environment, 0, &mode);
  exit(main(count, arguments));
}
