#include "factory/fetch/image_apt.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "factory/fetch/apt_text.h"

namespace kiln {
namespace {

constexpr std::string_view kSignedBy = "Signed-By:", kLists = "etc/apt/sources.list";
constexpr std::string_view kArmour = "-----BEGIN PGP";

bool is_at_or_below(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

template <typename Value>
void remove_below(std::map<std::string, Value>& files, const std::string& folder) {
  std::erase_if(files, [&](const auto& file) { return is_at_or_below(file.first, folder); });
}

// Words between blanks, commas and ends of lines.
std::vector<std::string> listed_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text) {
    const bool is_between = c == ',' || kWhiteSpace.find(c) != std::string_view::npos;
    if (!is_between) word += c;
    if (is_between && !word.empty()) words.push_back(std::exchange(word, ""));
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// The value of Signed-By among the options of a source, with its further lines, which is taken out of them;
// "" without one.
std::string take_signed_by(std::string& options) {
  if (!options.starts_with(kSignedBy)) return "";  // apt_sources puts it first
  std::size_t end = options.find('\n');
  while (end != std::string::npos && end + 1 < options.size() && options[end + 1] == ' ')
    end = options.find('\n', end + 1);
  std::string value(trimmed(options.substr(kSignedBy.size(), end - kSignedBy.size())));
  options.erase(0, end == std::string::npos ? end : end + 1);
  return value;
}

// One source of several components is one for each of them.
void merge_into(std::vector<ImageSource>& sources, const ImageSource& source) {
  const auto known = std::ranges::find_if(sources, [&](const ImageSource& one) {
    return one.uri == source.uri && one.suite.suite == source.suite.suite &&
           one.suite.options == source.suite.options && one.keyring == source.keyring;
  });
  if (known == sources.end()) return sources.push_back(source);
  std::string& components = known->suite.components;
  for (const std::string& word : listed_words(source.suite.components))
    if (const auto there = listed_words(components); std::ranges::find(there, word) == there.end())
      components += " " + word;
}

// "[arch=amd64 signed-by=/a.gpg] uri suite component…" → the fields of a paragraph.
std::string paragraph_of(std::string_view rest) {
  std::string text = "Types: deb\n";
  rest = trimmed(rest);
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) throw Error(ExitCode::input, "a source of packages whose [ has no ]");
    for (std::string_view option : split(rest.substr(1, end - 1), ' ')) {
      const std::size_t equals = option.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string name = lower_case(option.substr(0, equals));
      const std::string value(option.substr(equals + 1));
      for (const auto& [known, field] :
           {std::pair("arch", "Architectures"), std::pair("signed-by", "Signed-By"),
            std::pair("trusted", "Trusted")})
        if (name == known) text += fmt::format("{}: {}\n", field, fmt::join(listed_words(value), " "));
    }
    rest = rest.substr(end + 1);
  }
  const std::vector<std::string> words = listed_words(rest);
  if (words.size() < 2) throw Error(ExitCode::input, "a source of packages without URI or suite");
  text += fmt::format("URIs: {}\nSuites: {}\n", words[0], words[1]);
  if (words.size() > 2)
    text += fmt::format("Components: {}\n", fmt::join(words.begin() + 2, words.end(), " "));
  return text;
}

std::string resolved(const std::string& path, const std::string& target) {
  if (target.starts_with('/')) return fs::path(target).lexically_normal().string().substr(1);
  return (fs::path(path).parent_path() / target).lexically_normal().string();
}

}  // namespace

void ImageApt::add_layer(const LayerApt& layer) {
  for (const std::string& path : layer.removed) {
    remove_below(files_, path);
    remove_below(links_, path);
  }
  if (layer.status) status_ = *layer.status;
  for (const auto& [path, bytes] : layer.files) {
    links_.erase(path);
    files_[path] = {bytes};
  }
  for (const auto& [path, target] : layer.links) {
    files_.erase(path);
    links_[path] = target;
  }
}

void ImageApt::add_step(const LayerApt& layer) {
  for (const auto& [path, bytes] : layer.files) files_[path].insert(bytes);
  for (const auto& link : layer.links) links_.insert(link);
}

