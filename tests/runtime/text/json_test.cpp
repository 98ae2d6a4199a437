// SPDX-License-Identifier: Apache-2.0
// Text: JSON strings, the messages of errors, build options for IL.
#include "runtime/text/json.hpp"

#include <string>
#include <string_view>

#include "runtime/load/build.hpp"
#include "runtime/opencl/error.hpp"
#include "runtime/text/driver_strings.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::runtime;

namespace {

std::string json(std::string_view text) {
  std::string out = "before ";
  append_json(text, &out);
  return out.substr(7);
}

}  // namespace

TEST_CASE("a JSON string escapes what JSON does not allow as it is", "[json]") {
  CHECK(json("") == "\"\"");
  CHECK(json("plain text") == "\"plain text\"");
  CHECK(json("a \"b\" \\ c") == "\"a \\\"b\\\" \\\\ c\"");
  CHECK(json("one\ntwo\ttab\r") == "\"one\\ntwo\\u0009tab\\u000d\"");
  CHECK(json(std::string_view("nul\0end", 7)) == "\"nul\\u0000end\"");
  CHECK(json("\x1f\x7f") == "\"\\u001f\x7f\"");
}

TEST_CASE("UTF-8 stays as it is", "[json]") {
  for (const char *text :
       {"caf\xc3\xa9", "\xe2\x84\xa2", "\xf0\x9f\x98\x80", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CHECK(json(text) == std::string("\"") + text + "\"");
  }
}

TEST_CASE("bytes that are not UTF-8 become Latin-1 characters", "[json]") {
  CHECK(json("\xff") == "\"\\u00ff\"");
  CHECK(json("a\xe9z") == "\"a\\u00e9z\"");
  CHECK(json("\xc3") == "\"\\u00c3\"");                        // cut off
  CHECK(json("\xe2\x84") == "\"\\u00e2\\u0084\"");             // cut off
  CHECK(json("\xc0\xaf") == "\"\\u00c0\\u00af\"");             // overlong
  CHECK(json("\xe0\x9f\xbf") == "\"\\u00e0\\u009f\\u00bf\"");  // overlong
  CHECK(json("\xed\xa0\x80") == "\"\\u00ed\\u00a0\\u0080\"");  // a surrogate
  CHECK(json("\xf0\x8f\xbf\xbf").find("\\u00f0") == 1);        // overlong
  CHECK(json("\xf4\x90\x80\x80").find("\\u00f4") == 1);        // above U+10FFFF
  CHECK(json("\xc3(") == "\"\\u00c3(\"");
  CHECK(json("\x80\xc3\xa9") == "\"\\u0080\xc3\xa9\"");
}

TEST_CASE("an OpenCL code is named where it has a name", "[error]") {
  CHECK(cl_error_text(CL_INVALID_BINARY) == "CL_INVALID_BINARY (-42)");
  CHECK(cl_error_text(CL_INVALID_VALUE) == "CL_INVALID_VALUE (-30)");
  CHECK(cl_error_text(CL_BUILD_PROGRAM_FAILURE) == "CL_BUILD_PROGRAM_FAILURE (-11)");
  CHECK(cl_error_text(CL_DEVICE_NOT_FOUND) == "CL_DEVICE_NOT_FOUND (-1)");
  CHECK(cl_error_text(CL_IMAGE_FORMAT_NOT_SUPPORTED) == "CL_IMAGE_FORMAT_NOT_SUPPORTED (-10)");
  CHECK(cl_error_text(CL_INVALID_CONTEXT) == "CL_INVALID_CONTEXT (-34)");
  CHECK(cl_error_text(CL_INVALID_KERNEL_ARGS) == "CL_INVALID_KERNEL_ARGS (-52)");
  CHECK(cl_error_text(CL_INVALID_OPERATION) == "CL_INVALID_OPERATION (-59)");
  CHECK(cl_error_text(CL_INVALID_GLOBAL_WORK_SIZE) == "CL_INVALID_GLOBAL_WORK_SIZE (-63)");
  CHECK(cl_error_text(CL_INVALID_QUEUE_PROPERTIES) == "-35");
  CHECK(cl_error_text(-64) == "-64");
  CHECK(cl_error_text(-1001) == "CL_PLATFORM_NOT_FOUND_KHR (-1001)");
  CHECK(cl_error_text(-9999) == "-9999");
  CHECK(cl_error_text(17) == "17");
}

TEST_CASE("a failed call is named with its code", "[error]") {
  const kiln::packs::Status error = cl_failure("clBuildProgram", CL_INVALID_BINARY);
  CHECK(error.code == kiln::packs::Code::opencl);
  CHECK(error.cl_error == -42);
  CHECK(error.message == "clBuildProgram returned CL_INVALID_BINARY (-42)");
  const kiln::packs::Status nothing = cl_failure("clCreateKernel", CL_SUCCESS);
  CHECK(nothing.code == kiln::packs::Code::opencl);
  CHECK(nothing.message == "clCreateKernel reported success without a result");
}

TEST_CASE("every fault of a pack has a status of the C API", "[error]") {
  using kiln::packs::Code;
  CHECK(status_of(Code::ok) == KILN_OK);
  CHECK(status_of(Code::not_found) == KILN_ERROR_PACK_NOT_FOUND);
  CHECK(status_of(Code::io_error) == KILN_ERROR_PACK_IO);
  CHECK(status_of(Code::no_space) == KILN_ERROR_PACK_IO);
  CHECK(status_of(Code::newer_version) == KILN_ERROR_PACK_NEWER);
  CHECK(status_of(Code::unknown_feature) == KILN_ERROR_PACK_NEWER);
  CHECK(status_of(Code::bad_argument) == KILN_ERROR_ARGUMENT);
  for (const Code fault :
       {Code::empty, Code::truncated, Code::bad_magic, Code::bad_superblock,
        Code::reserved_not_zero, Code::out_of_bounds, Code::over_limit, Code::root_corrupt,
        Code::root_malformed, Code::section_corrupt, Code::section_malformed, Code::blob_corrupt}) {
    CHECK(status_of(fault) == KILN_ERROR_PACK_BAD);
  }
}

TEST_CASE("of the build options, IL takes the optimisation flags alone", "[build]") {
  CHECK(il_options("").empty());
  CHECK(il_options("-cl-std=CL1.2").empty());
  CHECK(il_options("-cl-std=CL1.2 -cl-fast-relaxed-math") == "-cl-fast-relaxed-math");
  CHECK(il_options("-DA=1 -cl-mad-enable -I dir -cl-opt-disable") ==
        "-cl-mad-enable -cl-opt-disable");
  CHECK(il_options("-cl-kernel-arg-info -w -Werror").empty());
  CHECK(il_options("  -cl-mad-enable   ") == "-cl-mad-enable");
  CHECK(il_options("-cl").empty());
}

TEST_CASE("a text is cut between characters", "[text]") {
  CHECK(utf8_prefix("abc", 5) == 3);
  CHECK(utf8_prefix("abc", 3) == 3);
  CHECK(utf8_prefix("abc", 2) == 2);
  CHECK(utf8_prefix("abc", 0) == 0);
  CHECK(utf8_prefix("a\xc3\xa9", 2) == 1);
  CHECK(utf8_prefix("a\xc3\xa9x", 3) == 3);
  CHECK(utf8_prefix("\xf0\x9f\x98\x80", 3) == 0);
  CHECK(utf8_prefix("a\xf0\x9f\x98\x80z", 5) == 5);
  CHECK(utf8_prefix("\x80\x80\x80\x80\x80\x80", 5) > 0);  // broken, yet not lost
}

TEST_CASE("a character ends where its text ends", "[json]") {
  CHECK(json(std::string_view("\xc3\xa9", 1)) == "\"\\u00c3\"");
  CHECK(json("\xf5\x80\x80\x80").find("\\u00f5") == 1);
  CHECK(json("\xf4\x8f\xbf\xbf") == "\"\xf4\x8f\xbf\xbf\"");
}
