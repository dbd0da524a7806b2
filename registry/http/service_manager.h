// What a service manager is told of us (sd_notify(3)), without its library: a datagram.
#pragma once

#include <string>

namespace kiln {

// `address`: $NOTIFY_SOCKET, a path or @name; "" = nobody wants to know. `state`: "READY=1", lines. False
// when it could not be told.
bool tell_service_manager(const std::string& address, const std::string& state);

// "MONOTONIC_USEC=…": goes with RELOADING=1.
std::string monotonic_line();

}  // namespace kiln
