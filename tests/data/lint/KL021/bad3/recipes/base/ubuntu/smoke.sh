#!/bin/sh -eu
dpkg --audit
