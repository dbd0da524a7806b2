// What a registry answers: a header for each of those that are read, on the first line, then a body. Whatever
// it is, it is taken, or Error(network).
#include "factory/distribution/registry_answer.h"

#include "factory/base/digest.h"
#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/distribution/image_index.h"
#include "factory/oci/registry_call.h"
#include "readers.h"

namespace {

template <typename Read>
void is_told(const Read& read) {
  try {
    read();
  } catch (const kiln::Error& error) {
    if (error.code() != kiln::ExitCode::network) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  const std::string text(fuzz::text_of(bytes, size));
  const std::string line = text.substr(0, text.find('\n'));
  const std::string body = line.size() == text.size() ? "" : text.substr(line.size() + 1);
  const HttpAnswer answer{text.empty() ? 200 : 100 + text[0] % 128 * 4,
                          {{"www-authenticate", line}, {"link", line}, {"retry-after", line}},
                          body};
  const std::string said = said_by(answer);
  for (char c : said)
    if (is_control(c)) __builtin_trap();
  if (said.size() > 330) __builtin_trap();
  (void)passes(answer);
  (void)challenge_in(answer);
  (void)next_page(answer);
  if (auto seconds = seconds_until(line, 0); seconds && *seconds < 0) __builtin_trap();
  if (auto found = from_base64(line); found && base64_of(*found).size() != line.size()) __builtin_trap();
  is_told([&] { (void)tags_in(body, "url"); });
  is_told([&] { (void)token_in(answer); });
  const Descriptor ours{"type", Digest::of(line), 1, {}};
  is_told([&] {
    if (auto index = with_referrers(body, {ours}); index && with_referrers(*index, {ours})) __builtin_trap();
  });
  return 0;
}
