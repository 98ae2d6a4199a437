// SPDX-License-Identifier: Apache-2.0
// Opens a device with an empty cache, and takes what Mesa put there.
#include "builder/finish/mesa_harvest.hpp"

#include <filesystem>
#include <fstream>

#include "builder/device/driver_caches.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/process/status_json.hpp"
#include "runtime/provision/mesa_cache.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

packs::Bytes file_bytes(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return packs::Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

// The one database below `caches` as a blob.
Result<packs::Bytes> take_entries(const std::string &caches) {
  const std::vector<fs::path> found = mesa_databases(caches);
  if (found.size() != 1) return Status(Code::failed, "Mesa wrote no shader cache");
  const packs::Bytes foz = file_bytes(found[0]);
  const std::string place =
      fs::relative(found[0].parent_path(), fs::path(caches) / kMesaRoot).generic_string();
  packs::Bytes entries;
  Status status = runtime::split_foz(place, {foz.data(), foz.size()}, {}, &entries);
  if (status.ok()) return entries;
  status.message = "Mesa's shader cache: " + status.message;
  return status;
}

}  // namespace

Result<packs::Bytes> harvest_opening(const DeviceInfo &device, std::chrono::milliseconds timeout) {
  const auto caches = TemporaryFolder::make();
  if (!caches.ok()) return caches.status();
  const ChildResult child = fork_call(
      [&]() -> json {
        use_driver_caches(caches->path());
        OpenedDevice opened;
        const Status status = opened.open(device);
        await_mesa();
        return to_json(status);
      },
      timeout);
  if (Status s = child.status(); !s.ok()) return s;
  return take_entries(caches->path());
}

}  // namespace kiln::builder
