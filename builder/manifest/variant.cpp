// SPDX-License-Identifier: Apache-2.0
// Reads the keys of the tables of variants and arguments, and the combinations of build options,
// each with a name.
#include "builder/manifest/variant.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/problem/parameter_value.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::builder {

namespace {

constexpr std::size_t kMaxChoices = 4096;
constexpr char kValueRule[] = "expected a string without spaces, an integer, true or false";

bool is_space_or_quote(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '"'; }

// Replaces each character that a name cannot have by '_'.
std::string name_part(std::string_view text) {
  std::string part;
  for (const char c : text) part += is_name(std::string(1, c)) || c == '.' ? c : '_';
  return part;
}

OptionChoice choice_of(const TableReader &table, const std::string &key, const toml::node &node) {
  const std::string option = key.starts_with('-') ? key : "-D" + key;
  const std::string word = name_part(key.substr(std::min(key.find_first_not_of('-'), key.size())));
  if (const auto *flag = node.as_boolean()) {
    return flag->get() ? OptionChoice{word, option} : OptionChoice{"no-" + word, ""};
  }
  std::string value;
  if (const auto *integer = node.as_integer()) value = std::to_string(integer->get());
  if (const auto *text = node.as_string()) value = text->get();
  const bool is_text = node.is_integer() || node.is_string();
  const std::string whole = key + value;
  if (!is_text || std::any_of(whole.begin(), whole.end(), is_space_or_quote)) {
    table.fail(position_of(node),
               fmt::format("bad value of {} in {}", in_quotes(key), table.label()), kValueRule);
  }
  return {name_part(value), option + "=" + value};
}

std::vector<OptionChoice> choices_of(const TableReader &table, const std::string &key,
                                     const toml::node &node) {
  const toml::array *array = node.as_array();
  if (array == nullptr) return {{"", choice_of(table, key, node).options}};
  if (array->empty()) {
    table.fail(position_of(node), fmt::format("{} in {} is empty", in_quotes(key), table.label()),
               kValueRule);
  }
  std::vector<OptionChoice> found;
  for (const toml::node &item : *array) found.push_back(choice_of(table, key, item));
  return found;
}

std::string joined(const std::string &first, const char *between, const std::string &second) {
  return first + (first.empty() || second.empty() ? "" : between) + second;
}

OptionSet read_set(const ManifestText &document, const TableReader &table) {
  table.allow_only({"name", "options", "requires"});
  const auto name = table.name("name");
  if (!name) table.missing("name", "expected name = \"the set's name\"");
  OptionSet set{name->value, read_option_matrix(document, table)};
  for (OptionChoice &choice : set.choices) {
    choice.name = joined(set.name, "-", choice.name);
    choice.requirements = read_requirements(table);
  }
  return set;
}

constexpr std::string_view kMerging[] = {"-fkernel-vectorizer", "-fkernel-unroller"};

// Returns the factor; 0 if the compiler does not accept it.
std::uint32_t factor_of(std::string_view text) {
  for (const std::uint32_t factor : {2U, 4U, 8U, 16U}) {
    if (text == std::to_string(factor)) return factor;
  }
  return 0;
}

constexpr std::int64_t kMaxLimit = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxArguments = 64;
constexpr std::int64_t kMaxChannels = 4;
constexpr std::int64_t kMaxComponents = 16;

std::vector<std::string> sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  return words;
}

// Reads one of the names of an enum, given in the enum's order; errors list them sorted.
template <typename Enum, std::size_t kCount>
std::optional<Enum> read_enum(const TableReader &table, const std::string &key,
                              const char *const (&names)[kCount]) {
  const auto word = table.word(key, key, sorted({names, names + kCount}));
  if (!word) return std::nullopt;
  return static_cast<Enum>(std::find(names, names + kCount, *word) - names);
}

Role role_of(const TableReader &table) {
  const auto role = read_enum<Role>(table, "role", packs::kRoleNames);
  if (role) return *role;
  table.missing(
      "role",
      expected_one_of("", sorted({std::begin(packs::kRoleNames), std::end(packs::kRoleNames)})));
}

