// SPDX-License-Identifier: Apache-2.0
// A file of its own, compiled alone: libkiln_launch, which also links objects of the static
// runtime, must find the lock in the shared one.
#include "runtime/load/compiler_lock.hpp"

pthread_rwlock_t KILN_COMPILER_LOCK = PTHREAD_RWLOCK_INITIALIZER;
