#include "factory/cluster/job_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "factory/base/quote.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostOutput = 1u << 20;  // bytes

}  // namespace

std::optional<Submission> JobFiles::submission() const {
  const auto text = files_.read(folder_ / "submission");
  if (!text) return std::nullopt;
  Submission submission;
  std::istringstream(*text) >> submission.cluster >> submission.id;
  return submission;
}

void JobFiles::write(const Submission& submission) const {
  files_.write(folder_ / "submission", fmt::format("{} {}\n", submission.cluster, submission.id));
}

std::optional<JobStatus> JobFiles::status() const {
  const auto text = files_.read(status_file());
  if (!text) return std::nullopt;
  JobStatus status;
  if (!(std::istringstream(*text) >> status.id >> status.status >> status.host)) return std::nullopt;
  return status;
}

void JobFiles::forget() const {
  for (const char* name : {"submission", "status", "script"}) files_.remove_all(folder_ / name);
}

std::string JobFiles::last_words() const {
  std::string last;
  std::string text;
  try {
    text = files_.read(output(), kMostOutput).value_or("");
  } catch (const Error&) {  // too much of it
    return "";
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!trimmed(line).empty() && !step_event_from_line(line)) last = line;
  constexpr std::size_t kLongestWord = 200;
  return without_controls(std::string(trimmed(last)).substr(0, kLongestWord));
}

std::string script_text(const JobScript& script, const JobFiles& files) {
  const std::string status = shell_word(files.status_file().string());
  std::string command;
  std::string title = without_controls(script.title);
  std::ranges::replace(title, '\n', ' ');  // it would be a line of the script
  for (const std::string& word : script.command) command += shell_word(word) + " ";
  // A job that Slurm runs again has the files of its first time. `wait` ends early with a signal's trap.
  return fmt::format(R"sh(#!/bin/sh
# {}
# Made by kiln for one job; it is not read again.
rm -f {status}
cd {folder} || exit 8
{command}&
step=$!
trap 'kill -TERM "$step" 2>/dev/null' TERM
while :; do
  wait "$step"
  status=$?
  kill -0 "$step" 2>/dev/null || break
done
echo "$SLURM_JOB_ID $status $(hostname)" >{status}.new && mv -f {status}.new {status}
exit "$status"
)sh",
                     title, fmt::arg("status", status), fmt::arg("folder", shell_word(script.folder)),
                     fmt::arg("command", command));
}

void JobOutput::read() {
  constexpr std::uintmax_t kMostAtOnce = 1u << 20;  // bytes
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(file_, none);
  if (none) return;
  if (size < at_) {
    at_ = 0;
    pending_.clear();
  }
  if (size == at_) return;
  std::ifstream file(file_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at_));
  std::string more(std::min(size - at_, kMostAtOnce), '\0');
  file.read(more.data(), static_cast<std::streamsize>(more.size()));
  more.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  at_ += more.size();
  pending_ += more;
  for (std::size_t end; (end = pending_.find('\n')) != pending_.npos; pending_.erase(0, end + 1))
    if (auto event = step_event_from_line(std::string_view(pending_).substr(0, end))) hear_(*event);
  if (pending_.size() > kMostAtOnce) pending_.clear();  // no event is that long
}

}  // namespace kiln
