// SPDX-License-Identifier: Apache-2.0
#include "builder/inspect/pack_check.hpp"

#include <optional>

#include "runtime/source/whole_program.hpp"
#include "tests/support/catch.hpp"

namespace kiln::builder {
namespace {

packs::BlobSource blob(const std::string &text) {
  return packs::BlobSource(packs::Bytes(text.begin(), text.end()));
}

const std::string kSource = "kernel void v() {}";
const std::string kModule(24, '\x07');  // only its bytes count

// With its right hash, whatever its program is called.
packs::Variant variant(const std::string &name, const std::string &source) {
  packs::Variant made;
  made.name = name;
  made.options = "-DX";
  made.source = blob(source);
  made.hash = packs::variant_hash(source, made.options, {});
  return made;
}

packs::Variant module(std::optional<packs::BlobSource> il32,
                      std::optional<packs::BlobSource> il64) {
  packs::Variant made;
  made.name = "module";
  made.options = "-DX";
  made.il32 = std::move(il32);
  made.il64 = std::move(il64);
  return made;
}

Status check(const std::string &name, std::vector<packs::Variant> variants) {
  packs::Contents contents;
  contents.programs = {{"p", "", {variant("v", "other")}}, {name, "", std::move(variants)}};
  return check_variants(contents);
}

}  // namespace

TEST_CASE("The name of a recorded program has 32 digits", "[pack_check]") {
  CHECK(source::is_program_name(source::program_name(kSource, "")));
  const std::string digits(31, 'a');
  for (const std::string &name : {"cl-" + digits, "cl-" + digits + "aa", "cl-" + digits + "A",
                                  "cl-" + digits + "g", "xl-" + digits + "a", std::string("cl-")}) {
    CHECK_FALSE(source::is_program_name(name));
  }
}

TEST_CASE("A recorded program is the one that its name says, with each variant", "[pack_check]") {
  const std::string name = source::program_name(kSource, "-DX");
  const packs::Variant honest = variant("v", kSource);
  CHECK(check(name, {honest, honest}).ok());
  CHECK(check("any-name", {variant("v", "other")}).ok());
  packs::Variant options = honest;
  options.options = "-DY";
  options.hash = packs::variant_hash(kSource, options.options, {});
  for (const packs::Variant &other : {variant("v", kSource + "\n"), options}) {
    const Status status = check(name, {honest, other});
    CHECK(status.code == Code::conflict);
    CHECK(status.message.find("program " + name +
                              ", variant v: its source and options are of the "
                              "program cl-") == 0);
  }
  // SPIR-V that was made of the source.
  packs::Variant compiled = honest;
  compiled.il64 = blob(kModule);
  CHECK(check(name, {compiled}).ok());
}

TEST_CASE("The name of a recorded module is made of the module's bytes", "[pack_check]") {
  const std::string name = source::program_name(kModule, "-DX");
  CHECK(check(name, {module(blob(kModule), {}), module({}, blob(kModule))}).ok());
  CHECK(check(name, {module({}, {})}).ok());  // nothing to compute it from
  CHECK(check(name, {module(blob("x"), {})}).message.find("its 32-bit SPIR-V and options are") !=
        std::string::npos);
  CHECK(check(name, {module(blob(kModule), blob("x"))}).message.find("its 64-bit SPIR-V and") !=
        std::string::npos);
}

TEST_CASE("The name of a link is made of its text", "[pack_check]") {
  const source::WholeProgram a{"", "int f(void);", ""};
  const source::WholeProgram b{"", "int f(void) { return 1; }", ""};
  const source::WholeProgram link = source::whole_link({a, b}, "-DX");
  CHECK(check(link.name, {variant("v", link.source)}).ok());
  CHECK(check(link.name, {variant("v", source::whole_link({b, a}, "-DX").source)}).code ==
        Code::conflict);
}

TEST_CASE("A variant without its hash is found under any name", "[pack_check]") {
  packs::Variant other = variant("v", kSource);
  other.hash[0] ^= 1;
  CHECK(check("any-name", {other}).code == Code::conflict);
}

}  // namespace kiln::builder
