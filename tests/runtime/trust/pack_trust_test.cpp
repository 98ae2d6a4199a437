// SPDX-License-Identifier: Apache-2.0
// Loaders that demand signatures: what they take, refuse and tell.
#include <algorithm>
#include <cstddef>

#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/signing.hpp"
#include "kiln/signed.hpp"
#include "runtime/api/options.hpp"
#include "tests/runtime/overlay/overlay_fixture.hpp"
#include "tests/support/test_keys.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

using Opened = std::shared_ptr<const packs::Pack>;

Opened open_bytes(const packs::Bytes &bytes) {
  Opened pack;
  REQUIRE(packs::Pack::open_memory({bytes.data(), bytes.size()}, &pack).ok());
  return pack;
}

packs::Bytes read_all(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

packs::Bytes signed_by(const char *key, const packs::Bytes &bytes, std::uint64_t revision = 3) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "signed.kiln";
  const Opened pack = open_bytes(bytes);
  REQUIRE(packs::write_signed(*pack, {sign(key, *pack, revision)}, path).ok());
  return read_all(path);
}

packs::Bytes number_bytes(std::uint64_t value) {
  packs::Bytes bytes;
  for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return bytes;
}

packs::Bytes name_of(packs::View bytes) {
  const packs::Digest name = packs::blake2b(bytes);
  return {name.begin(), name.end()};
}

// Every place that has the bytes gets others of that size; there must be one.
void replace_all(packs::Bytes *bytes, const packs::Bytes &from, const packs::Bytes &to) {
  auto at = std::search(bytes->begin(), bytes->end(), from.begin(), from.end());
  REQUIRE(at != bytes->end());
  for (; at != bytes->end(); at = std::search(at, bytes->end(), from.begin(), from.end())) {
    std::copy(to.begin(), to.end(), at);
  }
}

// After a change of the section, what the root says of it.
void rehash_section(packs::Bytes *bytes, packs::View before, packs::View now) {
  replace_all(bytes, name_of(before), name_of(now));
  replace_all(bytes, number_bytes(packs::xxh3(before.data, before.size)),
              number_bytes(packs::xxh3(now.data, now.size)));
}

packs::View section_of(const packs::Bytes &bytes) {
  const packs::fb::TargetEntry &entry = *open_bytes(bytes)->schema().targets()->Get(0);
  return {bytes.data() + entry.offset(), static_cast<std::size_t>(entry.size())};
}

void rehash_root(packs::Bytes *bytes, packs::Superblock superblock) {
  superblock.root_xxh3 = packs::xxh3(bytes->data() + superblock.root_offset, superblock.root_size);
  packs::encode_superblock(superblock, bytes->data());
}

packs::Bytes changed_name(packs::Bytes name) {
  name[9] ^= 1;
  return name;
}

// A pack that is signed although a part does not have its name: what is left to somebody who finds
// other bytes with the same XXH3-64.
packs::Bytes with_false_name(const char *blob) {
  packs::Bytes bytes = written(fake_contents());
  const packs::Superblock superblock = open_bytes(bytes)->superblock();
  const packs::View view = section_of(bytes);
  const packs::Bytes before(view.data, view.data + view.size);
  const packs::Bytes name =
      blob == nullptr ? name_of(view)
                      : name_of({reinterpret_cast<const std::uint8_t *>(blob), std::strlen(blob)});
  replace_all(&bytes, name, changed_name(name));
  const packs::Bytes now(view.data, view.data + view.size);
  if (now != before) {
    rehash_section(&bytes, {before.data(), before.size()}, {now.data(), now.size()});
  }
  rehash_root(&bytes, superblock);
  return signed_by(kSignerKey, bytes);
}

packs::Bytes forged_root() {
  packs::Bytes bytes = signed_by(kSignerKey, written(fake_contents()));
  const packs::Superblock superblock = open_bytes(bytes)->superblock();
  const packs::Bytes options = bytes_of("-DX=1"), others = bytes_of("-DX=2");
  replace_all(&bytes, options, others);
  rehash_root(&bytes, superblock);
  return bytes;
}

