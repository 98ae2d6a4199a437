// SPDX-License-Identifier: Apache-2.0
// Compares the driver's binary after a build with the given one.
#include "runtime/load/recompiled.hpp"

#include <cstring>

namespace kiln::runtime {

RecompileCheck check_recompiled(const Wanted &wanted, packs::View given, Event before,
                                Attempt *attempt, cl_program program) {
  const Loader &loader = wanted.loader;
  const bool must_ask = (wanted.flags & (KILN_LOAD_CHECK_RECOMPILED | kRequires)) != 0;
  if (survived(before) && before != Event::taken && !must_ask) {
    return {before, before == Event::recompiled};
  }
  constexpr unsigned kNever = KILN_DRIVER_NEVER_COMPARE | KILN_DRIVER_NEVER_ASK;
  if ((loader.notes.flags & kNever) != 0) return {Event::taken};
  if (!must_ask && loader.persistence == nullptr) return {};
  attempt->end(Event::none);  // the driver has survived loading the binary
  packs::Bytes now;
  const Status status = ask_for_binary(loader, wanted.variant, program, &now);
  if (status.code == Code::failed) return {Event::taken};  // not asked
  if (!status.ok()) return {};
  const bool recompiled =
      now.size() != given.size || std::memcmp(now.data(), given.data, now.size()) != 0;
  return {recompiled ? Event::recompiled : Event::proven, recompiled};
}

}  // namespace kiln::runtime
