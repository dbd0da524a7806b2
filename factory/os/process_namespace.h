// Runs a child in a PID namespace (pid_namespaces(7)) with its own /proc. The child sees only its own
// descendants. Its parent is the first process of the namespace, a few lines of kiln, which reaps orphans.
// The kernel ends all processes of the namespace when that process ends: after the child, and together with
// kiln, however kiln ends.
#pragma once

#include <sys/types.h>

#include "factory/base/file_handle.h"

namespace kiln {

struct Pipe {
  Pipe();  // throws Error(store)

  FileHandle read_end;
  FileHandle write_end;
};

class ProcessNamespace {
 public:
  // As fork(2): 0 in the child; in the caller the namespace's first process, which leads a session and a
  // process group with the child in it, and ends when the child does; -1, with errno, where there can be no
  // such namespace. May be called once.
  pid_t fork();
  // How the child ended, as waitpid(2) says it; `status` is the first process's own.
  int child_status(int status) const;

 private:
  void become_first();
  [[noreturn]] void reap(pid_t child) const;

  Pipe report_;  // from the first process: 0 or errno, then the child's status
  Pipe life_;    // kiln holds the writing end while it lives
};

}  // namespace kiln
