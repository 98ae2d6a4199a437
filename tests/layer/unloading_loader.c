/* SPDX-License-Identifier: Apache-2.0 */
/* An ICD loader that takes layers as Khronos's does since v2026.05.29: those of OPENCL_LAYERS that
 * have version 100 and clInitLayerWithProperties, and it closes them at its end. WANTED_VERSION may
 * be another version, which Kiln's layer does not have. It has PoCL alone, and the functions that
 * exits.c calls.
 *
 * It is harder on layers than Khronos's: its end comes as early as that of a loader can, before the
 * application's exit handlers that were registered before the first call, and calls that come later
 * still go through the layers, as those of threads do that are in a call at the end. */
#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
#define ENTRIES ((cl_uint)(sizeof(cl_icd_dispatch) / sizeof(void *)))

enum { MOST_LAYERS = 8 };

typedef cl_int (*get_platforms_t)(cl_uint, cl_platform_id *, cl_uint *);
typedef void *(*get_function_t)(const char *);
typedef cl_int (*get_info_t)(cl_layer_info, size_t, void *, size_t *);
typedef cl_int (*init_t)(cl_uint, const cl_icd_dispatch *, cl_uint *, const cl_icd_dispatch **,
                         const cl_properties *);
typedef cl_int (*deinit_t)(void);

struct _cl_platform_id {
  cl_icd_dispatch *dispatch;
};

static cl_icd_dispatch tables[MOST_LAYERS + 1]; /* the driver's, and one above each layer */
static void *layers[MOST_LAYERS];
static int layer_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ISO C converts no pointer to data into one to a function. */
static void set_function(void *function, const void *address) {
  memcpy(function, &address, sizeof(address));
}

static int open_driver(void) {
  void *driver = dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
  get_function_t get_function = NULL;
  get_platforms_t get_platforms = NULL;
  cl_platform_id platform;
  if (driver != NULL) {
    set_function(&get_function, dlsym(driver, "clGetExtensionFunctionAddress"));
  }
  if (get_function != NULL) {
    set_function(&get_platforms, get_function("clIcdGetPlatformIDsKHR"));
  }
  if (get_platforms == NULL || get_platforms(1, &platform, NULL) != CL_SUCCESS) {
    return 0;
  }
  tables[0] = *platform->dispatch;
  tables[0].clGetPlatformIDs = get_platforms;
  return 1;
}

static int begin_layer(void *layer) {
  const cl_icd_dispatch *below = &tables[layer_count], *functions = NULL;
  cl_layer_api_version version = 0;
  get_info_t get_info;
  init_t init;
  cl_uint count = 0, i;
  set_function(&get_info, dlsym(layer, "clGetLayerInfo"));
  set_function(&init, dlsym(layer, "clInitLayerWithProperties"));
  if (get_info == NULL || init == NULL ||
      get_info(CL_LAYER_API_VERSION, sizeof(version), &version, NULL) != CL_SUCCESS ||
      version != WANTED_VERSION || init(ENTRIES, below, &count, &functions, NULL) != CL_SUCCESS) {
    return 0;
  }
  tables[layer_count + 1] = *below;
  for (i = 0; i < count && i < ENTRIES; ++i) {
    void *function = ((void *const *)functions)[i];
    if (function != NULL) {
      ((void **)&tables[layer_count + 1])[i] = function;
    }
  }
  layers[layer_count++] = layer;
  return 1;
}

/* Front to back. */
static void end_layers(void) {
  int i;
  for (i = layer_count; i-- > 0;) {
    deinit_t deinit;
    set_function(&deinit, dlsym(layers[i], "clDeinitLayer"));
    if (deinit != NULL) {
      deinit();
    }
    dlclose(layers[i]);
  }
}

static void begin(void) {
  char *names = strdup(getenv("OPENCL_LAYERS") == NULL ? "" : getenv("OPENCL_LAYERS"));
  char *name, *rest;
  if (open_driver()) {
    for (name = strtok_r(names, ":", &rest); name != NULL; name = strtok_r(NULL, ":", &rest)) {
      void *layer = layer_count == MOST_LAYERS ? NULL : dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (layer != NULL && !begin_layer(layer)) {
        dlclose(layer);
      }
    }
    atexit(end_layers);
  }
  free(names);
}

static const cl_icd_dispatch *top(void) {
  pthread_once(&once, begin);
  return &tables[layer_count];
}

EXPORTED cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out, cl_uint *count) {
  const cl_icd_dispatch *table = top();
  return table->clGetPlatformIDs == NULL ? -1001 /* CL_PLATFORM_NOT_FOUND_KHR */
                                         : table->clGetPlatformIDs(room, out, count);
}

/* After the first call: nobody has an object before. */
#define FORWARD(result, name, parameters, arguments) \
  EXPORTED result name parameters { return tables[layer_count].name arguments; }

FORWARD(cl_int, clGetDeviceIDs,
        (cl_platform_id a, cl_device_type b, cl_uint c, cl_device_id *d, cl_uint *e),
        (a, b, c, d, e))
FORWARD(cl_context, clCreateContext,
        (const cl_context_properties *a, cl_uint b, const cl_device_id *c,
         void(CL_CALLBACK *d)(const char *, const void *, size_t, void *), void *e, cl_int *f),
        (a, b, c, d, e, f))
FORWARD(cl_int, clReleaseContext, (cl_context a), (a))
FORWARD(cl_command_queue, clCreateCommandQueue,
        (cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int *d), (a, b, c, d))
FORWARD(cl_int, clReleaseCommandQueue, (cl_command_queue a), (a))
FORWARD(cl_program, clCreateProgramWithSource,
        (cl_context a, cl_uint b, const char **c, const size_t *d, cl_int *e), (a, b, c, d, e))
FORWARD(cl_int, clBuildProgram,
        (cl_program a, cl_uint b, const cl_device_id *c, const char *d,
         void(CL_CALLBACK *e)(cl_program, void *), void *f),
        (a, b, c, d, e, f))
FORWARD(cl_int, clGetProgramBuildInfo,
        (cl_program a, cl_device_id b, cl_program_build_info c, size_t d, void *e, size_t *f),
        (a, b, c, d, e, f))
FORWARD(cl_int, clReleaseProgram, (cl_program a), (a))
FORWARD(cl_kernel, clCreateKernel, (cl_program a, const char *b, cl_int *c), (a, b, c))
FORWARD(cl_int, clSetKernelArg, (cl_kernel a, cl_uint b, size_t c, const void *d), (a, b, c, d))
FORWARD(cl_int, clReleaseKernel, (cl_kernel a), (a))
FORWARD(cl_mem, clCreateBuffer, (cl_context a, cl_mem_flags b, size_t c, void *d, cl_int *e),
        (a, b, c, d, e))
FORWARD(cl_int, clReleaseMemObject, (cl_mem a), (a))
FORWARD(cl_int, clEnqueueNDRangeKernel,
        (cl_command_queue a, cl_kernel b, cl_uint c, const size_t *d, const size_t *e,
         const size_t *f, cl_uint g, const cl_event *h, cl_event *i),
        (a, b, c, d, e, f, g, h, i))
FORWARD(cl_int, clEnqueueReadBuffer,
        (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, void *f, cl_uint g,
         const cl_event *h, cl_event *i),
        (a, b, c, d, e, f, g, h, i))
