#include "registry/http/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "factory/base/error.h"
#include "registry/http/connections.h"

namespace kiln {
namespace {

using Phase = HttpConnection::Phase;
constexpr std::chrono::milliseconds kTick{100};
constexpr int kQuietTicks = 3;  // without a request, before a drained server ends

// One request and its answer, from its first line until the answer is sent.
struct Exchange {
  std::string raw_target;
  ReceivedRequest request{};
  std::optional<HttpResponse> response{};  // made
  bool head_read = false;
  bool overflowed = false;  // its body had no room among the others
  std::size_t counted = 0;  // bytes of the body that count to all bodies
};

std::string address_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address == nullptr) return "";
  if (address->sa_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  if (address->sa_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text, sizeof text);
  return text;
}

HttpResponse too_many_bodies() {
  HttpResponse busy = http_error(503, "too many bodies come in at once");
  busy.headers.emplace_back("Retry-After", "1");
  return busy;
}

// To a connection that finds no place, before it asks. What it has sent is read, as far as it is there: else
// the kernel ends the connection with a reset, which may overtake the answer.
void send_away(int descriptor) {
  static const std::string kFull = [] {
    const HttpResponse full = http_error(503, "too many connections");
    return fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {}\r\nContent-Length: {}\r\nRetry-After: "
        "1\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{}",
        full.type, full.body.size(), full.body);
  }();
  ::send(descriptor, kFull.data(), kFull.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(descriptor, SHUT_WR);
  char sent[4096];
  for (int i = 0; i < 16 && ::recv(descriptor, sent, sizeof sent, MSG_DONTWAIT) > 0; ++i) continue;
  ::close(descriptor);
}

HttpConnection* connection_of(MHD_Connection* handle) {
  const auto* found = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return found == nullptr ? nullptr : static_cast<HttpConnection*>(found->socket_context);
}

}  // namespace

struct HttpServer::State {
  State(const HttpLimits& given, HttpHandler answers)
      : limits(given),
        handler(std::move(answers)),
        connections({given.request, given.answer, given.per_address}) {}

  ~State();
  void start(int listening);
  void tend(bool all = false);
  void tend_until_stopped();
  void stop_accepting();
  void admit(const Acceptor::Accepted& accepted);

  // What libmicrohttpd calls; `self` is the State.
  static void came_or_went(void* self, MHD_Connection* handle, void** connection,
                           MHD_ConnectionNotificationCode what);
  static void* target_read(void* self, const char* target, MHD_Connection* handle);
  static std::size_t leave_escaped(void* self, MHD_Connection* handle, char* text);
  static MHD_Result asked(void* self, MHD_Connection* handle, const char* target, const char* method,
                          const char* version, const char* piece, std::size_t* piece_size, void** exchange);
  static void completed(void* self, MHD_Connection* handle, void** exchange, MHD_RequestTerminationCode how);

  MHD_Result read_head(MHD_Connection* handle, const char* target, const char* method, Exchange& exchange);
  void add_piece(std::string_view piece, Exchange& exchange);
  MHD_Result answer(MHD_Connection* handle, Exchange& exchange);
  MHD_Result refuse(MHD_Connection* handle, int status, const std::string& why, Exchange& exchange);
  MHD_Result send(MHD_Connection* handle, const Exchange& exchange);

  const HttpLimits limits;
  const HttpHandler handler;
  HttpConnections connections;
  MHD_Daemon* daemon = nullptr;
  std::optional<Acceptor> acceptor{};
  std::atomic<bool> stopping{false};
  std::atomic<std::size_t> bodies{0};  // bytes
  std::atomic<std::uint64_t> malformed{0}, refused{0};
  std::mutex lock;  // of stopped
  std::condition_variable wake;
  bool stopped = false;
  std::thread tender;
};

