/* SPDX-License-Identifier: Apache-2.0 */
/* The native half of kiln.Kiln: calls of the C interface. Strings come as bytes of UTF-8 with a
 * NUL, and go without one. */
#include <jni.h>
#include <kiln/listing.h>
#include <kiln/overlay.h>
#include <kiln/report_folder.h>
#include <stdlib.h>
#include <string.h>

/* What a Java object holds. */
typedef struct Opened {
  kiln_pack *pack;
  kiln_device *device;
  kiln_loader *loader;
} Opened;

static Opened *opened_of(jlong handle) { return (Opened *)(intptr_t)handle; }

/* NULL for NULL, and where memory is short, with a Java exception. */
static jbyteArray to_java(JNIEnv *env, const char *text) {
  jbyteArray array;
  jsize size;
  if (text == NULL) return NULL;
  size = (jsize)strlen(text);
  array = (*env)->NewByteArray(env, size);
  if (array != NULL) (*env)->SetByteArrayRegion(env, array, 0, size, (const jbyte *)text);
  return array;
}

/* The bytes of a string, for free_text(); NULL for NULL. */
static char *from_java(JNIEnv *env, jbyteArray array) {
  return array == NULL ? NULL : (char *)(*env)->GetByteArrayElements(env, array, NULL);
}

static void free_text(JNIEnv *env, jbyteArray array, char *text) {
  if (text != NULL) (*env)->ReleaseByteArrayElements(env, array, (jbyte *)text, JNI_ABORT);
}

static void release(Opened *opened) {
  kiln_loader_release(opened->loader);
  kiln_device_release(opened->device);
  kiln_pack_release(opened->pack);
  free(opened);
}

static jbyteArray report(JNIEnv *env, jclass type, jbyteArray folder) {
  kiln_error error = {KILN_OK, 0, ""};
  char *text = from_java(env, folder);
  const kiln_status status = kiln_report_folder(text, &error);
  (void)type;
  free_text(env, folder, text);
  return status == KILN_OK ? NULL : to_java(env, error.message);
}

static kiln_status open_loader(Opened *opened, const char *overlay, kiln_error *error) {
  kiln_loader_options options;
  kiln_opencl *opencl = NULL;
  kiln_status status;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  status = kiln_opencl_open(NULL, 0, &opencl, error);
  if (status == KILN_OK) status = kiln_device_open(opencl, 0, &opened->device, error);
  kiln_opencl_release(opencl);
  if (status != KILN_OK) return status;
  kiln_loader_use_overlay(&options, overlay, 0);
  return kiln_loader_create(opened->device, opened->pack, &options, &opened->loader, error);
}

static jbyteArray open_pack(JNIEnv *env, jclass type, jint descriptor, jlong offset, jlong length,
                            jbyteArray overlay, jlongArray handle) {
  kiln_error error = {KILN_OK, 0, "out of memory"};
  kiln_status status = KILN_ERROR_ARGUMENT;
  char *folder = from_java(env, overlay);
  Opened *opened = calloc(1, sizeof(*opened));
  (void)type;
  if (opened != NULL) {
    status = kiln_pack_open_descriptor(descriptor, (uint64_t)offset, (uint64_t)length,
                                       &opened->pack, &error);
    if (status == KILN_OK) status = open_loader(opened, folder, &error);
  }
  free_text(env, overlay, folder);
  if (status != KILN_OK) {
    if (opened != NULL) release(opened);
    return to_java(env, error.message);
  }
  const jlong value = (jlong)(intptr_t)opened;
  (*env)->SetLongArrayRegion(env, handle, 0, 1, &value);
  return NULL;
}

/* Names of programs, separated by newlines. */
typedef struct Names {
  char *text;
  size_t size;
  const char *last;
} Names;

static void add_name(const kiln_pack_kernel *kernel, void *user) {
  Names *names = user;
  const size_t length = strlen(kernel->program);
  char *text;
  if (names->last != NULL && strcmp(names->last, kernel->program) == 0) return;
  text = realloc(names->text, names->size + length + 2);
  if (text == NULL) return;
  if (names->size > 0) text[names->size++] = '\n';
  memcpy(text + names->size, kernel->program, length + 1);
  names->text = text;
  names->size += length;
  names->last = kernel->program;
}

static jbyteArray programs(JNIEnv *env, jclass type, jlong handle) {
  Names names = {NULL, 0, NULL};
  jbyteArray array;
  (void)type;
  kiln_pack_kernels(opened_of(handle)->pack, add_name, &names);
  array = to_java(env, names.text == NULL ? "" : names.text);
  free(names.text);
  return array;
}

static jbyteArray load(JNIEnv *env, jclass type, jlong handle, jbyteArray program,
                       jobjectArray report) {
  kiln_error error = {KILN_OK, 0, ""};
  kiln_program *loaded = NULL;
  kiln_report *made = NULL;
  char *name = from_java(env, program);
  const kiln_status status =
      kiln_load(opened_of(handle)->loader, name, NULL, 0, &loaded, &made, &error);
  (void)type;
  free_text(env, program, name);
  if (made != NULL) {
    jbyteArray json = to_java(env, kiln_report_json(made));
    if (json != NULL) (*env)->SetObjectArrayElement(env, report, 0, json);
  }
  kiln_report_release(made);
  kiln_program_release(loaded);
  if (status == KILN_OK || (*env)->ExceptionCheck(env)) return NULL;
  return to_java(env, error.message);
}

static jbyteArray device(JNIEnv *env, jclass type, jlong handle, jbyteArray name) {
  char *text = from_java(env, name);
  jbyteArray info = to_java(env, kiln_device_info(opened_of(handle)->device, text));
  (void)type;
  free_text(env, name, text);
  return info;
}

static jlong loader(JNIEnv *env, jclass type, jlong handle) {
  (void)env, (void)type;
  return (jlong)(intptr_t)opened_of(handle)->loader;
}

static void release_opened(JNIEnv *env, jclass type, jlong handle) {
  (void)env, (void)type;
  release(opened_of(handle));
}

/* Binds every native method at once: one that is missing fails System.loadLibrary(). */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
  static const struct {
    const char *name, *signature;
    void (*function)(void);
  } methods[] = {
      {"report", "([B)[B", (void (*)(void))report},
      {"open", "(IJJ[B[J)[B", (void (*)(void))open_pack},
      {"programs", "(J)[B", (void (*)(void))programs},
      {"load", "(J[B[[B)[B", (void (*)(void))load},
      {"device", "(J[B)[B", (void (*)(void))device},
      {"loader", "(J)J", (void (*)(void))loader},
      {"release", "(J)V", (void (*)(void))release_opened},
  };
  enum { kCount = sizeof(methods) / sizeof(methods[0]) };
  JNINativeMethod natives[kCount];
  JNIEnv *env = NULL;
  jclass type;
  (void)reserved;
  if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  type = (*env)->FindClass(env, "kiln/Kiln");
  if (type == NULL) return JNI_ERR;
  for (size_t i = 0; i < kCount; ++i) {
    natives[i].name = (char *)methods[i].name;
    natives[i].signature = (char *)methods[i].signature;
    memcpy(&natives[i].fnPtr, &methods[i].function, sizeof(natives[i].fnPtr));
  }
  return (*env)->RegisterNatives(env, type, natives, kCount) == 0 ? JNI_VERSION_1_6 : JNI_ERR;
}
