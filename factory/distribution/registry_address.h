// Where images are published: `[https://]HOST[:PORT][/PATH]`. Repositories lie below PATH.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

struct RegistryAddress {
  bool secure = true;  // false: http://, for a registry of this machine or a test
  std::string host;    // with its port
  std::string path;    // "" or "ai/images"

  // Throws Error(usage): what is wrong with it.
  static RegistryAddress parse(std::string_view text);
  // `ai/images/pytorch` for pytorch: the name that the registry knows it by.
  std::string repository(std::string_view name) const;
  // `registry.site:5000/ai/images`: what stands in front of a repository's name in a reference.
  std::string text() const { return path.empty() ? host : host + "/" + path; }
  std::string url() const { return (secure ? "https://" : "http://") + host; }
};

}  // namespace kiln
