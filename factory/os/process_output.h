// Handles the output of a running child process: keeps, shows or hides it as its Command states.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "factory/base/effects.h"
#include "factory/base/file_handle.h"
#include "factory/base/secret_mask.h"

namespace kiln {

// Feeds log, capture, tail and lines. REQUIRES: `command` and `result` outlive this.
class ProcessOutput {
 public:
  // Opens the command's log. Throws Error(store) when it cannot be written.
  ProcessOutput(const Command& command, CommandResult& result);

  void add(std::string_view bytes, bool is_stdout);
  void remark(const std::string& text) const;  // a line of kiln, in the log
  void finish();                               // after the last take(): hands on what is not a whole line yet
  bool over_limit() const;                     // of bytes taken

 private:
  void keep(std::string_view bytes, bool is_stdout);
  void write_log(std::string_view bytes) const;
  void feed_lines(std::string_view bytes);

  const Command& command_;
  CommandResult& result_;
  SecretMask shown_[2];  // of stdout and stderr
  FileHandle log_;
  std::uint64_t total_ = 0;
  std::string line_;
};

}  // namespace kiln
