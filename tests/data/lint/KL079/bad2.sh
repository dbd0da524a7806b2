#!/bin/sh -eu
chmod a+rwx /opt/data
