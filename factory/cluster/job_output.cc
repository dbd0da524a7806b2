#include "factory/cluster/job_output.h"

#include <fstream>

namespace kiln {

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
