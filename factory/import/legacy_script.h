// Shell text for `/bin/sh -eu` that does what the instructions of a legacy file did. Used by the import only.
#pragma once

#include <string>
#include <string_view>

#include "factory/source/dockerfile.h"

namespace kiln {

class LegacyScript {
 public:
  bool empty() const { return text_.empty(); }
  // What a script starts with: it keeps the recipe's folder in $kiln_files and goes to /.
  static std::string head(const std::string& from);
  const std::string& text() const { return text_; }

  void comment(int line, std::string_view what);
  void add(const std::string& line);  // runs in the script's own shell: cd, export
  void set(const std::string& name, const std::string& value);
  // In a shell of its own, which neither stops at unset variables nor, unless `stops`, at the first failure.
  void block(std::string_view body, bool stops);
  void append(const LegacyScript& other) { text_ += other.text_; }

 private:
  std::string text_;
};

// A file's name on one line of text, whatever bytes it is made of.
std::string printable_name(const std::string& path);

// `/a:` of PATH=/a:$UNSET means the current folder as well, which nobody wanted: without the colon.
std::string without_open_end(std::string_view name, std::string value);

// A RUN of `export`, `cd` and the like: nothing of it is left for the next one.
bool changes_only_its_shell(const std::string& text);

// The command of a RUN on the lines of the file again, where the shell sees the same words in them.
std::string broken_as_written(const DockerInstruction& one);

}  // namespace kiln