// A loader with a demand, and what it told.
struct Demanding {
  explicit Demanding(kiln_trust_policy policy, std::uint64_t revision = 0)
      : trust({kOtherPublic, kSignerPublic}, revision, policy) {
    kiln_loader_use_trust(&options, trust.get());
    options.notice = Notices::collect;
    options.notice_user = &notices;
  }

  // What creating the loader says; "" if there is one.
  std::string refusal(const packs::Bytes &bytes) {
    kiln_device *device = fake_device();
    kiln_pack *pack = nullptr;
    kiln_loader *loader = nullptr;
    kiln_error error{};
    REQUIRE(kiln_pack_open_memory(bytes.data(), bytes.size(), &pack, nullptr) == KILN_OK);
    status = kiln_loader_create(device, pack, &options, &loader, &error);
    CHECK((loader == nullptr) == (status != KILN_OK));
    kiln_pack_release(pack);
    kiln_device_release(device);
    kiln_loader_release(loader);
    return status == KILN_OK ? "" : error.message;
  }

  static constexpr char kOtherPublic[] =
      "RWQBAgMEBQYHCAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";  // of nobody
  Trust trust;
  LoaderOptions options;
  Notices notices;
  kiln_status status = KILN_OK;
};

constexpr char kOtherName[] = "the bytes do not match the BLAKE2b hash that names them";

}  // namespace

TEST_CASE("a loader that demands signatures loads a signed pack", "[trust]") {
  const packs::Bytes pack = signed_by(kSignerKey, written(fake_contents()));
  for (const kiln_trust_policy policy : {KILN_TRUST_NONE, KILN_TRUST_WARN, KILN_TRUST_REQUIRE}) {
    Demanding demand(policy, 3);
    const FakeLoad load(pack, 0, "p", nullptr, &demand.options);
    CHECK(load.rung() == KILN_RUNG_EXACT);
    CHECK(mentions(load.json(), "\"notes\": []"));
    CHECK_FALSE(demand.notices.has(KILN_NOTICE_UNTRUSTED));
  }
}

TEST_CASE("a pack that is not signed as demanded gives no loader", "[trust]") {
  const packs::Bytes plain = written(fake_contents());
  packs::Bytes damaged = signed_by(kSignerKey, plain);
  damaged[damaged.size() - 20] ^= 1;
  const struct {
    packs::Bytes pack;
    std::string message;
  } rows[] = {
      {plain, "the pack is not signed"},
      {signed_by(kOtherKey, plain),
       std::string("the pack is signed by other keys only: ") + kOtherId},
      {forged_root(), std::string("the signature of the key ") + kSignerId +
                          " does not fit: the pack is not what was signed, or another key signed "
                          "it"},
      {signed_by(kSignerKey, plain, 2), "the pack is of revision 2, older than the required 3"},
      {damaged, "signatures: the block does not have its recorded hash"}};
  for (const auto &row : rows) {
    CAPTURE(row.message);
    Demanding require(KILN_TRUST_REQUIRE, 3);
    CHECK(require.refusal(row.pack) == row.message);
    CHECK(require.status == KILN_ERROR_UNTRUSTED);
    Demanding none(KILN_TRUST_NONE, 3);
    CHECK(none.refusal(row.pack) == "");
    // Told, and used.
    Demanding warn(KILN_TRUST_WARN, 3);
    const FakeLoad load(row.pack, 0, "p", nullptr, &warn.options);
    CHECK(load.rung() == KILN_RUNG_EXACT);
    CHECK(mentions(load.json(), "\"notes\": [\"" + row.message + "\"]"));
    CHECK(warn.notices.text(KILN_NOTICE_UNTRUSTED) == row.message);
  }
}

