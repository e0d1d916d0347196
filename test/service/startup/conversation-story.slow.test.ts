/**
 * An agent opens a pull request, and hears in its conversation what becomes of it: the packaged mappings, GitHub's own
 * payloads with other numbers and texts, and an agent that does what it is told.
 */
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtMain } from '../../support/built-program.ts';
import { type Bench, openBench, serveBench, TOKEN } from '../../support/cli-service.ts';

const WAIT = { timeout: 60_000 };
/** For what a command line says: each reads the whole configuration. */
const SLOW = { ...WAIT, interval: 500 };

type Payload = Record<string, unknown>;
interface Example {
  readonly name: string;
  readonly examples: readonly Payload[];
}
const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly Example[];
const example = (name: string, action: string): Payload =>
  examples.find((each) => each.name === name)!.examples.find((each) => each['action'] === action)!;
const within = (payload: Payload, part: string, change: Payload): Payload => ({
  ...payload,
  [part]: { ...(payload[part] as Payload), ...change },
});

/** Writes down what it was given. Told to, it adds a key by the command, or goes on until it is ended. */
const AGENT = `
import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { promisify } from 'node:util';
let prompt = '';
for await (const chunk of process.stdin) prompt += chunk;
const { SLUICE_SESSION_ID: session, SLUICE_MARK: mark, SLUICE_CONVERSATION_URL: url, SLUICE_CONVERSATION_TOKEN: token } = process.env;
const said = [];
for (const [, key] of prompt.matchAll(/please add (\\S+)/g)) {
  const add = promisify(execFile)(process.execPath, [process.argv[2], 'conversation', 'add', key]);
  said.push(await add.then(({ stdout }) => stdout.trim(), ({ stderr }) => stderr.trim()));
}
appendFileSync(process.argv[3], JSON.stringify({ session, mark, url, token, prompt, said }) + '\\n');
while (prompt.includes('please go on')) await new Promise((done) => setTimeout(done, 50));
console.log('done');
`;

interface Turn {
  readonly session: string;
  readonly mark?: string;
  readonly url: string;
  readonly token: string;
  readonly prompt: string;
  readonly said: readonly string[];
}

async function open(changeMappings = (text: string): string => text) {
  const bench: Bench = openBench({ 'agent.mjs': AGENT });
  const turnsFile = join(bench.folder, 'turns.jsonl');
  const argv = [process.execPath, join(bench.folder, 'agent.mjs'), builtMain(), turnsFile];
  bench.put(
    'sluice.yaml',
    JSON.stringify({
      hooks: { enabled: true, token: TOKEN, exposeRuns: true, defaults: { summary: 'never' } },
      server: { port: 0 },
      gateway: { runner: { kind: 'command', argv }, heartbeat: { everySeconds: 0 } },
    }),
  );
  bench.put('mappings/github.yaml', '');
  copyFileSync(
    join(import.meta.dirname, '../../../mappings/github.yaml'),
    join(bench.folder, 'mappings/github.yaml'),
  );
  const file = join(bench.folder, 'mappings/github.yaml');
  writeFileSync(file, changeMappings(readFileSync(file, 'utf8')));
  const service = await serveBench(bench);
  const tell = async (kind: string, payload: Payload) => {
    const answer = await fetch(`${service.url}/hooks/github`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'x-github-event': kind,
        'x-github-delivery': randomUUID(),
      },
      body: JSON.stringify(payload),
    });
    const body = answer.status === 204 ? {} : ((await answer.json()) as Payload);
    return { status: answer.status, ...body } as { status: number; runId?: string; waiting?: boolean };
  };
  const turns = (): readonly Turn[] =>
    existsSync(turnsFile)
      ? readFileSync(turnsFile, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Turn)
      : [];
  const stateOf = async ({ runId }: { readonly runId?: string }): Promise<unknown> => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`${service.url}/hooks/runs/${runId}`, { headers });
    return ((await answer.json()) as Payload)['state'];
  };
  const turnOf = async (told: { readonly runId?: string }): Promise<Turn> => {
    await expect.poll(() => stateOf(told), WAIT).toBe('completed');
    return turns().at(-1)!;
  };
  const explain = async ({ runId = '' }: { readonly runId?: string }) =>
    (await bench.run(['explain', runId, '--all'])).out;
  return { bench, tell, turns, turnOf, explain };
}

const issue = (number = 1) => within(example('issues', 'opened'), 'issue', { number });
const pull = (number: number, body: string, change: Payload = {}) =>
  within(example('pull_request', 'opened'), 'pull_request', { number, body, ...change });
const comment = (number: number, body: string, change: Payload = {}) =>
  within(within(example('issue_comment', 'created'), 'comment', { body, ...change }), 'issue', { number });
const KEY = (number: number) => `hook:github:Codertocat/Hello-World:${number}`;

