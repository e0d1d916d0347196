#!/bin/sh
set -eu
prompt=$1
exec my-agent "$prompt"
