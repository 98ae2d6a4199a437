// SPDX-License-Identifier: Apache-2.0
// Builds that can be repeated.
#pragma once

namespace kiln::cli {

// Starts this program again with the same arguments and without address randomisation, if
// it runs with it: a driver's compiler may order by address (Intel's of NEO 20.44 does), and
// the same inputs are to give the same pack. Returns where that is not possible or not
// needed.
void restart_with_fixed_addresses(char **argv);

}  // namespace kiln::cli
