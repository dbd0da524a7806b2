#!/bin/sh -eu
# What was made is there, and what was hidden is not.
[ "$(stat -c %u:%g:%a /opt/probe/owned)" = 33:1234:640 ]
[ "$(stat -c %h /opt/probe/file)" = 2 ]
[ "$(ls /usr/share/doc/base-files)" = only ]
[ ! -e /etc/debian_version ] && [ ! -e /run/dropped ]
[ -L /usr/share/base-passwd ]
getent passwd probe >/dev/null
getent services https >/dev/null
echo "probe 1.0"
