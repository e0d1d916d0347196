/** Settings that took part in what became of a request are named: with their place, what they did, what to write. */
import { expect, test } from 'vitest';
import { openBench, serveBench, TOKEN, type Bench } from '../../support/cli-service.ts';

const CONFIG = `hooks:
  enabled: true
  token: ${TOKEN}
  defaults: { deliver: false }
server: { port: 0 }
gateway:
  heartbeat: { everySeconds: 0 }
  runner:
    kind: command
    argv: [sh, -c, 'if [ -z "$DESK_KEY" ]; then exit 4; fi']
`;

const MAPPINGS = `
- { id: jira, match: { path: jira }, ignoreSenders: [Sluice Bot], messageTemplate: '{{user.displayName}}' }
- { id: saves, match: { path: saves }, debounce: { key: '{{id}}', seconds: 1 }, messageTemplate: '{{id}}' }
- { id: form, match: { path: form }, forEach: answers, messageTemplate: '{{item}}' }
- { id: argo, match: { path: argo, source: argocd }, messageTemplate: '{{app}}' }
- { id: kuma, match: { path: kuma }, rate: { perMinute: 1, burst: 1 }, messageTemplate: x }
- { id: booked, match: { path: cal }, channel: signal, to: '+4917098765432', messageTemplate: x }
`;

/** Each look is a command with a start of its own. */
const SELDOM = { interval: 300 };

async function open(more = ''): Promise<{
  readonly bench: Bench;
  readonly url: string;
  readonly send: (path: string, body?: object) => Promise<string>;
  readonly explained: (id: string) => Promise<string>;
}> {
  const bench = openBench({ 'sluice.yaml': CONFIG + more, 'mappings/all.yaml': MAPPINGS });
  const { url } = await serveBench(bench);
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const send = async (path: string, body?: object): Promise<string> => {
    const how = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
    return String((await fetch(`${url}/hooks/${path}`, how)).headers.get('x-request-id'));
  };
  // A decision is written after its answer.
  const explained = async (id: string): Promise<string> => {
    let out = '';
    const explain = async (): Promise<string> => (out = (await bench.run(['explain', id, '--all'])).out);
    await expect.poll(explain, SELDOM).not.toBe('');
    return out.replaceAll(`${bench.folder}/`, '');
  };
  return { bench, url, send, explained };
}

test('a field whose name is a word of the sender is not told of a request that was not kept', async () => {
  const { send, explained } = await open('storage: { keepRequests: { which: none } }\n');
  const told = await explained(await send('jira', { secretField: { displayName: 'sluice bot' } }));
  expect(told).toContain('none of the fields in which it looks');
  expect(told).not.toContain('secretField');
});

test('of a request as it is kept by default, and of a listing', async () => {
  const { bench, url, send, explained } = await open();
  const of = async (path: string, body?: object): Promise<string> => explained(await send(path, body));

  expect(await of('jira', { user: { displayName: 'sluice bot' } })).toContain(
    'hint: name the path of the account in from of ignoreSenders',
  );
  // Who looks at all of it is told; as the one hint it would be none.
  const octocat = await send('jira', { sender: { login: 'octocat' } });
  expect(await explained(octocat)).toContain('sender.login is "octocat", which is none of its names');
  expect((await bench.run(['explain', octocat])).out).not.toContain('ignoreSenders');

  expect(await of('form', { answers: { a: 1 } })).toMatch(
    /\(mappings\/all\.yaml:\d+:\d+\)\n {2}forEach: it takes a list only/,
  );
  expect(await of('kuma', {})).not.toContain('  rate');
  expect(await of('kuma', {})).toMatch(
    / {4}limits: \{runsPerHour: N\}\n {2}rate of kuma \(mappings\/all\.yaml:\d+:\d+\) takes 1 a minute/,
  );

  // Of a stranger's name only what the operator's files say is told.
  const signed = { method: 'POST', headers: { 'x-slack-signature': 'v0=00' }, body: '{}' };
  const stray = await fetch(`${url}/hooks/kuma/of-strangers`, signed);
  const told = await explained(String(stray.headers.get('x-request-id')));
  expect(told).toMatch(
    /asked for, and none came: the nearest hook name is kuma; correct it at one of the two, there or at the sender/,
  );
  expect(told).not.toContain('of-strangers');
  const other = await fetch(`${url}/hooks/KUMA`, signed);
  expect(await explained(String(other.headers.get('x-request-id')))).toContain('POST …/KUMA\n');

  const booked = await send('cal', {});
  await expect
    .poll(() => explained(booked), SELDOM)
    .toMatch(
      /hint: write at gateway\.runner \(sluice\.yaml:10:11\):\n {4}passEnv: \[DESK_KEY\]\n {2}passEnv: .*It reads DESK_KEY\n/,
    );
  expect((await bench.run(['runs'])).err).toMatch(
    /^hint: write at gateway\.runner:\n {4}passEnv: \[DESK_KEY\]$/m,
  );

  // An unknown mapping is named with the ids that there are.
  const { err } = await bench.run(['runs', '--mapping', 'Uptime Kuma']);
  expect(err).toBe(
    'no runs\nno mapping has the id "Uptime Kuma"; the ids are jira, saves, form, argo, kuma, booked\n',
  );
  const unknown = ['queue', 'drop', '--mapping', 'Uptime Kuma'];
  expect((await bench.run([...unknown, '--yes'])).err).toMatch(
    /no mapping has the id[^]*nothing in the queue/,
  );
  // It was not asked of the store what the mapping has.
  const refused = await bench.run(unknown);
  expect(refused.err).toContain('needs --yes');
  expect(refused.err).not.toContain('no mapping has the id');
});

test('of a request that was kept, each only once, and no secret of the configuration that came with it', async () => {
  const { bench, send, explained } = await open('storage: { keepRequests: { which: all } }\n');
  const jira = await explained(await send('jira', { user: { displayName: 'sluice bot' } }));
  expect(jira).toContain('The request was kept.');
  expect(jira.split('none of the fields in which it looks')).toHaveLength(2);
  const list = await explained(await send('argo', [{ app: 'shop' }] as object));
  expect(list.split('the body is a list')).toHaveLength(2);

  const id = await send('saves', { id: `x ${TOKEN}` });
  await expect.poll(async () => (await bench.run(['runs', '--json'])).out, SELDOM).toContain('"completed"');
  expect(await explained(id)).toContain('x [removed]');
  expect(await explained(id)).not.toContain(TOKEN);
  const json = (await bench.run(['explain', id, '--json'])).out;
  expect(JSON.stringify(JSON.parse(json))).toContain('x [removed]');
  expect(json).not.toContain(TOKEN);
});

test('of a file', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG, 'mappings/all.yaml': MAPPINGS });
  const of = async (request: string): Promise<string> => {
    bench.put('a.request.yaml', request);
    return (await bench.run(['explain', 'a.request.yaml', '--all'])).out.replaceAll(`${bench.folder}/`, '');
  };
  expect(await of('path: jira\nbody: {user: {displayName: Sluice Bot}}')).toContain(
    'name the path of the account',
  );
  expect(await of('path: jira\nbody: {sender: {login: octocat}}')).toContain(
    'sender.login is "octocat", which is none of its names',
  );
  expect(await of('path: jira\nbody: {sender: {login: sluice bot}}')).toContain(
    'it names Sluice Bot, who sent this',
  );
  expect(await of('path: form\nbody: {answers: {a: 1}, values: [1]}')).toContain(
    'take requests without answers',
  );
  expect(await of('path: kuma\nbody: {}')).not.toContain('hint:');
});
