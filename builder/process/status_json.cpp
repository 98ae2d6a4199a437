// SPDX-License-Identifier: Apache-2.0
// A failed status is an object with "error" and "code"; any other object is a success.
#include "builder/process/status_json.hpp"

namespace kiln::builder {

using nlohmann::json;

json to_json(const Status &status) {
  if (status.ok()) return json::object();
  json out{{"error", status.message}, {"code", static_cast<int>(status.code)}};
  if (status.cl_error != 0) out["cl_error"] = status.cl_error;
  return out;
}

Status status_from(const json &answer) {
  if (!answer.is_object() || !answer.contains("error")) return {};
  const int code = answer.value("code", static_cast<int>(Code::failed));
  return {static_cast<Code>(code), answer.value("cl_error", 0), answer["error"].get<std::string>()};
}

}  // namespace kiln::builder