TEST_CASE("what the signed root names is compared before a driver gets it", "[trust]") {
  const auto rung = [](const packs::Bytes &pack, kiln_rung which, unsigned flags = 0) {
    Demanding demand(KILN_TRUST_REQUIRE);
    const FakeLoad load(pack, flags, "p", nullptr, &demand.options);
    return load.reason(which);
  };
  const packs::Bytes binary = with_false_name("the binary");
  CHECK(rung(binary, KILN_RUNG_EXACT) == std::string("failed: blob: ") + kOtherName);
  CHECK(rung(binary, KILN_RUNG_IL) == "loaded");
  const packs::Bytes section = with_false_name(nullptr);
  CHECK(rung(section, KILN_RUNG_EXACT) == std::string("failed: target 0: ") + kOtherName);
  CHECK(rung(section, KILN_RUNG_IL) == "loaded");
  const packs::Bytes il = with_false_name("the IL for 64 bits");
  CHECK(rung(il, KILN_RUNG_IL, KILN_LOAD_NO_BINARY) == std::string("failed: blob: ") + kOtherName);
  CHECK(rung(il, KILN_RUNG_SOURCE, KILN_LOAD_NO_BINARY) == "loaded");
  const packs::Bytes source = with_false_name("the source");
  CHECK(rung(source, KILN_RUNG_SOURCE, KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL) ==
        std::string("failed: blob: ") + kOtherName);
}

TEST_CASE("under a warning a part with another name is reported and used", "[trust]") {
  for (const char *blob : {static_cast<const char *>(nullptr), "the binary"}) {
    const packs::Bytes pack = with_false_name(blob);
    Demanding demand(KILN_TRUST_WARN);
    const FakeLoad load(pack, 0, "p", nullptr, &demand.options);
    CHECK(load.rung() == KILN_RUNG_EXACT);
    const std::string told = "a part of the pack does not have the BLAKE2b hash that names it";
    CHECK(demand.notices.text(KILN_NOTICE_UNTRUSTED) == told);
    CHECK(mentions(load.json(), told));
    CHECK(FakeLoad(pack).rung() == KILN_RUNG_EXACT);  // nobody asks
  }
}

TEST_CASE("a report outlives the loader that demanded signatures", "[trust]") {
  Demanding demand(KILN_TRUST_WARN);
  FakeLoad load(with_false_name(nullptr), KILN_LOAD_NO_BINARY, "p", nullptr, &demand.options);
  kiln_program_release(load.program);
  load.program = nullptr;
  kiln_loader_release(load.loader);
  load.loader = nullptr;
  demand.notices.all.clear();
  CHECK(mentions(load.json(), "\"nearest\""));  // reads the section
  CHECK(demand.notices.all.empty());
}

TEST_CASE("a loader that requires signatures takes nothing else from the overlay", "[trust]") {
  packs::Contents contents = fake_contents();
  contents.targets.clear();
  const packs::Bytes pack = signed_by(kSignerKey, written(contents));
  const TemporaryFolder folder;
  const std::string overlay = folder.path() / "overlay";
  const auto rung = [&](const kiln_trust *trust) {
    LoaderOptions options;
    kiln_loader_use_overlay(&options, overlay.c_str(), 0);
    kiln_loader_use_trust(&options, trust);
    return FakeLoad(pack, 0, "p", nullptr, &options).rung();
  };
  const Trust require({kSignerPublic});
  const Trust same({kSignerPublic}, 2);
  const Trust others({kSignerPublic, Demanding::kOtherPublic});
  const Trust swapped({Demanding::kOtherPublic, kSignerPublic});
  const Trust warn({kSignerPublic}, 0, KILN_TRUST_WARN);
  CHECK(rung(nullptr) == KILN_RUNG_IL);
  CHECK(rung(nullptr) == KILN_RUNG_OVERLAY);
  CHECK(rung(warn.get()) == KILN_RUNG_OVERLAY);
  CHECK(rung(require.get()) == KILN_RUNG_IL);
  CHECK(rung(require.get()) == KILN_RUNG_OVERLAY);
  CHECK(rung(same.get()) == KILN_RUNG_OVERLAY);
  CHECK(rung(others.get()) == KILN_RUNG_IL);
  CHECK(rung(swapped.get()) == KILN_RUNG_OVERLAY);
  CHECK(rung(nullptr) == KILN_RUNG_OVERLAY);
}

