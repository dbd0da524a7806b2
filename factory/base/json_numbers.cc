#include "factory/base/json_numbers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

// Whether a number begins there, in one of its digits, that a parser would shorten: 2.10, 3.00.
bool loses_zero(std::string_view number) {
  const std::size_t point = number.find('.');
  if (point == number.npos || number.size() < point + 3 || number.back() != '0') return false;
  return std::ranges::all_of(number, [](char c) { return is_digit(c) || c == '.'; });
}

// Most texts have none, in numbers or in strings: a second reading of them is spared.
bool may_have_one(std::string_view text) {
  for (std::size_t point = text.find('.'); point != text.npos; point = text.find('.', point + 1)) {
    std::size_t end = point + 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > point + 2 && text[end - 1] == '0') return true;
  }
  return false;
}

std::string escaped(const std::string& token) {
  std::string text;
  for (char c : token) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

// nlohmann's events, of which only where a number stands is of interest.
class NumberReader : public nlohmann::json_sax<Json> {
 public:
  explicit NumberReader(WrittenNumbers& found) : found_(found) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(std::int64_t) override { return value(); }
  bool number_unsigned(std::uint64_t) override { return value(); }
  bool number_float(double, const std::string& written) override {
    if (loses_zero(written)) found_[place()] = written;
    return value();
  }
  bool string(std::string&) override { return value(); }
  bool binary(Json::binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    levels_.back().key = escaped(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Level {
    bool is_array;
    std::size_t index = 0;
    std::string key{};
  };

  std::string place() const {
    std::string pointer;
    for (const Level& level : levels_)
      pointer += "/" + (level.is_array ? std::to_string(level.index) : level.key);
    return pointer;
  }
  bool value() {
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }
  bool open(bool is_array) {
    levels_.push_back({is_array});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return value();
  }

  WrittenNumbers& found_;
  std::vector<Level> levels_;
};

}  // namespace

WrittenNumbers written_numbers(std::string_view text) {
  WrittenNumbers found;
  if (!may_have_one(text)) return found;
  NumberReader reader(found);
  Json::sax_parse(text.begin(), text.end(), &reader, nlohmann::detail::input_format_t::json, true, true);
  return found;
}

}  // namespace kiln
