// The devices of this machine, as values.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "identity.hpp"
#include "requirements.hpp"

namespace kiln::builder {

struct DeviceInfo {
  std::size_t index = 0;  // as kiln_device_open takes it
  runtime::Identity identity;
  runtime::Description description;
  runtime::Capabilities capabilities;

  // "Portable Computing Language: pthread-... (driver 3.1)".
  std::string label() const;
};

// Why there is no list: no OpenCL library, platform or device, or a driver died.
struct DeviceError {
  std::string text;
};

// Asks in a process of its own.
std::variant<std::vector<DeviceInfo>, DeviceError> list_devices();

// The devices that a selector names: an index of the list, or a glob (* and ?), without
// regard to case, over the platform's name and the device's name; it may match a part of
// neither, but the whole of either. An empty selector names all.
std::vector<DeviceInfo> select_devices(const std::vector<DeviceInfo> &devices,
                                       const std::string &selector);

// Whole-text match with * and ?, without regard to ASCII case.
bool glob_match(const std::string &pattern, const std::string &text);

nlohmann::json to_json(const runtime::Identity &identity);
nlohmann::json to_json(const runtime::Capabilities &capabilities);

}  // namespace kiln::builder
