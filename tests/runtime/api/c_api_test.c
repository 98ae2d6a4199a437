/* SPDX-License-Identifier: Apache-2.0 */
/* The C API from C, without a device: wrong arguments to every function, pinned numbers, and
 * opening packs. The argument is the path of runtime.kiln. */
#include "tests/runtime/api/c_check.h"

#include <fcntl.h>
#include <kiln/listing.h>
#include <kiln/overlay.h>
#include <kiln/prefetch.h>
#include <kiln/report_folder.h>
#include <kiln/trust.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* A library that every system has. */
#ifdef _WIN32
#define NOT_OPENCL "kernel32.dll"
#else
#define NOT_OPENCL "libm.so.6"
#endif

/* Published numbers never change. */
_Static_assert(KILN_OK == 0 && KILN_ERROR_ARGUMENT == 1 && KILN_ERROR_NO_OPENCL == 2, "status");
_Static_assert(KILN_ERROR_NO_DEVICE == 3 && KILN_ERROR_OPENCL == 4, "status");
_Static_assert(KILN_ERROR_PACK_NOT_FOUND == 5 && KILN_ERROR_PACK_IO == 6, "status");
_Static_assert(KILN_ERROR_PACK_BAD == 7 && KILN_ERROR_PACK_NEWER == 8, "status");
_Static_assert(KILN_ERROR_NOT_IN_PACK == 9 && KILN_ERROR_REQUIREMENT == 10, "status");
_Static_assert(KILN_ERROR_NO_RUNG == 11, "status");
_Static_assert(KILN_ERROR_UNTRUSTED == 12, "status");
_Static_assert(KILN_RUNG_OVERLAY == 0 && KILN_RUNG_EXACT == 1, "rung");
_Static_assert(KILN_RUNG_IL == 3 && KILN_RUNG_SOURCE == 4 && KILN_RUNG_ERROR == 5 &&
                   KILN_RUNG_INTERMEDIATE == 6,
               "rung");
_Static_assert(KILN_FINAL_UNKNOWN == 0 && KILN_FINAL_YES == 1 && KILN_FINAL_NO == 2, "final");
_Static_assert(KILN_OUTCOME_LOADED == 0 && KILN_OUTCOME_SKIPPED == 1, "outcome");
_Static_assert(KILN_OUTCOME_MISSED == 2 && KILN_OUTCOME_FAILED == 3, "outcome");
_Static_assert(KILN_OUTCOME_QUARANTINED == 4, "outcome");
_Static_assert(KILN_LOAD_NO_BINARY == 1 && KILN_LOAD_NO_IL == 2, "flag");
_Static_assert(KILN_LOAD_NO_SOURCE == 4 && KILN_LOAD_CHECK_RECOMPILED == 8, "flag");
_Static_assert(KILN_LOAD_NO_EXACT == 16 && KILN_LOAD_REQUIRE_EXACT == 512, "flag");
_Static_assert(KILN_LOAD_REQUIRE_FINAL == 1024 && KILN_PREFETCH_DRY_RUN == 1 << 30, "flag");
_Static_assert(KILN_VERSION ==
                   KILN_VERSION_MAJOR * 10000 + KILN_VERSION_MINOR * 100 + KILN_VERSION_PATCH,
               "version");
_Static_assert(sizeof(kiln_error) == 2 * sizeof(int) + 1024, "layout");

static void test_release_of_null(void) {
  kiln_opencl_release(NULL);
  kiln_device_release(NULL);
  kiln_pack_release(NULL);
  kiln_loader_release(NULL);
  kiln_program_release(NULL);
  kiln_report_release(NULL);
}

static void test_questions_to_null(void) {
  CHECK(kiln_device_cl(NULL) == NULL);
  CHECK(kiln_device_info(NULL, "device_name") == NULL);
  CHECK(kiln_loader_context(NULL) == NULL);
  CHECK(kiln_program_cl(NULL) == NULL);
  CHECK(kiln_program_name(NULL) == NULL);
  CHECK(kiln_program_variant(NULL) == NULL);
  CHECK(kiln_report_rung(NULL) == KILN_RUNG_ERROR);
  CHECK(kiln_report_reason(NULL, KILN_RUNG_EXACT, NULL) == NULL);
  CHECK(kiln_report_choice(NULL, NULL) == NULL);
  CHECK(kiln_report_milliseconds(NULL) == 0);
  CHECK(kiln_report_estimate(NULL) < 0);
  CHECK(kiln_report_final(NULL, NULL) == KILN_FINAL_UNKNOWN);
  CHECK(kiln_report_json(NULL) == NULL);
}

