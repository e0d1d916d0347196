#!/usr/bin/env bash
# Builds the container image of Sluice without a container daemon: `image/build.sh [FOLDER]` (default: image/out).
#
# A tree is made of Debian's packages, the project's own Node, what `npm pack` packs, and the packages of the lockfile. It is
# left as `sluice-tree.tar`, which the Containerfile beside this script adds to nothing, and as `sluice-<version>.oci.tar`, the
# same tree as an OCI image. No install script of any package runs.
#
# Needs mmdebstrap and umoci (`apt-get install mmdebstrap umoci`), and `npm ci` run before. Debian's packages come from the
# sources of apt on this machine; on another system SOURCES names a file with them, and SUITE a release (default: bookworm).
set -euo pipefail
cd "$(dirname "$0")/.."
ROOT=$PWD
mkdir -p "${1:-image/out}"
OUT=$(cd "${1:-image/out}" && pwd)
SUITE=${SUITE:-bookworm}
SOURCES=${SOURCES:-$(ls /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -1 || true)}
export PATH="$ROOT/node_modules/.bin:$PATH:/usr/sbin"
for program in mmdebstrap umoci; do
  command -v "$program" >/dev/null || { echo "image/build.sh needs $program: apt-get install $program" >&2; exit 2; }
done
# Times within the image are at most that of the last commit, not that of the build.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
VERSION=$(node -p 'require("./package.json").version')
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
chmod 755 "$WORK"

echo "1/3 Sluice $VERSION and its packages"
npm pack --silent --pack-destination "$WORK" >/dev/null
mkdir "$WORK/sluice"
tar -xzf "$WORK/sluice-$VERSION.tgz" -C "$WORK/sluice" --strip-components 1
cp package-lock.json "$WORK/sluice/"
# What is optional elsewhere is in the image, in the versions that were tested.
node -e '
  const fs = require("node:fs");
  const file = process.argv[1] + "/package.json";
  const { peerDependencies, peerDependenciesMeta, devDependencies, scripts, ...rest } = JSON.parse(fs.readFileSync(file));
  for (const name of Object.keys(peerDependencies)) rest.dependencies[name] = devDependencies[name];
  rest.overrides = undefined;
  fs.writeFileSync(file, JSON.stringify(rest, null, 2));
' "$WORK/sluice"
(cd "$WORK/sluice" && npm install --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund --silent)
find "$WORK/sluice/node_modules/isolated-vm" -path '*/prebuilds/*' -name '*.node' ! -path "*linux-x64*" ! -path "*linux-arm64*" -delete
cp "$(node -p 'process.execPath')" "$WORK/node"

echo "2/3 the tree, from Debian's $SUITE"
cat >"$WORK/finish" <<'FINISH'
set -e
tree=$1
mkdir -p "$tree/opt"
cp -r "$2/sluice" "$tree/opt/sluice"
cp "$2/node" "$tree/usr/bin/node"
# Packages were only unpacked, so what their scripts would have made is made here.
for name in sh ash cat chmod chown cp cut date df du echo env find grep head hostname id kill ln ls mkdir more mv nc nslookup ps \
  pwd rm sed sleep sort stat tail tar test timeout top touch tr true uname vi wc wget which whoami xargs; do
  [ -e "$tree/bin/$name" ] || ln -s busybox "$tree/bin/$name"
done
ln -s /bin/busybox "$tree/usr/bin/env"
mkdir -p "$tree/etc/ssl/certs" "$tree/config" "$tree/state"
find "$tree/usr/share/ca-certificates" -name '*.crt' | LC_ALL=C sort | xargs cat >"$tree/etc/ssl/certs/ca-certificates.crt"
printf 'root:x:0:0:root:/root:/bin/sh\nsluice:x:10001:10001::/state:/bin/sh\n' >"$tree/etc/passwd"
printf 'root:x:0:\nsluice:x:10001:\n' >"$tree/etc/group"
printf 'hosts: files dns\n' >"$tree/etc/nsswitch.conf"
chown -R 0:0 "$tree/opt/sluice" "$tree/usr/bin/node"
chown 10001:10001 "$tree/state"
chmod 755 "$tree/usr/bin/node" "$tree/opt/sluice/dist/main.js"
ln -sf /opt/sluice/dist/main.js "$tree/usr/bin/sluice"
# The health check starts no second Node: 3 MB in place of 40.
printf '#!/bin/sh\nexec timeout 5 wget -q -O /dev/null "http://127.0.0.1:${SLUICE_PORT:-8787}/readyz"\n' >"$tree/usr/bin/sluice-health"
chmod 755 "$tree/usr/bin/sluice-health"
# Nobody becomes another user in there.
find "$tree" -xdev -type f -perm /6000 -exec chmod a-s {} +
rm -rf "$tree"/var/cache/apt "$tree"/usr/share/man "$tree"/usr/share/info "$tree"/usr/share/lintian "$tree"/usr/share/pixmaps "$tree"/usr/share/perl5 \
  "$tree"/usr/include "$tree"/usr/lib/*/perl* "$tree"/usr/bin/debconf* "$tree"/usr/bin/c_rehash "$tree"/var/lib/dpkg/*-old
FINISH
mmdebstrap --quiet --variant=extract --format=tar \
  --include=base-files,busybox,ca-certificates,libstdc++6,netbase,tini,tzdata,util-linux \
  --extract-hook="sh $WORK/finish \"\$1\" $WORK" \
  "$SUITE" "$OUT/sluice-tree.tar" ${SOURCES:+"$SOURCES"}

echo "3/3 the OCI image"
rm -rf "$WORK/oci"
umoci init --layout "$WORK/oci"
umoci new --image "$WORK/oci:$VERSION"
umoci raw add-layer --image "$WORK/oci:$VERSION" "$OUT/sluice-tree.tar"
# The same as the Containerfile says; a test compares the two.
umoci config --image "$WORK/oci:$VERSION" \
  --config.user 10001:10001 --config.workingdir /config --config.volume /state --config.exposedports 8787/tcp \
  --config.env PATH=/usr/bin:/bin --config.env HOME=/state --config.env XDG_STATE_HOME=/state \
  --config.env MALLOC_ARENA_MAX=1 --config.env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
  --config.entrypoint /usr/bin/tini --config.entrypoint -- \
  --config.cmd sluice --config.cmd serve --config.cmd --host --config.cmd 0.0.0.0 \
  --config.stopsignal SIGTERM --created "$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)"
tar -C "$WORK/oci" --sort=name --owner=0 --group=0 --mtime="@$SOURCE_DATE_EPOCH" -cf "$OUT/sluice-$VERSION.oci.tar" .
MIB=$(($(stat -c %s "$OUT/sluice-tree.tar") / 1048576))
echo "$OUT/sluice-$VERSION.oci.tar: $MIB MiB unpacked, of which $(($(stat -c %s "$WORK/node") / 1048576)) are Node alone"