#ifndef _WIN32
TEST_CASE("another user's binaries are taken only with a signature of a named key", "[trust]") {
  const packs::Bytes full = written(fake_contents());
  packs::Contents contents = fake_contents();
  contents.targets.clear();
  const packs::Bytes base = signed_by(kSignerKey, written(contents), 7);
  const Trust require({kSignerPublic}, 5);
  const Trust warn({kSignerPublic}, 0, KILN_TRUST_WARN);
  const Trust none({kSignerPublic}, 0, KILN_TRUST_NONE);
  const Trust two({Demanding::kOtherPublic, kSignerPublic}, 0, KILN_TRUST_WARN, 2);
  const packs::Bytes good = signed_by(kSignerKey, full);
  packs::Bytes changed = good;
  replace_all(&changed, bytes_of("the binary"), bytes_of("THE BINARY"));
  // Returns the rung that gives the program if another user has put the bytes there.
  const auto rung = [&](const packs::Bytes &bytes, const kiln_trust *trust,
                        const char *name = "4242.kiln") {
    const TemporaryFolder folder;
    const std::filesystem::path shared = folder.path() / "shared";
    REQUIRE(mkdir(shared.c_str(), 0700) == 0);
    REQUIRE(chmod(shared.c_str(), 01777) == 0);
    const std::string file =
        folder.write(std::string("shared/") + name, std::string(bytes.begin(), bytes.end()));
    if (geteuid() == 0) REQUIRE(chown(file.c_str(), 4242, 4242) == 0);
    LoaderOptions options;
    options.use_shared(shared.c_str());
    kiln_loader_use_trust(&options, trust);
    const kiln_rung first = FakeLoad(base, 0, "p", nullptr, &options).rung();
    // What another user has is not stored once more.
    const auto own = names_in(shared / std::to_string(geteuid()), "e-");
    CHECK(own.size() == (first == KILN_RUNG_OVERLAY ? 0u : 1u));
    return first;
  };
  if (geteuid() == 0) {
    CHECK(rung(good, require.get()) == KILN_RUNG_OVERLAY);  // whose revision is lower
    CHECK(rung(good, warn.get()) == KILN_RUNG_OVERLAY);
  } else {
    WARN("SKIP: only root can give a pack to another user");
  }
  CHECK(rung(good, none.get()) == KILN_RUNG_IL);
  CHECK(rung(good, nullptr) == KILN_RUNG_IL);
  CHECK(rung(good, two.get()) == KILN_RUNG_IL);
  CHECK(rung(full, warn.get()) == KILN_RUNG_IL);
  CHECK(rung(signed_by(kOtherKey, full), warn.get()) == KILN_RUNG_IL);
  CHECK(rung(signed_by(kOtherKey, full), require.get()) == KILN_RUNG_IL);
  CHECK(rung(forged_root(), warn.get()) == KILN_RUNG_IL);
  CHECK(rung(with_false_name("the binary"), warn.get()) == KILN_RUNG_IL);
  CHECK(rung(with_false_name(nullptr), warn.get()) == KILN_RUNG_IL);
  CHECK(rung(changed, warn.get()) == KILN_RUNG_IL);
  CHECK(rung({}, warn.get()) == KILN_RUNG_IL);
  CHECK(rung(good, warn.get(), "4242.kiln.tmp") == KILN_RUNG_IL);
  CHECK(rung(good, warn.get(), "4243.kiln") == KILN_RUNG_IL);  // 4242 owns it
  CHECK(rung(good, warn.get(), "user.kiln") == KILN_RUNG_IL);
  CHECK(rung(good, warn.get(), ".kiln") == KILN_RUNG_IL);
}

