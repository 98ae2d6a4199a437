// SPDX-License-Identifier: Apache-2.0
// Replaces functions of static libraries that would bring code which the layer does not use: a
// quarter of its size.
#include <cstdlib>
#include <exception>

namespace __gnu_cxx {

// libstdc++'s own prints the type of an uncaught exception, and brings the demangler. Only lack of
// memory throws here.
void __verbose_terminate_handler() { std::abort(); }

}  // namespace __gnu_cxx

// libsodium's own lies beside sodium_init(), which brings all of libsodium. The layer computes
// hashes and checks signatures, with arguments that are right.
extern "C" [[noreturn]] void sodium_misuse();
extern "C" void sodium_misuse() { std::abort(); }
