/** Two things in one conversation: the field that the key leaves out, and the keys with which one is meant. */
import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/json.ts';
import { missingInKey } from '../../src/explanation/shared-conversations.ts';

const found = (template: string, other: JsonValue, now: JsonValue): string | undefined =>
  missingInKey({ template, now, other })?.key;

const merge = (id: number, path: string): JsonValue => ({
  user: { id },
  project: { id, name: path.slice(2), path_with_namespace: path },
  object_attributes: { id: id + 100, iid: 7, title: path },
});
const issue = (number: number, repo = 'a/b', user = 'u'): JsonValue => ({
  action: 'opened',
  sender: { id: user },
  repository: { full_name: repo },
  issue: { id: number + 1_000, number, user: { id: number } },
});

test.each<[string, JsonValue, JsonValue, string]>([
  [
    'hook:gitlab:mr:{{object_attributes.iid}}',
    merge(1, 'a/b'),
    merge(2, 'c/d'),
    'hook:gitlab:mr:{{project.path_with_namespace}}:{{object_attributes.iid}}',
  ],
  ['n:{{issue.number}}', issue(1, 'a/b'), issue(1, 'c/d'), 'n:{{repository.full_name}}:{{issue.number}}'],
  ['n:{{run.number}}', { run: { id: 1, number: 4 } }, { run: { id: 2, number: 4 } }, 'n:{{run.id}}'],
])('%s leaves something out', (template, other, now, key) => {
  expect(found(template, other, now)).toBe(key);
});

test.each<[string, JsonValue, JsonValue]>([
  ['all', issue(1), issue(2)],
  ['u:{{sender.id}}', issue(1), issue(2)],
  ['c:{{channel.id}}', { channel: { id: 1 }, issue: { id: 1 } }, { channel: { id: 1 }, issue: { id: 2 } }],
  ['n:{{repository.full_name}}:{{issue.number}}', issue(1, 'a/b', 'u'), issue(1, 'a/b', 'v')],
  ['n:{{issue.id}}', issue(1, 'a/b'), issue(1, 'c/d')],
  [
    'r:{{repository.full_name}}',
    { repository: { full_name: 'a/b' }, head_commit: { id: 'x' }, commits: [{ id: 'x' }] },
    { repository: { full_name: 'a/b' }, head_commit: { id: 'y' }, commits: [{ id: 'y' }] },
  ],
])('%s is meant', (template, other, now) => {
  expect(found(template, other, now)).toBeUndefined();
});
