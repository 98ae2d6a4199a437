// SPDX-License-Identifier: Apache-2.0
// Programs that are a part of this one.
#include "builder/process/run_tool.hpp"

#include "tests/support/catch.hpp"

using kiln::builder::ProcessEnd;
using kiln::builder::ProcessRequest;
using kiln::builder::run_attached;

TEST_CASE("an attached program gets arguments, environment and folder, and its output is taken") {
  ProcessRequest request;
  request.program = "/bin/sh";
  request.arguments = {"-c", "echo \"$1 $KILN_A ${KILN_B-none}\"; pwd; exit 3", "sh", "one two"};
  request.environment = {{"KILN_A", "a"}, {"KILN_B", std::nullopt}};
  request.working_directory = "/";
  const auto result = run_attached(request);
  CHECK(result.end == ProcessEnd::exited);
  CHECK(result.code == 3);
  CHECK(result.out == "one two a none\n/\n");
  CHECK(result.reason == "exit status 3");
}

TEST_CASE("an attached program that dies or is not there is no success") {
  ProcessRequest request;
  request.program = "/bin/sh";
  request.arguments = {"-c", "kill -9 $$"};
  const auto killed = run_attached(request);
  CHECK(killed.end == ProcessEnd::signalled);
  CHECK(killed.code == 9);
  request.program = "/nowhere/sh";
  CHECK(!run_attached(request).ok());
}
