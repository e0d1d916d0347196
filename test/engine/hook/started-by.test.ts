/** Who may start a run, as far as the request shows it: GitHub's own example payloads, with the accounts of the case. */
import examples from '@octokit/webhooks-examples/api.github.com/index.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/base/request.ts';
import { evaluationToJson, skipText } from '../../../src/engine/hook/hook.ts';
import { shippedSenders } from '../../../src/engine/senders/senders.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';
import { codesOf, compileList } from '../../support/mapping-compile.ts';

const judge = (payload: JsonValue, startedBy: string, path = 'github') => {
  const table = `- {id: m, match: {path: ${path}}, messageTemplate: hi, startedBy: ${startedBy}}`;
  return evaluateHook({ path, payload }, settingsWith({ table })).evaluation.outcome;
};

/** An example of GitHub in which the account that wrote the object is another one, with another association. */
function event(
  name: string,
  number: number,
  { sender, type = 'User', ...authors }: Readonly<Record<string, string>> & { readonly sender: string },
): JsonObject {
  const found = examples.find((each) => each.name === name)?.examples[number];
  if (found === undefined) throw new Error(`there is no example ${name} ${number}`);
  const payload = structuredClone(found) as unknown as Record<string, Record<string, unknown>>;
  payload['sender'] = { ...payload['sender'], login: sender, type };
  for (const [object, written] of Object.entries(authors)) {
    const [login, association] = written.split(' ');
    const user = { ...(payload[object]?.['user'] as object), login };
    payload[object] = { ...payload[object], user, author_association: association };
  }
  return payload as unknown as JsonObject;
}

const comment = (written: Parameters<typeof event>[2]): JsonObject => event('issue_comment', 0, written);

describe('the association of a payload counts only as a yes', () => {
  test.each([
    ['an owner', 'OWNER'],
    ['a member whose membership is public', 'MEMBER'],
    ['a collaborator', 'COLLABORATOR'],
  ])('%s may', (_who, association) => {
    const payload = comment({ sender: 'ann', comment: `ann ${association}` });
    expect(judge(payload, 'write')).toMatchObject({ kind: 'accepted' });
  });

  test.each([
    ['a member whose membership is private', 'CONTRIBUTOR'],
    ['somebody who contributed', 'CONTRIBUTOR'],
    ['somebody new', 'FIRST_TIME_CONTRIBUTOR'],
    ['a stranger', 'NONE'],
    ['a name of Object', 'constructor'],
  ])('of %s nothing is known', (_who, found) => {
    const payload = comment({ sender: 'ann', comment: `ann ${found}` });
    expect(judge(payload, 'write')).toEqual({
      kind: 'skipped',
      by: 'not_allowed',
      reason: 'not_known',
      account: 'ann',
      wanted: 'write',
      found,
    });
  });

  test('the owner alone is known to administer the repository', () => {
    const of = (association: string) => comment({ sender: 'ann', comment: `ann ${association}` });
    expect(judge(of('OWNER'), 'admin').kind).toBe('accepted');
    for (const association of ['MEMBER', 'COLLABORATOR'])
      expect(judge(of(association), 'maintain')).toMatchObject({ reason: 'not_known', found: association });
  });
});

describe('who acted counts, not who wrote the text', () => {
  test.each<[string, JsonObject, 'accepted' | 'skipped']>([
    [
      "a maintainer's label on a stranger's pull request",
      event('pull_request', 8, { sender: 'maintainer', pull_request: 'stranger NONE' }),
      'skipped',
    ],
    [
      "a stranger's action on an owner's issue",
      event('issues', 9, { sender: 'stranger', issue: 'owner OWNER' }),
      'skipped',
    ],
    [
      "a stranger's comment on an owner's issue",
      comment({ sender: 'stranger', issue: 'owner OWNER', comment: 'stranger NONE' }),
      'skipped',
    ],
    [
      "an owner's comment on a stranger's issue",
      comment({ sender: 'owner', issue: 'stranger NONE', comment: 'owner OWNER' }),
      'accepted',
    ],
    [
      "a stranger's comment on the stranger's own issue",
      comment({ sender: 'stranger', issue: 'stranger OWNER', comment: 'stranger NONE' }),
      'skipped',
    ],
    [
      'an owner who edits the comment of a stranger on an issue of the owner',
      event('issue_comment', 7, { sender: 'owner', issue: 'owner OWNER', comment: 'stranger NONE' }),
      'accepted',
    ],
    [
      'a review of a member',
      event('pull_request_review', 0, { sender: 'ann', review: 'ann MEMBER', pull_request: 'stranger NONE' }),
      'accepted',
    ],
    [
      'a pull request of a fork',
      event('pull_request', 0, { sender: 'stranger', pull_request: 'stranger FIRST_TIMER' }),
      'skipped',
    ],
  ])('%s', (_what, payload, kind) => {
    expect(judge(payload, 'write').kind).toBe(kind);
  });
});

