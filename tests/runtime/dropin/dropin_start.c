/* SPDX-License-Identifier: Apache-2.0 */
/* An application that loads programs by kiln_dropin.h, and what a load takes above the floor: the
 * driver with the same bytes from memory.
 *   kiln_dropin_start PACK ROUNDS PROGRAM[/VARIANT]...
 * The first OpenCL device loads all programs in each way, ROUNDS times by turns. The program
 * `scale` of tests/runtime/runtime.toml is launched, too. Exit code 77 without a device. With
 * KILN_BESIDE the runtime loads the programs as well. */
#define CL_TARGET_OPENCL_VERSION 120
#include <kiln_dropin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef KILN_BESIDE
#include <kiln/kiln.h>
#endif

enum { MOST = 64, COUNT = 1000 };

typedef struct wanted {
  const char *program, *variant;
  kiln_dropin_code code;
  cl_program built;
} wanted;

static wanted programs[MOST];
static int program_count;
static const char *path;
static unsigned char *bytes;
static size_t size;
static cl_device_id device;
static cl_context context;
static kiln_dropin_device self;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void check(cl_int status, const char *what) {
  char text[32];
  snprintf(text, sizeof(text), "%d", status);
  if (status != CL_SUCCESS) fail(what, text);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static cl_program build(const kiln_dropin_code *code) {
  cl_int status = CL_SUCCESS, binary = CL_SUCCESS;
  cl_program program = clCreateProgramWithBinary(
      context, 1, &device, &code->size, (const unsigned char **)&code->bytes, &binary, &status);
  check(status, "clCreateProgramWithBinary");
  check(clBuildProgram(program, 1, &device, code->options, NULL, NULL), "clBuildProgram");
  return program;
}

/* The ways. Each loads one program; 0 is the floor. */
static cl_program by_floor(wanted *one) { return build(&one->code); }

static void find(wanted *one) {
  kiln_dropin_pack pack;
  kiln_dropin_target target;
  const char *why = kiln_dropin_open(&pack, bytes, size);
  if (why == NULL) why = kiln_dropin_find_target(&pack, &self, 0, &target);
  if (why == NULL) {
    why = kiln_dropin_find(&pack, &target, one->program, one->variant, KILN_DROPIN_BINARY, NULL, 0,
                           &one->code);
  }
  if (why != NULL) fail(one->program, why);
}

static cl_program by_dropin(wanted *one) {
  find(one);
  return build(&one->code);
}

#ifdef KILN_BESIDE
static cl_program by_runtime(wanted *one) {
  static kiln_opencl *opencl;
  static kiln_device *opened;
  kiln_pack *pack = NULL;
  kiln_loader *loader = NULL;
  kiln_program *program = NULL;
  kiln_error error = {KILN_OK, 0, ""};
  cl_program built;
  if ((opencl == NULL && kiln_opencl_open(NULL, 0, &opencl, &error) != KILN_OK) ||
      (opened == NULL && kiln_device_open(opencl, 0, &opened, &error) != KILN_OK) ||
      kiln_pack_open_file(path, &pack, &error) != KILN_OK ||
      kiln_loader_create(opened, pack, NULL, &loader, &error) != KILN_OK ||
      kiln_load(loader, one->program, one->variant, 0, &program, NULL, &error) != KILN_OK) {
    fail(one->program, error.message);
  }
  built = kiln_program_cl(program);
  clRetainProgram(built);
  kiln_program_release(program);
  kiln_loader_release(loader);
  kiln_pack_release(pack);
  return built;
}
#endif

static const struct {
  const char *name;
  cl_program (*load)(wanted *);
} ways[] = {{"floor", by_floor},
            {"drop-in", by_dropin},
#ifdef KILN_BESIDE
            {"runtime", by_runtime}
#endif
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static double round_of(int way) {
  const double begin = now();
  double taken;
  int i;
  for (i = 0; i < program_count; ++i) programs[i].built = ways[way].load(&programs[i]);
  taken = now() - begin;
  for (i = 0; i < program_count; ++i) clReleaseProgram(programs[i].built);
  return taken;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof(*values), ascending);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Multiplies 0, 1, 2, ... by 3, and returns how many products are wrong. */
static int wrong_products(wanted *one) {
  const cl_program program = by_dropin(one);
  cl_uint values[COUNT], launched[4], factor = 3, count = COUNT, i;
  const size_t range = COUNT;
  cl_int status;
  cl_kernel kernel = clCreateKernel(program, "scale", &status);
  cl_command_queue queue;
  cl_mem numbers, sizes;
  int wrong = 0;
  check(status, "clCreateKernel");
  for (i = 0; i < COUNT; ++i) values[i] = i;
  queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  numbers = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(values), values, &status);
  check(status, "clCreateBuffer");
  sizes = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof(launched), NULL, &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof(numbers), &numbers), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof(factor), &factor), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, sizeof(count), &count), "clSetKernelArg");
  check(clSetKernelArg(kernel, 3, sizeof(sizes), &sizes), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &range, NULL, 0, NULL, NULL), "launch");
  check(clEnqueueReadBuffer(queue, numbers, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL),
        "clEnqueueReadBuffer");
  for (i = 0; i < COUNT; ++i) wrong += values[i] != 3 * i;
  clReleaseKernel(kernel), clReleaseProgram(program);
  clReleaseMemObject(numbers), clReleaseMemObject(sizes), clReleaseCommandQueue(queue);
  return wrong;
}