TEST_CASE("no link and no pipe in a shared folder is followed", "[trust]") {
  packs::Contents contents = fake_contents();
  contents.targets.clear();
  const packs::Bytes base = written(contents);
  const packs::Bytes good = signed_by(kSignerKey, written(fake_contents()));
  const TemporaryFolder folder;
  const std::filesystem::path shared = folder.path() / "shared";
  REQUIRE(mkdir(shared.c_str(), 0700) == 0);
  const auto target = folder.write("elsewhere.kiln", std::string(good.begin(), good.end()));
  std::filesystem::create_symlink(target, shared / "1.kiln");
  REQUIRE(mkfifo((shared / "2.kiln").c_str(), 0600) == 0);
  REQUIRE(mkdir((shared / "3.kiln").c_str(), 0700) == 0);
  const Trust warn({kSignerPublic}, 0, KILN_TRUST_WARN);
  LoaderOptions options;
  options.use_shared(shared.c_str());
  warn.use_for(&options);
  CHECK(FakeLoad(base, 0, "p", nullptr, &options).rung() == KILN_RUNG_IL);
}
#endif

TEST_CASE("a demand that breaks its rules is refused", "[trust]") {
  const packs::Bytes pack = signed_by(kSignerKey, written(fake_contents()));
  const auto refusal = [&](void (*change)(kiln_trust *)) {
    Demanding demand(KILN_TRUST_REQUIRE);
    kiln_trust trust = *demand.trust.get();
    change(&trust);
    kiln_loader_use_trust(&demand.options, &trust);
    const std::string message = demand.refusal(pack);
    CHECK(demand.status == (message.empty() ? KILN_OK : KILN_ERROR_ARGUMENT));
    return message;
  };
  CHECK(refusal([](kiln_trust *) {}) == "");
  CHECK(refusal([](kiln_trust *t) { t->size = 0; }) == "kiln_trust: size is not its sizeof");
  CHECK(refusal([](kiln_trust *t) { t->policy = static_cast<kiln_trust_policy>(3); }) ==
        "kiln_trust: unknown policy");
  CHECK(refusal([](kiln_trust *t) { t->functions = nullptr; }) ==
        "kiln_trust: functions is not what kiln_signatures() gives");
  CHECK(refusal([](kiln_trust *t) { t->keys = nullptr; }) == "kiln_trust: a key is NULL");
  static const char *const kBad[] = {"RWQ"};
  CHECK(refusal([](kiln_trust *t) {
          t->keys = kBad;
          t->key_count = 1;
        }) ==
        "kiln_trust: not a public key of minisign's form: its line is not 42 bytes in base64");
  // Of no key nothing is trusted, and of nobody's demand nothing is read.
  Demanding nobody(KILN_TRUST_REQUIRE);
  kiln_trust trust = *nobody.trust.get();
  trust.key_count = 0;
  kiln_loader_use_trust(&nobody.options, &trust);
  CHECK(mentions(nobody.refusal(pack), "signed by other keys only"));
  trust = *nobody.trust.get();
  trust.threshold = 2;
  CHECK(mentions(nobody.refusal(pack), "signed by 1 of the 2 required keys: 86D7ADFABB582CCD"));
  trust.threshold = 0;
  CHECK(nobody.refusal(pack) == "");
  trust = {};
  trust.size = sizeof(trust);
  CHECK(nobody.refusal(pack) == "");
}

TEST_CASE("a library that does not know the demand refuses it", "[trust]") {
  // As the library of yesterday reads the options of today.
  constexpr std::size_t kKnown = offsetof(kiln_loader_options, trust);
  unsigned char known[kKnown] = {};
  LoaderOptions options;
  const Trust trust({kSignerPublic}, 0, KILN_TRUST_WARN);
  trust.use_for(&options);
  const char *wrong = runtime::read_options(&options, kKnown, known);
  REQUIRE(wrong != nullptr);
  CHECK(std::string(wrong) == "an option is set that this version of the library does not know");
  kiln_loader_use_trust(&options, nullptr);
  CHECK(runtime::read_options(&options, kKnown, known) == nullptr);
}
