// SPDX-License-Identifier: Apache-2.0
// Compilers that a file describes.
#include "builder/virtual/described_compiler.hpp"

#include <cstdlib>
#include <filesystem>

#include "builder/virtual/virtual_devices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

const char *const kIdentity =
    "[identity]\n"
    "device_vendor = \"ARM\"\n"
    "device_name = \"Mali-G710 r0p0\"\n"
    "device_version = \"OpenCL 3.0 v1.r51p0-00eac0.abc\"\n"
    "address_bits = \"64\"\n";

std::string described(const std::string &command, const std::string &more = "") {
  return "schema = 1\nname = \"mali\"\ntools = \"mali_clcc 9\"\n" + more + "command = " + command +
         "\n" + kIdentity;
}

// Answers every command with its last word.
Result<std::string> last_word(const std::vector<std::string> &command) {
  return command.back() + " \n";
}

Result<CompilerDescription> parsed(const std::string &text, const std::string &model = "") {
  return parse_description(text, "mali.toml", model, last_word);
}

std::string fault_of(const std::string &text, const std::string &model = "") {
  const auto description = parsed(text, model);
  return description.ok() ? "none" : description.status().message;
}

packs::Variant plain_variant() {
  const std::string source = "kernel void f() {}";
  packs::Variant variant;
  variant.options = "-DA=1 \"-DB=x y\"";
  variant.kernels = {{"f", 0}};
  variant.source = packs::BlobSource(packs::Bytes(source.begin(), source.end()));
  return variant;
}

// A described compiler that runs these lines of shell, with the output's name in $out.
Result<VirtualDevice::Made> made_by(const std::string &does, const std::string &more = "",
                                    const CallLimits &limits = std::chrono::milliseconds{60'000}) {
  const test::TemporaryFolder folder;
  const auto tool = folder.write("mali_clcc", "#!/bin/sh\nout=$1; shift\n" + does + "\n");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  const auto path = folder.write(
      "mali.toml",
      described("[\"" + tool.string() + "\", \"{output}\", \"{options}\", \"-f={input}\"]", more));
  const auto device = described_device(path, "");
  if (!device.ok()) FAIL(device.status().message);
  return device->virtual_device->compile(plain_variant(), limits, true);
}

std::string ending(const std::string &does) { return made_by(does).status().message; }

}  // namespace

TEST_CASE("a description tells the command, the device and what the compiler makes code for") {
  const auto description = parsed(
      described("[\"clcc\", \"{input}\", \"{output}\"]", "input = \"il\"\ndriver = \"51\"\n") +
      "[capabilities]\nimages = true\nextensions = [\"cl_b\", \"cl_a\"]\n"
      "max_work_group_size = 1024\n[environment]\nLICENCE = \"none\"\n");
  if (!description.ok()) FAIL(description.status().message);
  CHECK(description->name == "mali");
  CHECK(description->finisher.starts_with("virtual-described 1, mali_clcc 9, description "));
  CHECK(description->driver == "51");
  CHECK(description->takes_il);
  using Pair = std::pair<std::string, std::string>;
  CHECK(description->environment == std::vector<Pair>{{"LICENCE", "none"}});
  const auto &can = description->info.capabilities;
  CHECK((can.images && !can.fp16 && !can.compiler && can.profile == "mali"));
  CHECK(can.extensions == std::vector<std::string>{"cl_a", "cl_b"});
  CHECK((can.max_work_group_size == 1024 && can.address_bits == 64));
  CHECK(description->info.description.key.text() ==
        runtime::describe(description->info.identity).key.text());
}

TEST_CASE("arguments have the files' names and the words of the options") {
  const DescribedOptions options{{"-DA", "-DB=x y"}, "-DA \"-DB=x y\""};
  CHECK(described_arguments({"cc", "-x", "{options}", "-o{output}", "{input}"}, "in.cl", "out",
                            options) ==
        std::vector<std::string>{"-x", "-DA", "-DB=x y", "-oout", "in.cl"});
  CHECK(described_arguments({"cc", "-options", "{option_text}"}, "a", "b", options) ==
        std::vector<std::string>{"-options", "-DA \"-DB=x y\""});
  CHECK(described_arguments({"cc", "{options}"}, "a", "b", {}).empty());
}

