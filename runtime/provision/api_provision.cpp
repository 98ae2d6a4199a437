// SPDX-License-Identifier: Apache-2.0
// The C API of provisioning.
#include "kiln/provision.h"

#include "runtime/api/api.hpp"
#include "runtime/provision/mesa_provision.hpp"

using namespace kiln::runtime;

kiln_status kiln_provision(const char *path, const char *folder, kiln_error *error) {
  KILN_REQUIRE(path != nullptr && folder != nullptr, error);
  std::shared_ptr<const kiln::packs::Pack> pack;
  MesaEntries entries;
  ProvisionResult result;
  Status e = kiln::packs::Pack::open_file(path, &pack);
  if (e.ok()) e = entries.add(pack);
  if (e.ok()) e = entries.provision(folder, &result);
  if (e.ok()) point_mesa_at(folder);
  return report_error(e, error);
}

kiln_status kiln_provision_remove(const char *folder, kiln_error *error) {
  KILN_REQUIRE(folder != nullptr, error);
  std::size_t removed = 0;
  return report_error(remove_provisioned(folder, &removed), error);
}