static void test_version(void) { CHECK(kiln_version() == KILN_VERSION); }

static void test_null_for_devices_and_packs(void) {
  kiln_error e;
  size_t count = 0;
  const char *holes[2] = {"libOpenCL.so.1", NULL};
  kiln_opencl *opencl = NULL;
  kiln_device *device = NULL;
  kiln_pack *pack = NULL;
  REFUSED(kiln_opencl_open(NULL, 0, NULL, &e), "kiln_opencl_open");
  REFUSED(kiln_opencl_open(NULL, 1, &opencl, &e), "kiln_opencl_open");
  REFUSED(kiln_opencl_open(holes, 2, &opencl, &e), "kiln_opencl_open");
  REFUSED(kiln_device_count(NULL, &count, &e), "kiln_device_count");
  REFUSED(kiln_device_count(SOME(kiln_opencl), NULL, &e), "kiln_device_count");
  REFUSED(kiln_device_open(NULL, 0, &device, &e), "kiln_device_open");
  REFUSED(kiln_device_open(SOME(kiln_opencl), 0, NULL, &e), "kiln_device_open");
  REFUSED(kiln_device_from_cl(NULL, (cl_device_id)&dummy, &device, &e), "kiln_device_from_cl");
  REFUSED(kiln_device_from_cl(SOME(kiln_opencl), NULL, &device, &e), "kiln_device_from_cl");
  REFUSED(kiln_device_from_cl(SOME(kiln_opencl), (cl_device_id)&dummy, NULL, &e),
          "kiln_device_from_cl");
  CHECK(kiln_device_info(SOME(kiln_device), NULL) == NULL);
  REFUSED(kiln_pack_open_file(NULL, &pack, &e), "kiln_pack_open_file");
  REFUSED(kiln_pack_open_file("x", NULL, &e), "kiln_pack_open_file");
  REFUSED(kiln_pack_open_descriptor(0, 0, 1, NULL, &e), "kiln_pack_open_descriptor");
  REFUSED(kiln_pack_open_memory(NULL, 64, &pack, &e), "kiln_pack_open_memory");
  REFUSED(kiln_pack_open_memory(&dummy, 64, NULL, &e), "kiln_pack_open_memory");
  CHECK(opencl == NULL && device == NULL && pack == NULL);
}

static void test_null_for_loading(void) {
  kiln_error e;
  const char *holes[2] = {"p", NULL};
  kiln_loader *loader = NULL;
  kiln_program *program = NULL;
  kiln_report *report = NULL;
  REFUSED(kiln_loader_create(NULL, SOME(kiln_pack), NULL, &loader, &e), "kiln_loader_create");
  REFUSED(kiln_loader_create(SOME(kiln_device), NULL, NULL, &loader, &e), "kiln_loader_create");
  REFUSED(kiln_loader_create(SOME(kiln_device), SOME(kiln_pack), NULL, NULL, &e),
          "kiln_loader_create");
  REFUSED(kiln_load(NULL, "p", NULL, 0, &program, &report, &e), "kiln_load");
  REFUSED(kiln_prefetch(NULL, NULL, 0, 0, NULL, NULL, &e), "kiln_prefetch");
  REFUSED(kiln_prefetch(SOME(kiln_loader), NULL, 1, 0, NULL, NULL, &e), "kiln_prefetch");
  REFUSED(kiln_overlay_clear(NULL, &e), "kiln_overlay_clear");
  CHECK(kiln_report_folder(NULL, &e) == KILN_OK); /* no reports */
  kiln_loader_use_overlay(NULL, "folder", 0);
  kiln_loader_use_shared(NULL, "folder", 0);
  kiln_loader_use_trust(NULL, NULL);
  REFUSED(kiln_loader_finish(NULL, &e), "kiln_loader_finish");
  CHECK(kiln_loader_hints(NULL) == 0);
  CHECK(kiln_loader_program_hash(NULL, "scale") == 0);
  REFUSED(kiln_load(SOME(kiln_loader), NULL, NULL, 0, &program, &report, &e), "kiln_load");
  REFUSED(kiln_load(SOME(kiln_loader), "p", NULL, 0, NULL, &report, &e), "kiln_load");
  REFUSED(kiln_prefetch(NULL, holes, 1, 0, NULL, NULL, &e), "kiln_prefetch");
  REFUSED(kiln_prefetch(SOME(kiln_loader), NULL, 1, 0, NULL, NULL, &e), "kiln_prefetch");
  REFUSED(kiln_prefetch(SOME(kiln_loader), holes, 2, 0, NULL, NULL, &e), "kiln_prefetch");
  REFUSED(kiln_overlay_clear(NULL, &e), "kiln_overlay_clear");
  REFUSED(kiln_load_dry_run(NULL, "p", NULL, 0, &report, &e), "kiln_load_dry_run");
  REFUSED(kiln_load_dry_run(SOME(kiln_loader), NULL, NULL, 0, &report, &e), "kiln_load_dry_run");
  REFUSED(kiln_load_dry_run(SOME(kiln_loader), "p", NULL, 0, NULL, &e), "kiln_load_dry_run");
  CHECK(loader == NULL && program == NULL && report == NULL);
}

