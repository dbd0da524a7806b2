// Shell text for `/bin/sh -eu` that does what the instructions of a legacy file did. Used by the import only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/source/dockerfile.h"

namespace kiln {

class LegacyScript {
 public:
  // The beginning of a script: it keeps the recipe's folder in $kiln_files and changes to /. For shellcheck
  // it says where `base`'s /bin/sh is bash.
  static std::string head(const std::string& from, const std::string& base);
  // Without changes of the shell's state after the last command: nothing would use them.
  std::string text() const { return text_.substr(0, end_); }

  void comment(int line, std::string_view what);
  void add(const std::string& line);
  void change_folder(const std::string& folder);               // makes it
  void start_in(const std::string& folder);                    // that is there
  void set(const std::string& name, const std::string& word);  // `word` as the shell reads it
  // Runs in a separate shell, which neither stops at unset variables nor, unless `stops`, at the first
  // failure.
  void block(std::string_view body, bool stops);

 private:
  void end_here() { end_ = text_.size(); }
  std::string text_;
  std::size_t end_ = 0;  // of the last command
};

// "mkdir -p" of the folder that a file of this path is in.
std::string make_folder_of(const std::string& path);
// Lines that put a path of the image at another one.
std::string move_path(const std::string& from, const std::string& to);

// Runs a text that begins with "#!" by the program that it names, as the kernel does.
std::string run_by_interpreter(std::string_view text);
bool names_interpreter(std::string_view text);
bool names_shell(std::string_view text);  // an interpreter that is a shell: sh, bash, …

// A file's name on one line of text, whatever bytes it is made of.
std::string printable_name(const std::string& path);

// `/a:` of PATH=/a:$UNSET means the current folder as well, which was not meant: without the colon.
std::string without_open_end(std::string_view name, std::string value);

// A RUN of `export`, `cd` and the like: nothing of it is left for the next one.
bool changes_only_its_shell(const std::string& text);

// The command of a RUN on the lines of the file again, where the shell sees the same words in them.
std::string broken_as_written(const DockerInstruction& one);

// %post without what only Apptainer can do. Used by the import only; pure.
struct PostNote {
  std::size_t offset = 0;  // in the section's body
  std::string rule;
  std::string text;
};

// NAME=value that %post adds to the image's environment, as a shell reads it.
struct PostVariable {
  std::size_t offset = 0;
  std::string word;
};

struct PostScript {
  std::string text;                       // of as many lines as the body
  std::vector<PostVariable> environment;  // of what it writes to $SINGULARITY_ENVIRONMENT
  bool writes_environment = false;
  std::vector<PostNote> notes;
};

PostScript adapt_post(std::string_view body);

}  // namespace kiln
