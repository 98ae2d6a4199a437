// SPDX-License-Identifier: Apache-2.0
#include "builder/fleet/json_text.hpp"

#include <map>

#include "tests/support/catch.hpp"

using namespace kiln;
using builder::JsonEnd;

namespace {

std::map<std::string, std::string> items_of(std::string_view text) {
  std::map<std::string, std::string> items;
  for (builder::JsonItems each(text); each.next();) {
    const std::string name = text[0] == '{' ? std::string(each.name) : std::to_string(items.size());
    items[name] = std::string(each.value);
  }
  return items;
}

}  // namespace

TEST_CASE("a JSON value ends where its grammar says", "[fleet]") {
  for (const std::string text : {"{}", "[]", "\"\"", "0", "-0.5e+10", "true", "null", R"("a\"b\\")",
                                 R"({"a": [1, {"b": "}"}], "c": null})", "[ 1 , 2 ]"}) {
    CAPTURE(text);
    const JsonEnd end = builder::end_of_json(text + ", more", 0);
    CHECK(end.state == JsonEnd::complete);
    CHECK(end.at == text.size());
  }
}

TEST_CASE("every beginning of a JSON value is unfinished, and none is complete", "[fleet]") {
  const std::string whole = R"({"a": [1, {"b\n": "}"}], "c": "d"})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const JsonEnd end = builder::end_of_json(whole.substr(0, size), 0);
    CHECK(end.state == JsonEnd::unfinished);
  }
}

TEST_CASE("text that breaks JSON's grammar is broken", "[fleet]") {
  for (const char *text :
       {"{a: 1}", "{\"a\" 1}", "{\"a\": 1,}", "[1,]", "[1 2]", "{\"a\": 01}", "[1.]", "[1e]", "[-]",
        "[truth]", "[\"\x01\"]", "[\"\\x\"]", "[\"\\u00g0\"]", "{\"a\": \"b\nc\"}", "}", "hello"}) {
    CAPTURE(text);
    CHECK(builder::end_of_json(text, 0).state == JsonEnd::broken);
  }
  CHECK(builder::end_of_json(std::string(64, '[') + std::string(64, ']'), 0).state ==
        JsonEnd::complete);
  CHECK(builder::end_of_json(std::string(65, '[') + std::string(65, ']'), 0).state ==
        JsonEnd::broken);
}

TEST_CASE("items are read as they are written", "[fleet]") {
  CHECK(items_of("{}").empty());
  CHECK(items_of("[ ]").empty());
  CHECK(items_of(R"({"a" : 1 , "b":{"c": [2]}, "d": "x, y"})") ==
        std::map<std::string, std::string>{{"a", "1"}, {"b", R"({"c": [2]})"}, {"d", "\"x, y\""}});
  CHECK(items_of(R"([1, "2", [3]])") ==
        std::map<std::string, std::string>{{"0", "1"}, {"1", "\"2\""}, {"2", "[3]"}});
}

TEST_CASE("values are converted, or nothing is returned", "[fleet]") {
  CHECK(builder::json_string("\"plain\"") == "plain");
  CHECK(builder::json_string(R"("a\u00e9\n")") == "a\u00e9\n");
  CHECK(builder::json_string(R"("\ud800")") == std::nullopt);
  CHECK(builder::json_string("7") == std::nullopt);
  CHECK(builder::json_count("9007199254740991") == 9007199254740991);
  for (const char *text : {"9007199254740992", "99999999999999999999", "-1", "1.5", "\"1\"", ""}) {
    CHECK(builder::json_count(text) == std::nullopt);
  }
  CHECK(builder::json_number("1.5e3") == 1500);
  CHECK(builder::json_number("null") == std::nullopt);
}
