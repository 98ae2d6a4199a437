// SPDX-License-Identifier: Apache-2.0
// Builds with a store, on PoCL behind the scripted driver.
#include "builder/jobs/job_store.hpp"

#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder/jobs/device_build.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/process/child_process.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/pocl.hpp"
#include "tests/support/scripted_driver.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

packs::Variant variant(const std::string &name, const std::string &body) {
  const std::string source = "__kernel void fill(__global uint *out) { " + body + " }\n";
  packs::Variant v;
  v.name = name;
  v.hash = packs::variant_hash(source, "", {"fill"});
  v.kernels = {{"fill", 1}};
  v.source.emplace(packs::Bytes(source.begin(), source.end()));
  return v;
}

packs::Contents three_good() {
  packs::Contents base;
  base.programs = {
      {"fill",
       "",
       {variant("a", "out[0] = 1;"), variant("b", "out[0] = 2;"), variant("c", "out[0] = 3;")}}};
  return base;
}

const char *const kScript = R"(
log = "{folder}/calls"
[[platform]]
name = "Scripted platform"
[[platform.device]]
forward = true
name = "Scripted GPU"
[[fault]]
at = "clBuildProgram"
text = "kiln_test_abort"
do = "abort"
)";

class Builder {
 public:
  Builder() : driver_(kScript) {
    driver_.use();
    const auto listed = list_devices();
    if (!listed.ok()) FAIL(listed.status().message);
    device_ = listed->front();
    options.store.file = driver_.path("jobs.sqlite");
    options.jobs = 2;
    options.finish = false;  // which takes most of the time
  }

  BuildResult build(const packs::Contents &base) {
    const std::size_t before = driver_.calls("clBuildProgram");
    BuildResult result = build_on_devices(base, {device_}, {}, options, nullptr);
    built = driver_.calls("clBuildProgram") - before;
    return result;
  }

  std::vector<bool> stored(const packs::Contents &base) {
    const JobPlan planned = plan_build(base, {device_}, {}, options);
    CHECK(planned.store_status.ok());
    return planned.stored;
  }

  // The bytes of the pack that it would write.
  std::string pack(const BuildResult &result) {
    const std::string path = driver_.path("out.kiln");
    REQUIRE(packs::write_pack(result.contents, path).ok());
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const test::ScriptedDriver &driver() const { return driver_; }

  BuildOptions options{};
  std::size_t built = 0;  // programs in the last build, by its processes

 private:
  test::ScriptedDriver driver_;
  DeviceInfo device_;
};

// Whether a process waits for a lock on the file.
bool somebody_waits(const std::string &file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return false;
  const std::string inode = ":" + std::to_string(info.st_ino) + " ";
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    if (line.find("->") != std::string::npos && line.find(inode) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a second build for another output calls no driver, and makes the same pack") {
  KILN_NEEDS_POCL();
  Builder builder;
  CHECK(builder.stored(three_good()) == std::vector<bool>(3, false));
  CHECK_FALSE(std::filesystem::exists(builder.options.store.file));  // a plan makes none
  const BuildResult first = builder.build(three_good());
  CHECK(first.compiled == 3);
  CHECK(first.stored == 0);
  CHECK(first.store_status.ok());
  CHECK(builder.built > 0);
  CHECK(builder.stored(three_good()) == std::vector<bool>(3, true));
  const BuildResult second = builder.build(three_good());
  CHECK(second.compiled == 0);
  CHECK(second.stored == 3);
  CHECK(builder.built == 0);
  CHECK(builder.pack(second) == builder.pack(first));
}

TEST_CASE("a fresh build takes nothing from the store and replaces what it has") {
  KILN_NEEDS_POCL();
  Builder builder;
  (void)builder.build(three_good());
  builder.options.store.fresh = true;
  const BuildResult fresh = builder.build(three_good());
  CHECK(fresh.compiled == 3);
  builder.options.store.fresh = false;
  CHECK(builder.pack(builder.build(three_good())) == builder.pack(fresh));
}

TEST_CASE("a refusal is reported again without the driver, until it is to be retried") {
  KILN_NEEDS_POCL();
  packs::Contents base;
  base.programs = {{"fill", "", {variant("wrong", "out[0] = undeclared;")}}};
  Builder builder;
  const BuildResult first = builder.build(base);
  REQUIRE(first.failures.size() == 1);
  const BuildResult again = builder.build(base);
  CHECK(builder.built == 0);
  REQUIRE(again.failures.size() == 1);
  CHECK(again.failures[0].text == first.failures[0].text);
  builder.options.store.retry = true;
  (void)builder.build(base);
  CHECK(builder.built > 0);
}

TEST_CASE("a driver that dies is tried three times in all, and again if it is to be retried") {
  KILN_NEEDS_POCL();
  packs::Contents base;
  base.programs = {
      {"fill", "", {variant("dies", "uint kiln_test_abort = 1; out[0] = kiln_test_abort;")}}};
  Builder builder;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(builder.build(base).failures.size() == 1);
    CHECK(builder.built > 0);
  }
  const BuildResult fourth = builder.build(base);
  CHECK(builder.built == 0);
  REQUIRE(fourth.failures.size() == 1);
  CHECK(fourth.failures[0].text.find("crashed with signal 6") == 0);
  CHECK(fourth.failures[0].text.ends_with(
      "\nfailed 3 times, and is not tried again without --fresh=failed"));
  builder.options.store.retry = true;
  (void)builder.build(base);
  CHECK(builder.built > 0);
}

TEST_CASE("a store that cannot be used costs the build nothing but its help") {
  KILN_NEEDS_POCL();
  Builder builder;
  builder.driver().folder().write("jobs.sqlite", std::string(5000, 'x'));
  const BuildResult result = builder.build(three_good());
  CHECK(result.compiled == 3);
  CHECK(result.store_status.code == Code::bad_magic);
  CHECK(result.store_status.message == builder.options.store.file + ": file is not a database");
}

TEST_CASE("jobs that another builder is at are left to it, waited for, and done if it dies") {
  KILN_NEEDS_POCL();
  Builder builder;
  (void)builder.build(three_good());
  // Another builder at two jobs; it ends before it has done one of them.
  Pipe ready;
  REQUIRE(ready.open() == 0);
  const pid_t other = fork();
  REQUIRE(other >= 0);
  if (other == 0) {
    ready.read.close();
    auto store = Store::open(builder.options.store.file);
    std::vector<packs::Digest> keys;
    {
      Statement rows(store->database(), "select key from jobs order by key limit 2");
      while (rows.step()) {
        packs::Digest key{};
        std::copy_n(rows.bytes(0).data, key.size(), key.begin());
        keys.push_back(key);
      }
    }
    const auto one = store->claims().take(keys[0]), two = store->claims().take(keys[1]);
    for (const packs::Digest &key : keys) store->remove(key);
    if (write(ready.write.get(), "y", 1) != 1) _exit(1);
    while (!somebody_waits(builder.options.store.file + "-claims")) std::this_thread::yield();
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(ready.read.get(), &byte, 1) == 1);
  const BuildResult result = builder.build(three_good());
  CHECK(result.stored == 1);
  CHECK(result.compiled == 2);
  CHECK(waitpid(other, nullptr, 0) == other);
}
