import { expect, test } from 'vitest';
import { effectsOf } from '../../../src/authoring/golden/impact.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

const REQUESTS: Readonly<Record<string, JsonValue>> = {
  issue: { id: 1, number: 7, kind: 'issue', text: 'red' },
  comment: { id: 2, number: 7, kind: 'comment', text: 'green' },
  other: { id: 3, number: 8, kind: 'issue', text: 'blue' },
};

/** What a change of the keys of one mapping does to the three requests. */
function effects(before: string, after: string): readonly string[] {
  const mapping = (keys: string) => `- {id: own, match: {path: h}, messageTemplate: '{{text}}', ${keys}}`;
  const judge = (keys: string, payload: JsonValue) => [
    evaluateHook({ payload }, settingsWith({ table: mapping(keys) })).evaluation,
  ];
  const compared = Object.entries(REQUESTS).map(([name, payload]) => ({
    name,
    before: judge(before, payload),
    after: judge(after, payload),
  }));
  return effectsOf(compared).map(({ code, text, requests }) => `${code}: ${text} [${requests.join()}]`);
}

test('names the requests whose conversation a change splits or joins', () => {
  const one = "sessionKey: 'hook:{{number}}'";
  const apart = "sessionKey: 'hook:{{number}}:{{kind}}'";
  expect(effects(one, apart)).toEqual([
    'splits-conversations: splits the conversations of issue and comment [issue,comment]',
  ]);
  expect(effects(apart, one)).toEqual([
    'joins-conversations: joins the conversations of issue and comment [issue,comment]',
  ]);
});

test('says that a change widens or narrows dedupe, with what now counts as a repeat', () => {
  const byId = "dedupe: {key: '{{payload.id}}'}";
  const byNumber = "dedupe: {key: '{{number}}'}";
  expect(effects(byId, byNumber)).toEqual([
    'widens-dedupe: widens dedupe: repeats of each other now are issue and comment [issue,comment]',
  ]);
  expect(effects(byNumber, byId)[0]).toMatch(/^narrows-dedupe: /);
});

test('counts what goes to another place, of all', () => {
  expect(effects('channel: slack, to: C0123ABCD', 'channel: slack, to: C4567EFGH')).toEqual([
    'sends-elsewhere: sends elsewhere 3 of 3 requests [issue,comment,other]',
  ]);
});

test('says nothing of a change without an effect', () => {
  expect(effects('name: a', 'name: a')).toEqual([]);
});
