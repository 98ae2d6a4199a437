// One job of a build: a child process that compiles, then another that proves the binary.
#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

#include "devices.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A build log as packs keep it: each absolute path in it is replaced by "<path>", since a
// driver may name its temporary files.
std::string without_paths(const std::string &log);

// What the device compiles of a variant: its source, or its IL where the device takes no source;
// null where it takes neither.
const packs::BlobSource *job_input(const packs::Variant &variant, const DeviceInfo &device);

// The job's answer: {"error"}, or what job_binary() takes. `timeout` is for each child, from its
// start. As run_isolated asks, the caller is single-threaded and has loaded no driver.
nlohmann::json run_job(const DeviceInfo &device, const packs::Variant &variant,
                       std::chrono::milliseconds timeout);

packs::Binary job_binary(const packs::Variant &variant, const nlohmann::json &answer);

}  // namespace kiln::builder
