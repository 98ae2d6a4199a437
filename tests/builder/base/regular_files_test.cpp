// SPDX-License-Identifier: Apache-2.0
// Whatever reads a file that a user names leaves a pipe of that name alone: whoever writes to a
// pipe sees that it was opened, and an opener may wait for ever.
#include "builder/base/whole_file.hpp"
#include "builder/fleet/report/fleet_report.hpp"
#include "builder/fleet/report/inventory.hpp"
#include "builder/problem/png.hpp"
#include "builder/sign/public_keys.hpp"
#include "builder/store/store.hpp"
#include "builder/under_layer/report_sum.hpp"
#include "builder/under_layer/spool.hpp"
#include "kiln/packs/pack.hpp"
#include "runtime/overlay/private_folder.hpp"
#include "runtime/source/flatten.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watched_pipe.hpp"

using namespace kiln;
using namespace kiln::builder;

TEST_CASE("no reader opens a pipe") {
  const test::TemporaryFolder folder;
  const std::string place = folder.path().string();
  const std::string path = place + "/cl-0123456789abcdef.kiln";  // as in spools and overlays
  const test::WatchedPipe pipe(path);
  const test::WatchedPipe report(place + "/report.jsonl");
  const std::string fault = path + ": not a regular file";

  CHECK_FALSE(read_whole_file(path).has_value());
  std::shared_ptr<const packs::Pack> pack;
  CHECK(packs::Pack::open_file(path.c_str(), &pack).message == fault);
  CHECK(read_spool(place).status().message == fault + " [io_error]");
  CHECK(Store::open(path).status().message == fault);
  CHECK(read_png(path, 1).status().message == fault);
  CHECK(read_public_keys({path}).status().message == fault);
  CHECK(source::read_from_disk()(path).outcome == source::OpenedFile::Outcome::refused);

  runtime::Folder opened;
  REQUIRE(runtime::Folder::open(place.c_str(), &opened) == 0);
  packs::Bytes bytes;
  packs::Descriptor file;
  struct stat info {};
  CHECK(opened.read_file("report.jsonl", 1000, &bytes, &info, &file) == EINVAL);

  Fleet fleet;
  CHECK(FleetReader(&fleet).add_file(path, FleetReader::Kind::inventory).message == fault);
  ReportSums sums;
  CHECK(add_report(path, &sums).message == fault);
  CHECK(add_report(place, &sums).message == place + "/report.jsonl: not a regular file");

  CHECK_FALSE(pipe.was_opened());
  CHECK_FALSE(report.was_opened());
}
