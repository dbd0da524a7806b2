// A JSON array that is read item by item: however long it is, one item is in memory.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "factory/base/json.h"

namespace kiln {

struct JsonRowLimits {
  std::uint64_t bytes = std::uint64_t{1} << 30;  // of the whole file
  std::size_t rows = 1'000'000;
  JsonLimits row;  // of each
};

// Takes the text in pieces of any size. A document that is no array is one row.
class JsonRows {
 public:
  using Take = std::function<void(const JsonNode& row, std::string_view text)>;  // of the row
  // `file` is used in messages only. An error in a row, also one of `take`, has its place in the whole file,
  // and the row's number from 0 in the pointer.
  JsonRows(std::string file, const JsonRowLimits& limits, Take take);

  // Throw Error(input), and what `take` throws.
  void feed(std::string_view bytes);
  void finish();

 private:
  enum class Expects { document, first_item, item, more_of_item, comma, nothing };
  enum class Word { plain, string, escape, slash, line_comment, block_comment, star };

  void step(char c);
  bool is_filler(char c);
  void begin(char c);
  void go_on(char c);
  void end_item();
  void take_item();
  void move_over(char c);
  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const;
  [[noreturn]] void throw_in_file(const Error& error) const;

  std::string file_;
  JsonRowLimits limits_;
  Take take_;
  Expects expects_ = Expects::document;
  Word word_ = Word::plain;
  bool is_array_ = false;
  std::size_t rows_ = 0;
  std::string item_;
  char opened_ = 0;        // the item's first character
  std::size_t depth_ = 0;  // of brackets in it
  int line_ = 1, column_ = 1;
  int item_line_ = 0, item_column_ = 0;
};

// The rows of a file, of a pipe too where it was handed over (read_whole.h). Throws as JsonRows does, and
// Error(input) where there is no such file.
void read_json_rows(const std::filesystem::path& file, const JsonRowLimits& limits,
                    const JsonRows::Take& take);

}  // namespace kiln
