#include "factory/bench/csv_rows.h"

#include <algorithm>

#include "factory/base/error.h"

namespace kiln {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      CsvRow row{line_, {}, {}};
      do {
        row.columns.push_back(column());
        row.fields.push_back(field());
      } while (next_is(','));
      if (!next_is('\r') && at_ < text_.size() && text_[at_] != '\n')
        fail("text follows the closing quote of a field");
      if (next_is('\n')) begin_line();
      if (row.fields.size() > 1 || !row.fields.front().empty()) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  bool next_is(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // REQUIRES: at_ is the first byte of the line.
  void begin_line() {
    ++line_;
    line_begins_ = at_;
  }

  int column() const { return static_cast<int>(at_ - line_begins_) + 1; }

  std::string field() {
    if (!next_is('"')) {
      const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      std::string plain(text_.substr(at_, end - at_));
      at_ = end;
      return plain;
    }
    std::string quoted;
    while (true) {
      if (at_ >= text_.size()) fail("the quote of a field is not closed");
      const char c = text_[at_++];
      if (c == '\n') begin_line();
      if (c == '"' && !next_is('"')) return quoted;
      quoted += c;
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ExitCode::input, {file_, line_, column(), ""}, why);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, line_begins_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<CsvRow> csv_rows(std::string_view text, const std::string& file) {
  return CsvReader(text, file).rows();
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace kiln
