#include "factory/os/process_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kiln {
namespace {

constexpr std::size_t kTailBytes = 16384;

}  // namespace

ProcessOutput::ProcessOutput(const Command& command, CommandResult& result)
    : command_(command), result_(result), shown_{SecretMask(command.hidden), SecretMask(command.hidden)} {
  if (command.log.empty()) return;
  RealFileSystem().make_directories(command.log.parent_path());
  log_ = FileHandle(::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (log_ < 0)
    throw Error(ExitCode::store,
                fmt::format("cannot write the log {}: {}", command.log.string(), std::strerror(errno)));
}

void ProcessOutput::add(std::string_view bytes, bool is_stdout) {
  total_ += bytes.size();
  keep(shown_[is_stdout ? 0 : 1].masked(bytes), is_stdout);
}

void ProcessOutput::remark(const std::string& text) const { write_log("kiln: " + text + "\n"); }

void ProcessOutput::finish() {
  for (bool is_stdout : {true, false}) keep(shown_[is_stdout ? 0 : 1].finish(), is_stdout);
  if (command_.on_line && !line_.empty()) command_.on_line(line_);
  if (result_.tail.size() > kTailBytes) result_.tail.erase(0, result_.tail.size() - kTailBytes);
}

bool ProcessOutput::over_limit() const {
  return command_.limits.log_bytes != 0 && total_ > command_.limits.log_bytes;
}

void ProcessOutput::keep(std::string_view bytes, bool is_stdout) {
  result_.tail.append(bytes);
  if (result_.tail.size() > 2 * kTailBytes) result_.tail.erase(0, result_.tail.size() - kTailBytes);
  bool captured = is_stdout && (command_.capture_stdout || command_.log.empty());
  if (captured && result_.output.size() < (64u << 20)) result_.output.append(bytes);
  if (!captured || command_.capture_stdout) write_log(is_stdout && command_.capture_stdout ? "" : bytes);
  if (is_stdout && command_.on_line) feed_lines(bytes);
}

void ProcessOutput::write_log(std::string_view bytes) const {
  while (log_ >= 0 && !bytes.empty()) {
    ssize_t written = ::write(log_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // a full disk must not kill the step: its own writes will say so
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void ProcessOutput::feed_lines(std::string_view bytes) {
  for (char c : bytes) {
    if (c != '\n') {
      line_ += c;
      continue;
    }
    command_.on_line(line_);
    line_.clear();
  }
}

}  // namespace kiln
