// A file by its URL, into a mirror.
#pragma once

#include <string>

#include "factory/distribution/http.h"
#include "factory/mirror/mirror_folder.h"

namespace kiln {

// `authorization`: the header's value, "" for none. Tried three times where a failure may pass. Throws
// Error(network), Error(interrupted), Error(store).
void fetch_file(const std::string& url, const std::string& authorization, const Digest& expected, Http& http,
                const MirrorFolder& folder);

}  // namespace kiln
