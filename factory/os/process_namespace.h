// A child that is alone: a PID namespace (pid_namespaces(7)) with a /proc of its own. It sees what it started
// and nothing else. Between us and it stands the first process of the namespace, a few lines of ours, which
// reaps what is orphaned. The kernel ends everything inside when that goes: after the child, and with us,
// however we end.
#pragma once

#include <sys/types.h>

namespace kiln {

class ProcessNamespace {
 public:
  ProcessNamespace();  // throws Error(store)
  ~ProcessNamespace();
  ProcessNamespace(const ProcessNamespace&) = delete;
  ProcessNamespace& operator=(const ProcessNamespace&) = delete;

  // As fork(2): 0 in the child; in the caller the namespace's first process, which leads a session and a
  // process group with the child in it, and ends when the child does; -1, with errno, where there can be no
  // such namespace. May be called once.
  pid_t fork();
  // How the child ended, as waitpid(2) says it; `status` is the first process's own.
  int child_status(int status) const;

 private:
  void become_first();
  [[noreturn]] void reap(pid_t child) const;

  int report_[2] = {-1, -1};  // from the first process: 0 or errno, then the child's status
  int life_[2] = {-1, -1};    // we hold the writing end for as long as we live
};

}  // namespace kiln
