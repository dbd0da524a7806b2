#include "factory/distribution/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>

#include "factory/base/effects.h"
#include "factory/base/read_whole.h"
#include "factory/base/text.h"
#include "factory/distribution/curl.h"
#include "factory/distribution/silence.h"
#include "factory/distribution/url.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostCertificates = 16u << 20;

std::string bytes_of(const fs::path& file) { return read_whole(file, kMostCertificates).value_or(""); }

// With its port, as folders of certs.d are named.
std::string host_and_port(const std::string& url) {
  const std::size_t start = url.find("://");
  const std::size_t from = start == std::string::npos ? 0 : start + 3;
  return url.substr(from, url.find_first_of("/?#", from) - from);
}

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// As containers-certs.d(5) says: *.crt of certs.d/HOST[:PORT] in /etc/containers, then /etc/docker; PEM, ""
// without any.
std::string certificates_of(const std::string& host) {
  for (const char* folder : {"/etc/containers/certs.d", "/etc/docker/certs.d"}) {
    std::string all;
    std::error_code problem;
    for (fs::directory_iterator entry(fs::path(folder) / host, problem), end; !problem && entry != end;
         entry.increment(problem))
      if (entry->path().extension() == ".crt") all += bytes_of(entry->path()) + "\n";
    if (!all.empty()) return all;
  }
  return "";
}

// One request on its way: what the callbacks of libcurl read and write.
struct Transfer {
  const HttpRequest* request;
  HttpAnswer answer{};
  std::exception_ptr problem{};  // of who takes it
  bool too_long = false;
  bool enough = false;   // said who takes it
  std::size_t sent = 0;  // of the body
  std::ifstream file{};  // in its place
  std::uint64_t file_size = 0;
  Silence silence{0, 0};
  bool stalled = false;
  CURL* handle = nullptr;
  bool by_socket = false;
  bool looked = false;    // at the first peer
  std::string refused{};  // an address of this machine or its link, where somebody elsewhere led us
  bool despite_interrupt = false;
  const std::function<bool()>* give_up = nullptr;

  bool is_given_up() const { return *give_up && (*give_up)(); }
  bool is_told_to_stop() const { return despite_interrupt ? interrupted_again() : interrupted(); }
};

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  if (transfer.request->take && transfer.answer.status == 200) {
    try {
      transfer.enough = !transfer.request->take({bytes, size * count});
      return transfer.enough ? 0 : size * count;
    } catch (...) {  // not through a C library
      transfer.problem = std::current_exception();
      return 0;
    }
  }
  if (transfer.answer.body.size() + size * count > transfer.request->most) {
    transfer.too_long = true;
    return 0;
  }
  transfer.answer.body.append(bytes, size * count);
  return size * count;
}

std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  HttpAnswer& answer = transfer.answer;
  const std::string_view line(bytes, size * count);
  if (line.starts_with("HTTP/")) {
    answer.headers.clear();  // "100 Continue" came before
    const std::size_t blank = line.find(' ');
    answer.status = blank == line.npos ? 0 : std::atoi(std::string(line.substr(blank + 1, 3)).c_str());
  }
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos)
    answer.headers.emplace(lower_case(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1))));
  return size * count;
}

std::size_t give_body(char* bytes, std::size_t size, std::size_t count, void* from) {
  auto& transfer = *static_cast<Transfer*>(from);
  if (transfer.file.is_open()) {
    transfer.file.read(bytes, static_cast<std::streamsize>(size * count));
    // Less than its size: the other end would wait for the rest.
    transfer.sent += static_cast<std::size_t>(transfer.file.gcount());
    const bool is_short = transfer.file.gcount() == 0 && transfer.sent < transfer.file_size;
    return is_short ? CURL_READFUNC_ABORT : static_cast<std::size_t>(transfer.file.gcount());
  }
  const std::string& body = transfer.request->body;
  const std::size_t part = std::min(size * count, body.size() - transfer.sent);
  body.copy(bytes, part, transfer.sent);
  transfer.sent += part;
  return part;
}

