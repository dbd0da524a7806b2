#include "factory/evidence/libraries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "factory/base/text.h"
#include "factory/base/version.h"

namespace kiln::evidence {
namespace {

constexpr unsigned kMostIncludes = 16;  // of one another

// A path as the tree looks them up: no empty components, no "." and "..". nullopt for what is no path.
std::optional<std::string> plain_path(std::string_view path) {
  if (path.size() > 4096) return std::nullopt;
  std::vector<std::string_view> parts;
  for (std::string_view part : split(path, '/')) {
    if (part.size() > 255) return std::nullopt;
    if (part.empty() || part == ".") continue;
    if (part != "..")
      parts.push_back(part);
    else if (!parts.empty())
      parts.pop_back();
  }
  std::string plain;
  for (std::string_view part : parts) plain += (plain.empty() ? "" : "/") + std::string(part);
  return plain;
}

std::optional<NodeId> file_at(ImageFiles& files, const std::string& path) {
  auto plain = plain_path(path);
  auto node = plain ? files.tree.lookup_followed(*plain) : std::nullopt;
  if (!node || files.tree.inode(files.tree.inode_at(*node)).kind != EntryKind::file) return std::nullopt;
  return node;
}

const Content* content_of(const ImageFiles& files, NodeId node) {
  const Inode& inode = files.tree.inode(files.tree.inode_at(node));
  if (inode.kind != EntryKind::file || inode.payload >= files.contents.size()) return nullptr;
  return &files.contents[inode.payload];
}

std::string folder_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

// The folders of /etc/ld.so.conf and what it includes, in order.
class Configuration {
 public:
  explicit Configuration(ImageFiles& files) : files_(files) {}
  std::vector<std::string> read() {
    include("etc/ld.so.conf", 0);
    return std::move(folders_);
  }

 private:
  void include(const std::string& path, unsigned depth) {
    auto node = depth > kMostIncludes ? std::nullopt : file_at(files_, path);
    const Content* content = node ? content_of(files_, *node) : nullptr;
    if (content == nullptr || !read_.insert(*node).second) return;
    for (std::string_view text : split(content->text, '\n')) line(text, depth);
  }

  void line(std::string_view text, unsigned depth) {
    text = text.substr(0, text.find('#'));
    auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ':'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    if (text.starts_with("include")) {
      text.remove_prefix(7);
      while (!text.empty() && blank(text.front())) text.remove_prefix(1);
      return include_all(std::string(text), depth);
    }
    if (text.starts_with('/')) folders_.emplace_back(text.substr(1));
  }

  void include_all(std::string pattern, unsigned depth) {
    if (pattern.empty() || pattern.size() > 256) return;
    pattern = pattern.front() == '/' ? pattern.substr(1) : "etc/" + pattern;
    auto plain = plain_path(folder_of(pattern));
    auto folder = plain ? files_.tree.lookup_followed(*plain) : std::nullopt;
    if (!folder) return;
    std::string_view last = last_part(pattern);
    for (NodeId child : files_.tree.children(*folder))
      if (glob_matches(last, files_.tree.name(child)))
        include(folder_of(pattern) + "/" + std::string(files_.tree.name(child)), depth + 1);
  }

  ImageFiles& files_;
  std::vector<std::string> folders_;
  std::set<NodeId> read_;
};

// The folders that every loader looks into, glibc's on Debian, Red Hat and 32 bits, and musl's.
std::vector<std::string> default_folders(Machine machine) {
  std::vector<std::string> folders;
  if (machine == Machine::x86_64) folders = {"lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"};
  if (machine == Machine::i386)
    folders = {"lib/i386-linux-gnu", "usr/lib/i386-linux-gnu", "lib32", "usr/lib32"};
  if (machine == Machine::aarch64) folders = {"lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu"};
  if (machine == Machine::ppc64) folders = {"lib/powerpc64le-linux-gnu", "usr/lib/powerpc64le-linux-gnu"};
  if (machine != Machine::i386) folders.insert(folders.end(), {"lib64", "usr/lib64"});
  folders.insert(folders.end(), {"lib", "usr/lib", "usr/local/lib"});
  return folders;
}

class Resolver {
 public:
  Resolver(ImageFiles& files, const std::vector<ElfEntry>& entries, const std::string& library_path)
      : files_(files),
        environment_(folders_in(library_path, library_path.size())),
        configured_(Configuration(files).read()) {
    for (const ElfEntry& entry : entries) {
      by_name_.emplace(last_part(entry.path), entry.path);
      if (!entry.facts->dynamic.soname.empty()) by_name_.emplace(entry.facts->dynamic.soname, entry.path);
    }
  }

  std::vector<MissingLibrary> missing(const ElfEntry& entry) {
    std::vector<MissingLibrary> missing;
    for (const std::string& library : entry.facts->dynamic.needed) {
      if (library.empty() || found(entry, library)) continue;
      auto elsewhere = by_name_.find(std::string(last_part(library)));
      missing.push_back({entry.path, library, elsewhere == by_name_.end() ? "" : elsewhere->second});
    }
    return missing;
  }

 private:
  bool fits(const std::string& path, Machine machine) {
    auto node = file_at(files_, path);
    const Content* content = node ? content_of(files_, *node) : nullptr;
    return content != nullptr && content->facts && content->facts->machine == machine;
  }

