// SPDX-License-Identifier: Apache-2.0
// A status as JSON and back.
#include "builder/process/child_result.hpp"

namespace kiln::builder {

Status ChildResult::status() const {
  return ok() ? status_from(answer) : Status(Code::process, reason());
}

nlohmann::json to_json(const Status &status) {
  if (status.ok()) return nlohmann::json::object();
  nlohmann::json out{{"error", status.message}, {"code", static_cast<int>(status.code)}};
  if (status.cl_error != 0) out["cl_error"] = status.cl_error;
  return out;
}

Status status_from(const nlohmann::json &answer) {
  if (!answer.is_object() || !answer.contains("error")) return {};
  const int code = answer.value("code", static_cast<int>(Code::failed));
  return {static_cast<Code>(code), answer.value("cl_error", 0), answer["error"].get<std::string>()};
}

}  // namespace kiln::builder