// A connection is there, and no request is sent on it yet. A registry that sends us to 169.254.169.254 would
// have us ask for the credentials of a cloud machine.
int look_at_peer(void* of, char* address, char*, int port, int) {
  auto& transfer = *static_cast<Transfer*>(of);
  if (transfer.by_socket) return CURL_PREREQFUNC_OK;
  char* text = nullptr;
  curl().easy_getinfo(transfer.handle, CURLINFO_EFFECTIVE_URL, &text);
  const std::string url = text == nullptr ? "" : text;
  const std::string peer = address == nullptr ? "" : address;
  // A peer whose port is not the address's is a proxy: where it goes from there is its business.
  const bool is_proxied = port_of_url(url) != std::to_string(port);
  const bool is_local = is_local_host(host_of_url(url)) || (!is_proxied && is_local_host(peer));
  const bool is_first = !transfer.looked;
  if (is_first) transfer.answer.is_local = is_local;
  transfer.looked = true;
  const bool is_foreign = is_first ? transfer.request->is_foreign : !transfer.answer.is_local;
  if (!is_local || !is_foreign) return CURL_PREREQFUNC_OK;
  transfer.refused = host_of_url(url);
  if (transfer.refused != peer && !is_proxied) transfer.refused += fmt::format(" ({})", peer);
  return CURL_PREREQFUNC_ABORT;
}

// Not 0: the transfer ends.
int watch(void* of, curl_off_t, curl_off_t down, curl_off_t, curl_off_t up) {
  auto& transfer = *static_cast<Transfer*>(of);
  transfer.stalled = transfer.silence.lasts(static_cast<std::uint64_t>(down + up), monotonic_seconds());
  return transfer.stalled || transfer.is_told_to_stop() || transfer.is_given_up() ? 1 : 0;
}

