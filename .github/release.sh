#!/usr/bin/env bash
# Makes what a release consists of: `.github/release.sh FOLDER`. The package, the image, their bill of materials (CycloneDX,
# by npm from the lockfile), checksums of all three, and in `notes.md` the changelog's part on this version.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# = 1 ] || { echo "usage: .github/release.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
OUT=$(cd "$1" && pwd)
export PATH="$PWD/node_modules/.bin:$PATH"
VERSION=$(node -p 'require("./package.json").version')
awk -v head="## $VERSION" '$0 == head { on = 1; next } on && /^## / { exit } on' CHANGELOG.md >"$OUT/notes.md"
grep -q '[^[:space:]]' "$OUT/notes.md" || { echo "CHANGELOG.md says nothing of $VERSION" >&2; exit 1; }
npm pack --silent --pack-destination "$OUT" >/dev/null
# For npm, what is bundled into dist is a development dependency: dist/LICENCES.txt says which those are.
npm sbom --sbom-format=cyclonedx | node -e '
  const fs = require("node:fs");
  const bundled = new Set(fs.readFileSync("dist/LICENCES.txt", "utf8").match(/^(?:@[^ /]+\/)?[\w.-]+ \d+\.\d+\.\S+$/gm)?.map((line) => line.replace(" ", "@")));
  const bom = JSON.parse(fs.readFileSync(0, "utf8"));
  const isDev = ({ properties = [] }) => properties.some(({ name, value }) => name === "cdx:npm:package:development" && value === "true");
  const idOf = ({ name, group, version }) => `${group ? `${group}/` : ""}${name}@${version}`;
  bom.components = bom.components.filter((part) => !isDev(part) || bundled.has(idOf(part)));
  const missing = [...bundled].filter((id) => !bom.components.some((part) => idOf(part) === id));
  if (bundled.size === 0 || missing.length > 0) throw new Error(`not in the bill of materials: ${missing}`);
  const kept = new Set([bom.metadata.component["bom-ref"], ...bom.components.map((part) => part["bom-ref"])]);
  bom.dependencies = bom.dependencies.filter(({ ref }) => kept.has(ref)).map((entry) => ({ ...entry, dependsOn: entry.dependsOn?.filter((ref) => kept.has(ref)) }));
  bom.metadata.component.name = "sluice";
  process.stdout.write(JSON.stringify(bom, null, 2));
' >"$OUT/sluice-$VERSION.cdx.json"
docker build --quiet --file deploy/Dockerfile --tag "sluice:$VERSION" . >/dev/null
docker save --output "$OUT/sluice-$VERSION.image.tar" "sluice:$VERSION"
(cd "$OUT" && sha256sum -- *.tgz *.json *.tar >SHA256SUMS && sha256sum --check --quiet SHA256SUMS)
ls -l "$OUT"