void HttpServer::State::start(int listening) {
  const auto flags =
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO;
  // The limit is the acceptor's: libmicrohttpd divides its own among the threads, and each must have room for
  // all.
  daemon = MHD_start_daemon(
      flags, 0, nullptr, nullptr, &State::asked, this, MHD_OPTION_THREAD_POOL_SIZE, limits.threads,
      MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(limits.connections * limits.threads),
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.head, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
      MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_URI_LOG_CALLBACK, &State::target_read, this,
      MHD_OPTION_UNESCAPE_CALLBACK, &State::leave_escaped, this, MHD_OPTION_NOTIFY_CONNECTION,
      &State::came_or_went, this, MHD_OPTION_NOTIFY_COMPLETED, &State::completed, this, MHD_OPTION_END);
  if (daemon == nullptr)
    throw Error(ExitCode::network, "cannot serve: libmicrohttpd does not start",
                "too many threads, or too few descriptors (ulimit -n)?");
  tender = std::thread([this] { tend_until_stopped(); });
  acceptor.emplace(listening, [this](const Acceptor::Accepted& accepted) { admit(accepted); });
}

void HttpServer::State::admit(const Acceptor::Accepted& accepted) {
  const auto* address = reinterpret_cast<const sockaddr*>(&accepted.address);
  const std::string name = address_text(address);
  if (connections.size() >= limits.connections || !connections.admit(name)) {
    ++refused;
    send_away(accepted.descriptor);
  } else if (MHD_add_connection(daemon, accepted.descriptor, address, accepted.size) != MHD_YES) {
    connections.release(name);  // libmicrohttpd has closed it
  }
}

void HttpServer::State::tend(bool all) {
  connections.tend(
      [](HttpConnection& connection) {
        MHD_resume_connection(static_cast<MHD_Connection*>(connection.handle));
      },
      all);
}

void HttpServer::State::tend_until_stopped() {
  std::unique_lock held(lock);
  while (!wake.wait_for(held, kTick, [this] { return stopped; })) {
    held.unlock();
    tend();
    held.lock();
  }
}

void HttpServer::State::stop_accepting() {
  stopping = true;
  if (acceptor) acceptor->stop();
}

HttpServer::State::~State() {
  stop_accepting();
  {
    const std::lock_guard held(lock);
    stopped = true;
  }
  wake.notify_all();
  if (tender.joinable()) tender.join();
  if (daemon == nullptr) return;
  tend(true);  // libmicrohttpd does not stop while a connection is suspended
  MHD_stop_daemon(daemon);
}

void HttpServer::State::came_or_went(void* self, MHD_Connection* handle, void** connection,
                                     MHD_ConnectionNotificationCode what) {
  auto& state = *static_cast<State*>(self);
  if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
    const std::unique_ptr<HttpConnection> gone(static_cast<HttpConnection*>(*connection));
    if (gone) state.connections.remove(*gone);
    *connection = nullptr;
    return;
  }
  auto come = std::make_unique<HttpConnection>();
  come->handle = handle;
  come->descriptor = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  come->address =
      address_text(MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
  state.connections.add(*come);
  *connection = come.release();  // ours again when it goes
}

void* HttpServer::State::target_read(void*, const char* target, MHD_Connection*) {
  return new Exchange{target == nullptr ? "" : target};  // ours again in completed()
}

std::size_t HttpServer::State::leave_escaped(void*, MHD_Connection*, char* text) { return std::strlen(text); }

MHD_Result HttpServer::State::asked(void* self, MHD_Connection* handle, const char* target,
                                    const char* method, const char*, const char* piece,
                                    std::size_t* piece_size, void** held) {
  auto& state = *static_cast<State*>(self);
  auto& exchange = *static_cast<Exchange*>(*held);
  if (!exchange.head_read) return state.read_head(handle, target, method, exchange);
  if (*piece_size == 0) return state.answer(handle, exchange);
  state.add_piece({piece, *piece_size}, exchange);
  *piece_size = 0;
  return MHD_YES;
}

void HttpServer::State::completed(void* self, MHD_Connection* handle, void** held,
                                  MHD_RequestTerminationCode) {
  auto& state = *static_cast<State*>(self);
  const std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(*held));
  *held = nullptr;
  if (exchange) state.bodies -= exchange->counted;
  if (HttpConnection* connection = connection_of(handle))
    state.connections.enter(*connection, Phase::reading);
}

