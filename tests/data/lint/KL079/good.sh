#!/bin/sh -eu
chmod -R a+rX /opt/data
chmod 1777 /tmp
