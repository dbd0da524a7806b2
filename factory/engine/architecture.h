// Which machines a step is for, and whether this one can run it.
#pragma once

#include <map>
#include <string>

#include "factory/base/effects.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// This machine's, in OCI's words: amd64, arm64, ppc64le, …
std::string own_architecture();

// Architecture of a base, in OCI's words without a variant; "" for a step that is no base.
std::string architecture_of(const Step& step);
// The same of the base that an image begins with.
std::string architecture_of(const ResolvedImage& image);

// Whether programs for `architecture` run here: natively, or by an emulator that the kernel starts for them.
// Only one that the kernel holds open (flag F) counts: an image has no emulator inside.
// Source: Linux, Documentation/admin-guide/binfmt-misc.rst; names as QEMU and Debian register them.
bool can_run(const std::string& architecture, const FileSystem& files);

// The emulator that the kernel starts here for programs of `architecture`, with its version where its own
// file can be asked: "qemu-aarch64 7.2.22". "" if they run natively, or cannot run.
std::string emulator_of(const std::string& architecture, const FileSystem& files, CommandRunner& runner,
                        const std::map<std::string, std::string>& environment);

// Advice for a base of another architecture, as a hint.
inline constexpr const char* kOtherMachines =
    "it is built on a machine of its kind, through the site file's launcher, or under QEMU's user emulation, "
    "registered with the kernel (docs/other-machines.md)";

// "is for arm64, and this machine is amd64"
std::string why_not_here(const std::string& architecture);

// Throws Error(input) if the step is a base for machines that this one can neither run nor emulate.
void check_architecture(const Step& step, const FileSystem& files);

}  // namespace kiln
