// SPDX-License-Identifier: Apache-2.0
// The one way to fail, from packs to the command line, under the builder's own name.
#pragma once

#include "kiln/packs/status.hpp"

namespace kiln::builder {

using packs::Code;
using packs::Result;
using packs::Status;

}  // namespace kiln::builder
