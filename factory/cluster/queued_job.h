// Jobs of ours as squeue lists them, and the comment by which they are known again. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// What the comment of a job says.
struct JobMark {
  std::string run;    // of kiln, that submitted it
  std::string state;  // folder_mark() of its state folder
  std::string key;    // of the step, or of the image that is packaged
  bool operator==(const JobMark&) const = default;
};

// "kiln run=… state=… key=…".
std::string comment_of(const JobMark& mark);
std::optional<JobMark> mark_of(std::string_view comment);  // nullopt: not a job of kiln's

// A state folder in few letters: from its path, which all machines of the cluster know it by.
std::string folder_mark(const std::string& path);

struct QueuedJob {
  std::string id;
  std::string state;   // "RUNNING"
  std::string reason;  // why it waits, or how it ended: "Resources"
  std::string partition;
  std::string nodes;
  int cpus = 0;
  std::uint64_t memory =
      0;  // bytes: of the node, or of each processor where it was asked for so; 0: not said
  JobMark mark;
};

// For `squeue --noheader --format`. The comment stands last: others' may hold anything.
inline constexpr const char* kQueueFormat = "%i|%T|%r|%P|%N|%C|%m|%k";

// Those of kiln's, whoever's state folder they are of.
std::vector<QueuedJob> parse_queue(std::string_view text);

}  // namespace kiln
