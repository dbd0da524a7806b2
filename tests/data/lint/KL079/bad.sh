#!/bin/sh -eu
chmod -R 777 /opt/data