struct CloseHandle {
  void operator()(CURL* handle) const { curl().easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, CloseHandle>;

template <typename Value>
void set(const Handle& handle, CURLoption option, Value value) {
  curl().easy_setopt(handle.get(), option, value);
}

// Handles that no request uses, each with its open connections: the last one that came back is the first to
// go.
class IdleHandles {
 public:
  Handle take_handle() {
    {
      const std::lock_guard lock(mutex_);
      if (!handles_.empty()) {
        Handle handle = std::move(handles_.back());
        handles_.pop_back();
        curl().easy_reset(handle.get());  // connections stay
        return handle;
      }
    }
    Handle handle(curl().easy_init());
    if (!handle) throw Error(ExitCode::internal, "libcurl does not start");
    return handle;
  }
  void give_back(Handle handle) {
    const std::lock_guard lock(mutex_);
    handles_.push_back(std::move(handle));
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::vector<Handle> handles_;
};

class CurlHttp final : public Http {
 public:
  explicit CurlHttp(HttpSettings settings) : settings_(std::move(settings)) {
    idle_.give_back(idle_.take_handle());  // without libcurl there is nothing to be opened
  }

  HttpAnswer send(const HttpRequest& request) override {
    Transfer transfer{&request};
    Handle handle = idle_.take_handle();
    set(handle, CURLOPT_URL, request.url.c_str());
    set(handle, CURLOPT_NOSIGNAL, 1L);
    set(handle, CURLOPT_USERAGENT, "kiln");
    set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    set(handle, CURLOPT_CONNECTTIMEOUT, static_cast<long>(settings_.connect.count()));
    set_trust(handle, request.url);
    set(handle, CURLOPT_WRITEFUNCTION, &take_body);
    set(handle, CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
    set(handle, CURLOPT_HEADERFUNCTION, &take_header);
    set(handle, CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
    set_method(handle, transfer);
    if (request.method == "GET" || request.method == "HEAD") {
      set(handle, CURLOPT_FOLLOWLOCATION, 1L);
      set(handle, CURLOPT_MAXREDIRS, 5L);
    }
    if (!settings_.socket.empty()) {
      set(handle, CURLOPT_UNIX_SOCKET_PATH, settings_.socket.c_str());
      set(handle, CURLOPT_PROXY, "");  // the environment's
    }
    set_watch(handle, transfer);
    perform(handle, transfer);
    idle_.give_back(std::move(handle));
    return std::move(transfer.answer);
  }

 private:
  static void perform(const Handle& handle, Transfer& transfer) {
    curl_slist* headers = nullptr;
    for (const auto& [name, value] : transfer.request->headers)
      headers = curl().slist_append(headers, fmt::format("{}: {}", name, value).c_str());
    headers = curl().slist_append(headers, "Expect:");  // registries answer a wrong body at its end
    set(handle, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = curl().easy_perform(handle.get());
    curl().slist_free_all(headers);
    check(code, transfer);
    long status = 0;
    curl().easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    transfer.answer.status = static_cast<int>(status);
  }

  void set_watch(const Handle& handle, Transfer& transfer) const {
    transfer.handle = handle.get();
    transfer.by_socket = !settings_.socket.empty();
    set(handle, CURLOPT_PREREQFUNCTION, &look_at_peer);
    set(handle, CURLOPT_PREREQDATA, static_cast<void*>(&transfer));
    transfer.silence = Silence(static_cast<double>(settings_.stall.count()), monotonic_seconds());
    transfer.despite_interrupt = settings_.despite_interrupt;
    transfer.give_up = &settings_.give_up;
    set(handle, CURLOPT_TIMEOUT, static_cast<long>(settings_.wall.count()));
    set(handle, CURLOPT_NOPROGRESS, 0L);
    set(handle, CURLOPT_XFERINFOFUNCTION, &watch);
    set(handle, CURLOPT_XFERINFODATA, static_cast<void*>(&transfer));
  }

  // The library reads SSL_CERT_FILE no more than a host's own certificates: its program does.
  void set_trust(const Handle& handle, const std::string& url) {
    const std::string file = value_or(settings_.environment, "SSL_CERT_FILE");
    std::string& own = own_certificates(host_and_port(url), file);
    if (!own.empty()) {
      curl_blob blob{own.data(), own.size(), CURL_BLOB_NOCOPY};
      set(handle, CURLOPT_CAINFO_BLOB, &blob);
    } else if (!file.empty()) {
      set(handle, CURLOPT_CAINFO, file.c_str());
    }
  }

  // Stays where it is, and as it is.
  std::string& own_certificates(const std::string& host, const std::string& file) {
    const std::lock_guard lock(mutex_);
    auto [known, is_new] = own_.try_emplace(host);
    if (!is_new) return known->second;
    known->second = certificates_of(host);
    if (!known->second.empty())
      known->second += bytes_of(file.empty() ? "/etc/ssl/certs/ca-certificates.crt" : file);
    return known->second;
  }

  static void set_method(const Handle& handle, Transfer& transfer) {
    const HttpRequest& request = *transfer.request;
    if (request.method == "HEAD") {
      set(handle, CURLOPT_NOBODY, 1L);
    } else if (request.method == "PUT" || request.method == "POST") {
      curl_off_t size = static_cast<curl_off_t>(request.body.size());
      if (!request.file.empty()) {
        transfer.file.open(request.file, std::ios::binary);
        std::error_code problem;
        transfer.file_size = fs::file_size(request.file, problem);
        size = static_cast<curl_off_t>(transfer.file_size);
        if (problem || !transfer.file)
          throw Error(ExitCode::store, fmt::format("cannot read {}", request.file.string()));
      }
      set(handle, CURLOPT_UPLOAD, 1L);
      set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
      set(handle, CURLOPT_READFUNCTION, &give_body);
      set(handle, CURLOPT_READDATA, static_cast<void*>(&transfer));
      set(handle, CURLOPT_INFILESIZE_LARGE, size);
    } else if (request.method != "GET") {
      set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
  }

  static void check(CURLcode code, const Transfer& transfer) {
    if (code == CURLE_OK || transfer.enough) return;
    if (transfer.problem) std::rethrow_exception(transfer.problem);
    if (transfer.is_told_to_stop()) throw Error(ExitCode::interrupted, "interrupted");
    if (transfer.is_given_up()) throw HttpFailure{"given up", false};
    if (transfer.too_long)
      throw HttpFailure{fmt::format("an answer of more than {} bytes", transfer.request->most), false};
    if (transfer.stalled) throw HttpFailure{transfer.silence.text()};
    if (!transfer.refused.empty())
      throw HttpFailure{fmt::format("it leads to {}, an address of this machine or its link, which kiln "
                                    "does not follow",
                                    transfer.refused),
                        false};
    const bool final = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_URL_MALFORMAT ||
                       code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_SSL_CACERT_BADFILE;
    throw HttpFailure{curl().easy_strerror(code), !final};
  }

  HttpSettings settings_;
  IdleHandles idle_;
  std::mutex mutex_;                        // guards what follows
  std::map<std::string, std::string> own_;  // certificates by host, "" for the system's
};

}  // namespace

std::string HttpAnswer::header(const std::string& name) const { return value_or(headers, name); }

std::string http_version() {
  try {
    return curl().version_info(CURLVERSION_NOW)->version;
  } catch (const Error&) {
    return "";
  }
}

std::unique_ptr<Http> open_http(HttpSettings settings) {
  return std::make_unique<CurlHttp>(std::move(settings));
}

}  // namespace kiln