std::vector<std::string> keys_of(Role role) {
  switch (role) {
    case Role::input:
    case Role::scratch:
      return {"channels", "extent", "name", "normalized", "role", "storage", "type"};
    case Role::output:
      return {"accumulates", "channels", "extent", "name", "normalized", "role", "storage", "type"};
    case Role::parameter: return {"channels", "fields", "name", "role", "type", "value"};
    case Role::sampler: return {"addressing", "filter", "normalized", "role"};
    case Role::width:
    case Role::height:
    case Role::depth: break;
  }
  return {"role"};
}

// The shape of an image in words, and of how many terms it is; of none if of any number.
struct ImageExtent {
  const char *usual;
  std::size_t terms;
};

ImageExtent extent_of(Storage storage) {
  switch (storage) {
    case Storage::buffer:
    case Storage::image:
    case Storage::local: break;
    case Storage::image1d:
    case Storage::image1d_buffer: return {"width", 1};
    case Storage::image1d_array: return {"width height", 2};
    case Storage::image2d_array:
    case Storage::image3d: return {"width height depth", 3};
  }
  return {"", 0};
}

// Gives an image that is not 2D its usual extent, or checks the one that it has.
void read_image_extent(const TableReader &table, const toml::table &node, Argument &argument) {
  const ImageExtent extent = extent_of(argument.storage);
  if (extent.terms == 0) return;
  if (argument.extent.empty()) argument.extent = extent.usual;
  const auto &text = argument.extent;
  const auto terms = static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) + 1;
  if (terms == extent.terms) return;
  table.fail(position_of(*node.get("extent")),
             fmt::format("\"extent\" in {} has {} items", table.label(), terms),
             fmt::format("expected {} for storage = \"{}\"", extent.terms,
                         packs::kStorageNames[static_cast<std::size_t>(argument.storage)]));
}

void read_sampler(const TableReader &table, const toml::table &node, Argument &argument) {
  packs::ArgumentSampler sampler;
  sampler.addressing = read_enum<std::uint8_t>(table, "addressing", packs::kAddressingNames)
                           .value_or(sampler.addressing);
  sampler.filter =
      read_enum<std::uint8_t>(table, "filter", packs::kFilterNames).value_or(sampler.filter);
  sampler.normalized = table.boolean("normalized").value_or(false);
  argument.value = sampler.value();
  const std::string_view addressing = packs::kAddressingNames[sampler.addressing];
  if (sampler.normalized || !addressing.ends_with("repeat")) return;
  table.fail(position_of(*node.get("addressing")),
             fmt::format("\"addressing\" in {} is {}, which needs normalized coordinates",
                         table.label(), in_quotes(addressing)),
             "expected normalized = true, or one of: clamp, clamp_to_edge, none");
}

// Reads whether a kernel reads an image's integers as numbers from 0 to 1 or -1 to 1.
void read_normalized(const TableReader &table, const toml::table &node, Argument &argument) {
  const auto normalized = table.boolean("normalized");
  if (!normalized) return;
  const bool is_small = argument.type != Type::half_ && builder::size_of(argument.type) < 4;
  if (!packs::is_image(argument.storage) || !is_small) {
    table.fail(position_of(*node.get("normalized")),
               fmt::format("\"normalized\" in {} has no meaning", table.label()),
               "expected only for an image of char, short, uchar or ushort");
  }
  if (!*normalized) argument.value = packs::kNotNormalized;
}

void read_memory(const TableReader &table, const toml::table &node, Argument &argument) {
  argument.storage =
      read_enum<Storage>(table, "storage", packs::kStorageNames).value_or(Storage::buffer);
  argument.type = read_enum<Type>(table, "type", packs::kTypeNames).value_or(Type::uchar_);
  argument.channels =
      static_cast<std::uint8_t>(table.integer("channels", 1, kMaxChannels).value_or(1));
  argument.extent = table.terms("extent", 3);
  argument.accumulates = table.boolean("accumulates").value_or(false);
  read_normalized(table, node, argument);
  if (argument.storage == Storage::buffer) return;
  if (argument.storage == Storage::local) {
    if (argument.role != Role::scratch) {
      table.fail(position_of(*node.get("storage")),
                 fmt::format("\"storage\" in {} is \"local\", which only scratch memory can be",
                             table.label()),
                 "expected role = \"scratch\"");
    }
    if (argument.extent.empty()) {
      table.missing("extent", "expected the number of elements, such as extent = [\"256\"]");
    }
    return;
  }
  if (argument.channels == 3) {
    table.fail(position_of(*node.get("channels")),
               fmt::format("\"channels\" in {} is 3, which no image has", table.label()),
               "expected 1, 2 or 4");
  }
  if (argument.type == Type::long_ || argument.type == Type::ulong_ ||
      argument.type == Type::double_) {
    table.fail(position_of(*node.get("type")),
               fmt::format("\"type\" in {} has 64 bits, which no image has", table.label()),
               "expected a type of 8, 16 or 32 bits");
  }
  read_image_extent(table, node, argument);
}