// Several versions of one keyring: whichever a step has is among them.
std::string ImageApt::keyring_at(const std::string& path) const {
  std::string at = path;
  constexpr int kMostLinks = 8;
  for (int links = 0; links < kMostLinks && !files_.contains(at) && links_.contains(at); ++links)
    at = resolved(at, links_.at(at));
  const auto found = files_.find(at);
  if (found == files_.end())
    throw Error(ExitCode::input,
                fmt::format("apt's sources name the keyring /{}, which is in no layer", path));
  std::string keyring;
  for (const std::string& bytes : found->second) keyring += binary_keyring(bytes, "/" + path);
  return keyring;
}

// What apt trusts where a source names nobody. It leaves out keyrings that it does not know, and so do we.
std::string ImageApt::trusted() const {
  std::string all;
  std::set<std::string> paths;
  for (const auto& [path, versions] : files_) paths.insert(path);
  for (const auto& [path, target] : links_) paths.insert(path);
  for (const std::string& path : paths) {
    const bool is_trusted =
        path == "etc/apt/trusted.gpg" ||
        (path.starts_with("etc/apt/trusted.gpg.d/") && (path.ends_with(".gpg") || path.ends_with(".asc")));
    if (!is_trusted) continue;
    try {
      all += keyring_at(path);
    } catch (const Error&) {
      continue;
    }
  }
  return all;
}

// Paths; a fingerprint is one of those that are trusted, of whom then all may sign.
std::string ImageApt::keyring_of(const std::string& signed_by) const {
  if (signed_by.empty()) return trusted();
  std::string keyring;
  for (const std::string& word : listed_words(signed_by)) {
    if (!word.starts_with('/')) return trusted();
    keyring += keyring_at(fs::path(word).lexically_normal().string().substr(1));
  }
  return keyring;
}

std::vector<ImageSource> ImageApt::sources(const std::string& architecture) const {
  std::vector<ImageSource> sources;
  for (const auto& [path, versions] : files_) {
    if (!path.starts_with(kLists)) continue;
    for (const std::string& text : versions) {
      const bool is_deb822 = path.ends_with(".sources");
      if (!is_deb822 && !path.ends_with(".list")) continue;  // apt reads no other names
      for (AptSource& one : apt_sources(is_deb822 ? text : deb822_of_lines(text), architecture)) {
        if (!one.uri.starts_with("http://") && !one.uri.starts_with("https://")) continue;
        ImageSource source{one.uri, one.suite};
        const std::string all = source.suite.options;
        const std::string signed_by = take_signed_by(source.suite.options);
        const bool is_own = signed_by.find(kArmour) != std::string::npos;
        if (is_own) source.suite.options = all;
        if (!is_own && all.find("Trusted: yes") == std::string::npos) source.keyring = keyring_of(signed_by);
        merge_into(sources, source);
      }
    }
  }
  return sources;
}

std::string deb822_of_lines(std::string_view text) {
  std::string paragraphs;
  for (std::string_view line : split(text, '\n')) {
    if (const std::size_t comment = line.find('#'); comment != std::string_view::npos)
      line = line.substr(0, comment);
    line = trimmed(line);
    const std::size_t end = line.find_first_of(" \t[");
    if (line.substr(0, end) == "deb") paragraphs += paragraph_of(line.substr(end)) + "\n";
  }
  return paragraphs;
}

std::string binary_keyring(std::string_view bytes, const std::string& name) {
  constexpr std::size_t kOfKeybox = 8;  // where its magic stands (GnuPG, kbx/keybox-blob.c)
  if (bytes.size() > kOfKeybox && bytes.substr(kOfKeybox).starts_with("KBXf"))
    throw Error(ExitCode::input, fmt::format("{} is a keybox of GnuPG, which apt does not read", name));
  std::string keyring;
  std::size_t start = bytes.find(kArmour);
  if (start == std::string_view::npos) return std::string(bytes);
  for (; start != std::string_view::npos; start = bytes.find(kArmour, start)) {
    const std::string_view block = bytes.substr(start, bytes.find("-----END PGP", start) - start);
    start += block.size();
    std::string text;
    bool is_in_head = true;
    for (std::string_view line : split(block.substr(std::min(block.find('\n'), block.size())), '\n')) {
      line = trimmed(line);
      if (line.starts_with('=')) break;  // the checksum
      const bool is_header = line.find(": ") != std::string_view::npos;
      is_in_head = is_in_head && (is_header || line.empty());
      if (!is_in_head) text += line;
    }
    const auto decoded = from_base64(text);
    if (!decoded) throw Error(ExitCode::input, fmt::format("{} is no keyring", name));
    keyring += *decoded;
  }
  return keyring;
}

}  // namespace kiln