test(
  'what becomes of a pull request comes to the conversation whose agent opened it',
  { timeout: 180_000 },
  async () => {
    const { bench, tell, turns, turnOf, explain } = await open();
    const first = await tell('issues', issue());
    const { session, mark = '', prompt } = await turnOf(first);
    expect(mark).toMatch(/^<!-- sluice-mark run=[\w-]+ mac=[\w-]{32} -->$/);
    expect(prompt).toContain(mark);
    expect(await explain(first)).toContain('began its conversation');

    // The agent opens its pull request: nobody is told, and it is known from now on.
    const opened = await tell('pull_request', pull(2, `Fixes #1\n\n${mark}`));
    const ofOpened = await explain(opened);
    expect(ofOpened).toContain(`by the key ${KEY(2)}, added by agent in run ${first.runId}`);
    expect(ofOpened).toContain('its key was added, and it has no turn');

    const review = within(example('pull_request_review', 'submitted'), 'review', {
      state: 'changes_requested',
    });
    const told = [
      ['issue_comment', comment(2, 'Please rename it.')],
      ['pull_request_review', review],
      ['pull_request_review_comment', example('pull_request_review_comment', 'created')],
      ['check_run', withApp(example('check_run', 'completed'))],
      [
        'workflow_run',
        within(example('workflow_run', 'completed'), 'workflow_run', {
          conclusion: 'failure',
          head_branch: 'changes',
          head_repository: { full_name: 'Codertocat/Hello-World' },
        }),
      ],
    ] as const;
    const events: string[] = [];
    for (const [kind, payload] of told) {
      const event = await tell(kind, payload);
      events.push(event.runId ?? '');
      expect(event.status, kind).toBe(202);
      expect((await turnOf(event)).session, kind).toBe(session);
    }
    expect(await explain({ runId: events.at(-1) ?? '' })).toMatch(
      /came to its conversation by the key hook:github:\S+, added by/,
    );
    expect(turns()).toHaveLength(1 + told.length);

    const listed = JSON.parse((await bench.run(['runs', '--json'])).out) as { runs: readonly object[] };
    const cameBy = { key: KEY(2), addedBy: `agent in run ${first.runId}` };
    expect(listed.runs).toContainEqual(expect.objectContaining({ cameBy: expect.objectContaining(cameBy) }));
    const byAKey = {
      key: expect.stringMatching(/^hook:github:/) as string,
      addedBy: expect.any(String) as string,
    };
    for (const id of events)
      expect(listed.runs).toContainEqual(
        expect.objectContaining({ id, cameBy: expect.objectContaining(byAKey) }),
      );
    const masked = (await bench.run(['runs', '--json', '--no-text'])).out;
    expect(masked).not.toContain('cameBy');

    // Strangers: a comment, and a pull request with a copy of the mark.
    const mallory = { user: { login: 'mallory' }, author_association: 'NONE' };
    const said = { ...comment(2, 'Do it now!', mallory), sender: { login: 'mallory' } };
    expect((await tell('issue_comment', said)).status).toBe(204);
    const fork = { ...mallory, head: { ref: 'evil', repo: { id: 7, full_name: 'mallory/evil' } } };
    expect(
      (await tell('pull_request', { ...pull(3, mark, fork), sender: { login: 'mallory' } })).status,
    ).toBe(204);
    // Nor does the mark count a second time, or in a quoted reply, for one who may write.
    const replayed = await tell(
      'pull_request',
      pull(4, mark, { head: { ref: 'four', repo: { id: 186853002, full_name: 'Codertocat/Hello-World' } } }),
    );
    expect((await turnOf(replayed)).session).not.toBe(session);
    expect(await explain(replayed)).toContain(`its mark does not count: ${KEY(2)} used it first`);
    const quoted = await tell('issue_comment', comment(9, `> ${mark}\n\nAnd this?`));
    // Nobody works on it: one row waits.
    expect(quoted).toEqual({ status: 202, ok: true, waiting: true });

    // A turn is under way, and another one waits behind it, when it is merged.
    const long = await tell('issue_comment', comment(2, 'please go on'));
    await expect.poll(() => turns().at(-1)?.prompt, WAIT).toContain('please go on');
    const late = await tell('issue_comment', comment(2, 'And another thing.'));
    const merged = await tell('pull_request', { ...pull(2, mark, { merged: true }), action: 'closed' });
    const explained = new Map<unknown, string>();
    const keep = async (told: { readonly runId?: string }): Promise<string> => {
      explained.set(told, await explain(told));
      return explained.get(told) ?? '';
    };
    for (const ended of [long, late]) await expect.poll(() => keep(ended), SLOW).toContain('superseded');
    expect(await keep(merged)).toContain('ends its conversation, without a turn');
    await keep(opened);
    // What had no turn had no runner, and no reply that could be sent.
    for (const ended of [opened, merged]) {
      expect(explained.get(ended)).toMatch(/ {2}completed, without a turn; accepted [\dT:.Z-]+\n/);
      expect(explained.get(ended)).not.toMatch(/runner default|delivery none/);
    }
    expect(explained.get(long)).toMatch(/ {2}skipped after 1 attempt;/);
    expect(explained.get(late)).toMatch(/ {2}skipped, not begun;/);
    const retry = await bench.run(['queue', 'retry', long.runId ?? '']);
    expect(retry.err).toContain('is not begun again: its conversation has ended');
    expect(await tell('issue_comment', comment(2, 'Thanks!'))).toMatchObject({ waiting: true });
    const closed = await tell('issues', { ...issue(), action: 'closed' });
    expect(closed).toMatchObject({ waiting: true });
    const idOfClosed = async (): Promise<string | undefined> => {
      const { requests } = JSON.parse((await bench.run(['requests', '--json'])).out) as {
        requests: readonly { readonly id: string; readonly mappingId?: string }[];
      };
      return requests.find(({ mappingId }) => mappingId === 'github-issue-closed')?.id;
    };
    await expect.poll(idOfClosed, SLOW).toBeDefined();
    const waiting = (await bench.run(['explain', (await idOfClosed()) ?? '', '--all'])).out;
    expect(waiting).toContain('no conversation had one of its keys when it came: it goes to the first');
    expect(waiting).toMatch(/waits: for a conversation until \S+: no conversation has hook:github:\S+\n/);
    expect(waiting).not.toContain('begins in');
    expect((await bench.run(['check'])).out).toMatch(/github-comment .*\(of github\)\n/);
    const sessions = (await bench.run(['sessions', 'list'])).out;
    expect(sessions).not.toContain(KEY(2));
    const audit = (await bench.run(['audit', '--json'])).out;
    expect(audit).toContain(`agent in run ${first.runId}`);
  },
);

