// The least that a server on libmicrohttpd can do, with the same event loop and threads as kiln serve: the
// yardstick of benchmarks/serve.sh.
//
//   hello_microhttpd PORT [FILE]    answers with the bytes of the file
#include <microhttpd.h>
#include <netinet/in.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace {

constexpr unsigned kThreads = 4;  // HttpLimits::threads
std::string hello = "{\"hello\": \"world\"}\n";

MHD_Result answer(void*, MHD_Connection* connection, const char*, const char*, const char*, const char*,
                  std::size_t* size, void** seen) {
  static char once;
  if (*seen == nullptr || *size > 0) {  // the head, and pieces of a body
    *seen = &once;
    *size = 0;
    return MHD_YES;
  }
  MHD_Response* response =
      MHD_create_response_from_buffer(hello.size(), hello.data(), MHD_RESPMEM_PERSISTENT);
  MHD_add_response_header(response, "Content-Type", "application/json");
  const MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc > 2) {
    std::ifstream file(argv[2], std::ios::binary);
    hello.assign(std::istreambuf_iterator<char>(file), {});
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  MHD_Daemon* daemon =
      MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO, 0, nullptr, nullptr, answer, nullptr,
                       MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_THREAD_POOL_SIZE, kThreads, MHD_OPTION_END);
  if (daemon == nullptr) return 1;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  int signal = 0;
  sigwait(&signals, &signal);
  MHD_stop_daemon(daemon);
}