static void test_no_library(void) {
  const char *const candidates[] = {"/nowhere/libOpenCL.so", NOT_OPENCL};
  kiln_opencl *opencl = NULL;
  kiln_error e;
  FAILS(kiln_opencl_open(candidates, 2, &opencl, &e), KILN_ERROR_NO_OPENCL,
        "/nowhere/libOpenCL.so: ");
  CHECK(strstr(e.message, NOT_OPENCL ": lacks clGetPlatformIDs") != NULL);
  CHECK(opencl == NULL);
  CHECK(kiln_opencl_open(candidates, 2, &opencl, NULL) == KILN_ERROR_NO_OPENCL);
}

/* A message that does not fit is cut, between characters. */
static void test_long_message(void) {
  char name[2001];
  const char *candidates[1];
  kiln_opencl *opencl = NULL;
  kiln_error e;
  size_t i, end;
  for (i = 0; i + 1 < sizeof(name); i += 2) memcpy(name + i, "\xc3\xa9", 2);
  name[sizeof(name) - 1] = '\0';
  candidates[0] = name;
  for (i = 0; i < 2; ++i) {
    CHECK(kiln_opencl_open(candidates, 1, &opencl, &e) == KILN_ERROR_NO_OPENCL);
    end = strlen(e.message);
    CHECK(end == sizeof(e.message) - 1 || end == sizeof(e.message) - 2);
    CHECK((unsigned char)e.message[end - 1] == 0xa9);
    name[0] = 'x'; /* and shifted by a byte */
    memmove(name + 1, name + 2, sizeof(name) - 2);
  }
}

static void test_packs_that_are_none(const char *good) {
  uint64_t words[16] = {0};
  kiln_pack *pack = NULL;
  kiln_error e;
  FAILS(kiln_pack_open_file("/nowhere/x.kiln", &pack, &e), KILN_ERROR_PACK_NOT_FOUND, "/nowhere");
  FAILS(kiln_pack_open_file("", &pack, &e), KILN_ERROR_PACK_NOT_FOUND, "");
  FAILS(kiln_pack_open_file("/dev/null", &pack, &e), KILN_ERROR_PACK_IO, "/dev/null");
  FAILS(kiln_pack_open_memory(words, 0, &pack, &e), KILN_ERROR_PACK_BAD, "empty");
  FAILS(kiln_pack_open_memory(words, sizeof(words), &pack, &e), KILN_ERROR_PACK_BAD, "magic");
  memcpy(words, "\x89KLN\r\n\x1a\n", 8);
  FAILS(kiln_pack_open_memory(words, 40, &pack, &e), KILN_ERROR_PACK_BAD, "40");
  FAILS(kiln_pack_open_memory(words, sizeof(words), &pack, &e), KILN_ERROR_PACK_BAD, "hash");
  FAILS(kiln_pack_open_memory((char *)words + 1, 64, &pack, &e), KILN_ERROR_ARGUMENT, "aligned");
  FAILS(kiln_pack_open_descriptor(-1, 0, 64, &pack, &e), KILN_ERROR_PACK_IO, "");
  FAILS(kiln_pack_open_file("/", &pack, &e), KILN_ERROR_PACK_IO, "");
  CHECK(kiln_pack_open_file("/nowhere/x.kiln", &pack, NULL) == KILN_ERROR_PACK_NOT_FOUND);
  CHECK(pack == NULL);
  CHECK(kiln_pack_open_file(good, &pack, NULL) == KILN_OK);
  kiln_pack_release(pack);
}

