#!/usr/bin/env node
/**
 * The `sluice` binary. It checks the Node version before anything else is loaded, because the modules behind it
 * need Node 24 and would otherwise fail with an error about a missing built-in module.
 */
const required = 24;
const found = Number.parseInt(process.versions.node, 10);
if (found < required) {
  process.stderr.write(
    `sluice needs Node ${required} or newer, and this is Node ${process.versions.node}.\n` +
      'Run it as "npx sluice" from a folder where "npm ci" has been run: the project brings its own Node.\n',
  );
  process.exitCode = 2;
} else {
  const { runCli } = await import('./cli/cli.ts');
  process.exitCode = await runCli(process.argv.slice(2));
}
