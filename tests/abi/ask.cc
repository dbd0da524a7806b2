// ask STATE: as ask.c, by the C++ header.
#include <iostream>
#include <kiln_registry.hpp>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const kiln_registry_cpp::Registry registry(argv[1]);
    std::string flags, document;
    kiln_registry_cpp::Terms terms;
    while (std::getline(std::cin, flags, '\0') && std::getline(std::cin, terms.host, '\0') &&
           std::getline(std::cin, document, '\0')) {
      terms.allow_failing = (std::stoul(flags) & KILN_ALLOW_FAILING) != 0;
      int status = KILN_DONE;
      std::string answer, error;
      try {
        answer = registry.select(document, terms);
      } catch (const kiln_registry_cpp::Error& refused) {
        status = refused.status();
        answer = refused.answer();
        error = refused.what();
      }
      std::cout << status << '\0' << answer << '\0' << error << '\0' << std::flush;
    }
  } catch (const kiln_registry_cpp::Error& error) {
    std::cerr << error.what() << '\n';
    return error.status();
  }
}