// Reads the types of a struct's fields.
std::string read_fields(const TableReader &table, const toml::table &node) {
  std::string fields;
  for (const auto &item : table.strings("fields")) {
    if (!parse_field(item.value)) {
      table.fail(item.at,
                 fmt::format("unknown type {} in {}", in_quotes(item.value), table.label()),
                 "expected OpenCL C's name of a scalar or vector, such as int or float4");
    }
    fields += (fields.empty() ? "" : " ") + item.value;
  }
  for (const char *other : {"channels", "type"}) {
    if (fields.empty() || node.get(other) == nullptr) continue;
    table.fail(position_of(*node.get(other)),
               fmt::format("{} in {} is beside \"fields\"", in_quotes(other), table.label()),
               "expected the types in \"fields\" alone");
  }
  return fields;
}

void read_parameter(const TableReader &table, const toml::table &node, Argument &argument) {
  argument.fields = read_fields(table, node);
  argument.type = read_enum<Type>(table, "type", packs::kTypeNames).value_or(Type::uint_);
  argument.channels =
      static_cast<std::uint8_t>(table.integer("channels", 1, kMaxComponents).value_or(1));
  if (argument.fields.empty() && argument.type == Type::uchar_) {
    argument.fields = fmt::format("uchar{}", argument.channels);  // type 0 of a parameter is uint
    if (!parse_field(argument.fields)) {
      table.fail(position_of(*node.get("channels")),
                 fmt::format("\"channels\" in {} is {}, which no vector of uchar has",
                             table.label(), argument.channels),
                 "expected 1, 2, 3, 4, 8 or 16");
    }
  }
  const std::vector<ParameterField> fields =
      argument.fields.empty() ? std::vector<ParameterField>{{argument.type, argument.channels}}
                              : fields_of(argument);
  const std::size_t count = component_count(fields);
  const ValueRange range = range_of(fields.size() == 1 ? fields.front().type : Type::double_);
  argument.values = table.numbers("value", count, {range.low, range.high, range.is_whole});
  if (argument.values.empty()) argument.values.assign(count, 0.0);
  if (const Status fault = check_values(fields, argument.values); !fault.ok()) {
    table.fail(position_of(*node.get("value")),
               fmt::format("a component of \"value\" in {} {}", table.label(), fault.message),
               "expected a value of each field's type");
  }
  if (count != 1 || argument.type != Type::uint_) return;
  argument.value = static_cast<std::int64_t>(argument.values.front());
  argument.values.clear();  // one integer needs no list
}

Argument read_argument(const TableReader &table, const toml::table &node) {
  Argument argument;
  argument.role = role_of(table);
  table.allow_only(keys_of(argument.role));
  const bool sized =
      argument.role == Role::width || argument.role == Role::height || argument.role == Role::depth;
  if (argument.role == Role::parameter) {
    read_parameter(table, node, argument);
  } else if (argument.role == Role::sampler) {
    read_sampler(table, node, argument);
  } else if (!sized) {
    read_memory(table, node, argument);
  }
  if (const auto name = table.name("name")) {
    argument.name = name->value;
  } else if (argument.role == Role::parameter) {
    table.missing("name", "expected name = \"the parameter's name\"");
  }
  return argument;
}

constexpr std::int64_t kMaxPixels = 4096;     // pixels that a work-item computes, in each direction
constexpr std::int64_t kMaxLocalSize = 4096;  // work-items, in each direction
constexpr std::size_t kMaxStages = 16;

