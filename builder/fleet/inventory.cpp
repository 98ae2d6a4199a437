// SPDX-License-Identifier: Apache-2.0
// Cuts files into documents, and adds each to the row of its device.
#include "builder/fleet/inventory.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "builder/device/device_info.hpp"
#include "builder/fleet/json_text.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using runtime::Field;

constexpr std::size_t kMostFaults = 5;
constexpr std::size_t kChunk = 1u << 20u;
constexpr std::size_t kLongestDocument = 64u << 20u;  // bytes
constexpr std::size_t kProcesses = 1u << 19u;         // that are told apart: two times 4 to 8 MiB
constexpr std::size_t kLongestName = 200;             // bytes of a model or a driver
constexpr double kMostMilliseconds = 1e12;            // 32 years; a larger number is no duration

constexpr std::size_t kNone = kLoadWords.size() - 1;

std::optional<std::uint64_t> read_hash(std::string_view value) {
  if (value.size() != 18 || value.front() != '"') return std::nullopt;
  std::uint64_t hash = 0;
  const char *const end = value.data() + 17;
  const auto read = std::from_chars(value.data() + 1, end, hash, 16);
  return read.ec == std::errc() && read.ptr == end ? std::optional(hash) : std::nullopt;
}

std::string name_in(std::string_view value) {
  std::string text = json_string(value).value_or("");
  if (text.size() > kLongestName) text.resize(kLongestName);
  return text;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t both[] = {a, b};
  return packs::xxh3(both, sizeof(both));
}

// Returns how many brackets the line opens, less those it closes; nothing if a string does not end
// in the line.
std::optional<std::ptrdiff_t> depth_change(std::string_view line) {
  std::ptrdiff_t change = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++change;
    } else if (c == '}' || c == ']') {
      --change;
    }
  }
  return in_string ? std::nullopt : std::optional(change);
}

bool is_list_of_objects(std::string_view value) {
  if (value.empty() || value[0] != '[') return false;
  const std::size_t at = skip_blanks(value, 1);
  return value[at] == '{' || value[at] == ']';
}

std::string first_text(std::string_view list) {
  JsonItems items(list);
  return !list.empty() && list[0] == '[' && items.next() ? name_in(items.value) : "";
}

std::size_t word_of_rung(std::string_view value) {
  std::size_t word = 0;
  const std::string_view name = value.size() < 2 ? value : value.substr(1, value.size() - 2);
  while (word < kNone && name != kLoadWords[word]) ++word;
  return word;
}

Status bad(std::string what) { return {Code::bad_input, std::move(what)}; }

Status read_identity(const json &facts, runtime::Identity *out) {
  for (const auto &[name, value] : facts.items()) {
    const auto field = runtime::field_from_name(name);
    if (!field) return bad("this version does not know the fact " + name);
    if (value.is_null()) continue;
    if (!value.is_string()) return bad(name + " is not a text");
    out->set(*field, value.get<std::string>());
  }
  return {};
}

}  // namespace

// The members that are read, as written; empty: absent.
struct FleetReader::Line {
  std::string_view key_hash, count, starts, profile, model, driver, identity, capabilities;
  std::string_view devices, schema, device, outcome, rung, rungs, program, process, milliseconds;

  explicit Line(std::string_view object) {
    static constexpr std::pair<std::string_view, std::string_view Line::*> kMembers[] = {
        {"key_hash", &Line::key_hash},
        {"count", &Line::count},
        {"starts", &Line::starts},
        {"profile", &Line::profile},
        {"model", &Line::model},
        {"driver", &Line::driver},
        {"identity", &Line::identity},
        {"capabilities", &Line::capabilities},
        {"devices", &Line::devices},
        {"schema", &Line::schema},
        {"device", &Line::device},
        {"outcome", &Line::outcome},
        {"rung", &Line::rung},
        {"rungs", &Line::rungs},
        {"program", &Line::program},
        {"process", &Line::process},
        {"milliseconds", &Line::milliseconds}};
    for (JsonItems items(object); items.next();) {
      for (const auto &[name, member] : kMembers) {
        if (items.name != name) continue;
        this->*member = items.value;
        break;
      }
    }
  }
};

std::string FleetDevice::label() const {
  if (!name.empty()) return driver.empty() ? name : runtime::device_label(name, driver);
  return driver.empty() ? packs::hex64(key_hash) : profile + " " + driver;
}

void name_row(FleetDevice *row) {
  if (row->described) {
    const runtime::Device &device = row->described->device;
    row->profile = device.description.profile;
    row->driver = device.identity.text(Field::driver_version);
    if (row->name.empty()) row->name = device.identity.text(Field::device_name);
    if (row->model.empty()) row->model = device.description.model;
  }
  if (row->model.empty()) row->model = row->name;
  if (row->name.empty()) row->name = row->model;
}

