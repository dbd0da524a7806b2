#!/bin/sh -eu
git pull
