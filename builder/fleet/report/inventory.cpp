// SPDX-License-Identifier: Apache-2.0
// Cuts files into documents, and adds each to the row of its device. nlohmann parses a document.
#include "builder/fleet/report/inventory.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/machine/device_info.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/path.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using runtime::Field;

constexpr std::size_t kMaxFaults = 5;
constexpr std::size_t kChunk = 1u << 20u;
constexpr std::size_t kLongestDocument = 64u << 20u;  // bytes
constexpr std::size_t kProcesses = 1u << 19u;         // that are told apart: two times 4 to 8 MiB
constexpr std::size_t kLongestName = 200;             // bytes of a model or a driver
constexpr double kMaxMilliseconds = 1e12;             // 32 years; a larger number is no duration

constexpr int kDeepest = 8;  // limited because hashing JSON recurses
constexpr std::uint64_t kMaxDevices = std::uint64_t{1} << 53;  // of a line
constexpr const char *kNames[] = {"profile", "model", "driver"};

// Returns the member of an object; null if the object has none, or `object` is not one.
const json &member(const json &object, std::string_view name) {
  static const json kNull;
  const auto at = object.find(name);
  return at != object.end() ? *at : kNull;
}

std::string_view text_in(const json &value) {
  const auto *text = value.get_ptr<const std::string *>();
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

std::string name_in(const json &value) {
  return std::string(text_in(value).substr(0, kLongestName));
}

std::optional<std::uint64_t> read_hash(const json &value) {
  const std::string_view text = text_in(value);
  std::uint64_t hash = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  const bool is_hash = text.size() == 16 && read.ec == std::errc() && read.ptr == text.end();
  return is_hash ? std::optional(hash) : std::nullopt;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t both[] = {a, b};
  return packs::xxh3(both, sizeof(both));
}

bool is_list_of_objects(const json &value) {
  return value.is_array() && (value.empty() || value[0].is_object());
}

// Returns the device that a report names; of several the first.
std::string reported_name(const json &line) {
  const json &devices = member(line, "devices");
  const bool has_list = devices.is_array() && !devices.empty();
  return name_in(has_list ? devices[0] : member(line, "device"));
}

// Whether the value has at most so many levels.
bool is_shallow(const json &value, int levels) {
  return !value.is_structured() ||
         (levels > 0 && std::all_of(value.begin(), value.end(), [levels](const json &each) {
            return is_shallow(each, levels - 1);
          }));
}

// Makes a document in the memory of the one before: members that both have, strings and arrays.
// json::parse() frees and allocates all of it, which takes as long as reading the text.
class DocumentMaker final : public json::json_sax_t {
 public:
  explicit DocumentMaker(json *out) : place_(out) {}

  bool null() override { return set(nullptr); }
  bool boolean(bool value) override { return set(value); }
  bool number_integer(json::number_integer_t value) override { return set(value); }
  bool number_unsigned(json::number_unsigned_t value) override { return set(value); }
  bool number_float(json::number_float_t value, const std::string & /*text*/) override {
    return set(value);
  }
  bool binary(json::binary_t & /*value*/) override { return false; }  // never in text
  bool string(std::string &value) override {
    json &place = next();
    if (auto *text = place.get_ptr<std::string *>()) {
      *text = value;
    } else {
      place = value;
    }
    return true;
  }

  bool start_object(std::size_t /*size*/) override {
    json &object = open(json::value_t::object);
    levels_.back().before.swap(object.get_ref<json::object_t &>());
    return true;
  }
  bool key(std::string &name) override {
    Level &level = levels_.back();
    auto &members = level.value->get_ref<json::object_t &>();
    auto node = level.before.extract(name);
    place_ = node.empty() ? &members[name] : &members.insert(std::move(node)).position->second;
    return true;
  }
  bool end_object() override {
    levels_.pop_back();
    return true;
  }

  bool start_array(std::size_t /*size*/) override {
    open(json::value_t::array);
    return true;
  }
  bool end_array() override {
    auto &values = levels_.back().value->get_ref<json::array_t &>();
    values.resize(levels_.back().values);
    levels_.pop_back();
    return true;
  }

  bool parse_error(std::size_t place, const std::string & /*word*/,
                   const json::exception &error) override {
    constexpr int kNumberTooLarge = 406;  // that no double holds
    fault_ = error.id == kNumberTooLarge ? 0 : place;
    return false;
  }
  std::size_t fault() const { return fault_; }  // how many bytes were read until a fault

 private:
  struct Level {
    json *value;
    json::object_t before;   // members of the document before that are not taken yet
    std::size_t values = 0;  // of an array
  };

  // Returns the place of the value that comes.
  json &next() {
    if (levels_.empty() || levels_.back().value->is_object()) return *place_;
    auto &values = levels_.back().value->get_ref<json::array_t &>();
    const std::size_t index = levels_.back().values++;
    return index < values.size() ? values[index] : values.emplace_back();
  }
  template <typename Value>
  bool set(Value value) {
    next() = value;
    return true;
  }
  json &open(json::value_t type) {
    json &value = next();
    if (value.type() != type) value = type;
    levels_.push_back({&value, {}});
    return value;
  }

  std::vector<Level> levels_;
  json *place_;
  std::size_t fault_ = 0;
};

// Parses a document, and returns whether it is JSON. If it is not complete, more text may complete
// it.
bool read_document(std::string_view text, json *out, bool *is_complete) {
  DocumentMaker maker(out);
  const bool is_json = json::sax_parse(text, &maker);
  *is_complete = maker.fault() <= text.size();
  return is_json;
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
  std::ifstream in = open_file(packs::to_path(path));
  if (!in.is_open())
    return {Code::bad_input, fmt::format("{}: {}", path, packs::open_fault(errno))};
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
  if (fleet_.faults++ < kMaxFaults) {
    fleet_.first_faults.push_back(fmt::format("{}:{}: {}", name_, number, what));
  }
}

// A document may take several lines, which are indented but for its first and its last.
void FleetReader::take_line(std::string_view line) {
  ++number_;
  if (!pending_.empty() && pending_[0] == '{' && line.starts_with('{')) {
    fault(pending_line_, "the JSON is not complete");
    pending_.clear();
  }
  if (!pending_.empty()) {
    pending_.append(line) += '\n';
    const bool is_last = line.starts_with('}') || line.starts_with(']');
    if (!is_last && pending_.size() <= kLongestDocument) return;
    line = pending_;
  } else if (line.find_first_not_of(" \t\r") == line.npos) {
    return;
  } else {
    pending_line_ = number_;
  }
  bool is_complete = true;
  if (line.size() > kChunk) document_ = {};
  const bool is_json = read_document(line, &document_, &is_complete);
  const bool may_go_on = pending_.empty() && !is_complete;
  pending_ = may_go_on ? std::string(line) + '\n' : "";
  if (is_json && document_.is_array()) {
    for (const json &each : document_) take_object(each);
  } else if (is_json && document_.is_object()) {
    take_object(document_);
  } else if (!may_go_on) {
    fault(pending_line_, is_complete ? "this is no JSON" : "the JSON is not complete");
  }
}

void FleetReader::take_object(const json &line) {
  ++fleet_.lines;
  const auto has = [&line](const char *name) { return !member(line, name).is_null(); };
  const json &devices = member(line, "devices");
  Status status;
  if (has("outcome") || (has("rung") && has("program"))) {
    status = take_load(line);
  } else if (is_list_of_objects(devices)) {
    status = member(line, "schema") == 1 ? take_list(devices) : bad("expected \"schema\": 1");
  } else if (has("key_hash") || has("identity")) {
    status = take_device(line);
  } else {
    status = bad("it is neither a device nor a report");
  }
  if (!status.ok()) fault(pending_line_, status.message);
}

Status FleetReader::take_list(const json &list) {
  Status first;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool has_identity = !member(list[i], "identity").is_null();
    const Status status = has_identity ? take_device(list[i]) : bad("it has no identity");
    if (!status.ok() && first.ok()) first = bad(fmt::format("device {}: {}", i, status.message));
  }
  return first;
}