// Reads the kernel that a variant or a stage names, and its NDRange.
packs::Kernel read_kernel(const TableReader &table) {
  const auto kernel = table.string("kernel");
  if (!kernel) table.missing("kernel", "expected kernel = \"the entry point's name\"");
  if (!is_kernel_name(kernel->value)) {
    table.fail(kernel->at,
               fmt::format("bad kernel {} in {}", in_quotes(kernel->value), table.label()),
               "expected an OpenCL C identifier");
  }
  return {kernel->value, 0, table.terms("range", 3)};
}

// Reads the kernels after the first, each with its own arguments.
void read_stages(const ManifestText &document, const TableReader &table, packs::Variant *variant) {
  const toml::array *stages = table.array("stages", "an array of tables");
  if (stages == nullptr) return;
  for (const toml::node &node : *stages) {
    const std::string place =
        fmt::format("stage {} of {}", variant->kernels.size() + 1, table.label());
    const toml::table *entries = node.as_table();
    if (entries == nullptr || variant->kernels.size() == kMaxStages) {
      table.fail(position_of(node),
                 entries == nullptr ? place + " is not a table" : "too many stages",
                 fmt::format("expected at most {} tables such as {{ kernel = \"second\" }}",
                             kMaxStages - 1));
    }
    const TableReader stage(document, *entries, place);
    stage.allow_only({"arguments", "kernel", "pixels", "range"});
    packs::Kernel kernel = read_kernel(stage);
    if (const auto pixels = stage.pair("pixels", kMaxPixels); pixels && kernel.range.empty()) {
      kernel.range = fmt::format("width/{} height/{}", (*pixels)[0], (*pixels)[1]);
    }
    const auto same = [&](const packs::Kernel &k) { return k.name == kernel.name; };
    if (std::any_of(variant->kernels.begin(), variant->kernels.end(), same)) {
      table.fail(position_of(node),
                 fmt::format("kernel {} is in {} twice", kernel.name, table.label()),
                 "expected each kernel once");
    }
    for (Argument argument :
         read_own_arguments(document, stage).value_or(std::vector<Argument>{})) {
      argument.stage = static_cast<std::uint8_t>(variant->kernels.size());
      variant->arguments.push_back(std::move(argument));
    }
    variant->kernels.push_back(std::move(kernel));
  }
}

// Reads the properties that all combinations of options share; of the options, only the program's.
ManifestVariant read_common(const ManifestText &document, const TableReader &table,
                            const Defaults &defaults, const std::string &program_label) {
  ManifestVariant variant;
  packs::Variant &record = variant.record;
  record.kernels.push_back(read_kernel(table));
  const auto source = table.file("source");
  if (!source && !defaults.source) {
    table.missing("source",
                  fmt::format("expected source = \"a file\" here or in {}", program_label));
  }
  variant.source = source ? *source : *defaults.source;
  record.options = defaults.options;
  record.requirements = read_requirements(table);
  if (const auto pixels = table.pair("pixels", kMaxPixels)) {
    record.pixels = {(*pixels)[0], (*pixels)[1], 1};
  }
  if (const auto local = table.pair("local_size", kMaxLocalSize)) {
    record.local_size = {(*local)[0], (*local)[1], 1};
  }
  record.local_sizes = read_local_sizes(table);
  record.arguments = read_own_arguments(document, table).value_or(defaults.arguments);
  record.limits = read_limits(document, table, defaults.limits);
  record.workarounds = read_workarounds(table, defaults.workarounds);
  read_host_check(table, &variant);
  const auto tolerance =
      table.numbers("tolerance", 1, {0, std::numeric_limits<float>::max(), false});
  if (!tolerance.empty()) record.tolerance = tolerance.front();
  read_stages(document, table, &record);
  return variant;
}