MHD_Result HttpServer::State::read_head(MHD_Connection* handle, const char* target, const char* method,
                                        Exchange& exchange) {
  exchange.head_read = true;
  const auto* size = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  if (size == nullptr || target != method + std::strlen(method) + 1)
    return refuse(handle, 400, "the request line is not METHOD TARGET HTTP/1.1", exchange);
  // libmicrohttpd keeps the head in one piece, from the method on, until the answer is sent.
  HeaderBlock block = read_header_block({method, size->header_size}, exchange.raw_target.size());
  if (block.status != 0) return refuse(handle, block.status, block.why, exchange);
  ReceivedRequest& request = exchange.request;
  try {
    request.target = parse_target(exchange.raw_target);
  } catch (const Error& error) {
    return refuse(handle, 400, error.message(), exchange);
  }
  if (block.content_length > limits.body)
    return refuse(handle, 413, fmt::format("the body has more than {} bytes", limits.body), exchange);
  request.method = method;
  request.raw_target = std::move(exchange.raw_target);
  request.headers = std::move(block.headers);
  HttpConnection* connection = connection_of(handle);
  request.address = connection->address;
  connections.enter(*connection, Phase::asked);
  return MHD_YES;
}

void HttpServer::State::add_piece(std::string_view piece, Exchange& exchange) {
  if (exchange.overflowed) return;
  bodies += piece.size();
  exchange.counted += piece.size();
  exchange.overflowed = bodies > limits.bodies;
  if (exchange.overflowed)
    std::string().swap(exchange.request.body);
  else
    exchange.request.body += piece;
}

MHD_Result HttpServer::State::answer(MHD_Connection* handle, Exchange& exchange) {
  if (exchange.response) return send(handle, exchange);  // it was delayed
  HttpConnection* connection = connection_of(handle);
  connections.enter(*connection, Phase::answering);
  exchange.response = exchange.overflowed ? too_many_bodies() : handler(exchange.request);
  if (exchange.response->delay.count() <= 0 || stopping) return send(handle, exchange);
  MHD_suspend_connection(handle);
  connections.delay(*connection, exchange.response->delay);
  return MHD_YES;
}

MHD_Result HttpServer::State::refuse(MHD_Connection* handle, int status, const std::string& why,
                                     Exchange& exchange) {
  ++malformed;
  if (HttpConnection* connection = connection_of(handle)) {
    connections.enter(*connection, Phase::answering);
    connection->lingers = true;  // a body may follow
  }
  exchange.response = http_error(status, why);
  exchange.response->close = true;  // where the next request begins is not known any more
  return send(handle, exchange);
}

MHD_Result HttpServer::State::send(MHD_Connection* handle, const Exchange& exchange) {
  const HttpResponse& response = *exchange.response;
  // The exchange, and the body with it, stays until all is sent; libmicrohttpd does not write to it.
  MHD_Response* made = MHD_create_response_from_buffer(
      response.body.size(), const_cast<char*>(response.body.data()), MHD_RESPMEM_PERSISTENT);
  if (made == nullptr) return MHD_NO;
  if (!response.body.empty()) MHD_add_response_header(made, "Content-Type", response.type.c_str());
  for (const auto& [name, value] : response.headers)
    MHD_add_response_header(made, name.c_str(), value.c_str());
  if (response.close || stopping) MHD_add_response_header(made, "Connection", "close");
  const MHD_Result result = MHD_queue_response(handle, static_cast<unsigned>(response.status), made);
  MHD_destroy_response(made);
  return result;
}

HttpServer::HttpServer(int listening, const HttpLimits& limits, HttpHandler handler)
    : state_(std::make_unique<State>(limits, std::move(handler))) {
  state_->start(listening);
}

HttpServer::~HttpServer() = default;

void HttpServer::drain(std::chrono::milliseconds patience) {
  state_->stop_accepting();
  int quiet = 0;
  for (auto waited = kTick; waited < patience && quiet < kQuietTicks; waited += kTick) {
    state_->tend(true);
    quiet = state_->connections.asked() == 0 ? quiet + 1 : 0;
    std::this_thread::sleep_for(kTick);
  }
}

HttpCounts HttpServer::counts() const {
  return {state_->connections.size(), state_->connections.late(), state_->refused, state_->malformed};
}

}  // namespace kiln