static void read_pack(void) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail(path, "cannot be read");
  size = (size_t)ftell(file);
  bytes = malloc(size + 1);
  rewind(file);
  if (bytes == NULL || fread(bytes, 1, size, file) != size) fail(path, "cannot be read");
  fclose(file);
}

int main(int argc, char **argv) {
  static char facts[KILN_DROPIN_FACT_BYTES];
  cl_platform_id platform;
  cl_int status;
  const char *why;
  double *taken[WAYS], *ratios;
  const int rounds = argc > 3 ? atoi(argv[2]) : 0;
  int i, way, wrong = 0;
  if (rounds < 1 || argc - 3 > MOST) {
    fail("usage", "kiln_dropin_start PACK ROUNDS PROGRAM[/VARIANT]...");
  }
  path = argv[1];
  read_pack();
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    puts("SKIP: no OpenCL device");
    return 77;
  }
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "clCreateContext");
  why =
      kiln_dropin_identify(clGetPlatformInfo, clGetDeviceInfo, device, facts, sizeof(facts), &self);
  if (why != NULL) fail("the device", why);
  for (i = 3; i < argc; ++i) {
    wanted *one = &programs[program_count++];
    char *slash = strchr(argv[i], '/');
    if (slash != NULL) *slash = '\0';
    one->program = argv[i];
    one->variant = slash == NULL ? NULL : slash + 1;
    if (strcmp(one->program, "scale") == 0) wrong += wrong_products(one);
  }
  for (way = 0; way < WAYS; ++way) {
    taken[way] = malloc((size_t)rounds * sizeof(double));
    round_of((way + 1) % WAYS); /* not counted: the first loads open the driver's own files */
  }
  for (i = 0; i < rounds; ++i) {
    for (way = 0; way < WAYS; ++way) {
      /* Each way follows each other one as often: it finds the caches as that one left them. */
      const int next = (i / 2 + (i % 2 ? WAYS - way : way)) % WAYS;
      taken[next][i] = round_of(next);
    }
  }
  ratios = malloc((size_t)rounds * sizeof(double));
  for (way = 1; way < WAYS; ++way) {
    for (i = 0; i < rounds; ++i) ratios[i] = taken[way][i] / taken[0][i];
    printf("%s: %.3f times the floor (median of %d rounds)\n", ways[way].name,
           median(ratios, rounds), rounds);
  }
  for (i = 0; i < rounds; ++i) {
    const double begin = now();
    for (way = 0; way < program_count; ++way) find(&programs[way]);
    ratios[i] = 1e3 * (now() - begin) / program_count;
  }
  printf("drop-in without the driver: %.1f us a program\n", median(ratios, rounds));
  for (way = 0; way < WAYS; ++way) {
    printf("%s: %.3f ms\n", ways[way].name, median(taken[way], rounds));
  }
  printf("%d programs, %d results wrong\n", program_count, wrong);
  return wrong != 0;
}
