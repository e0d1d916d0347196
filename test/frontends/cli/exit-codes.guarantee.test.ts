/** How commands end: 0 fine, 1 findings, 2 wrong usage, 3 the tool itself failed. */
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../src/frontends/cli/cli.ts';
import { processTerminal } from '../../../src/frontends/cli/terminal.ts';
import { openBench, TOKEN } from '../../support/cli-service.ts';
import { commandNames } from '../../support/docs.ts';

const ENV = { SLUICE_HOOK_TOKEN: TOKEN };
const COMMANDS = commandNames(createProgram(processTerminal(), () => undefined));

const CONFIG = `hooks: {token: '\${SLUICE_HOOK_TOKEN}'}
server: {port: 1}
`;
const MAPPING = `- match: { path: orders }
  messageTemplate: 'Order {{id}}'
`;
const REQUEST = 'path: orders\nbody: {id: 7}\n';
const GOOD = { 'sluice.yaml': CONFIG, 'mappings/orders.yaml': MAPPING, 'o.request.yaml': REQUEST };
const BAD_MAPPING = { ...GOOD, 'mappings/orders.yaml': MAPPING.replace('match', 'mach') };
const BAD_CONFIG = { ...GOOD, 'sluice.yaml': `${CONFIG}storage: {url: ftp://x}\n` };
const BROKEN_STORE = {
  ...GOOD,
  'sluice.yaml': `${CONFIG}storage: {url: sqlite:store.db}\n`,
  'store.db': 'x'.repeat(9_000),
};
const NO_ROOM = {
  ...GOOD,
  'sluice.yaml': `${CONFIG}storage: {url: sqlite:store/store.db}\n`,
  store: 'a file',
};

interface Case {
  readonly line: string;
  readonly what: string;
  readonly code: 0 | 1 | 2 | 3;
  readonly files?: Readonly<Record<string, string>>;
}

const CASES: readonly Case[] = [
  { line: 'check', what: 'files without errors', code: 0 },
  { line: 'check', what: 'a mapping with an error', code: 1, files: BAD_MAPPING },
  { line: 'check', what: 'a configuration with an error', code: 1, files: BAD_CONFIG },
  { line: 'check -c other.yaml', what: 'a configuration that is not there', code: 1 },
  { line: 'explain o.request.yaml', what: 'a request that is taken', code: 0 },
  {
    line: 'explain o.request.yaml',
    what: 'a request that no mapping takes',
    code: 1,
    files: { ...GOOD, 'o.request.yaml': 'path: other\nbody: {}\n' },
  },
  { line: 'explain o.request.yaml', what: 'files with errors', code: 1, files: BAD_MAPPING },
  { line: 'explain req_none', what: 'an id that nothing has', code: 1 },
  { line: 'requests', what: 'a damaged store', code: 3, files: BROKEN_STORE },
  {
    line: 'test',
    what: 'a case that passes',
    code: 0,
    files: { ...GOOD, 'test/golden/a.request.yaml': REQUEST },
  },
  {
    line: 'test',
    what: 'a case that fails',
    code: 1,
    files: {
      ...GOOD,
      'test/golden/a.request.yaml': REQUEST,
      'test/golden/a.expected.yaml': 'format: 1\noutcome: skipped\n',
    },
  },
  { line: 'test --fail-under much', what: 'an option that cannot be read', code: 2 },
  {
    line: 'diff nowhere',
    what: 'a base that is not there',
    code: 2,
    files: { ...GOOD, 'test/golden/a.request.yaml': REQUEST },
  },
  { line: 'diff nowhere', what: 'no recorded requests', code: 2 },
  { line: 'send o.request.yaml', what: 'a service that does not answer', code: 3 },
  { line: 'send none.request.yaml', what: 'a file that is not there', code: 1 },
  { line: 'add nobody', what: 'an unknown sender', code: 2 },
  { line: 'add github --secret-file none', what: 'a secret file that is not there', code: 2 },
  { line: 'init', what: 'a folder with a configuration', code: 1 },
  { line: 'doctor', what: 'a damaged store', code: 1, files: BROKEN_STORE },
  { line: 'serve', what: 'a configuration with an error', code: 1, files: BAD_CONFIG },
  { line: 'serve', what: 'a store that cannot be opened', code: 3, files: NO_ROOM },
  { line: 'requests', what: 'a store that is not there yet', code: 1 },
  { line: 'runs', what: 'a damaged store', code: 3, files: BROKEN_STORE },
  { line: 'queue list', what: 'a damaged store', code: 3, files: BROKEN_STORE },
  { line: 'queue show none', what: 'an id that nothing has', code: 1 },
  { line: 'queue retry', what: 'nothing named', code: 2 },
  { line: 'queue drop none', what: 'a store that is not there yet', code: 1 },
  { line: 'sessions show none', what: 'a key that nothing has', code: 1 },
  { line: 'storage status', what: 'a store', code: 0 },
  { line: 'storage verify', what: 'a damaged store', code: 1, files: BROKEN_STORE },
  { line: 'storage backup copy.db', what: 'a damaged store', code: 3, files: BROKEN_STORE },
  { line: 'storage restore none.db', what: 'a copy that is not there', code: 2 },
  { line: 'runners check nobody', what: 'an unknown runner', code: 2 },
  { line: 'channels test', what: 'no channel', code: 2 },
  { line: 'webhooks mail check', what: 'no mailbox', code: 2 },
  { line: 'transform run none.ts --request o.request.yaml', what: 'a module that is not there', code: 1 },
  { line: 'replay none', what: 'an id that nothing has', code: 1 },
];

describe('the exit code of', () => {
  test.each(CASES)('"$line" with $what is $code', async ({ line, code, files = GOOD }) => {
    const run = await openBench(files).run(line.split(' '), { env: ENV });
    expect(run.exitCode, run.err).toBe(code);
  });

  test('every command is 2 for an option that it does not have', async () => {
    const bench = openBench(GOOD);
    for (const command of COMMANDS) {
      const run = await bench.run([...command.split(' '), '--no-such-option'], { env: ENV });
      expect(run.exitCode, command).toBe(2);
    }
  });

  test('every command that needs a configuration is 2 where there is none', async () => {
    for (const line of [
      'check',
      'serve',
      'dev',
      'doctor',
      'requests',
      'runs',
      'queue list',
      'sessions list',
      'storage status',
    ]) {
      const run = await openBench().run(line.split(' '), { env: ENV });
      expect(run.exitCode, line).toBe(2);
    }
  });
});
