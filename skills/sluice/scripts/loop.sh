#!/usr/bin/env sh
# check, test and diff, one after the other: scripts/loop.sh [BASE], BASE a git revision or a folder (default: HEAD).
# Ends with 0 if the files have no error, the golden cases hold and no recorded request comes out otherwise than with
# BASE; else with 1. SLUICE names the command where it is not on PATH: SLUICE="npx --no-install sluice" scripts/loop.sh
set -u
base=${1:-HEAD}
sluice=${SLUICE:-sluice}
status=0
echo "check:" && $sluice check || status=1
echo "test:" && CI=true $sluice test || status=1
echo "diff $base:" && $sluice diff "$base" --exit-code || status=1
exit $status