// Reads the arguments of one program, variant or stage; `label` names it in errors.
std::vector<Argument> read_arguments(const ManifestText &document, const toml::array &array,
                                     const std::string &label) {
  std::vector<Argument> arguments;
  std::set<std::string> names;
  for (const toml::node &node : array) {
    const std::string place = fmt::format("argument {} of {}", arguments.size() + 1, label);
    if (arguments.size() == kMaxArguments) {
      document.fail(position_of(node), fmt::format("too many arguments in {}", label),
                    fmt::format("expected at most {}", kMaxArguments));
    }
    const toml::table *table = node.as_table();
    if (table == nullptr) {
      document.fail(position_of(node), fmt::format("{} is not a table", place),
                    "expected a table such as { role = \"input\" }");
    }
    Argument argument = read_argument(TableReader(document, *table, place), *table);
    if (!argument.name.empty() && !names.insert(argument.name).second) {
      document.fail(position_of(*table->get("name")),
                    fmt::format("name {} of {} is taken", in_quotes(argument.name), place),
                    "expected a name that no argument before it has");
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace

std::string read_options(const TableReader &table) {
  std::string joined;
  for (const auto &option : table.strings("options")) {
    if (option.value.empty()) {
      table.fail(option.at, fmt::format("empty option in {}", table.label()),
                 "expected a build option such as \"-cl-std=CL1.2\"");
    }
    if (!joined.empty()) joined += ' ';
    joined += option.value;
  }
  return joined;
}

std::vector<OptionChoice> read_option_matrix(const ManifestText &document,
                                             const TableReader &table) {
  const toml::node *options = table.find("options");
  if (options == nullptr || !options->is_table()) return {{"", read_options(table)}};
  const TableReader reader(document, *options->as_table(), "\"options\" of " + table.label());
  std::vector<OptionChoice> all(1);
  for (const auto &[key, node] : *options->as_table()) {
    std::vector<OptionChoice> next;
    for (const OptionChoice &choice : all) {
      for (const OptionChoice &own : choices_of(reader, std::string(key.str()), node)) {
        next.push_back(
            {joined(choice.name, "-", own.name), joined(choice.options, " ", own.options)});
      }
    }
    if (next.size() > kMaxChoices) {
      reader.fail(position_of(key), fmt::format("{} has too many combinations", reader.label()),
                  fmt::format("expected at most {}", kMaxChoices));
    }
    all = std::move(next);
  }
  std::set<std::string> names;
  for (const OptionChoice &choice : all) {
    if (names.insert(choice.name).second) continue;
    reader.fail(
        reader.position(),
        fmt::format("two combinations of {} are called {}", reader.label(), in_quotes(choice.name)),
        "expected values that differ in letters, digits, '_' or '.'");
  }
  return all;
}

std::vector<OptionSet> read_sets(const ManifestText &document, const TableReader &table,
                                 const std::vector<OptionSet> &known) {
  const std::string rule =
      fmt::format("expected {}tables such as {{ name = \"half\", options = [\"-DT=half\"] }}",
                  known.empty() ? "" : "names of the program's sets, or ");
  const toml::array *items = table.array("sets", "an array of tables");
  std::vector<OptionSet> sets;
  if (items == nullptr) return sets;
  if (items->empty()) {
    table.fail(position_of(*items), fmt::format("\"sets\" in {} is empty", table.label()), rule);
  }
  std::vector<std::string> names;
  for (const OptionSet &one : known) names.push_back(one.name);
  for (const toml::node &item : *items) {
    const std::string place = fmt::format("set {} of {}", sets.size() + 1, table.label());
    if (const auto *name = item.as_string()) {
      const auto found = std::find(names.begin(), names.end(), name->get());
      if (found == names.end()) {
        table.fail(position_of(item),
                   fmt::format("{} is unknown: {}", place, in_quotes(name->get())),
                   known.empty() ? rule : expected_one_of(name->get(), names));
      }
      sets.push_back(known[static_cast<std::size_t>(found - names.begin())]);
    } else {
      if (!item.is_table()) table.fail(position_of(item), place + " is not a table", rule);
      sets.push_back(read_set(document, TableReader(document, *item.as_table(), place)));
    }
    const auto same = [&](const OptionSet &one) { return one.name == sets.back().name; };
    if (std::any_of(sets.begin(), sets.end() - 1, same)) {
      table.fail(
          position_of(item),
          fmt::format("set {} of {} is there twice", in_quotes(sets.back().name), table.label()),
          "expected each name once");
    }
  }
  return sets;
}

std::vector<OptionChoice> with_sets(const TableReader &table,
                                    const std::vector<OptionChoice> &choices,
                                    const std::string &between,
                                    const std::vector<OptionSet> &sets) {
  const std::vector<OptionSet> none = {{"", {{"", ""}}}};
  std::vector<OptionChoice> all;
  for (const OptionSet &set : sets.empty() ? none : sets) {
    for (const OptionChoice &own : set.choices) {
      for (const OptionChoice &choice : choices) {
        all.push_back({joined(own.name, "-", choice.name),
                       joined(joined(choice.options, " ", between), " ", own.options),
                       own.requirements});
      }
      if (all.size() > kMaxChoices) {
        table.fail(table.position(), fmt::format("{} has too many combinations", table.label()),
                   fmt::format("expected at most {}", kMaxChoices));
      }
    }
  }
  return all;
}

Result<MergedItems> merged_items(std::string_view options) {
  MergedItems merged;
  std::istringstream words{std::string(options)};
  for (std::string word; words >> word;) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    if (name != kMerging[0] && name != kMerging[1]) continue;
    const std::string_view value = std::string_view(word).substr(name.size());
    const std::size_t dimension =
        value.size() > 1 ? std::string_view("xyz").find(value[1]) : std::string_view::npos;
    const std::uint32_t factor = value.size() > 2 ? factor_of(value.substr(2)) : 0;
    if (dimension == std::string_view::npos || factor == 0) {
      return Status(Code::bad_input,
                    fmt::format("{} names no dimension and factor\nexpected x, y or z and 2, 4, 8 "
                                "or 16, such as \"{}=x4\"",
                                word, name));
    }
    merged.factor[dimension] *= factor;
    if (merged.option.empty()) merged.option = word;
  }
  return merged;
}

std::string multiple_text(const std::array<std::uint32_t, 3> &factor) {
  std::string text = std::to_string(factor[0]);
  if (factor[1] != 1 || factor[2] != 1) text += "x" + std::to_string(factor[1]);
  if (factor[2] != 1) text += "x" + std::to_string(factor[2]);
  return text;
}

std::vector<packs::Statistic> read_limits(const ManifestText &document, const TableReader &table,
                                          const std::vector<packs::Statistic> &defaults) {
  const toml::table *entries = table.table("limits", "a table such as { spills = 0 }");
  if (entries == nullptr) return defaults;
  const TableReader reader(document, *entries, "\"limits\" of " + table.label());
  const auto &names = packs::kStatisticNames;
  reader.allow_only(sorted({std::begin(names), std::end(names)}));
  std::map<packs::StatisticName, std::uint64_t> limits;
  for (const packs::Statistic &one : defaults) limits[one.name] = one.value;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const auto value = reader.integer(names[i], 0, kMaxLimit);
    if (value) limits[static_cast<packs::StatisticName>(i)] = static_cast<std::uint64_t>(*value);
  }
  std::vector<packs::Statistic> all;
  for (const auto &[name, value] : limits) all.push_back({0, name, value});
  return all;
}

std::optional<std::vector<Argument>> read_own_arguments(const ManifestText &document,
                                                        const TableReader &table) {
  const toml::array *array = table.array("arguments", "an array of tables");
  if (array == nullptr) return std::nullopt;
  return read_arguments(document, *array, table.label());
}

bool is_kernel_name(std::string_view name) {
  return is_name(name) && !(name.front() >= '0' && name.front() <= '9') &&
         name.find_first_of("-.") == std::string_view::npos;
}

std::vector<std::array<std::uint32_t, 3>> read_local_sizes(const TableReader &table) {
  const std::string expected = "an array such as [[16, 4], [64]]";
  const toml::array *array = table.array("local_sizes", expected);
  if (array == nullptr) return {};
  std::vector<std::array<std::uint32_t, 3>> sizes;
  for (const toml::node &node : *array) {
    const toml::array *sides = node.as_array();
    std::array<std::uint32_t, 3> size{1, 1, 1};
    bool good = sides != nullptr && !sides->empty() && sides->size() <= size.size();
    for (std::size_t i = 0; good && i < sides->size(); ++i) {
      const auto side = (*sides)[i].value<std::int64_t>().value_or(0);
      good = side >= 1 && side <= kMaxLocalSize;
      if (good) size[i] = static_cast<std::uint32_t>(side);
    }
    if (!good) {
      table.fail(position_of(node), fmt::format("bad item of \"local_sizes\" in {}", table.label()),
                 fmt::format("expected one to three integers, each 1 to {}", kMaxLocalSize));
    }
    sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<std::string> read_workarounds(const TableReader &table,
                                          const std::vector<std::string> &defaults) {
  if (table.array("workarounds", "an array of strings") == nullptr) return defaults;
  std::vector<std::string> all;
  for (const auto &options : table.strings("workarounds")) {
    if (options.value.find_first_not_of(' ') == std::string::npos) {
      table.fail(options.at, fmt::format("a workaround in {} is empty", table.label()),
                 "expected build options, such as \"-DNO_SUBGROUPS\"");
    }
    all.push_back(options.value);
  }
  return all;
}

std::vector<std::string> read_requirements(const TableReader &table) {
  std::vector<std::string> names;
  for (const auto &name : table.strings("requires")) {
    if (!runtime::is_known_requirement(name.value)) {
      table.fail(name.at,
                 fmt::format("unknown requirement {} in {}", in_quotes(name.value), table.label()),
                 expected_one_of(name.value, runtime::known_requirements()));
    }
    names.push_back(name.value);
  }
  add_requirements({}, &names);
  return names;
}

void add_requirements(const std::vector<std::string> &more, std::vector<std::string> *names) {
  names->insert(names->end(), more.begin(), more.end());
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
}

void require_for_merging(const TableReader &table, packs::Variant *record) {
  const auto merged = merged_items(record->options);
  const Position at = table.position();
  if (!merged.ok()) {
    const std::string &text = merged.status().message;
    const std::size_t line = text.find('\n');
    table.fail(at, fmt::format("{}: {}", record->name, text.substr(0, line)),
               text.substr(line + 1));
  }
  if (merged->option.empty()) return;
  auto &names = record->requirements;
  if (std::find(names.begin(), names.end(), "vendor:mali") == names.end()) {
    table.fail(at,
               fmt::format("{}: {} is an option of Mali's compiler", record->name, merged->option),
               "expected \"vendor:mali\" in requires");
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (record->local_size[0] == 0 || record->local_size[i] % merged->factor[i] == 0) continue;
    table.fail(at,
               fmt::format("{}: local_size is no multiple of {}, which {} demands", record->name,
                           multiple_text(merged->factor), merged->option),
               "expected such a multiple, or no local_size");
  }
  add_requirements({std::string(runtime::kNoGlobalOffset),
                    std::string(runtime::kRangeMultiple) + multiple_text(merged->factor)},
                   &names);
}

void read_host_check(const TableReader &table, ManifestVariant *variant) {
  variant->prelude = table.file("prelude").value_or(std::filesystem::path());
  const auto il = table.boolean("il");
  variant->il = il.value_or(variant->prelude.empty());
  variant->only_warn = il == false;
}

std::vector<ManifestVariant> read_variants(const ManifestText &document, const TableReader &table,
                                           const std::string &name, const Defaults &defaults,
                                           const std::string &program_label) {
  table.allow_only({"arguments", "il", "kernel", "limits", "local_size", "local_sizes", "options",
                    "pixels", "prelude", "range", "requires", "sets", "source", "stages",
                    "tolerance", "workarounds"});
  const ManifestVariant common = read_common(document, table, defaults, program_label);
  std::vector<ManifestVariant> variants;
  for (const OptionChoice &choice :
       with_sets(table, read_option_matrix(document, table), "", read_sets(document, table))) {
    variants.push_back(common);
    packs::Variant &record = variants.back().record;
    record.name = name + (choice.name.empty() ? "" : "." + choice.name);
    add_requirements(choice.requirements, &record.requirements);
    if (!record.options.empty() && !choice.options.empty()) record.options += ' ';
    record.options += choice.options;
    require_for_merging(table, &record);
  }
  return variants;
}

}  // namespace kiln::builder
