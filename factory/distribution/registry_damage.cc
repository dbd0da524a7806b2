// What of a registry is not what was put there.
#include <fmt/format.h>

#include <optional>

#include "factory/base/text.h"
#include "factory/distribution/registry_answer.h"

namespace kiln {
namespace {

constexpr const char* kNotThere = "is missing";
constexpr const char* kOtherBytes = "has other bytes";

// Of the whole, by an answer with all of it or a part: "Content-Range: bytes 0-0/345".
std::optional<std::uint64_t> size_said_by(const HttpAnswer& answer) {
  if (answer.status == 200) return as_number<std::uint64_t>(answer.header("content-length"));
  const std::string range = answer.header("content-range");
  const std::size_t slash = range.find('/');
  return answer.status == 206 && slash != range.npos ? as_number<std::uint64_t>(range.substr(slash + 1))
                                                     : std::nullopt;
}

}  // namespace

std::string RegistryClient::blob_damage(const std::string& repository, const Descriptor& blob, bool read) {
  if (read) return read_blob_damage(repository, blob);
  Question question{repository,
                    "looking for " + blob.digest.text(),
                    {"GET", url(repository, "blobs/" + blob.digest.text()), {{"Range", "bytes=0-0"}}}};
  question.request.take = [](std::string_view) { return false; };  // a registry that sends all of it
  const HttpAnswer answer = ask(question);
  if (answer.status == 404) return kNotThere;
  return size_said_by(answer) == blob.size ? "" : read_blob_damage(repository, blob);
}

std::string RegistryClient::read_blob_damage(const std::string& repository, const Descriptor& blob) {
  std::uint64_t size = 0;
  std::optional<Hasher> hasher;
  Question question{
      repository, "reading " + blob.digest.text(), {"GET", url(repository, "blobs/" + blob.digest.text())}};
  question.request.take = [&](std::string_view piece) {
    size += piece.size();
    hasher->update(piece.data(), piece.size());
    return size <= blob.size;
  };
  const HttpAnswer answer = persist(question, [&] {
    hasher.emplace();
    size = 0;
    return try_once(question);
  });
  if (answer.status == 404) return kNotThere;
  if (answer.status != 200) refuse(question, answer);
  if (size > blob.size) return fmt::format("has more than {} bytes", blob.size);
  if (size < blob.size) return fmt::format("has {} of {} bytes", size, blob.size);
  return hasher->finish() == blob.digest ? "" : kOtherBytes;
}

std::string RegistryClient::manifest_damage(const std::string& repository, const Digest& digest, bool read) {
  if (!read && resolve(repository, digest.text()) == digest) return "";
  Question question{repository,
                    "reading " + digest.text(),
                    {"GET", url(repository, "manifests/" + digest.text()), {{"Accept", kManifestTypes}}}};
  question.request.most = kMostManifest;
  const HttpAnswer answer = ask(question);
  if (answer.status == 404) return kNotThere;
  if (answer.status != 200) refuse(question, answer);
  return Digest::of(answer.body) == digest ? "" : kOtherBytes;
}

}  // namespace kiln
