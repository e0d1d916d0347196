/** `sluice config show`: what works, where it comes from, and no secret. */
import { expect, test } from 'vitest';
import { openBench } from '../../support/cli-service.ts';

const SECRETS = [
  'hunter2-of-the-database',
  'xoxb-literal-of-the-file',
  'key-of-the-environment',
  'token-of-a-file',
  'word-of-a-runner',
];
const CONFIG = `hooks: {enabled: true, token: {file: ./token}, path: /in}
gateway: {runner: {kind: command, argv: [cat], env: {NAME: '\${AGENT_KEY}', PASS: ${SECRETS[4]}}}}
server: {port: '\${PORT}', trustedProxies: [10.0.0.0/8]}
storage: {url: 'postgres://joe:${SECRETS[0]}@db/sluice'}
channels: {slack: {botToken: ${SECRETS[1]}, to: '#general'}}
`;
const ENV = { AGENT_KEY: SECRETS[2], PORT: '9999' };

interface Shown {
  readonly settings: readonly { readonly key: string; readonly value: unknown; readonly from: string }[];
}

test('each setting has its value and its origin, and a secret is shown from none', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG, token: `${SECRETS[3]}-0123456789\n` });
  const { out, exitCode } = await bench.run(['config', 'show', '--json'], { env: ENV });
  expect(exitCode).toBe(0);
  const of = new Map((JSON.parse(out) as Shown).settings.map(({ key, ...rest }) => [key, rest]));
  expect(Object.fromEntries(of)).toMatchObject({
    'hooks.path': { value: '/in', from: expect.stringMatching(/sluice\.yaml:1:54$/) },
    'hooks.token': { value: '••••••', from: expect.stringMatching(/^\{file: .\/token\} \(.*:1:31\)$/) },
    'hooks.exposeRuns': { value: false, from: 'default' },
    'gateway.runner.env.NAME': { value: '••••••', from: expect.stringMatching(/^\$\{AGENT_KEY\} \(/) },
    'server.port': { value: 9999, from: expect.stringMatching(/^\$\{PORT\} \(/) },
    'server.trustedProxies[0]': { value: '10.0.0.0/8' },
    'storage.url': { value: 'postgres://••••••@db/sluice' },
    'channels.slack.botToken': { value: '••••••' },
    // It depends on another key, and is filled in after the schema.
    'agents.defaults.maxTimeoutSeconds': { value: 3600, from: 'default' },
  });
  const text = (await bench.run(['config', 'show'], { env: ENV })).out;
  for (const secret of SECRETS) expect(out + text).not.toContain(secret);
});

test('a variable that is not set is said, and the default that stands in for it is shown', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG, token: `${SECRETS[3]}-0123456789\n` });
  const { out } = await bench.run(['config', 'show', '--json'], { env: {} });
  const port = (JSON.parse(out) as Shown).settings.find(({ key }) => key === 'server.port');
  expect(port).toMatchObject({ value: 8787, from: expect.stringContaining('which is not set here') });
});

test('a file with errors is told as check tells it', async () => {
  const bench = openBench({ 'sluice.yaml': 'hooks: {enabled: maybe}\n' });
  const { err, exitCode } = await bench.run(['config', 'show'], { env: {} });
  expect(exitCode).toBe(1);
  expect(err).toContain('hooks.enabled');
});