static void *read_whole(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  void *bytes = malloc(1 << 20);
  if (file == NULL || bytes == NULL) return NULL;
  *size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}

/* The pack at an offset in a file, as an Android asset lies in its archive. */
static void test_descriptor(const void *bytes, size_t size, size_t offset) {
  char path[] = "/tmp/kiln-c-api-XXXXXX";
  const char filler[8192] = {0};
  kiln_pack *pack = NULL;
  kiln_error e;
  const int fd = mkstemp(path);
  CHECK(fd >= 0);
  unlink(path);
  CHECK(write(fd, filler, offset) == (ssize_t)offset);
  CHECK(write(fd, bytes, size) == (ssize_t)size);
  CHECK(write(fd, filler, 100) == 100);
  SUCCEEDS(kiln_pack_open_descriptor(fd, offset, size, &pack, &e));
  kiln_pack_release(pack);
  pack = NULL;
  FAILS(kiln_pack_open_descriptor(fd, offset, size - 1, &pack, &e), KILN_ERROR_PACK_BAD, "");
  FAILS(kiln_pack_open_descriptor(fd, offset + size + 100, size, &pack, &e), KILN_ERROR_PACK_BAD,
        "empty");
  FAILS(kiln_pack_open_descriptor(fd, UINT64_MAX, size, &pack, &e), KILN_ERROR_PACK_BAD, "range");
  SUCCEEDS(kiln_pack_open_descriptor(fd, offset, size + 100, &pack, &e));
  close(fd); /* may be closed while the pack is open */
  kiln_pack_release(pack);
}

static void write_kernel(const kiln_pack_kernel *kernel, void *user) {
  char *text = (char *)user;
  const size_t length = strlen(text);
  snprintf(text + length, 1024 - length, "%s/%s %s(%u) %s\n", kernel->program, kernel->variant,
           kernel->kernel, (unsigned)kernel->arguments, kernel->options);
}

static void test_contents(const kiln_pack *pack) {
  char text[1024] = "";
  kiln_pack_kernels(pack, write_kernel, text);
  CHECK(strcmp(text,
               "invert/image invert(2) -cl-std=CL1.2\n"
               "only_impossible/impossible scale(4) \n"
               "scale/a_plain scale(4) -cl-std=CL1.2\n"
               "scale/greedy scale(4) -cl-std=CL1.2\n"
               "scale/impossible scale(4) -cl-std=CL1.2\n"
               "scale/required scale_by_groups(4) -cl-std=CL1.2\n"
               "scale/stored scale(4) -cl-std=CL1.2\n") == 0);
  text[0] = 0;
  kiln_pack_kernels(NULL, write_kernel, text);
  kiln_pack_kernels(pack, NULL, text);
  CHECK(text[0] == 0);
}

static void test_good_pack(const char *path) {
  size_t size = 0;
  void *bytes = read_whole(path, &size);
  kiln_pack *pack = NULL;
  kiln_error e;
  CHECK(bytes != NULL && size > 64);
  if (bytes == NULL) return;
  SUCCEEDS(kiln_pack_open_memory(bytes, size, &pack, &e));
  test_contents(pack);
  kiln_pack_release(pack);
  pack = NULL;
  FAILS(kiln_pack_open_memory(bytes, size - 1, &pack, &e), KILN_ERROR_PACK_BAD, "");
  CHECK(pack == NULL);
  test_descriptor(bytes, size, 0);
  test_descriptor(bytes, size, 100);
  test_descriptor(bytes, size, 4096);
  free(bytes);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s runtime.kiln\n", argv[0]);
    return 2;
  }
  test_release_of_null();
  test_questions_to_null();
  test_version();
  test_null_for_devices_and_packs();
  test_null_for_loading();
  test_no_library();
  test_long_message();
  test_packs_that_are_none(argv[1]);
  test_good_pack(argv[1]);
  return finish();
}
