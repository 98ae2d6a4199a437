/* SPDX-License-Identifier: Apache-2.0 */
/* Launches the kernel of the pack that kiln.Kiln has opened. */
#include <jni.h>
#include <kiln/kiln.h>

typedef struct Saxpy {
  kiln_program *program;
  kiln_kernel *kernel;
  kiln_queue *queue;
  kiln_buffer *x, *y;
} Saxpy;

/* Copies count numbers into the buffer; the other way if `from` is NULL. */
static kiln_status copy(Saxpy *s, kiln_buffer *buffer, const jfloat *from, jfloat *to,
                        unsigned count, kiln_error *error) {
  void *mapped;
  kiln_status status = kiln_buffer_map(s->queue, buffer, &mapped, error); /* waits */
  if (status != KILN_OK) return status;
  for (unsigned i = 0; i < count; ++i) {
    if (from != NULL) ((jfloat *)mapped)[i] = from[i];
    if (to != NULL) to[i] = ((jfloat *)mapped)[i];
  }
  return kiln_buffer_unmap(s->queue, buffer, error);
}

#define TRY(call)            \
  do {                       \
    if ((call) != KILN_OK) { \
      return e->status;      \
    }                        \
  } while (0)

static kiln_status run(Saxpy *s, kiln_loader *loader, jfloat a, const jfloat *x, jfloat *y,
                       unsigned count, kiln_error *e) {
  const kiln_ndrange range = {1, {count}, {0}, {0}};
  const size_t size = count * sizeof(jfloat);
  TRY(kiln_load(loader, "saxpy", NULL, 0, &s->program, NULL, e)); /* loaded: returns at once */
  TRY(kiln_kernel_create(s->program, "saxpy", &s->kernel, e));
  TRY(kiln_queue_create(loader, NULL, &s->queue, e));
  TRY(kiln_buffer_create(loader, size, KILN_ACCESS_READ, &s->x, e));
  TRY(kiln_buffer_create(loader, size, KILN_ACCESS_BOTH, &s->y, e));
  TRY(copy(s, s->x, x, NULL, count, e));
  TRY(copy(s, s->y, y, NULL, count, e));
  TRY(kiln_kernel_set_typed(s->kernel, 0, KILN_TYPE_FLOAT, 1, &a, e));
  TRY(kiln_kernel_set_buffer(s->kernel, 1, s->x, e));
  TRY(kiln_kernel_set_buffer(s->kernel, 2, s->y, e));
  TRY(kiln_kernel_set_typed(s->kernel, 3, KILN_TYPE_UINT, 1, &count, e));
  TRY(kiln_launch(s->queue, s->kernel, &range, NULL, 0, NULL, e));
  return copy(s, s->y, NULL, y, count, e);
}

JNIEXPORT jstring JNICALL Java_kiln_sample_MainActivity_saxpy(JNIEnv *env, jclass type,
                                                              jlong loader, jfloat a, jfloatArray x,
                                                              jfloatArray y) {
  kiln_error error = {KILN_OK, 0, ""};
  Saxpy s = {NULL, NULL, NULL, NULL, NULL};
  jfloat *xs = (*env)->GetFloatArrayElements(env, x, NULL);
  jfloat *ys = (*env)->GetFloatArrayElements(env, y, NULL);
  const kiln_status status = run(&s, (kiln_loader *)(intptr_t)loader, a, xs, ys,
                                 (unsigned)(*env)->GetArrayLength(env, x), &error);
  (void)type;
  (*env)->ReleaseFloatArrayElements(env, x, xs, JNI_ABORT);
  (*env)->ReleaseFloatArrayElements(env, y, ys, 0);
  kiln_buffer_release(s.x), kiln_buffer_release(s.y), kiln_queue_release(s.queue);
  kiln_kernel_release(s.kernel), kiln_program_release(s.program);
  return status == KILN_OK ? NULL : (*env)->NewStringUTF(env, error.message);
}
