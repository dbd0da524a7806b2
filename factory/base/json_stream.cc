#include "factory/base/json_stream.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json_text.h"

namespace kiln {
namespace {

constexpr int kIndent = 2;

}  // namespace

void JsonStream::put_name(std::string_view name, int depth) {
  bool& any = depth == 1 ? any_member_ : any_item_;
  line_ = any ? ",\n" : depth == 1 ? "{\n" : "\n";
  any = true;
  line_.append(static_cast<std::size_t>(depth) * kIndent, ' ');
  if (!name.empty()) line_.append("\"").append(name).append("\": ");
  put_(line_);
}

// Line ends within texts are escaped: those that dump() writes are its own.
void JsonStream::put_value(const Json& value, int depth) {
  const std::string text = printable_json(value, kIndent);
  line_.clear();
  for (std::string_view rest = text; !rest.empty();) {
    std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    line_ += rest.substr(0, end);
    if (line_.back() == '\n') line_.append(static_cast<std::size_t>(depth) * kIndent, ' ');
    rest.remove_prefix(end);
  }
  put_(line_);
}

void JsonStream::member(std::string_view name, const Json& value) {
  put_name(name, 1);
  put_value(value, 1);
}

void JsonStream::begin(std::string_view name, char open, char close) {
  put_name(name, 1);
  put_(std::string_view(&open, 1));
  close_ = close;
  any_item_ = false;
}

void JsonStream::begin_array(std::string_view name) { begin(name, '[', ']'); }

void JsonStream::begin_object(std::string_view name) { begin(name, '{', '}'); }

void JsonStream::item(const Json& value) { item({}, value); }

void JsonStream::item(std::string_view name, const Json& value) {
  put_name(name, 2);
  put_value(value, 2);
}

void JsonStream::end() {
  if (any_item_) put_("\n  ");
  put_(std::string_view(&close_, 1));
}

void JsonStream::finish() { put_(any_member_ ? "\n}" : "{}"); }

}  // namespace kiln
