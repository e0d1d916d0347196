/*
 * Which Node this package needs, in syntax that any Node reads. npm runs it before anything is built, where the wrong
 * Node would otherwise end in pages of a compiler; the command says the same when it is started with another Node.
 */
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const REQUIRED = 24;

/** What to do with this Node; undefined where it is new enough. */
function adviceFor(version) {
  if (Number.parseInt(version, 10) >= REQUIRED) return undefined;
  return [
    `sluice needs Node ${REQUIRED} or newer, and this is Node ${version}.`,
    'Do one of these:',
    `  - install Node ${REQUIRED} (https://nodejs.org/en/download, or "nvm install ${REQUIRED}"), and then sluice again;`,
    `  - keep this Node, and give the project one of its own: "npm install node@${REQUIRED}" in its folder, then install sluice there and start it with "npx sluice".`,
    '',
  ].join('\n');
}

/** A checkout, or a project that brings its own Node: what is installed now is run by that one. */
function bringsItsNode() {
  return existsSync(join(__dirname, '../src')) || existsSync(join(__dirname, '../../node/package.json'));
}

module.exports = { adviceFor };

if (require.main === module) {
  const advice = bringsItsNode() ? undefined : adviceFor(process.versions.node);
  if (advice !== undefined) {
    process.stderr.write(advice);
    process.exitCode = 1;
  }
}
