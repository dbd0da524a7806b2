// What kiln keeps for itself and may lose, so that damage is as good as loss: the SHA-256 of name and bytes
// in hexadecimal, a line feed, the bytes. With the name in it, a file that stands for another proves nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kiln {

std::string with_checksum(std::string_view name, std::string_view bytes);
// The bytes; nullopt where `text` is not what with_checksum() made of this name.
std::optional<std::string> without_checksum(std::string_view name, std::string text);

}  // namespace kiln
