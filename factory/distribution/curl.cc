#include "factory/distribution/curl.h"

#include <dlfcn.h>

#include "factory/base/error.h"

namespace kiln {
namespace {

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw Error(ExitCode::tool_missing, std::string("libcurl has no ") + name, "install libcurl4");
}

Curl open_curl() {
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error(ExitCode::tool_missing, "no libcurl.so.4 here, which speaks HTTP to registries and to Docker",
                "install libcurl4");
  Curl curl{};
  find(library, "curl_global_init", curl.global_init);
  find(library, "curl_version_info", curl.version_info);
  find(library, "curl_easy_init", curl.easy_init);
  find(library, "curl_easy_cleanup", curl.easy_cleanup);
  find(library, "curl_easy_reset", curl.easy_reset);
  find(library, "curl_easy_setopt", curl.easy_setopt);
  find(library, "curl_easy_perform", curl.easy_perform);
  find(library, "curl_easy_getinfo", curl.easy_getinfo);
  find(library, "curl_easy_strerror", curl.easy_strerror);
  find(library, "curl_slist_append", curl.slist_append);
  find(library, "curl_slist_free_all", curl.slist_free_all);
  curl.global_init(CURL_GLOBAL_DEFAULT);
  return curl;
}

}  // namespace

const Curl& curl() {
  static const Curl opened = open_curl();
  return opened;
}

}  // namespace kiln
