/* SPDX-License-Identifier: Apache-2.0 */
/* For LD_PRELOAD: appends the name of each variable that is asked for to the file that KILN_ASKED
 * names. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static char *value_of(const char *name) {
  const size_t size = strlen(name);
  char **variable;
  for (variable = environ; variable != NULL && *variable != NULL; ++variable) {
    if (strncmp(*variable, name, size) == 0 && (*variable)[size] == '=') {
      return *variable + size + 1;
    }
  }
  return NULL;
}

char *getenv(const char *name) {
  const char *path = value_of("KILN_ASKED");
  const size_t size = strlen(name);
  char line[256];
  if (path != NULL && size < sizeof(line)) {
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    memcpy(line, name, size);
    line[size] = '\n';
    if (file >= 0) {
      const ssize_t written = write(file, line, size + 1);
      (void)written;
      close(file);
    }
  }
  return value_of(name);
}

char *secure_getenv(const char *name) { return getenv(name); }