TEST_CASE("a description can name files beside it") {
  const std::string text = described("[\"sh\", \"{folder}/cc.sh\", \"{input}\", \"{output}\"]") +
                           "[ask]\nversion = [\"sh\", \"{folder}/version\"]\n";
  std::vector<std::string> asked;
  const auto description =
      parse_description(text, "/opt/a b/mali.toml", "", [&](const auto &command) {
        asked = command;
        return Result<std::string>("1");
      });
  if (!description.ok()) FAIL(description.status().message);
  CHECK(description->command[1] == "/opt/a b/cc.sh");
  CHECK(asked == std::vector<std::string>{"sh", "/opt/a b/version"});
  CHECK(parsed(text)->command[1] == std::filesystem::current_path().string() + "/cc.sh");
}

TEST_CASE("a fault in a description shows its place") {
  CHECK(fault_of("schema = 1\nname = \"m\"\ntools = \"t\"\ncommand = [\"cc\", \"{inptu}\"]\n") ==
        "mali.toml:4:18: error: unknown placeholder in \"{inptu}\"\n"
        "command = [\"cc\", \"{inptu}\"]\n"
        "                 ^\n"
        "expected {input}, {output}, {option_text}, {model}, {folder}, a name of [ask], or "
        "{options} or {arguments} as an argument of its own\n");
  CHECK(fault_of(described("[\"cc\", \"-o={options}\"]")).find("unknown placeholder") !=
        std::string::npos);
  CHECK(fault_of(described("[\"cc\", \"{input}\"]")).find("with {output}") != std::string::npos);
  CHECK(fault_of(described("[\"cc\", \"{input}\", \"{output}\"]") + "colour = \"red\"\n")
            .find("unknown fact \"colour\" in [identity]") != std::string::npos);
  CHECK(fault_of(described("[\"cc\", \"{input}\", \"{output}\"]", "inputs = \"il\"\n"))
            .find("did you mean \"input\"?") != std::string::npos);
  CHECK(fault_of("schema = 1\nname = \"m\"\ntools = \"t\"\n"
                 "command = [\"cc\", \"{input}\", \"{output}\"]\n")
            .find("expected the device's facts") != std::string::npos);
  CHECK(fault_of("schema = ").find("not valid TOML") != std::string::npos);
  CHECK(fault_of("schema = 2").find("schema") != std::string::npos);
}

TEST_CASE("a description of several models has what each of them adds") {
  const std::string text =
      "schema = 1\nname = \"cc\"\ntools = \"cc {version}\"\ndriver = \"{version}\"\n"
      "command = [\"cc\", \"-m{model}\", \"{arguments}\", \"{input}\", \"{output}\"]\n"
      "[ask]\nversion = [\"cc\", \"7\"]\nextensions = [\"cc\", \"cl_{model} cl_b\"]\n"
      "[identity]\ndevice_vendor = \"ARM\"\ndevice_name = \"{model} of {version}\"\n"
      "[capabilities]\nfp64 = \"cl_b\"\nimages = \"cl_c\"\nlocal_memory = 1024\n"
      "extensions = [\"cl_a\", \"{extensions}\"]\n"
      "[[models]]\nnames = [\"g*\", \"old\"]\narguments = [\"-x\"]\n"
      "capabilities = { local_memory = 2048 }\n"
      "[[models]]\nnames = [\"g2\"]\narguments = [\"-y\"]\n"
      "[models.identity]\naddress_bits = \"32\"\n"
      "[models.capabilities]\nextensions = [\"cl_c\"]\n";
  const auto one = parsed(text, "g1"), two = parsed(text, "g2");
  if (!one.ok()) FAIL(one.status().message);
  if (!two.ok()) FAIL(two.status().message);
  CHECK((one->name == "cc:g1" && one->driver == "7"));
  CHECK(one->finisher.starts_with("virtual-described 1, cc 7, description "));
  CHECK(one->finisher == two->finisher);
  using Words = std::vector<std::string>;
  CHECK(one->command == Words{"cc", "-mg1", "-x", "{input}", "{output}"});
  CHECK(two->command == Words{"cc", "-mg2", "-x", "-y", "{input}", "{output}"});
  CHECK(one->info.identity.text(runtime::Field::device_name) == "g1 of 7");
  const auto &can = one->info.capabilities, &more = two->info.capabilities;
  CHECK(can.extensions == Words{"cl_a", "cl_b", "cl_g1"});
  CHECK((can.fp64 && !can.images && can.local_memory == 2048 && can.address_bits == 64));
  CHECK((more.images && more.address_bits == 32));
  CHECK(fault_of(text, "h1").find("no model \"h1\"\n") != std::string::npos);
  CHECK(fault_of(text, "h1").find("expected one of: g*, old, g2") != std::string::npos);
  CHECK(fault_of(text).find("no model is named") != std::string::npos);
  CHECK(fault_of(described("[\"cc\", \"{input}\", \"{output}\"]"), "g1").find("a model is named") !=
        std::string::npos);
  const auto broken = parse_description(text, "mali.toml", "g1", [](const auto &) {
    return Result<std::string>(Status(Code::process, "cc: exit status 1"));
  });
  CHECK(broken.status().message == "cc: exit status 1");
}

