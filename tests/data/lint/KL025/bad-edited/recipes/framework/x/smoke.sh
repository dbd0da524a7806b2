#!/bin/sh -eu
x --version
