// SPDX-License-Identifier: Apache-2.0
// Lays out structs: each field at a multiple of its size, the whole a multiple of the largest.
#include "builder/problem/parameter_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "runtime/launch/parameter_type.hpp"

namespace kiln::builder {
namespace {

constexpr double kMaxExact = 9007199254740992.0;  // 2^53

template <typename T>
constexpr ValueRange kRange{static_cast<double>(std::numeric_limits<T>::lowest()),
                            static_cast<double>(std::numeric_limits<T>::max()),
                            std::numeric_limits<T>::is_integer};

template <typename T>
void put(std::uint8_t *to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

void put_value(std::uint8_t *to, Type type, double value) {
  if (type == Type::float_) return put(to, static_cast<float>(value));
  if (type == Type::double_) return put(to, value);
  if (type == Type::half_) return put(to, half_of_float(static_cast<float>(value)));
  // Two's complement: the low bytes of the larger integer.
  const auto integer = static_cast<std::int64_t>(value);
  std::memcpy(to, &integer, size_of(type));
}

std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

ValueRange range_of(Type type) {
  switch (type) {
    case Type::uchar_: return kRange<std::uint8_t>;
    case Type::ushort_: return kRange<std::uint16_t>;
    case Type::uint_: return kRange<std::uint32_t>;
    case Type::int_: return kRange<std::int32_t>;
    case Type::float_: return kRange<float>;
    case Type::half_: return {-65504, 65504, false};
    case Type::char_: return kRange<std::int8_t>;
    case Type::short_: return kRange<std::int16_t>;
    case Type::long_: return {-kMaxExact, kMaxExact};
    case Type::ulong_: return {0, kMaxExact};
    case Type::double_: break;
  }
  return kRange<double>;
}

std::optional<ParameterField> parse_field(std::string_view text) {
  runtime::Taken taken;
  if (!runtime::read_value_type(text, &taken)) return std::nullopt;
  return ParameterField{static_cast<Type>(taken.type), taken.components};
}

std::vector<ParameterField> fields_of(const packs::Argument &parameter) {
  if (parameter.fields.empty()) {
    // A parameter that names no type is a uint.
    const Type type = parameter.type == Type::uchar_ ? Type::uint_ : parameter.type;
    return {{type, static_cast<unsigned>(std::max<std::size_t>(parameter.values.size(), 1))}};
  }
  std::vector<ParameterField> fields;
  std::istringstream words(parameter.fields);
  for (std::string word; words >> word;)
    fields.push_back(parse_field(word).value_or(ParameterField{}));
  return fields;
}

std::size_t component_count(const std::vector<ParameterField> &fields) {
  std::size_t count = 0;
  for (const ParameterField &field : fields) count += field.components;
  return count;
}

Status check_values(const std::vector<ParameterField> &fields, const std::vector<double> &values) {
  const std::size_t count = component_count(fields);
  if (count != values.size()) {
    return {Code::bad_argument, fmt::format("has {} components, not {}", count, values.size())};
  }
  auto value = values.begin();
  for (const ParameterField &field : fields) {
    const ValueRange range = range_of(field.type);
    const std::string limits =
        range.is_whole
            ? fmt::format("is a whole number from {:.0f} to {:.0f}", range.low, range.high)
            : fmt::format("is a number from {:g} to {:g}", range.low, range.high);
    for (unsigned i = 0; i < field.components; ++i, ++value) {
      const bool is_inside = *value >= range.low && *value <= range.high;
      if (is_inside && (!range.is_whole || *value == std::floor(*value))) continue;
      return {Code::bad_argument, fmt::format("{}, not {}", limits, *value)};
    }
  }
  return {};
}

std::vector<std::uint8_t> value_bytes(const std::vector<ParameterField> &fields,
                                      const std::vector<double> &values) {
  std::vector<std::uint8_t> bytes;
  std::size_t largest = 1;
  auto value = values.begin();
  for (const ParameterField &field : fields) {
    const std::size_t at = rounded_up(bytes.size(), field.bytes());
    largest = std::max(largest, field.bytes());
    bytes.resize(at + field.bytes());
    for (unsigned i = 0; i < field.components; ++i) {
      put_value(bytes.data() + at + i * size_of(field.type), field.type, *value++);
    }
  }
  if (fields.size() > 1) bytes.resize(rounded_up(bytes.size(), largest));
  return bytes;
}

}  // namespace kiln::builder
