/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Types of the C headers: how calls end, rungs, outcomes, handles. kiln.h, whose conventions hold
 * here, includes this header. */
#ifndef KILN_TYPES_H
#define KILN_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifndef CL_TARGET_OPENCL_VERSION
/** The version of OpenCL whose names the headers use; an application may choose its own. */
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include "kiln/version.h"

/** Marks what the shared library exports. */
#if defined(KILN_SHARED) && defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif

/** How a call ended. */
typedef enum kiln_status {
  KILN_OK = 0,                   /**< It did what it says. */
  KILN_ERROR_ARGUMENT = 1,       /**< A rule of the function was broken. */
  KILN_ERROR_NO_OPENCL = 2,      /**< No OpenCL library; the message lists what was tried. */
  KILN_ERROR_NO_DEVICE = 3,      /**< No platform, or no device at that index. */
  KILN_ERROR_OPENCL = 4,         /**< An OpenCL call failed; see kiln_error.cl_error. */
  KILN_ERROR_PACK_NOT_FOUND = 5, /**< No such file. */
  KILN_ERROR_PACK_IO = 6,        /**< I/O error on a pack, the overlay or provisioned files. */
  KILN_ERROR_PACK_BAD = 7,       /**< Not a pack, truncated, corrupt; the message says which. */
  KILN_ERROR_PACK_NEWER = 8,     /**< The pack needs a newer reader. */
  KILN_ERROR_NOT_IN_PACK = 9,    /**< No such program, variant or kernel. */
  KILN_ERROR_REQUIREMENT = 10,   /**< The device lacks what the variant, or the call, needs. */
  KILN_ERROR_NO_RUNG = 11,       /**< Every rung was skipped or failed; see the report. */
  KILN_ERROR_UNTRUSTED = 12      /**< The pack is not signed as the loader demands. */
} kiln_status;

/** Rungs of the ladder, best first; the intermediate one stands between compatible and IL. */
typedef enum kiln_rung {
  KILN_RUNG_OVERLAY = 0,    /**< What this device compiled at an earlier start. */
  KILN_RUNG_EXACT = 1,      /**< The pack's binary for this device and driver. */
  KILN_RUNG_COMPATIBLE = 2, /**< The pack's binary for another target that serves this one. */
  KILN_RUNG_IL = 3,         /**< SPIR-V. */
  KILN_RUNG_SOURCE = 4,     /**< OpenCL C. */
  KILN_RUNG_ERROR = 5,      /**< No rung gave a program. */
  /** A form that the driver still compiles when it loads it, and that later GPUs take, too: PTX. */
  KILN_RUNG_INTERMEDIATE = 6
} kiln_rung;

/** What became of a rung. */
typedef enum kiln_outcome {
  KILN_OUTCOME_LOADED = 0,     /**< It gave the program. */
  KILN_OUTCOME_SKIPPED = 1,    /**< Not tried: switched off, or the device cannot. */
  KILN_OUTCOME_MISSED = 2,     /**< The pack has nothing that fits. */
  KILN_OUTCOME_FAILED = 3,     /**< Tried, and the driver or a check said no. */
  KILN_OUTCOME_QUARANTINED = 4 /**< Not tried: the driver died or hung over it before. */
} kiln_outcome;

/** Whether the driver compiles anything when a loaded program is first launched. */
typedef enum kiln_finality {
  KILN_FINAL_UNKNOWN = 0, /**< It was not launched where that could be observed. */
  KILN_FINAL_YES = 1,     /**< A fresh process did, with empty caches, and nothing was compiled. */
  KILN_FINAL_NO = 2       /**< The first launch compiles. */
} kiln_finality;

/** How the variant was chosen. */
typedef enum kiln_choice {
  KILN_CHOICE_NAME = 0,        /**< The caller named it. */
  KILN_CHOICE_MEASUREMENT = 1, /**< The fastest here, or where it is most like here. */
  KILN_CHOICE_PREFERENCE = 2,  /**< The pack's order of preference. */
  KILN_CHOICE_ORDER = 3        /**< The first by name. */
} kiln_choice;

/** A wish that a driver may be unable to meet. */
typedef enum kiln_level {
  KILN_LEVEL_DEFAULT = 0, /**< No wish. */
  KILN_LEVEL_LOW = 1,     /**< Low. */
  KILN_LEVEL_MEDIUM = 2,  /**< Medium. */
  KILN_LEVEL_HIGH = 3     /**< High. */
} kiln_level;

/** What was asked for and taken, as bits. */
enum {
  KILN_HINT_PRIORITY = 1,     /**< The priority, of a context or a queue. */
  KILN_HINT_THROTTLE = 2,     /**< The throttle of a queue. */
  KILN_HINT_OUT_OF_ORDER = 4, /**< A queue is out of order. */
  KILN_HINT_PERFORMANCE = 8   /**< The performance of a context. */
};

/** Details of a failure. The struct never grows. */
typedef struct kiln_error {
  kiln_status status; /**< What the function returned. */
  cl_int cl_error;    /**< The OpenCL error code, or 0. */
  char message[1024]; /**< A sentence for people; cut between characters where it is longer. */
} kiln_error;

/** The table of OpenCL entry points. */
typedef struct kiln_opencl kiln_opencl;
/** A device, its identity and profile. */
typedef struct kiln_device kiln_device;
/** An open pack. */
typedef struct kiln_pack kiln_pack;
/** Pack, device and context. */
typedef struct kiln_loader kiln_loader;
/** A loaded variant of a program. */
typedef struct kiln_program kiln_program;
/** How a load went. */
typedef struct kiln_report kiln_report;
/** An entry point of a program with its arguments. */
typedef struct kiln_kernel kiln_kernel;
/** A command queue. */
typedef struct kiln_queue kiln_queue;
/** Memory of bytes. */
typedef struct kiln_buffer kiln_buffer;
/** Memory of pixels. */
typedef struct kiln_image kiln_image;
/** Stands for a command that was enqueued. */
typedef struct kiln_event kiln_event;
/** What a loader may be given (loader_options.h). */
typedef struct kiln_loader_options kiln_loader_options;

#endif /* KILN_TYPES_H */