void Durations::add(double milliseconds) {
  ++counts_[static_cast<int>(std::lround(16 * std::log2(std::max(milliseconds, 1e-3))))];
  ++count_;
  largest_ = std::max(largest_, milliseconds);
}

void Durations::add(const Durations &others) {
  for (const auto &[size, count] : others.counts_) counts_[size] += count;
  count_ += others.count_;
  largest_ = std::max(largest_, others.largest_);
}

double Durations::median() const {
  std::uint64_t before = 0;
  for (const auto &[size, count] : counts_) {
    if ((before += count) * 2 >= count_) return std::min(largest_, std::exp2(size / 16.0));
  }
  return 0;
}

Status FleetReader::add_file(const std::string &path, Kind kind) {
  if (path == "-") {
    std::ios::sync_with_stdio(false);  // else each byte is read by a call
    return add(std::cin, "standard input", kind);
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return {Code::bad_input, fmt::format("{}: {}", path, std::strerror(EISDIR))};
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) return {Code::bad_input, fmt::format("{}: {}", path, std::strerror(errno))};
  return add(in, path, kind);
}

Status FleetReader::add(std::istream &in, const std::string &name, Kind kind) {
  name_ = name;
  kind_ = kind;
  number_ = 0;
  std::vector<char> buffer(kChunk);
  std::size_t kept = 0;  // bytes of a line that is not complete
  errno = 0;
  while (in.good()) {
    if (buffer.size() - kept < kChunk) buffer.resize(buffer.size() * 2);
    in.read(buffer.data() + kept, static_cast<std::streamsize>(kChunk));
    std::string_view rest(buffer.data(), kept + static_cast<std::size_t>(in.gcount()));
    for (std::size_t end = rest.find('\n', kept); end != rest.npos; end = rest.find('\n')) {
      take_line(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    if (rest.size() > kLongestDocument) {  // no memory for a file without line ends
      take_line("\x01");
      rest = {};
    }
    kept = rest.size();
    std::memmove(buffer.data(), rest.data(), kept);
  }
  if (kept != 0) take_line({buffer.data(), kept});
  if (!pending_.empty()) fault(pending_line_, "the JSON is not complete");
  pending_.clear();
  if (!in.bad()) return {};
  return {Code::bad_input, name + ": " + std::strerror(errno == 0 ? EIO : errno)};
}

void FleetReader::fault(std::size_t number, const std::string &what) {
  if (fleet_.faults++ < kMostFaults) {
    fleet_.first_faults.push_back(fmt::format("{}:{}: {}", name_, number, what));
  }
}

// A document may take several lines. A line that begins with "{" ends an object that is not
// complete: whoever writes one over several lines indents what is in it.
void FleetReader::take_line(std::string_view line) {
  ++number_;
  if (!pending_.empty() && pending_[0] == '{' && !line.empty() && line[0] == '{') {
    fault(pending_line_, "the JSON is not complete");
    pending_.clear();
  }
  if (pending_.empty()) return take_whole(line, number_);
  const auto change = depth_change(line);
  pending_.append(line) += '\n';
  depth_ += change.value_or(0);
  if (!change || pending_.size() > kLongestDocument) {
    fault(pending_line_, change ? "the JSON is too long" : "this is no JSON");
    pending_.clear();
  } else if (depth_ <= 0) {
    const std::string whole = std::exchange(pending_, {});
    take_whole(whole, pending_line_);
  }
}

// Takes the documents of a text, one after another; what is not complete waits for the next line.
void FleetReader::take_whole(std::string_view text, std::size_t number) {
  for (std::size_t at = skip_blanks(text, 0); at < text.size(); at = skip_blanks(text, at)) {
    const bool is_open = text[at] == '{' || text[at] == '[';
    const JsonEnd end = is_open ? end_of_json(text, at) : JsonEnd{JsonEnd::broken, 0};
    if (end.state == JsonEnd::broken) return fault(number, "this is no JSON");
    if (end.state == JsonEnd::unfinished) {
      const auto depth = depth_change(text.substr(at));
      if (!depth) return fault(number, "the JSON is not complete");
      pending_.assign(text.substr(at)) += '\n';
      pending_line_ = number;
      depth_ = *depth;
      return;
    }
    take_document(text.substr(at, end.at - at), number);
    at = end.at;
  }
}

void FleetReader::take_document(std::string_view value, std::size_t number) {
  if (value[0] == '[') {
    for (JsonItems items(value); items.next();) {
      if (items.value[0] == '{' || items.value[0] == '[') {
        take_document(items.value, number);
      } else {
        fault(number, "it is neither a device nor a report");
      }
    }
    return;
  }
  ++fleet_.lines;
  if (Status s = take_object(Line(value)); !s.ok()) fault(number, s.message);
}

Status FleetReader::take_object(const Line &line) {
  if (!line.outcome.empty() || (!line.rung.empty() && !line.program.empty())) {
    return take_load(line);
  }
  if (is_list_of_objects(line.devices)) {
    return line.schema == "1" ? take_list(line.devices) : bad("expected \"schema\": 1");
  }
  if (line.key_hash.empty() && line.identity.empty()) {
    return bad("it is neither a device nor a report");
  }
  return take_device(line);
}

Status FleetReader::take_list(std::string_view list) {
  Status first;
  std::size_t number = 0;
  for (JsonItems items(list); items.next(); ++number) {
    Status status = bad("it is no device");
    if (items.value[0] == '{') {
      const Line device(items.value);
      status = device.identity.empty() ? bad("it has no identity") : take_device(device);
    }
    if (status.ok() || !first.ok()) continue;
    first = bad(fmt::format("device {}: {}", number, status.message));
  }
  return first;
}

Status FleetReader::take_device(const Line &line) {
  std::uint64_t devices = 1, starts = 0;
  for (const auto &[text, number, name] :
       {std::tuple(line.count, &devices, "count"), std::tuple(line.starts, &starts, "starts")}) {
    if (text.empty() || text == "null") continue;
    const auto read = json_count(text);
    if (!read) return bad(fmt::format("{} is no whole number", name));
    *number = *read;
  }
  Shared described;
  if (Status s = describe(line, &described); !s.ok()) return s;
  std::optional<std::uint64_t> key_hash = read_hash(line.key_hash);
  if (!key_hash && !line.key_hash.empty()) return bad("key_hash is not 16 hexadecimal digits");
  if (!key_hash) key_hash = described->device.key().hash();
  if (kind_ == Kind::report) return {};
  FleetDevice &row = row_of(line, *key_hash, described);
  row.devices += devices;
  row.starts += starts;
  return {};
}

// Most lines of an inventory have a text that was read before.
Status FleetReader::describe(const Line &line, Shared *out) {
  if (line.identity.empty() || line.identity == "null") return {};
  const std::uint64_t hash = mix(packs::xxh3(line.identity), packs::xxh3(line.capabilities));
  const auto [at, is_new] = described_.try_emplace(hash);
  if (is_new) {
    auto made = std::make_shared<DescribedDevice>();
    runtime::Device &device = made->device;
    const json facts = json::parse(line.identity, nullptr, false);
    Status status =
        facts.is_object() ? read_identity(facts, &device.identity) : bad("it has no identity");
    device.description = runtime::describe(device.identity);
    const json capabilities =
        line.capabilities.empty() ? json() : json::parse(line.capabilities, nullptr, false);
    if (status.ok() && capabilities.is_object()) {
      try {
        capabilities.get_to(device.capabilities);
        made->has_capabilities = true;
      } catch (const json::exception &) {  // one that this version needs is absent or odd
        status = bad("its capabilities are not those of 'kiln devices --json'");
      }
    }
    device.capabilities.profile = device.description.profile;
    if (!status.ok()) {
      described_.erase(at);
      return status;
    }
    // The same in another layout of the text is the same device.
    const std::uint64_t same =
        packs::xxh3(facts.dump(-1, ' ', true, json::error_handler_t::replace) +
                    capabilities.dump(-1, ' ', true, json::error_handler_t::replace));
    at->second = different_.try_emplace(same, std::move(made)).first->second;
  }
  *out = at->second;
  return {};
}

FleetDevice &FleetReader::row_of(const Line &line, std::uint64_t key_hash,
                                 const Shared &described) {
  std::uint64_t hash = mix(key_hash, reinterpret_cast<std::uintptr_t>(described.get()));
  if (!described) {
    for (const std::string_view word : {line.profile, line.model, line.driver}) {
      hash = mix(hash, packs::xxh3(word));
    }
  }
  const auto [at, is_new] = rows_.try_emplace(hash, fleet_.devices.size());
  if (is_new) {
    FleetDevice &row = fleet_.devices.emplace_back();
    row.key_hash = key_hash;
    row.described = described;
    if (!described) {
      row.profile = name_in(line.profile);
      row.model = name_in(line.model);
      row.driver = name_in(line.driver);
    }
    name_row(&row);
  }
  return fleet_.devices[at->second];
}

ReportedDevice &FleetReader::reported(const Line &line, std::uint64_t key_hash) {
  const std::string_view name = line.device.empty() ? line.devices : line.device;
  const std::uint64_t hash = key_hash != 0 ? key_hash : packs::xxh3(name);
  const auto [at, is_new] = reports_.try_emplace(hash, fleet_.reports.size());
  if (is_new) {
    ReportedDevice &row = fleet_.reports.emplace_back();
    row.key_hash = key_hash;
    row.name = line.device.empty() ? first_text(line.devices) : name_in(line.device);
  }
  return fleet_.reports[at->second];
}

// Notes that a device of the key loaded something; a process counts once as its start.
void FleetReader::count_start(std::uint64_t process, std::uint64_t key_hash) {
  FleetDevice &row = row_of(Line("{}"), key_hash, {});
  row.loads = true;
  if (process == 0) return;
  if (starts_.empty()) starts_.resize(kProcesses);
  const std::uint64_t start = mix(process, key_hash);
  if (std::exchange(starts_[start % kProcesses], start) != start) ++row.starts;
}

void FleetReader::add_first_result(const Line &line, std::uint64_t key_hash,
                                   const Process *process) {
  const auto time = json_number(line.milliseconds);
  if (!time || *time < 0 || *time > kMostMilliseconds) return;
  const bool is_known = key_hash == 0 && process != nullptr && process->row < fleet_.reports.size();
  ReportedDevice &row = is_known ? fleet_.reports[process->row] : reported(line, key_hash);
  row.first_results.add(*time);
}

// Takes a line of the layer or a load report; the words of the outcomes are in docs/use/layer.md.
Status FleetReader::take_load(const Line &line) {
  const auto key = read_hash(line.key_hash);
  if (!key && !line.key_hash.empty() && line.key_hash != "null") {
    return bad("key_hash is not 16 hexadecimal digits");
  }
  const std::uint64_t key_hash = key.value_or(0);
  const std::uint64_t process = line.process.empty() ? 0 : packs::xxh3(line.process);
  if (kind_ == Kind::report) {
    add_report(line, key_hash, process);
  } else if (key_hash != 0 && !line.program.empty()) {
    count_start(process, key_hash);
  }
  return {};
}

void FleetReader::add_report(const Line &line, std::uint64_t key_hash, std::uint64_t id) {
  Process *process = nullptr;
  if (id != 0) {
    if (processes_.empty()) processes_.resize(kProcesses);
    process = &processes_[id % kProcesses];
    if (process->id != id) *process = {id};
  }
  if (line.outcome == "\"first_result\"") return add_first_result(line, key_hash, process);
  if (line.program.empty()) return;  // a start, or a binary of the application's own
  ReportedDevice &row = reported(line, key_hash);
  ++row.loads[word_of_rung(line.rung)];
  if (const auto name = json_string(line.program)) fleet_.programs.insert(packs::xxh3(*name));
  for (JsonItems items(line.rungs.empty() ? "[]" : line.rungs); items.next();) {
    const Line rung(items.value[0] == '{' ? items.value : "{}");
    if (rung.outcome == "\"quarantined\"") ++row.deaths;
    if (rung.outcome == "\"failed\"") ++row.refusals;
  }
  if (process != nullptr) process->row = static_cast<std::size_t>(&row - fleet_.reports.data());
}

namespace {

// Fills in what other rows say of the key, and returns the row's name among rows.
std::string complete_row(
    const std::unordered_map<std::uint64_t, std::shared_ptr<const DescribedDevice>> &by_key,
    FleetDevice *row) {
  const auto found = by_key.find(row->key_hash);
  if (!row->described && found != by_key.end()) row->described = found->second;
  name_row(row);
  return fmt::format("{:x} {} {}\n{}", row->key_hash, fmt::ptr(row->described.get()), row->model,
                     row->driver);
}

}  // namespace

void complete_rows(Fleet *fleet) {
  std::unordered_map<std::uint64_t, std::shared_ptr<const DescribedDevice>> by_key;
  for (const FleetDevice &row : fleet->devices) {
    if (row.described) by_key.try_emplace(row.key_hash, row.described);
  }
  std::vector<FleetDevice> rows;
  std::unordered_map<std::string, std::size_t> places;
  for (FleetDevice row : fleet->devices) {
    const auto [at, is_new] = places.try_emplace(complete_row(by_key, &row), rows.size());
    if (is_new) {
      rows.push_back(std::move(row));
      continue;
    }
    FleetDevice &same = rows[at->second];
    same.devices += row.devices;
    same.starts += row.starts;
    same.loads = same.loads || row.loads;
  }
  for (FleetDevice &row : rows) {
    if (row.loads && row.devices == 0) row.devices = 1;
  }
  std::erase_if(rows, [](const FleetDevice &row) { return row.devices == 0 && row.starts == 0; });
  fleet->devices = std::move(rows);
}

}  // namespace kiln::builder
