FROM ubuntu