  // $ORIGIN and $LIB; a folder with another variable is passed over. "" when it leads nowhere.
  static std::string expand(std::string folder, const std::string& origin, Machine machine) {
    auto replace = [&](const std::string& name, const std::string& value) {
      for (const std::string& written : {"${" + name + "}", "$" + name})
        for (std::size_t at; (at = folder.find(written)) != folder.npos && folder.size() < 65'536;)
          folder.replace(at, written.size(), value);
    };
    replace("ORIGIN", "/" + origin);
    replace("LIB", machine == Machine::i386 ? "lib" : "lib64");
    if (contains(folder, '$') || !folder.starts_with('/')) return "";
    return folder.substr(1);
  }

  bool in_folders(const std::vector<std::string>& folders, const std::string& library,
                  const ElfEntry& entry) {
    return std::ranges::any_of(folders, [&](const std::string& written) {
      std::string folder = expand(written, folder_of(entry.path), entry.facts->machine);
      return !folder.empty() && fits(folder + "/" + library, entry.facts->machine);
    });
  }

  bool in_standard_folders(const std::string& library, Machine machine) {
    auto [place, fresh] = standard_.try_emplace({library, machine}, false);
    if (!fresh) return place->second;
    auto has = [&](const std::string& folder) { return fits(folder + "/" + library, machine); };
    auto defaults = default_folders(machine);
    place->second = std::ranges::any_of(configured_, has) || std::ranges::any_of(defaults, has);
    return place->second;
  }

  bool found(const ElfEntry& entry, const std::string& library) {
    const DynamicFacts& dynamic = entry.facts->dynamic;
    Machine machine = entry.facts->machine;
    if (contains(library, '/')) {
      std::string path = expand(library, folder_of(entry.path), machine);
      return !path.empty() && fits(path, machine);
    }
    if (dynamic.runpath.empty() && in_folders(dynamic.rpath, library, entry)) return true;
    if (in_folders(environment_, library, entry)) return true;
    if (in_folders(dynamic.runpath, library, entry)) return true;
    return in_standard_folders(library, machine);
  }

  ImageFiles& files_;
  std::vector<std::string> environment_;
  std::vector<std::string> configured_;
  std::map<std::string, std::string> by_name_;
  std::map<std::pair<std::string, Machine>, bool> standard_;
};

bool comes_with_driver(const std::string& library) {
  for (std::string_view name :
       {"libcuda.so", "libcudadebugger.so", "libnvidia-", "libnvcuvid.so", "libnvoptix.so"})
    if (library.starts_with(name)) return true;
  return false;
}

bool is_program(const ElfEntry& entry) {
  const std::string folder_path = folder_of(entry.path);
  const std::string_view folder = last_part(folder_path);
  return !entry.facts->interpreter.empty() && (folder == "bin" || folder == "sbin");
}

// Paths of programs and of all that they are linked with, as far as it is in the image.
std::set<std::string> linked_with_programs(const std::vector<ElfEntry>& entries) {
  std::multimap<std::string, const ElfEntry*> by_name;
  std::vector<const ElfEntry*> next;
  for (const ElfEntry& entry : entries) {
    by_name.emplace(last_part(entry.path), &entry);
    if (!entry.facts->dynamic.soname.empty()) by_name.emplace(entry.facts->dynamic.soname, &entry);
    if (is_program(entry)) next.push_back(&entry);
  }
  std::set<std::string> seen;
  while (!next.empty()) {
    const ElfEntry* entry = next.back();
    next.pop_back();
    if (!seen.insert(entry->path).second) continue;
    for (const std::string& library : entry->facts->dynamic.needed) {
      auto [from, to] = by_name.equal_range(std::string(last_part(library)));
      for (auto found = from; found != to; ++found) next.push_back(found->second);
    }
  }
  return seen;
}

bool is_loaded(const ElfEntry& entry) {
  return entry.facts->type == ElfType::executable || entry.facts->type == ElfType::shared;
}

}  // namespace

std::vector<ElfEntry> elf_entries(const ImageFiles& files) {
  std::vector<ElfEntry> entries;
  std::set<InodeId> seen;
  files.tree.each_node([&](NodeId node) {
    const InodeId id = files.tree.inode_at(node);
    const Content* content = content_of(files, node);
    if (content == nullptr || !content->facts || !seen.insert(id).second) return;
    entries.push_back({files.tree.path(node), files.tree.inode(id).layer, &*content->facts});
  });
  std::ranges::sort(entries, {}, &ElfEntry::path);
  return entries;
}

std::vector<MissingLibrary> missing_libraries(ImageFiles& files, const std::vector<ElfEntry>& entries,
                                              const std::string& library_path) {
  std::vector<MissingLibrary> all;
  Resolver resolver(files, entries, library_path);
  for (const ElfEntry& entry : entries) {
    if (!is_loaded(entry) || entry.facts->machine == Machine::other) continue;
    for (MissingLibrary& missing : resolver.missing(entry)) all.push_back(std::move(missing));
  }
  return all;
}

std::vector<MissingLibrary> that_stop_programs(const std::vector<MissingLibrary>& missing,
                                               const std::vector<ElfEntry>& entries) {
  const std::set<std::string> linked = linked_with_programs(entries);
  std::vector<MissingLibrary> stopping;
  for (const MissingLibrary& one : missing)
    if (one.elsewhere.empty() && linked.contains(one.file) && !comes_with_driver(one.library))
      stopping.push_back(one);
  return stopping;
}

GlibcNeed needed_glibc(const std::vector<ElfEntry>& entries, Machine machine) {
  GlibcNeed need;
  auto newer = [](const std::string& a, const std::string& b) {
    return !a.empty() && (b.empty() || Version(b) < Version(a));
  };
  for (const ElfEntry& entry : entries) {
    if (entry.facts->machine != machine || !is_loaded(entry)) continue;
    if (newer(entry.facts->needs_glibc, need.needed)) {
      need.needed = entry.facts->needs_glibc;
      need.file = entry.path;
    }
    if (newer(entry.facts->provides_glibc, need.provided)) need.provided = entry.facts->provides_glibc;
  }
  return need;
}

}  // namespace kiln::evidence
