import { expect, test } from 'vitest';
import { ownCommand } from '../../../src/frontends/cli/next-steps.ts';

test.each([
  ['in its checkout', '/opt/sluice', '/opt/sluice/src/main.ts', '/opt/sluice/', 'npx sluice'],
  [
    'below the folder it is installed in',
    '/home/ann/shop/hooks',
    '/home/ann/shop/node_modules/.bin/sluice',
    '/home/ann/shop/node_modules/sluice/',
    'npx sluice',
  ],
  ['installed for all', '/home/ann', '/usr/bin/sluice', '/usr/lib/node_modules/sluice/', 'sluice'],
  [
    'called by its path, elsewhere',
    '/home/ann',
    '/opt/sluice/dist/main.js',
    '/opt/sluice/',
    'node /opt/sluice/dist/main.js',
  ],
  [
    'beside a folder with the same beginning',
    '/opt/sluice-hooks',
    '/opt/sluice/dist/main.js',
    '/opt/sluice/',
    'node /opt/sluice/dist/main.js',
  ],
])(
  '%s the commands that are printed call this program, and never what a registry has',
  (_, cwd, started, home, command) => {
    expect(ownCommand(cwd, started, home)).toBe(command);
  },
);
