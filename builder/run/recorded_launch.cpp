// SPDX-License-Identifier: Apache-2.0
// Reads the lines of JSON that the layer wrote.
#include "builder/run/recorded_launch.hpp"

#include <nlohmann/json.hpp>

namespace kiln::builder {
namespace {

using nlohmann::json;
using runtime::NDSize;

RecordedImage read_image(const json &in) {
  return {in.at("type"),   in.at("order"), in.at("data_type"), in.at("width"),
          in.at("height"), in.at("depth"), in.at("layers")};
}

RecordedArgument read_argument(const json &in) {
  using Kind = RecordedArgument::Kind;
  RecordedArgument out;
  if (in.contains("value")) {
    out.kind = Kind::value;
    for (const unsigned byte : in["value"].get<std::vector<unsigned>>()) {
      if (byte > 0xff) throw std::out_of_range("a byte");
      out.value.push_back(static_cast<std::uint8_t>(byte));
    }
  } else if (in.contains("local")) {
    out.kind = Kind::local;
    out.size = in["local"];
  } else if (in.contains("buffer")) {
    out.kind = Kind::buffer;
    out.size = in["buffer"];
  } else if (in.contains("image")) {
    out.kind = Kind::image;
    out.image = read_image(in["image"]);
  } else if (in.contains("sampler")) {  // beside `unknown`
    const json &sampler = in["sampler"];
    out.kind = Kind::sampler;
    out.sampler = {sampler.at("normalized"), sampler.at("addressing"), sampler.at("filter")};
  } else {
    out.what = in.at("unknown");
  }
  return out;
}

RecordedLaunch read_launch(const json &in) {
  RecordedLaunch out;
  out.kernel = in.at("kernel");
  out.dimensions = in.at("dimensions");
  out.global = in.at("global").get<NDSize>();
  out.local = in.at("local").get<NDSize>();
  out.offset = in.at("offset").get<NDSize>();
  for (const json &argument : in.at("arguments")) out.arguments.push_back(read_argument(argument));
  if (out.dimensions < 1 || out.dimensions > 3) throw std::out_of_range("dimensions");
  return out;
}

}  // namespace

Result<std::vector<RecordedLaunch>> parse_launches(std::string_view text) {
  std::vector<RecordedLaunch> launches;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    try {
      launches.push_back(read_launch(json::parse(line)));
    } catch (const std::exception &error) {  // from the JSON library or read_launch()
      return Status(Code::failed,
                    "no recorded launch: " + std::string(line.substr(0, 80)) + ": " + error.what());
    }
    start = end + 1;
  }
  return launches;
}

Result<std::vector<RecordedLaunch>> recorded_launches(const packs::Variant &variant) {
  packs::Bytes bytes;
  if (!variant.launches) return std::vector<RecordedLaunch>();
  if (Status s = variant.launches->read(&bytes); !s.ok()) return s;
  return parse_launches({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

}  // namespace kiln::builder
