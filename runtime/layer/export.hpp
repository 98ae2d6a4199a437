// SPDX-License-Identifier: Apache-2.0
// Marks the functions that an ICD loader looks up in the layer.
#pragma once

#ifdef _WIN32
#define KILN_EXPORT extern "C" __declspec(dllexport)
#else
#define KILN_EXPORT extern "C" __attribute__((visibility("default")))
#endif
