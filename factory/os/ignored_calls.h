// System calls that from now on do nothing and succeed, in this process and all that it starts: seccomp
// filters (seccomp(2)). Programs of other architectures are left as they are. Both may be called between
// fork(2) and execve(2), and return false if the kernel refuses, as it does without CAP_SYS_ADMIN in kiln's
// user namespace; then nothing has changed.
#pragma once

namespace kiln {

// fsync(2) and its like, as systemd-nspawn's --suppress-sync=: for files that kiln can make again after a
// power cut, a wait for the disk is useless.
bool stop_syncing() noexcept;

// setgroups(2), for a user namespace of a single id, where the kernel denies it (user_namespaces(7)) and
// there is no other group to set: buildah sets root's own group before each script, and fails over it.
bool stop_setting_groups() noexcept;

}  // namespace kiln
