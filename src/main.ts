#!/usr/bin/env node
/**
 * The `sluice` binary. It checks the Node version before anything else is loaded, because the modules behind it
 * need Node 24 and would otherwise fail with an error about a missing built-in module.
 */
import { createRequire } from 'node:module';

const { adviceFor } = createRequire(import.meta.url)('../build/node-version.cjs') as {
  adviceFor(version: string): string | undefined;
};
const advice = adviceFor(process.versions.node);
if (advice !== undefined) {
  process.stderr.write(advice);
  process.exitCode = 2;
} else {
  const { runCli } = await import('./frontends/cli/cli.ts');
  process.exitCode = await runCli(process.argv.slice(2));
}
