// SPDX-License-Identifier: Apache-2.0
// The scripted driver's binaries, through the loader.
#include <csignal>

#include "tests/driver/machine.hpp"

using namespace kiln::test;

TEST_CASE("each device of a context has a binary of its own, which the other refuses") {
  KILN_NEEDS_POCL();
  const json answer = in_child(two_devices(""), [] {
    const Machine machine = open_machine();
    const auto binaries = binaries_of(build(machine), 2);
    std::string after;
    const cl_int own = take_binary(machine, binaries[0], &after);
    return json{{"own", own},
                {"verbatim", after == binaries[0]},
                {"others", take_binary(machine, binaries[1], nullptr)}};
  });
  CHECK(answer["own"] == CL_SUCCESS);
  CHECK(answer["verbatim"] == true);
  CHECK(answer["others"] == CL_INVALID_BINARY);
}

TEST_CASE("every truncation and flipped byte of a binary is noticed") {
  KILN_NEEDS_POCL();
  const json answer = in_child(computing_device(""), [] {
    const Machine machine = open_machine();
    const std::string good = binaries_of(build(machine), 1)[0];
    json accepted = json::array();
    for (std::size_t at = 0; at < good.size(); at += at < 200 ? 1 : 997) {
      std::string flipped = good;
      flipped[at] = static_cast<char>(flipped[at] ^ 1);
      if (take_binary(machine, flipped, nullptr) != CL_INVALID_BINARY) accepted.push_back(at);
      if (take_binary(machine, good.substr(0, at), nullptr) != CL_INVALID_BINARY) {
        accepted.push_back(at);
      }
    }
    return accepted;
  });
  CHECK(answer.empty());
}

TEST_CASE("a recompilation uses the options of the first build and changes the bytes") {
  KILN_NEEDS_POCL();
  const ScriptedDriver driver(computing_device("[platform.device.binary]\nmodel = \"one\""));
  const auto first = driver.run([] {
    const Machine machine = open_machine();
    const char *source = "__kernel void k(__global int *out) { out[0] = VALUE; }";
    cl_program program =
        CL(clCreateProgramWithSource)(machine.context, 1, &source, nullptr, nullptr);
    REQUIRE_CL(CL(clBuildProgram)(program, 0, nullptr, "-DVALUE=7", nullptr, nullptr));
    const std::string binary = binaries_of(program, 1)[0];
    return json::binary(std::vector<std::uint8_t>(binary.begin(), binary.end()));
  });
  INFO(first.reason());
  REQUIRE(first.ok());
  const auto &given = first.answer.get_binary();
  driver.rewrite(
      computing_device("[platform.device.binary]\nmodel = \"two\"\nother_model = \"recompile\""));
  const auto second = driver.run([&] {
    const std::string binary(given.begin(), given.end());
    std::string after;
    const cl_int code = take_binary(open_machine(), binary, &after);
    return json{{"code", code}, {"changed", after != binary && !after.empty()}};
  });
  INFO(second.reason());
  REQUIRE(second.ok());
  CHECK(second.answer["code"] == CL_SUCCESS);
  CHECK(second.answer["changed"] == true);
}

TEST_CASE("machine code that comes with the kernel is missing from a binary taken before") {
  KILN_NEEDS_POCL();
  const json answer = in_child(computing_device("[platform.device.binary]\nlate = true"), [] {
    const Machine machine = open_machine();
    cl_program program = build(machine);
    const std::string stub = binaries_of(program, 1)[0];
    cl_int code = CL_SUCCESS;
    CL(clCreateKernel)(program, "twice", &code);
    const std::string whole = binaries_of(program, 1)[0];
    std::string after_stub;
    std::string after_whole;
    take_binary(machine, stub, &after_stub);
    take_binary(machine, whole, &after_whole);
    return json{{"smaller", stub.size() < whole.size()},
                {"stub is native", after_stub == stub},
                {"whole is native", after_whole == whole}};
  });
  CHECK(answer["smaller"] == true);
  CHECK(answer["stub is native"] == false);
  CHECK(answer["whole is native"] == true);
}

TEST_CASE("the size of a binary can be deadly before the build and asked after it") {
  KILN_NEEDS_POCL();
  const ScriptedDriver driver(
      computing_device("[[fault]]\nat = \"clGetProgramInfo\"\nquery = \"CL_PROGRAM_BINARY_SIZES\"\n"
                       "unbuilt = true\ndo = \"abort\""));
  const auto after = driver.run([] {
    const Machine machine = open_machine();
    return json(binaries_of(build(machine), 1)[0].size());
  });
  INFO(after.reason());
  REQUIRE(after.ok());
  CHECK(after.answer > 0);
  const auto before = driver.run([] {
    const Machine machine = open_machine();
    const char *source = kSource;
    cl_program program =
        CL(clCreateProgramWithSource)(machine.context, 1, &source, nullptr, nullptr);
    binaries_of(program, 1);
    return json();
  });
  CHECK(before.end == kiln::builder::ProcessEnd::signalled);
  CHECK(before.code == SIGABRT);
}

TEST_CASE("a corrupt binary is refused where the script says, and never seen by the real driver") {
  KILN_NEEDS_POCL();
  for (const char *const at : {"create", "build"}) {
    const json answer =
        in_child(computing_device("[platform.device.binary]\nrefusal = -30\nat = \"" +
                                  std::string(at) + "\""),
                 [] {
                   const Machine machine = open_machine();
                   const std::string good = binaries_of(build(machine), 1)[0];
                   json codes = json::array();
                   for (std::size_t at_byte = 0; at_byte < good.size(); at_byte += 4999) {
                     std::string bad = good;
                     bad[at_byte] = static_cast<char>(~bad[at_byte]);
                     codes.push_back(take_binary(machine, bad, nullptr));
                   }
                   return codes;
                 });
    CHECK(answer.size() > 1);
    for (const json &code : answer) CHECK(code == CL_INVALID_VALUE);
  }
}
