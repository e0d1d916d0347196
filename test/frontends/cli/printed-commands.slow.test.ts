/** Every command that explain, runs, requests and queue print is run against the state that printed it. */
import { expect, test } from 'vitest';
import { type Bench, openBench, serveBench, TOKEN, waitFor } from '../../support/cli-service.ts';
import type { CliRun } from '../../support/cli-terminal.ts';
import { listIn } from '../../support/output-check.ts';

const CONFIG = `
hooks:
  enabled: true
  token: ${TOKEN}
  defaults: {deliver: false}
  mappings:
    - {id: fails, match: {path: fails}, runner: fails}
    - {id: slow, match: {path: slow}, runner: slow, timeoutSeconds: 1}
    - {id: gone, match: {path: gone}, runner: gone}
    - {id: away, match: {path: away}, runner: away}
    - {id: limited, match: {path: limited}, limits: {runsPerHour: 1}}
    - {id: paused, match: {path: paused}}
    - {id: sent, match: {path: sent}, deliver: true, channel: mattermost, to: abcdefghijklmnopqrstuvwxyz}
    - {id: kept, match: {path: kept, when: {"===": [{var: kind}, one]}}}
    - {id: answered, match: {path: answered}, callbackUrl: "http://127.0.0.1:9/"}
server: {port: 0}
channels: {mattermost: {baseUrl: "http://127.0.0.1:9", botToken: some-bot-token}}
gateway:
  heartbeat: {everySeconds: 0}
  runners:
    fails: {kind: command, argv: [/bin/sh, -c, "echo no key >&2; exit 1"]}
    slow: {kind: command, argv: [/bin/sleep, "60"]}
    gone: {kind: command, argv: [/bin/sh, -c, exit 75], retryExitCodes: [75]}
    away: {kind: command, argv: [/nonexistent/agent]}
`;

interface RunJson {
  readonly id: string;
  readonly mapping: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly earlier?: readonly { readonly lastError: { readonly code: string } }[];
}

const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const runs = async (bench: Bench): Promise<readonly RunJson[]> =>
  listIn<RunJson>((await bench.run(['runs', '--json'])).out);

/** Commands in quotes or at the end of a line, with an id for their place. */
function commandsIn({ out, err }: CliRun, id: string): readonly string[] {
  const found = [
    ...`${out}\n${err}`.matchAll(/"(?:npx )?sluice ([^"\n]+)"|(?:npx sluice|node \S+\.[jt]s) (.+)$/gm),
  ];
  return found.map(([, quoted, last]) => (quoted ?? last ?? '').replaceAll(/\bID\b/g, id));
}

test('every command that is printed works against the state that printed it', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  const service = await serveBench(bench);
  await bench.run(['queue', 'pause', 'paused']);
  const post = async (path: string, body = '{"text":"hi"}', key?: string): Promise<string> => {
    const more = key === undefined ? {} : { 'idempotency-key': key };
    const init = { method: 'POST', headers: { ...headers, ...more }, body };
    const response = await fetch(`${service.url}/hooks/${path}`, init);
    return response.headers.get('x-request-id') ?? '';
  };
  const requests = [await post('fails', '{"text":"hi"}', 'one'), await post('fails', '{"text":"hi"}', 'one')];
  for (const path of [
    'slow',
    'gone',
    'away',
    'limited',
    'limited',
    'paused',
    'sent',
    'kept',
    'answered',
    'lost',
  ])
    requests.push(await post(path));
  await waitFor(async () => {
    const all = await runs(bench);
    const ended = (mapping: string): boolean =>
      all.some((run) => run.mapping === mapping && run.state !== 'queued' && run.state !== 'active');
    return ['fails', 'slow', 'sent', 'answered'].every(ended) ? all : undefined;
  });
  await expect
    .poll(async () => (await bench.run(['queue'])).err)
    .toMatch(/agent away is away[^]*at its limit/);

  const stored = await runs(bench);
  const pages = [
    ...requests.map((id) => ['explain', id]),
    ...stored.map(({ id }) => ['explain', id]),
    ['runs'],
    ['runs', '--state', 'dead'],
    ['requests'],
    ['requests', '--mapping', 'nobody'],
    ['queue'],
    ['events'],
  ];
  const tried = new Map<string, string>();
  for (const page of pages) {
    const printed = await bench.run(page);
    const limited = stored.find(({ mapping, state }) => mapping === 'limited' && state === 'queued');
    const id = page[0] === 'explain' ? String(page[1]) : String(limited?.id);
    for (const command of commandsIn(printed, id)) tried.set(command, page.join(' '));
  }
  expect([...tried.keys()].some((command) => command.startsWith('queue retry'))).toBe(true);
  expect([...tried.keys()].some((command) => command.startsWith('queue resume'))).toBe(true);
  const refused: string[] = [];
  // What ends the pause comes last: it changes the state of others.
  for (const [command, page] of [...tried].toSorted(([a], [b]) => a.localeCompare(b))) {
    const { exitCode, err } = await bench.run(command.split(' '));
    // It ends with 1 of a request that is refused, which is what there is to say.
    const isVerdict = command.startsWith('explain ') && exitCode === 1 && err === '';
    if (exitCode !== 0 && !isVerdict) refused.push(`${page}: ${command}: ${exitCode} ${err}`);
  }
  expect(refused).toEqual([]);
});