TEST_CASE("a described compiler gets files, options and its environment, and no shell") {
  const auto made = made_by(
      "for word in \"$@\"; do echo \"<$word>\" >> $out; done; cat program.cl >> $out; "
      "echo $LICENCE >> $out; echo a warning",
      "environment = { LICENCE = \"a;b\" }\n");
  if (!made.ok()) FAIL(made.status().message);
  CHECK(std::string(made->binary.begin(), made->binary.end()) ==
        "<-DA=1>\n<-DB=x y>\n<-f=program.cl>\nkernel void f() {}a;b\n");
  CHECK(made->log == "a warning\n");
}

TEST_CASE("a described compiler that lies, fails, dies or hangs is named with what it did") {
  CHECK(ending("exit 0") == "mali_clcc says that all went well, but it wrote no file program\n");
  CHECK(ending(": > $out") ==
        "mali_clcc says that all went well, but it wrote an empty file program\n");
  CHECK(ending("echo code > $out; echo 'no licence' >&2; exit 3") ==
        "mali_clcc: exit status 3\nno licence\n");
  CHECK(ending("kill -SEGV $$").starts_with("mali_clcc: signal 11"));
  const Status hung = made_by("sleep 600", "", std::chrono::milliseconds{300}).status();
  CHECK(hung.code == Code::process);
  CHECK(made_by("exit 1").status().code == Code::failed);
#ifdef __linux__
  const Status greedy = made_by("head -c 256M /dev/zero | tail -c 256M | sleep 600", "",
                                {std::chrono::milliseconds{60'000}, std::uint64_t{64} << 20})
                            .status();
  CHECK(greedy.code == Code::process);
  CHECK(greedy.message == "mali_clcc: more than 67 MB of memory\n");
#endif
  CHECK(hung.message == "mali_clcc: no end within 300 ms\n");
}

TEST_CASE("a description that is missing, or whose program is, is named; the others are there") {
  const test::TemporaryFolder folder;
  const auto good = folder.write("good.toml", described("[\"true\", \"{input}\", \"{output}\"]"));
  const auto bad =
      folder.write("bad.toml", described("[\"nosuch-cc\", \"{input}\", \"{output}\"]"));
  const std::string none = (folder.path() / "none.toml").string();
  std::vector<VirtualSpec> specs;
  for (const std::string &path : {none, bad.string(), good.string(), good.string()}) {
    specs.push_back(*parse_virtual_spec(path));
  }
  const VirtualDevices targets = find_virtual_devices(specs, {});
  REQUIRE(targets.devices.size() == 1);
  CHECK(targets.devices[0].label() == "mali");
  REQUIRE(targets.failures.size() == 2);
  CHECK(targets.failures[0].message == none + ": no such file, or an empty one");
  CHECK(targets.failures[1].message == bad.string() + ": there is no program nosuch-cc");
  CHECK(targets.notes == std::vector<std::string>{good.string() + ": named twice, built for once"});
}