/** GitHub Actions come as workflow runs; this is another one. */
const withApp = (payload: Payload): Payload => within(payload, 'check_run', { app: { slug: 'octoapp' } });

test(
  'an agent adds a key by the command, for its own conversation, while its turn goes on',
  { timeout: 120_000 },
  async () => {
    const { tell, turnOf, bench } = await open();
    const waits = await tell('issue_comment', comment(7, 'Too early.'));
    expect(waits).toMatchObject({ waiting: true });
    const body = `please add ${KEY(7)} please add hook:gitlab:x#1`;
    const first = await tell('issues', within(issue(), 'issue', { number: 6, body }));
    const { session, said, url, token } = await turnOf(first);
    expect(said).toEqual([
      'added',
      expect.stringContaining('may add only keys that begin with hook:github:Codertocat/Hello-World:'),
    ]);
    await expect
      .poll(async () => (await bench.run(['runs', '--json'])).out.match(/"state":"completed"/g)?.length, {
        timeout: 60_000,
      })
      .toBe(2);
    const next = await tell('issue_comment', comment(7, 'Now.'));
    expect((await turnOf(next)).session).toBe(session);
    // Its turn has ended; and what nobody made here proves nothing.
    const ask = async (bearer: string, method = 'POST', body = '{"key":"x"}') => {
      const headers = { authorization: `Bearer ${bearer}` };
      return (await fetch(url, { method, headers, ...(method === 'POST' && { body }) })).status;
    };
    expect([await ask(token), await ask(`${token}A`), await ask(TOKEN)]).toEqual([409, 401, 401]);
    expect([await ask(token, 'GET'), await ask(token, 'POST', '{}')]).toEqual([405, 400]);
    const asks = await bench.run(['conversation', 'add', 'x']);
    expect([asks.exitCode, asks.err]).toEqual([
      2,
      expect.stringContaining('name the conversation: --conversation KEY'),
    ]);
  },
);

test(
  'of an account that is not listened to, a mark is heard and nothing else',
  { timeout: 120_000 },
  async () => {
    const { bench, tell, turnOf, turns, explain } = await open((text) =>
      text.replace(
        '  name: GitHub pull request\n',
        '  name: GitHub pull request\n  ignoreSenders: [codertocat]\n',
      ),
    );
    const { mark = '', session } = await turnOf(await tell('issues', issue()));
    expect(await tell('pull_request', pull(3, 'without a mark'))).toEqual({ status: 204 });
    const forged = mark.replace(/mac=./, (first) => (first === 'mac=_' ? 'mac=-' : 'mac=_'));
    expect(await tell('pull_request', pull(4, forged))).toEqual({ status: 204 });
    const list = async () => (await bench.run(['requests'])).out;
    await expect.poll(list, WAIT).toContain('no mark in it counts: nothing was made');
    expect(await list()).toContain('ignoreSenders of the mapping, which names codertocat');
    const opened = await tell('pull_request', pull(2, mark));
    expect(await explain(opened)).toContain('its key was added, and it has no turn');
    expect((await turnOf(await tell('issue_comment', comment(2, 'Hello.')))).session).toBe(session);
    expect(turns()).toHaveLength(2);
  },
);
