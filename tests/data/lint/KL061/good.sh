#!/bin/sh -eu
pip install --index-url https://pypi.example.org:8080/simple -r requirements.txt
git clone "https://$USER:$TOKEN@example.org/a"
