// SPDX-License-Identifier: Apache-2.0
// The lock of UsingCompiler and NobodyCompiles (build.hpp). A process has one.
//
// libkiln_launch works on the shared runtime's objects by copies of the runtime's functions, and so
// it takes the shared runtime's lock. The lock's name has the runtime's version: the dynamic linker
// refuses libkiln_launch together with a runtime of another version, whose objects may be laid out
// otherwise ("undefined symbol: kiln_runtime_0_1_0"). It looks for data when it loads a library,
// for functions perhaps not before they are called.
#pragma once

#include <pthread.h>

#include "kiln/types.h"

#define KILN_LOCK_OF(major, minor, patch) kiln_runtime_##major##_##minor##_##patch
#define KILN_LOCK_FROM(major, minor, patch) KILN_LOCK_OF(major, minor, patch)
#define KILN_COMPILER_LOCK \
  KILN_LOCK_FROM(KILN_VERSION_MAJOR, KILN_VERSION_MINOR, KILN_VERSION_PATCH)

// Not a std::shared_mutex: with some standard libraries a global one has a destructor.
extern "C" KILN_API pthread_rwlock_t KILN_COMPILER_LOCK;
