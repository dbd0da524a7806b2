#!/bin/sh -eu
apt update
