#include "factory/cli/own_namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kiln {
namespace {

bool write_whole(const char* file, const std::string& text) {
  const int descriptor = ::open(file, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(descriptor);
  return written;
}

int exit_status(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool runs_well(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execvp(argv.front(), argv.data());
    ::_exit(127);
  }
  return child > 0 && exit_status(child) == 0;
}

bool map_ids(const char* program, pid_t whose, const std::vector<std::string>& map) {
  std::vector<std::string> words = {program, std::to_string(whose)};
  words.insert(words.end(), map.begin(), map.end());
  return runs_well(std::move(words));
}

// A child outside, which gives the ids once we are inside: nobody may give them to itself.
class Mapper {
 public:
  Mapper(const NamespaceIds& ids, uid_t user, gid_t group) {
    if (::pipe2(go_, O_CLOEXEC) != 0) return;
    const pid_t whose = ::getpid();
    child_ = ::fork();
    if (child_ != 0) return;
    ::close(go_[1]);
    char byte = 0;
    const bool is_made = ::read(go_[0], &byte, 1) == 1;
    const bool is_mapped = is_made && map_ids("newuidmap", whose, id_map(user, ids.users)) &&
                           map_ids("newgidmap", whose, id_map(group, ids.groups));
    ::_exit(is_mapped ? 0 : 1);
  }
  Mapper(const Mapper&) = delete;
  Mapper& operator=(const Mapper&) = delete;
  bool map() {
    if (child_ <= 0) return false;
    const bool is_told = ::write(go_[1], "x", 1) == 1;
    ::close(go_[1]);
    return exit_status(child_) == 0 && is_told;
  }

 private:
  int go_[2] = {-1, -1};
  pid_t child_ = -1;
};

bool map_single_id(uid_t user, gid_t group) {
  return write_whole("/proc/self/setgroups", "deny") &&
         write_whole("/proc/self/uid_map", fmt::format("0 {} 1", user)) &&
         write_whole("/proc/self/gid_map", fmt::format("0 {} 1", group));
}

}  // namespace

NamespaceIds ids_of_user(const FileSystem& files, const CommandRunner& runner) {
  if (!runner.find_program("newuidmap") || !runner.find_program("newgidmap")) return {};
  const std::string user = own_user({});
  return {ranges_of(files.read("/etc/subuid").value_or(""), user, ::geteuid()),
          ranges_of(files.read("/etc/subgid").value_or(""), user, ::geteuid())};
}

std::string enter_own_namespace(const NamespaceIds& ids) {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  const bool has_ids = !ids.users.empty() && !ids.groups.empty();
  std::optional<Mapper> mapper;
  if (has_ids) mapper.emplace(ids, user, group);
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return fmt::format("cannot make a user namespace: {}",
                       errno == ENOSPC ? "no more are allowed" : std::strerror(errno));
  if (has_ids ? !mapper->map() : !map_single_id(user, group)) return "cannot map ids into a user namespace";
  if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0)
    return fmt::format("cannot become root of a user namespace: {}", std::strerror(errno));
  if (has_ids) ::setgroups(0, nullptr);  // the user's own are of nobody there
  return "";
}

}  // namespace kiln
