// SPDX-License-Identifier: Apache-2.0
// The error type of packs, under the builder's own name: every part of Kiln fails the same way.
#pragma once

#include "kiln/packs/status.hpp"

namespace kiln::builder {

using packs::Code;
using packs::Result;
using packs::Status;

}  // namespace kiln::builder
