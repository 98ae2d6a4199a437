// SPDX-License-Identifier: Apache-2.0
// The version of the reference library of the case studies. Each kernel's folder has its function.
#include "kiln/reference.h"

KILN_REFERENCE_DEFINE_VERSION
