#!/bin/sh
# Sourced first; nothing to set.
