#!/bin/sh -eu
yes "" | ./configure
