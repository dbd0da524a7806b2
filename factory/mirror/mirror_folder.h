// A mirror on the disk. Files are either complete and true to their names, or missing: written under another
// name, hashed on the way, fsynced, renamed. The next `kiln mirror` therefore continues after any kill.
#pragma once

#include <functional>
#include <string>

#include "factory/base/effects.h"
#include "factory/mirror/mirror.h"

namespace kiln {

class MirrorFolder {
 public:
  // REQUIRES: `files` outlives this.
  MirrorFolder(fs::path root, FileSystem& files);

  const fs::path& root() const { return root_; }
  fs::path path(const std::string& inside) const { return root_ / inside; }
  fs::path temporary() const { return root_ / "tmp"; }
  bool is_there() const;  // whether it has a manifest
  // Empty for a folder without a manifest. Throws Error(input) that names the file.
  Mirror read() const;
  // Whether pip's page of links is what the mirror has.
  bool has_links(const Mirror& mirror) const;
  // Removes what writers left that were killed. REQUIRES: no other process writes.
  void drop_temporary() const;
  void write(const Mirror& mirror) const;  // and pip's page of links

  // Reads the file: whether it is there and has this content.
  bool is_whole(const Digest& digest) const;
  // Takes what `write` is given the sink for; throws Error(network) when that has another digest than
  // `expected`, unless that is empty.
  Digest put(const Digest& expected,
             const std::function<void(const std::function<void(std::string_view)>&)>& write,
             const std::string& name) const;
  Digest put_file(const fs::path& file, const Digest& expected) const;
  // `inside` becomes a link to the file of this digest.
  void link(const std::string& inside, const Digest& digest) const;
  void remove(const std::string& inside) const { files_.remove_all(path(inside)); }
  bool is_linked(const std::string& inside, const Digest& digest) const;

  // Whether all of an item seems to be there: reads nothing of it. Links alone are not the files they name.
  bool has(const MirrorItem& item) const;
  // Digest of the manifest that a layout names. Empty if the layout is missing.
  Digest index_of(const MirrorItem& image) const;
  // The damage of an item: "" if it is complete; else "is missing", "is damaged". Reads the item.
  std::string fault_of(const MirrorItem& item, CommandRunner& runner,
                       const std::map<std::string, std::string>& environment) const;

 private:
  fs::path file_of(const Digest& digest) const;
  std::string fault_of_repository(const MirrorItem& item, CommandRunner& runner,
                                  const std::map<std::string, std::string>& environment) const;

  fs::path root_;
  FileSystem& files_;
};

// pip's page of links to the wheels of a mirror (PEP 503's anchors), which lies in its folder pip.
std::string links_page(const Mirror& mirror);

}  // namespace kiln
