#include "factory/os/ignored_calls.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace kiln {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__powerpc64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_PPC64LE;
#else
constexpr std::uint32_t kArchitecture = 0;  // nobody's: nothing is ignored
#endif

constexpr std::size_t kMostCalls = 4;

sock_filter load(std::size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
}

sock_filter equal(std::uint32_t value, std::size_t skip, std::size_t skip_else) {
  return {BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint8_t>(skip), static_cast<std::uint8_t>(skip_else),
          value};
}

sock_filter end(std::uint32_t action) { return {BPF_RET | BPF_K, 0, 0, action}; }

// At most kMostCalls. Allocates nothing.
bool ignore(std::initializer_list<std::uint32_t> calls) noexcept {
  sock_filter program[kMostCalls + 5];
  std::size_t at = 0;
  program[at++] = load(offsetof(seccomp_data, arch));
  program[at++] = equal(kArchitecture, 0, calls.size() + 1);
  program[at++] = load(offsetof(seccomp_data, nr));
  std::size_t left = calls.size();
  for (const std::uint32_t call : calls) program[at++] = equal(call, left--, 0);
  program[at++] = end(SECCOMP_RET_ALLOW);
  program[at++] = end(SECCOMP_RET_ERRNO);  // with the number 0, which is success
  const sock_fprog filter{static_cast<unsigned short>(at), program};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

}  // namespace

bool stop_syncing() noexcept { return ignore({SYS_fsync, SYS_fdatasync, SYS_syncfs, SYS_sync}); }

bool stop_setting_groups() noexcept { return ignore({SYS_setgroups}); }

}  // namespace kiln
