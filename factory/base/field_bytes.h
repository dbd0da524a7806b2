// Values as bytes and back, by one list of fields for both ways:
//
//   template <typename Bytes>
//   void fields(Bytes& bytes, Witness& witness) { bytes(witness.symbol, witness.address); }
//
//   ToBytes out; out(witness); out.finish()      FromBytes in(bytes); in(witness);
//
// Numbers take 1 to 10 bytes. For files that kiln keeps for itself: there is no version in it, and nothing
// but the end of the bytes is checked. The reader proves them first.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "factory/base/error.h"

namespace kiln {

class ToBytes {
 public:
  template <typename... Values>
  void operator()(Values&... values) {
    (put(values), ...);
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_ += text;
  }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(0x80 | (value & 0x7f));
    bytes_ += static_cast<char>(value);
  }
  std::size_t size() const { return bytes_.size(); }
  std::string finish() { return std::move(bytes_); }

 private:
  template <typename First, typename Second>
  void put(std::pair<First, Second>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <typename Value>
  void put(std::optional<Value>& value) {
    number(value.has_value());
    if (value) put(*value);
  }
  template <typename Value>
  void put(std::vector<Value>& values) {
    number(values.size());
    for (Value& value : values) put(value);
  }
  template <typename Key, typename Value>
  void put(std::map<Key, Value>& values) {
    number(values.size());
    for (auto& [key, value] : values) {
      put(key);
      put(value);
    }
  }
  template <std::size_t size>
  void put(std::array<unsigned char, size>& bytes) {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), size);
  }
  template <typename Value>
  void put(Value& value) {
    if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>)
      number(static_cast<std::uint64_t>(value));
    else if constexpr (std::is_same_v<std::remove_const_t<Value>, std::string>)
      text(value);
    else
      fields(*this, value);
  }

  std::string bytes_;
};

// Throws Error(input) where the bytes end too early.
class FromBytes {
 public:
  explicit FromBytes(std::string_view bytes) : bytes_(bytes) {}  // outlive it and all that text() gives
  template <typename... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  bool at_end() const { return bytes_.empty(); }
  std::string_view text() {
    const std::uint64_t size = number();
    if (size > bytes_.size()) ends_early();
    const std::string_view text = bytes_.substr(0, static_cast<std::size_t>(size));
    bytes_.remove_prefix(text.size());
    return text;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ends_early();
  }

 private:
  [[noreturn]] static void ends_early() { throw Error(ExitCode::input, "the bytes end too early"); }
  void get(std::string& value) { value = text(); }
  template <typename First, typename Second>
  void get(std::pair<First, Second>& pair) {
    get(pair.first);
    get(pair.second);
  }
  template <typename Value>
  void get(std::optional<Value>& value) {
    value.reset();
    if (number() != 0) get(value.emplace());
  }
  template <typename Value>
  void get(std::vector<Value>& values) {
    values.clear();
    for (std::uint64_t left = number(); left > 0; --left) get(values.emplace_back());
  }
  template <typename Key, typename Value>
  void get(std::map<Key, Value>& values) {
    values.clear();
    for (std::uint64_t left = number(); left > 0; --left) {
      std::pair<Key, Value> pair;
      get(pair);
      values.insert(std::move(pair));
    }
  }
  template <std::size_t size>
  void get(std::array<unsigned char, size>& bytes) {
    if (bytes_.size() < size) ends_early();
    bytes_.copy(reinterpret_cast<char*>(bytes.data()), size);
    bytes_.remove_prefix(size);
  }
  template <typename Value>
  void get(Value& value) {
    if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>)
      value = static_cast<Value>(number());
    else
      fields(*this, value);
  }

  std::string_view bytes_;
};

}  // namespace kiln