Status FleetReader::take_device(const json &line) {
  std::uint64_t devices = 1, starts = 0;
  for (const auto &[name, number] : {std::pair("count", &devices), std::pair("starts", &starts)}) {
    const json &value = member(line, name);
    if (value.is_null()) continue;
    if (!value.is_number_unsigned() || value >= kMaxDevices) {
      return bad(fmt::format("{} is no whole number", name));
    }
    *number = value;
  }
  Shared described;
  if (Status s = describe(line, &described); !s.ok()) return s;
  const json &key = member(line, "key_hash");
  std::optional<std::uint64_t> key_hash = read_hash(key);
  if (!key_hash && !key.is_null()) return bad("key_hash is not 16 hexadecimal digits");
  if (!key_hash) key_hash = described->device.key().hash();
  if (kind_ == Kind::report) return {};
  FleetDevice &row = row_of(line, *key_hash, described);
  row.devices += devices;
  row.starts += starts;
  return {};
}

// Most lines of an inventory say what was read before.
Status FleetReader::describe(const json &line, Shared *out) {
  const json &facts = member(line, "identity"), &capabilities = member(line, "capabilities");
  if (facts.is_null()) return {};
  if (!is_shallow(facts, kDeepest) || !is_shallow(capabilities, kDeepest)) {
    return bad("its identity or its capabilities are nested too deep");
  }
  const std::hash<json> hash_of;
  const std::uint64_t hash = mix(hash_of(facts), hash_of(capabilities));
  const auto known = described_.find(hash);
  if (known != described_.end()) {
    *out = known->second;
    return {};
  }
  auto made = std::make_shared<DescribedDevice>();
  runtime::Device &device = made->device;
  if (!facts.is_object()) return bad("it has no identity");
  if (Status s = read_identity(facts, &device.identity); !s.ok()) return s;
  device.description = runtime::describe(device.identity);
  if (capabilities.is_object()) {
    try {
      capabilities.get_to(device.capabilities);
      made->has_capabilities = true;
    } catch (const json::exception &) {  // one that this version needs is absent or odd
      return bad("its capabilities are not those of 'kiln devices --json'");
    }
  }
  device.capabilities.profile = device.description.profile;
  *out = described_[hash] = std::move(made);
  return {};
}

