#!/bin/sh -eu
ldconfig
