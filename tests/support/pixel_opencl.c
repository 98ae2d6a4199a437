/* SPDX-License-Identifier: Apache-2.0 */
/* A library in the manner of a Pixel phone's libOpenCL-pixel.so: it exports no OpenCL, and
   gives its entry points out by name once it has been enabled. It reports 7 platforms. */
#include <stddef.h>
#include <string.h>

static int enabled;

static int get_platform_ids(unsigned capacity, void **platforms, unsigned *count) {
  (void)capacity;
  (void)platforms;
  if (count != NULL) *count = 7;
  return 0;
}

static int answer_nothing(void) { return -1; }

void enableOpenCL(void);
void enableOpenCL(void) { enabled = 1; }

void *loadOpenCLPointer(const char *name);
void *loadOpenCLPointer(const char *name) {
  int (*get)(unsigned, void **, unsigned *) = get_platform_ids;
  int (*nothing)(void) = answer_nothing;
  void *address = NULL;
  if (!enabled) return NULL;
  if (strcmp(name, "clGetPlatformIDs") == 0) {
    memcpy(&address, &get, sizeof(address));
  } else {
    memcpy(&address, &nothing, sizeof(address));
  }
  return address;
}
