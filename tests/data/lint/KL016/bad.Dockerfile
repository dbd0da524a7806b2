FROM ubuntu:18.04