FleetDevice &FleetReader::row_of(const json &line, std::uint64_t key_hash,
                                 const Shared &described) {
  std::uint64_t hash = mix(key_hash, reinterpret_cast<std::uintptr_t>(described.get()));
  if (!described) {
    for (const char *name : kNames) hash = mix(hash, packs::xxh3(text_in(member(line, name))));
  }
  const auto [at, is_new] = rows_.try_emplace(hash, fleet_.devices.size());
  if (is_new) {
    FleetDevice &row = fleet_.devices.emplace_back();
    row.key_hash = key_hash;
    row.described = described;
    if (!described) {
      row.profile = name_in(member(line, "profile"));
      row.model = name_in(member(line, "model"));
      row.driver = name_in(member(line, "driver"));
    }
    name_row(&row);
  }
  return fleet_.devices[at->second];
}

ReportedDevice &FleetReader::reported(const json &line, std::uint64_t key_hash) {
  const std::uint64_t hash = key_hash != 0 ? key_hash : packs::xxh3(reported_name(line));
  const auto [at, is_new] = reports_.try_emplace(hash, fleet_.reports.size());
  if (is_new) {
    ReportedDevice &row = fleet_.reports.emplace_back();
    row.key_hash = key_hash;
    row.name = reported_name(line);
  }
  return fleet_.reports[at->second];
}

// Notes that a device of the key loaded something; a process counts once as its start.
void FleetReader::count_start(std::uint64_t process, std::uint64_t key_hash) {
  FleetDevice &row = row_of({}, key_hash, {});
  row.loads = true;
  if (process == 0) return;
  if (starts_.empty()) starts_.resize(kProcesses);
  const std::uint64_t start = mix(process, key_hash);
  if (std::exchange(starts_[start % kProcesses], start) != start) ++row.starts;
}

void FleetReader::add_first_result(const json &line, std::uint64_t key_hash,
                                   const Process *process) {
  const json &time = member(line, "milliseconds");
  if (!time.is_number() || time < 0 || time > kMaxMilliseconds) return;
  const bool is_known = key_hash == 0 && process != nullptr && process->row < fleet_.reports.size();
  ReportedDevice &row = is_known ? fleet_.reports[process->row] : reported(line, key_hash);
  row.first_results.add(time);
}

// Takes a line of the layer or a load report; the words of the outcomes are in docs/use/layer.md.
Status FleetReader::take_load(const json &line) {
  const json &key = member(line, "key_hash");
  const std::uint64_t key_hash = read_hash(key).value_or(0);
  if (key_hash == 0 && !key.is_null()) return bad("key_hash is not 16 hexadecimal digits");
  const std::string_view name = text_in(member(line, "process"));
  const std::uint64_t process = name.empty() ? 0 : packs::xxh3(name);
  if (kind_ == Kind::report) {
    add_report(line, key_hash, process);
  } else if (key_hash != 0 && !member(line, "program").is_null()) {
    count_start(process, key_hash);
  }
  return {};
}

void FleetReader::add_report(const json &line, std::uint64_t key_hash, std::uint64_t id) {
  Process *process = nullptr;
  if (id != 0) {
    if (processes_.empty()) processes_.resize(kProcesses);
    process = &processes_[id % kProcesses];
    if (process->id != id) *process = {id};
  }
  if (text_in(member(line, "outcome")) == "first_result")
    return add_first_result(line, key_hash, process);
  const json &program = member(line, "program");
  if (program.is_null()) return;  // a start, or a binary of the application's own
  ReportedDevice &row = reported(line, key_hash);
  const runtime::Rung *used = runtime::find_rung(text_in(member(line, "rung")));
  ++row.loads;
  if (used == nullptr || used->compiles) ++row.compiled;
  if (program.is_string()) fleet_.programs.insert(packs::xxh3(text_in(program)));
  for (const json &rung : member(line, "rungs")) {
    const std::string_view outcome = text_in(member(rung, "outcome"));
    if (outcome == "quarantined") ++row.deaths;
    if (outcome == "failed") ++row.refusals;
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
