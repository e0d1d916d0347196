#!/bin/sh
set -eu
: "${CODEX_API_KEY:?no key}"
exec my-agent
