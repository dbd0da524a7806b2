#!/bin/sh -eu
echo /opt/lib >/etc/ld.so.conf.d/opt.conf
