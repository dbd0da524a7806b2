// For what is made again after a power cut: to wait for the disk is of no use there.
#pragma once

namespace kiln {

// From now on fsync(2) and its like do nothing and succeed, in this process and all that it starts: a seccomp
// filter, as that of systemd-nspawn's --suppress-sync=. Programs of other architectures wait as ever. May be
// called between fork(2) and execve(2). False where the kernel refuses, which it does without CAP_SYS_ADMIN
// in our user namespace; then nothing has changed.
bool stop_syncing() noexcept;

}  // namespace kiln
