#include <fmt/format.h>

#include <exception>
#include <optional>

#include "factory/base/text.h"
#include "factory/distribution/registry_answer.h"
#include "factory/distribution/registry_client.h"
#include "factory/distribution/url.h"

namespace kiln {

// By an answer to HEAD. Where 500 is taken for a broken link, it counts as "not there".
bool RegistryClient::shows_blob(const Question& question, const Digest& digest, std::uint64_t size) {
  const HttpAnswer answer = ask(question);
  if (answer.status == 404 || (question.of_a_link && answer.status == 500)) return false;
  const auto can_be_read = [&] {
    return read_blob_damage(question.repository, {"", digest, size, {}}).empty();
  };
  if (knows_no_head(answer)) return can_be_read();
  if (answer.status != 200) refuse(question, answer);
  const auto named = digest_in(answer.header("docker-content-digest"));
  if (named && *named != digest) return false;
  // Without a length, and with the length of the answer's own body, which has none, it says nothing.
  const std::uint64_t length = as_number<std::uint64_t>(answer.header("content-length")).value_or(0);
  return length == size || (length == 0 && can_be_read());
}

bool RegistryClient::has_blob(const std::string& repository, const Digest& digest, std::uint64_t size) {
  const std::string blob = url(repository, "blobs/" + digest.text());
  return shows_blob({repository, "looking for " + digest.text(), {"HEAD", blob}}, digest, size);
}

bool RegistryClient::lacks_blob(const std::string& repository, const Digest& digest, std::uint64_t size) {
  const std::string blob = url(repository, "blobs/" + digest.text());
  return !shows_blob({repository, "looking for " + digest.text(), {"HEAD", blob}, true}, digest, size);
}

std::optional<std::string> RegistryClient::blob(const std::string& repository, const Digest& digest,
                                                std::uint64_t most) {
  std::string bytes;
  Question question{
      repository, "reading " + digest.text(), {"GET", url(repository, "blobs/" + digest.text())}};
  question.request.take = [&](std::string_view piece) {
    bytes += piece;
    return bytes.size() <= most;
  };
  const HttpAnswer answer = persist(question, [&] {
    bytes.clear();
    return try_once(question);
  });
  if (answer.status == 404) return std::nullopt;
  if (answer.status != 200) refuse(question, answer);
  if (bytes.size() > most)
    throw Error(ExitCode::store, fmt::format("{} has more than {} bytes there", digest.text(), most));
  if (Digest::of(bytes) != digest)
    throw Error(ExitCode::store, fmt::format("{} does not have its bytes there", digest.text()));
  return bytes;
}

bool RegistryClient::fetch_blob(const std::string& repository, const Descriptor& blob,
                                const BlobStore& store) {
  std::optional<BlobStore::Writer> writer;
  std::uint64_t size = 0;
  std::exception_ptr problem;  // of the disk: libcurl cannot carry it
  Question question{
      repository, "fetching " + blob.digest.text(), {"GET", url(repository, "blobs/" + blob.digest.text())}};
  question.request.take = [&](std::string_view piece) {
    size += piece.size();
    if (size > blob.size) return false;
    try {
      writer->write(piece.data(), piece.size());
    } catch (...) {
      problem = std::current_exception();
    }
    return problem == nullptr;
  };
  const HttpAnswer answer = persist(question, [&] {
    writer.reset();
    writer.emplace(store.writer());
    size = 0;
    return try_once(question);
  });
  if (problem) std::rethrow_exception(problem);
  if (answer.status == 404) return false;
  if (answer.status != 200) refuse(question, answer);
  if (size != blob.size)
    throw Error(ExitCode::store,
                fmt::format("{} has {}{} of {} bytes there", blob.digest.text(),
                            size > blob.size ? "more than " : "", std::min(size, blob.size), blob.size));
  writer->commit(blob.media_type, blob.digest);
  return true;
}

bool RegistryClient::mount_blob(const std::string& repository, const Digest& digest,
                                const std::string& from) {
  const Question question{repository,
                          fmt::format("mounting {} of {}", digest.text(), from),
                          {"POST", url(repository, fmt::format("blobs/uploads/?mount={}&from={}",
                                                               digest.text(), in_query(from)))},
                          false,
                          from};
  try {
    const HttpAnswer answer = ask(question);
    if (answer.status != 202) return answer.status == 201;
    // An upload began in its place, which nobody needs.
    if (const std::string upload = answer.header("location"); !upload.empty())
      leave_upload(repository, resolved_url(question.request.url, upload));
    return false;
  } catch (const Error& error) {
    // One who may not read the other repository is refused a token for both; sending it needs none.
    if (error.code() != ExitCode::network) throw;
    return false;
  }
}

// Many registries do not know that request, and some end the connection: the upload goes with its time, then.
void RegistryClient::leave_upload(const std::string& repository, const std::string& upload) {
  try {
    (void)try_once({repository, "leaving an upload", {"DELETE", upload}});
  } catch (const Error& error) {
    if (error.code() != ExitCode::network) throw;
  }
}

// Begun again from its start where it breaks: what a broken one has left is not to be trusted.
void RegistryClient::send_blob(const std::string& repository, const Digest& digest, HttpRequest body) {
  Question question{repository, "sending " + digest.text(), {"POST", url(repository, "blobs/uploads/")}};
  body.method = "PUT";
  body.headers.emplace_back("Content-Type", "application/octet-stream");
  bool begun = false;
  const HttpAnswer answer = persist(question, [&] {
    HttpAnswer begin = try_once(question);
    const std::string location = begin.header("location");
    begun = succeeded(begin) && !location.empty();
    if (!begun) return begin;
    body.url = resolved_url(question.request.url, location);
    body.url += (contains(body.url, '?') ? "&digest=" : "?digest=") + in_query(digest.text());
    return try_once({repository, question.what, body});
  });
  if (error_code_in(answer) == "DIGEST_INVALID") throw WrongDigest{refusal(question, answer)};
  if (!begun || !succeeded(answer)) refuse(question, answer);
}

void RegistryClient::put_blob(const std::string& repository, const Descriptor& blob, const fs::path& file) {
  send_blob(repository, blob.digest, {"PUT", "", {}, "", file});
}

void RegistryClient::put_blob(const std::string& repository, const std::string& bytes) {
  send_blob(repository, Digest::of(bytes), {"PUT", "", {}, bytes});
}

}  // namespace kiln
