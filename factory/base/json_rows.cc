#include "factory/base/json_rows.h"

#include <fmt/format.h>

#include "factory/base/read_whole.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_blank(char c) { return contains(kBlanks, c); }

std::string shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f ? fmt::format("'{}'", c) : fmt::format("the byte 0x{:02x}", byte);
}

}  // namespace

JsonRows::JsonRows(std::string file, const JsonRowLimits& limits, Take take)
    : file_(std::move(file)), limits_(limits), take_(std::move(take)) {}

void JsonRows::feed(std::string_view bytes) {
  for (char c : bytes) {
    step(c);
    move_over(c);
  }
}

void JsonRows::finish() {
  if (expects_ == Expects::more_of_item) end_item();  // its reader says what is missing
  if (expects_ == Expects::nothing && word_ != Word::block_comment && word_ != Word::star) return;
  if (expects_ == Expects::document) JsonDocument::parse("", file_);
  fail("not valid JSON: unexpected end of input", expects_ == Expects::comma ? "expected ',' or ']'" : "");
}

void JsonRows::step(char c) {
  if (expects_ == Expects::more_of_item) {
    go_on(c);
    const bool is_word = opened_ != '{' && opened_ != '[' && opened_ != '"';
    if (expects_ == Expects::more_of_item || !is_word) return;  // else c comes after it
  }
  if (is_filler(c)) return;
  switch (expects_) {
    case Expects::document:
      if (c == '[') {
        is_array_ = true;
        expects_ = Expects::first_item;
        return;
      }
      return begin(c);
    case Expects::first_item:
    case Expects::item:
      if (c == ']' && expects_ == Expects::item)
        fail("not valid JSON: a comma before ']'", "leave it out after the last value");
      if (c == ']') {
        expects_ = Expects::nothing;
        return;
      }
      if (c == ',' || c == ':' || c == '}') fail("not valid JSON: unexpected " + shown(c));
      return begin(c);
    case Expects::comma:
      if (c != ',' && c != ']')
        fail("not valid JSON: expected ',' or ']' after this value", "found " + shown(c));
      expects_ = c == ',' ? Expects::item : Expects::nothing;
      return;
    case Expects::more_of_item:
    case Expects::nothing:
      fail("not valid JSON: unexpected " + shown(c), "expected end of input");
  }
}

// Blanks and comments between the items.
bool JsonRows::is_filler(char c) {
  switch (word_) {
    case Word::line_comment:
      if (c == '\n') word_ = Word::plain;
      return true;
    case Word::block_comment:
      if (c == '*') word_ = Word::star;
      return true;
    case Word::star:
      word_ = c == '/' ? Word::plain : c == '*' ? Word::star : Word::block_comment;
      return true;
    case Word::slash:
      if (c != '/' && c != '*') fail("not valid JSON: unexpected '/'");
      word_ = c == '/' ? Word::line_comment : Word::block_comment;
      return true;
    default:
      if (c == '/') word_ = Word::slash;
      return c == '/' || is_blank(c);
  }
}

void JsonRows::begin(char c) {
  if (is_array_ && rows_ == limits_.rows) fail(fmt::format("more than {} rows", limits_.rows));
  expects_ = Expects::more_of_item;
  word_ = Word::plain;
  opened_ = c;
  depth_ = 0;
  item_line_ = line_;
  item_column_ = column_;
  go_on(c);
}

// Looks for the item's end only; whether it is well formed is for its reader to say.
void JsonRows::go_on(char c) {
  const bool nested = opened_ == '{' || opened_ == '[';
  if (!nested && opened_ != '"' && !item_.empty() && (is_blank(c) || c == ',' || c == ']' || c == '/'))
    return end_item();
  item_ += c;
  if (item_.size() > limits_.row.bytes) {
    throw_in_file(Error(ExitCode::input, fmt::format("more than {} bytes, the limit of {}", limits_.row.bytes,
                                                     is_array_ ? "a row" : "a document")));
  }
  switch (word_) {
    case Word::escape:
      word_ = Word::string;
      return;
    case Word::string:
      if (c == '\\') word_ = Word::escape;
      if (c != '"') return;
      word_ = Word::plain;
      if (!nested) end_item();
      return;
    case Word::line_comment:
      if (c == '\n') word_ = Word::plain;
      return;
    case Word::block_comment:
      if (c == '*') word_ = Word::star;
      return;
    case Word::star:
      word_ = c == '/' ? Word::plain : c == '*' ? Word::star : Word::block_comment;
      return;
    case Word::slash:
      word_ = c == '/' ? Word::line_comment : c == '*' ? Word::block_comment : Word::plain;
      if (word_ != Word::plain) return;
      break;
    case Word::plain:
      break;
  }
  if (c == '"') word_ = Word::string;
  if (c == '/') word_ = Word::slash;
  if (c == '{' || c == '[') ++depth_;
  if ((c == '}' || c == ']') && --depth_ == 0) end_item();
}

void JsonRows::end_item() {
  word_ = Word::plain;
  expects_ = is_array_ ? Expects::comma : Expects::nothing;
  take_item();
  item_.clear();
  ++rows_;
}

void JsonRows::take_item() {
  try {
    take_(JsonDocument::parse(item_, file_, limits_.row).root(), item_);
  } catch (const Error& error) {
    if (error.where().file != file_) throw;
    throw_in_file(error);
  }
}

void JsonRows::move_over(char c) {
  if (c == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
}

void JsonRows::fail(const std::string& message, const std::string& hint) const {
  throw Error(ExitCode::input, {file_, line_, column_, ""}, message, hint);
}

// Of a row: as if it had been found in the whole.
void JsonRows::throw_in_file(const Error& error) const {
  const SourceLocation& inside = error.where();
  SourceLocation where{file_, item_line_, item_column_, is_array_ ? fmt::format("/{}", rows_) : ""};
  if (inside.line > 0) where.line += inside.line - 1;
  if (inside.line == 1) where.column += inside.column - 1;
  if (inside.line > 1) where.column = inside.column;
  where.pointer += inside.pointer;
  throw Error(error.code(), std::move(where), error.message(), error.hint());
}

void read_json_rows(const std::filesystem::path& file, const JsonRowLimits& limits,
                    const JsonRows::Take& take) {
  JsonRows rows(file.string(), limits, take);
  std::string start;  // as far as a byte order mark goes
  bool begun = false;
  auto feed = [&](std::string_view bytes) {
    if (begun) return rows.feed(bytes);
    start += bytes;
    if (start.size() < kByteOrderMark.size()) return;
    if (start.starts_with(kByteOrderMark)) JsonDocument::parse(start.substr(0, 3), file.string());
    begun = true;
    rows.feed(start);
  };
  if (!read_pieces(file, limits.bytes, feed))
    throw Error(ExitCode::input, fmt::format("there is no file '{}'", file.string()));
  if (!begun) rows.feed(start);
  rows.finish();
}

}  // namespace kiln
