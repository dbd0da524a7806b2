#include "factory/run/failure.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

const CommandLimits kLimits{std::chrono::seconds(60), std::chrono::seconds(5), 1000};

Error error_of(CommandResult result) {
  try {
    check_script(result, kLimits);
  } catch (const Error& error) {
    return error;
  }
  return Error(ExitCode::ok, "nothing was thrown");
}

Error exit_with(const std::string& tail) { return error_of({CommandEnd::exited, 100, "", tail, 1}); }

TEST(Failure, SaysHowAScriptEnded) {
  EXPECT_EQ(error_of({CommandEnd::exited, 3, "", "", 1}).message(), "exit status 3");
  EXPECT_EQ(error_of({CommandEnd::exited, 3, "", "one\nmake: it broke\n\n", 1}).message(),
            "exit status 3: make: it broke");
  EXPECT_EQ(error_of({CommandEnd::signalled, 9, "", "", 1}).message(), "killed by signal 9 (out of memory?)");
  EXPECT_EQ(error_of({CommandEnd::signalled, 11, "", "", 1}).message(), "killed by signal 11");
  EXPECT_EQ(error_of({CommandEnd::wall_limit, 15, "", "", 60}).message(), "killed after 60 s");
  EXPECT_EQ(error_of({CommandEnd::silence_limit, 15, "", "", 9}).message(), "killed after 5 s of silence");
  EXPECT_EQ(error_of({CommandEnd::log_limit, 15, "", "", 9}).message(),
            "killed: it printed more than 1000 bytes");
  EXPECT_EQ(error_of({CommandEnd::exited, 0, "", "", 1}).code(), ExitCode::ok);
  EXPECT_EQ(error_of({CommandEnd::interrupted, 2, "", "", 1}).code(), ExitCode::interrupted);
}

TEST(Failure, ABuildThatFailsIsNobodyElsesFault) {
  for (const char* tail : {"error: expected ';'", "", "make: *** [all] Error 2", "404 Not Found",
                           "HTTP error 500 is not a phrase of ours"})
    EXPECT_EQ(failure_class_of(exit_with(tail)), FailureClass::build) << tail;
  EXPECT_EQ(failure_class_of(error_of({CommandEnd::silence_limit, 15, "", "could not resolve host", 9})),
            FailureClass::build);
}

TEST(Failure, UnreachableSourcesAreInfrastructure) {
  for (const char* tail : {
           "W: Failed to fetch http://x/InRelease  Temporary failure resolving 'x'",
           "curl: (6) Could not resolve host: x",
           "E: Failed to fetch http://x/y.deb  503  Service Unavailable [IP: ::1]\n503 Service Unavailable",
           "  Hash Sum mismatch\n   Hashes of expected file:",
           "pip._vendor.urllib3.exceptions.ReadTimeoutError: Read timed out.",
           "fatal: unable to access 'https://x/': Connection reset by peer",
       }) {
    Error error = exit_with(tail);
    EXPECT_EQ(error.code(), ExitCode::network) << tail;
    EXPECT_EQ(failure_class_of(error), FailureClass::infrastructure);
    EXPECT_EQ(error.message(), "exit status 100: a package source could not be reached");
  }
}

TEST(Failure, AFullDiskIsInfrastructure) {
  Error error = exit_with("dpkg: error: failed to write: No space left on device");
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.message(), "exit status 100: the disk is full");
  EXPECT_EQ(failure_class_of(error), FailureClass::infrastructure);
}

TEST(Failure, APanicOfTheEngineHidesNothing) {
  const std::string trace =
      "subprocess exited with status 7\npanic: runtime error: invalid memory address or nil pointer "
      "dereference\n"
      "\ngoroutine 1 [running]:\ngithub.com/containers/buildah.(*Builder).Run.func2()\nmain.main()\n"
      "\tgithub.com/containers/buildah/cmd/buildah/main.go:234 +0x71\n";
  EXPECT_EQ(exit_with("make: it broke\n" + trace).message(), "exit status 100: make: it broke");
  Error error = exit_with("head: standard output: I/O error\n" + trace);
  EXPECT_EQ(error.message(), "exit status 100: the disk is full, or fails: head: standard output: I/O error");
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(exit_with("panic: runtime error: mine\nmain.go:7\n").message(),
            "exit status 100: panic: runtime error: mine; its last line: main.go:7")
      << "a script's own";
}

TEST(Failure, WhoMustAct) {
  EXPECT_EQ(failure_class_of(Error(ExitCode::input, "x")), FailureClass::input);
  EXPECT_EQ(failure_class_of(Error(ExitCode::tool_missing, "x")), FailureClass::infrastructure);
  EXPECT_EQ(failure_class_of(Error(ExitCode::network, "cannot pull x: i/o timeout")),
            FailureClass::infrastructure);
  EXPECT_EQ(failure_class_of(Error(ExitCode::network, "cannot pull x: unauthorized: log in")),
            FailureClass::policy);
}

}  // namespace
}  // namespace kiln