describe('accounts and bots', () => {
  const commentOf = (sender: string, type = 'User') => comment({ sender, type, comment: `${sender} NONE` });

  test('names are compared without case and without @', () => {
    for (const name of ['octocat', '@OctoCat', ' OCTOCAT '])
      expect(judge(commentOf('OctoCat'), `{accounts: ['${name}']}`).kind).toBe('accepted');
    expect(judge(commentOf('octocat2'), '{accounts: [octocat]}')).toMatchObject({ reason: 'not_named' });
  });

  test('bots: false leaves a bot out that is not named', () => {
    const bot = commentOf('helper[bot]', 'Bot');
    const owner = comment({ sender: 'b[bot]', type: 'Bot', comment: 'b[bot] OWNER' });
    expect(judge(owner, '{permission: write}').kind).toBe('accepted');
    expect(judge(owner, '{permission: write, bots: false}')).toMatchObject({
      reason: 'bot',
      account: 'b[bot]',
    });
    expect(judge(bot, "{permission: write, bots: false, accounts: ['helper[bot]']}").kind).toBe('accepted');
    const project = { object_kind: 'note', user: { username: 'project_7_bot_5a1b' } };
    const gitlab = '{accounts: [ann], bots: false}';
    expect(judge(project, gitlab, 'gitlab')).toMatchObject({ reason: 'bot' });
  });

  test('a request that names nobody is nobody’s', () => {
    expect(judge({ sender: {} }, 'write')).toEqual({
      kind: 'skipped',
      by: 'not_allowed',
      reason: 'no_account',
    });
    expect(judge({ user: { username: 'ann' } }, '{accounts: [ann]}').kind).toBe('skipped');
  });

  test('an id counts where people may give themselves any name', () => {
    const named = { actor: { nickname: 'owner', account_id: '557058:1' } };
    expect(judge(named, '{accounts: [owner]}', 'bitbucket').kind).toBe('skipped');
    expect(judge(named, "{accounts: ['557058:1']}", 'bitbucket').kind).toBe('accepted');
    for (const { name, accountId, account } of shippedSenders())
      if (accountId !== undefined) expect([name, account]).not.toEqual([name, accountId]);
  });

  test('says which line would allow it, and prints no control character of a name', () => {
    const outcome = judge({ sender: { login: "a'\u001b[31m" } }, '{accounts: [ann]}');
    if (outcome.kind !== 'skipped') throw new Error(outcome.kind);
    expect(skipText(outcome)).toBe(
      "startedBy of the mapping: a'[31m is none of its accounts; accounts: ['a''[31m'] in startedBy would allow it",
    );
    const payload = comment({ sender: 'ann', comment: 'ann NONE' });
    const table = '- {id: m, match: {path: github}, messageTemplate: hi, startedBy: write}';
    const { evaluation } = evaluateHook({ path: 'github', payload }, settingsWith({ table }));
    expect(evaluationToJson(evaluation)).toMatchObject({
      skippedBy: 'not_allowed',
      notAllowed: { reason: 'not_known', account: 'ann', found: 'NONE', wanted: 'write' },
    });
  });
});

describe('of a mapping', () => {
  const listen = (payload: JsonValue, table: string) =>
    evaluateHook({ path: 'github', payload }, settingsWith({ table })).evaluation;

  test('it comes after ignoreSenders, before the transform, and keeps no dedupe key', () => {
    const payload = comment({ sender: 'ann', comment: 'ann NONE' });
    const more = 'match: {path: github}, messageTemplate: hi, startedBy: write';
    expect(listen(payload, `- {id: m, ${more}, ignoreSenders: [ann]}`).outcome).toMatchObject({
      by: 'ignoreSenders',
    });
    const { outcome, trace } = listen(payload, `- {id: m, ${more}, transform: {module: t.ts}, dedupe: body}`);
    expect(outcome).toMatchObject({ by: 'not_allowed' });
    expect([trace.transforms, trace.templates]).toEqual([[], []]);
  });

  test('with continue only the mapping itself is skipped, and wakes and notifications are judged alike', () => {
    const payload = comment({ sender: 'ann', comment: 'ann NONE' });
    const of = (action: string) => `action: ${action}, startedBy: write, channel: slack, to: C0123456`;
    for (const action of ['agent', 'notify']) {
      const table = `- {id: a, match: {path: github}, continue: true, messageTemplate: hi, ${of(action)}}\n- {id: b, match: {path: github}, messageTemplate: hi}`;
      expect(listen(payload, table).outcome).toMatchObject({ actions: [{ origin: { mappingId: 'b' } }] });
    }
    const wake = '- {id: w, match: {path: github}, action: wake, textTemplate: hi, startedBy: write}';
    expect(listen(payload, wake).outcome).toMatchObject({ by: 'not_allowed' });
  });

  test('templates say who acted, and with which role, where the sender is not known', () => {
    const rule = "{permission: write, account: '{{who.name}}', role: '{{who.may}}'}";
    for (const [may, kind] of [
      ['admin', 'accepted'],
      ['write', 'accepted'],
      ['read', 'skipped'],
      ['OWNER', 'skipped'],
      ['', 'skipped'],
    ] as const)
      expect(judge({ who: { name: 'ann', may } }, rule, 'h').kind).toBe(kind);
  });
});

describe('which sender', () => {
  const found = (path: string, more = '') => {
    const proof = more === '' ? {} : { verify: { scheme: more, secrets: ['${S}'] } };
    const mapping = { id: 'm', match: { path }, messageTemplate: 'x', startedBy: { accounts: ['a'] } };
    const { table, findings } = compileList([
      { ...mapping, ...proof, match: { path, source: 'a' } },
      { ...mapping, id: 'n', match: { path: `${path}/` } },
    ]);
    if (table === undefined) return codesOf(findings);
    return table.mappings.map(({ startedBy }) => startedBy?.sender?.name);
  };

  test('is that of the proof, or that of the path; a path that is proved otherwise names nobody', () => {
    expect(found('github')).toEqual(['github', 'github']);
    // One mapping of the path says the proof for all.
    expect(found('hooks', 'github')).toEqual(['github', 'github']);
    // Gitea signs as GitHub does.
    expect(found('gitea', 'github')).toEqual(['gitea', 'gitea']);
    expect(found('slack', 'github')).toEqual(['github', 'github']);
    expect(found('hooks')).toEqual(['INVALID_STARTED_BY', 'INVALID_STARTED_BY']);
    expect(found('github', 'hmac')).toEqual(expect.not.arrayContaining(['github']));
  });
});
