#!/bin/sh -eu
pip install --index-url https://user:secret@pypi.example.org/simple -r requirements.txt
