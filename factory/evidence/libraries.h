// Shared libraries as the image's own loader would find them (ld.so(8)), and the glibc that its files need.
#pragma once

#include <string>
#include <vector>

#include "factory/evidence/image_files.h"

namespace kiln::evidence {

// An ELF file of the image, under its name there.
struct ElfEntry {
  std::string path;  // without the leading "/"
  std::uint16_t layer = 0;
  const FileFacts* facts = nullptr;
};

// All ELF files, sorted by path. Hard links to one file are one entry, the first. `files` outlives them.
std::vector<ElfEntry> elf_entries(const ImageFiles& files);

struct MissingLibrary {
  std::string file;
  std::string library;
  std::string elsewhere;  // where the image has it off the search path: another library must load it first
};

struct GlibcNeed {
  std::string needed;    // the newest version that any file asks for
  std::string file;      // which does
  std::string provided;  // by the image's libc.so.6; "" when it has none
};

// `library_path` is LD_LIBRARY_PATH of the image. Objects that the loader never sees (relocatable, other
// machines than the image's libc) are left out.
std::vector<MissingLibrary> missing_libraries(ImageFiles& files, const std::vector<ElfEntry>& entries,
                                              const std::string& library_path);
// Of those the ones that keep a program from starting: of a program in a bin or sbin folder, or of a library
// that it is linked with, and nowhere in the image. A module that is loaded by name (NVIDIA's
// libcufile_rdma.so, a graphical tool's plugin) may lack what it likes until it is asked for, and the
// libraries of NVIDIA's driver come from the host (Apptainer's nvliblist.conf, the NVIDIA Container Toolkit).
std::vector<MissingLibrary> that_stop_programs(const std::vector<MissingLibrary>& missing,
                                               const std::vector<ElfEntry>& entries);
GlibcNeed needed_glibc(const std::vector<ElfEntry>& entries, Machine machine);

}  // namespace kiln::evidence
