// SPDX-License-Identifier: Apache-2.0
// Libraries that are opened while the program runs. No library is ever closed. For POSIX all is
// here, since a call is all that it is; dynamic_library_windows.cpp is for Windows.
#pragma once

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace kiln::runtime {

#ifdef _WIN32
// Opens a library; null: it cannot be opened, and library_fault() says why.
void *open_library(const char *name);
// Returns the address of a function; null: the library has none of this name.
void *library_function(void *library, const char *name);
// Returns why open_library() just failed in this thread, in the system's words; null: unknown. The
// text lasts until the next call.
const char *library_fault();
#else
inline void *open_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
inline void *library_function(void *library, const char *name) { return dlsym(library, name); }
inline const char *library_fault() { return dlerror(); }
#endif

}  // namespace kiln::runtime
