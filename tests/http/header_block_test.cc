#include <gtest/gtest.h>

#include "registry/http/message.h"

namespace kiln {
namespace {

constexpr std::string_view kTarget = "/x?a=b";

// A head as it came in, as libmicrohttpd leaves it.
std::string block_of(std::string raw) {
  std::string block;
  bool in_request_line = true;
  bool colon_seen = false;
  int blanks = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool line_ends = raw[i] == '\n' || (raw[i] == '\r' && raw.substr(i, 2) == "\r\n");
    char c = raw[i];
    if (line_ends) {
      c = '\0';
      if (raw[i] == '\r') block += '\0', ++i;
      in_request_line = colon_seen = false;
    } else if (in_request_line ? c == ' ' && ++blanks <= 2 : c == ':' && !colon_seen) {
      c = '\0';
      colon_seen = true;
    }
    block += c;
  }
  return block;
}

HeaderBlock read(const std::string& headers, const std::string& version = "HTTP/1.1") {
  return read_header_block(block_of("GET " + std::string(kTarget) + " " + version + "\r\n" + headers),
                           kTarget.size());
}

int status_of_head(const std::string& headers) { return read(headers).status; }

TEST(HeaderBlock, GivesHeadersInLowerCaseWithoutBlanks) {
  const HeaderBlock block = read("Host: x:80\r\nX-Odd:\t a  b \t\r\nEmpty:\r\nContent-Length: 12\r\n\r\n");
  EXPECT_EQ(block.status, 0) << block.why;
  EXPECT_EQ(block.headers,
            (HttpHeaders{{"host", "x:80"}, {"x-odd", "a  b"}, {"empty", ""}, {"content-length", "12"}}));
  EXPECT_EQ(block.content_length, 12u);
  EXPECT_EQ(read("\r\n", "HTTP/1.0").status, 0);  // which needs no Host
}

TEST(HeaderBlock, LinesEndInOneWay) {
  EXPECT_EQ(status_of_head("Host: x\r\nA: b\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\nA: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\r\n\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\n\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\r\nA: b\rC: d\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\r\n"), 400);  // and the end is there
  EXPECT_EQ(status_of_head(""), 400);
}

TEST(HeaderBlock, AHeaderIsOneLineOfText) {
  EXPECT_EQ(status_of_head("Host: x\r\n folded\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Host : x\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Host\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head(": x\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Ho(st: x\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head(std::string("Host: x\0y\r\n\r\n", 13)), 400);
  EXPECT_EQ(status_of_head(std::string("Host: x\0\0A: b\r\n\r\n", 18)), 400);
  EXPECT_EQ(status_of_head("Host: x\r\nA: \x01\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\r\nA: \x7f\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\r\nA: b\tc\r\n\r\n"), 0);
}

TEST(HeaderBlock, ARequestLineIsThreeWords) {
  EXPECT_EQ(read("Host: x\r\n\r\n", "HTTP/1.2").status, 400);
  EXPECT_EQ(read("Host: x\r\n\r\n", "HTTP/1.1 ").status, 400);
  EXPECT_EQ(read("Host: x\r\n\r\n", "http/1.1").status, 400);
  EXPECT_EQ(read_header_block(block_of("G(T /x?a=b HTTP/1.1\r\nHost: x\r\n\r\n"), kTarget.size()).status,
            400);
  EXPECT_EQ(read_header_block(block_of("GET /x HTTP/1.1\r\nHost: x\r\n\r\n"), kTarget.size()).status, 400);
  EXPECT_EQ(read_header_block("GET", 100).status, 400);
}

TEST(HeaderBlock, TheLengthOfABodyIsSaidOnce) {
  EXPECT_EQ(status_of_head("Host: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"), 400);
  for (const char* length : {"", "-1", "+1", "1, 1", "0x1", "1 ", "18446744073709551616", "1;a"}) {
    const bool blank_behind = std::string_view(length) == "1 ";
    EXPECT_EQ(status_of_head("Host: x\r\nContent-Length: " + std::string(length) + "\r\n\r\n"),
              blank_behind ? 0 : 400)
        << length;
  }
  EXPECT_EQ(status_of_head("Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\r\nTransfer-Encoding: chunked\r\n\r\n"), 411);
  EXPECT_EQ(status_of_head("Host: x\r\nTRANSFER-ENCODING: identity\r\n\r\n"), 411);
  EXPECT_EQ(read("Host: x\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0").status, 400);
}

TEST(HeaderBlock, TheHostIsSaidOnce) {
  EXPECT_EQ(status_of_head("\r\n"), 400);
  EXPECT_EQ(status_of_head("Host: x\r\nhost: y\r\n\r\n"), 400);
}

}  // namespace
}  // namespace kiln
