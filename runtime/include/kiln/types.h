/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Types of the C headers: status codes, rungs, outcomes, handles. kiln.h, whose conventions hold
 * here, includes this header. */
#ifndef KILN_TYPES_H
#define KILN_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifndef CL_TARGET_OPENCL_VERSION
/** OpenCL version that the headers target; an application may define its own. */
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include "kiln/version.h"

/** Marks the functions that the shared libraries libkiln_runtime and libkiln_launch export. */
#if defined(kiln_runtime_shared_EXPORTS) && defined(_WIN32)
#define KILN_API __declspec(dllexport)
#elif defined(KILN_SHARED) && defined(_WIN32)
#define KILN_API __declspec(dllimport)
#elif defined(KILN_SHARED) && defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif

/** Result of a call. */
typedef enum kiln_status {
  KILN_OK = 0,                   /**< Success. */
  KILN_ERROR_ARGUMENT = 1,       /**< An argument breaks a rule of the function. */
  KILN_ERROR_NO_OPENCL = 2,      /**< No usable OpenCL library; the message lists the candidates. */
  KILN_ERROR_NO_DEVICE = 3,      /**< No platform, or no device at that index. */
  KILN_ERROR_OPENCL = 4,         /**< An OpenCL call failed; see kiln_error.cl_error. */
  KILN_ERROR_PACK_NOT_FOUND = 5, /**< No such file. */
  KILN_ERROR_PACK_IO = 6,        /**< I/O error on a pack, the overlay or provisioned files. */
  KILN_ERROR_PACK_BAD = 7,       /**< Not a pack, truncated or corrupt; the message says which. */
  KILN_ERROR_PACK_NEWER = 8,     /**< The pack needs a newer reader. */
  KILN_ERROR_NOT_IN_PACK = 9,    /**< No such program, variant or kernel. */
  KILN_ERROR_REQUIREMENT = 10,   /**< The device lacks a requirement of the variant or the call. */
  KILN_ERROR_NO_RUNG = 11,       /**< Every rung was skipped or failed; see the report. */
  KILN_ERROR_UNTRUSTED = 12      /**< The pack is not signed as the loader requires. */
} kiln_status;

/** Rungs of the ladder, best first; the intermediate rung stands between exact and IL. */
typedef enum kiln_rung {
  KILN_RUNG_OVERLAY = 0, /**< A binary that this device compiled at an earlier start. */
  KILN_RUNG_EXACT = 1,   /**< The pack's binary for this device and driver. */
  KILN_RUNG_IL = 3,      /**< SPIR-V. */
  KILN_RUNG_SOURCE = 4,  /**< OpenCL C. */
  KILN_RUNG_ERROR = 5,   /**< No rung gave a program. */
  /** PTX: a form that the driver compiles at each load, and that later GPUs accept, too. */
  KILN_RUNG_INTERMEDIATE = 6
} kiln_rung;

/** Outcome of a rung. */
typedef enum kiln_outcome {
  KILN_OUTCOME_LOADED = 0,     /**< The rung gave the program. */
  KILN_OUTCOME_SKIPPED = 1,    /**< Not tried: switched off, or not supported by the device. */
  KILN_OUTCOME_MISSED = 2,     /**< The pack has nothing that fits, or says that it is wrong. */
  KILN_OUTCOME_FAILED = 3,     /**< Tried; the driver or a check rejected it. */
  KILN_OUTCOME_QUARANTINED = 4 /**< Not tried: the driver crashed or hung on it before. */
} kiln_outcome;

/** Whether a loaded program is final: whether its first launch compiles nothing. */
typedef enum kiln_finality {
  KILN_FINAL_UNKNOWN = 0, /**< No first launch was observed. */
  KILN_FINAL_YES = 1,     /**< A fresh process with empty caches compiled nothing. */
  KILN_FINAL_NO = 2       /**< The first launch compiles. */
} kiln_finality;

/** How the variant was chosen. */
typedef enum kiln_choice {
  KILN_CHOICE_NAME = 0,        /**< The caller named it. */
  KILN_CHOICE_MEASUREMENT = 1, /**< Measured fastest here or on the most similar device. */
  KILN_CHOICE_PREFERENCE = 2,  /**< The pack's order of preference. */
  KILN_CHOICE_ORDER = 3        /**< The first by name. */
} kiln_choice;

/** Level of a hint, which a driver may be unable to follow. */
typedef enum kiln_level {
  KILN_LEVEL_DEFAULT = 0, /**< No hint. */
  KILN_LEVEL_LOW = 1,     /**< Low. */
  KILN_LEVEL_MEDIUM = 2,  /**< Medium. */
  KILN_LEVEL_HIGH = 3     /**< High. */
} kiln_level;

/** Hints that were asked for and applied, as bits. */
enum {
  KILN_HINT_PRIORITY = 1,     /**< Priority of a context or a queue. */
  KILN_HINT_THROTTLE = 2,     /**< Throttle of a queue. */
  KILN_HINT_OUT_OF_ORDER = 4, /**< Out-of-order execution of a queue. */
  KILN_HINT_PERFORMANCE = 8   /**< Performance of a context. */
};

/** Details of a failure. The struct never grows. */
typedef struct kiln_error {
  kiln_status status; /**< Status that the function returned. */
  cl_int cl_error;    /**< The OpenCL error code, or 0. */
  char message[1024]; /**< A sentence for people; truncated between characters if longer. */
} kiln_error;

/** The table of OpenCL entry points. */
typedef struct kiln_opencl kiln_opencl;
/** A device, its identity and profile. */
typedef struct kiln_device kiln_device;
/** An open pack. */
typedef struct kiln_pack kiln_pack;
/** A loader: a pack, a device and a context. */
typedef struct kiln_loader kiln_loader;
/** A loaded variant of a program. */
typedef struct kiln_program kiln_program;
/** The report of a load. */
typedef struct kiln_report kiln_report;
/** An entry point of a program with its arguments. */
typedef struct kiln_kernel kiln_kernel;
/** A command queue. */
typedef struct kiln_queue kiln_queue;
/** A buffer in memory. */
typedef struct kiln_buffer kiln_buffer;
/** A 2D image in memory. */
typedef struct kiln_image kiln_image;
/** An event, which stands for an enqueued command. */
typedef struct kiln_event kiln_event;
/** Options of a loader (loader_options.h). */
typedef struct kiln_loader_options kiln_loader_options;

#endif /* KILN_TYPES_H */
