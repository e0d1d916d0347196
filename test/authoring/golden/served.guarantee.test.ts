/** What golden cases say is what a running service answers: every case of the corpus, sent over the wire. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { RequestFindingJson } from '../../../src/base/finding.ts';
import { findCases, type GoldenCase } from '../../../src/authoring/golden/golden.ts';
import type { HookRequest } from '../../../src/base/request.ts';
import { senderWarnings } from '../../../src/service/server/problem.ts';
import { openBench, serveBench, TOKEN } from '../../support/cli-service.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface Expected {
  readonly outcome: 'accepted' | 'skipped' | 'rejected';
  readonly actions?: readonly { readonly action: 'wake' | 'agent' }[];
  readonly status?: number;
  readonly code?: string;
  readonly warnings?: readonly RequestFindingJson[];
  readonly duplicate?: boolean;
}

/** Of one delivery: status, code and warnings. A repeat gets the answer of the first. */
interface Answered {
  readonly status: number;
  readonly code?: string;
  readonly warnings: readonly string[];
}

/** Paths whose mappings have an `answer` of their own, with its status. */
const OWN_ANSWERS: Readonly<Record<string, number>> = { twilio: 200 };

function expectedOf({ expected, isList, deliveries }: GoldenCase): readonly Answered[] {
  const value = expected!.value as Expected & { readonly deliveries: readonly Expected[] };
  const list = isList ? value.deliveries : [value];
  const path = deliveries[0]?.request.path ?? '';
  const own = OWN_ANSWERS[path];
  const answers: Answered[] = [];
  for (const each of list) {
    const warnings = senderWarnings(path, each.warnings ?? []).map(({ code }) => code);
    if (each.duplicate === true) answers.push(answers[0]!);
    else if (each.outcome === 'rejected') answers.push({ status: each.status!, code: each.code!, warnings });
    else if (each.outcome === 'skipped') answers.push({ status: own ?? 204, warnings: [] });
    else {
      const status = each.actions!.every(({ action }) => action === 'wake') ? 200 : 202;
      answers.push({ status: own ?? status, warnings });
    }
  }
  return answers;
}

async function answerOf(url: string, { path, query, headers, payload }: HookRequest): Promise<Answered> {
  const search = new URLSearchParams(query).toString();
  const isForm = headers['content-type']?.includes('urlencoded') === true;
  const response = await fetch(`${url}/${path}${search === '' ? '' : `?${search}`}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers, authorization: `Bearer ${TOKEN}` },
    body: isForm
      ? new URLSearchParams(payload as Record<string, string>).toString()
      : JSON.stringify(payload),
  });
  const text = await response.text();
  // A mapping may have an answer of its own, for senders that read it.
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  const body = (isJson && text !== '' ? JSON.parse(text) : {}) as {
    code?: string;
    warnings?: { code: string }[];
  };
  return {
    status: response.status,
    ...(body.code === undefined ? {} : { code: body.code }),
    // A blank Idempotency-Key is remarked on before evaluation, by the HTTP front.
    warnings: (body.warnings ?? [])
      .map(({ code }) => code)
      .filter((code) => code !== 'blank_idempotency_key'),
  };
}

test('every case gets the status and code its expectation says, and of its warnings those for a sender', async () => {
  const folders = `  mappingsDir: ${root}mappings\n  transformsDir: ${root}transforms\n`;
  const served = readFileSync(`${root}sluice.yaml`, 'utf8').replace(
    'hooks:\n',
    `hooks:\n  token: \${SLUICE_HOOK_TOKEN}\n${folders}`,
  );
  const bench = openBench({ 'sluice.yaml': `${served}server: {port: 0}\n` });
  const log: string[] = [];
  const { url } = await serveBench(bench, log);
  const { cases } = await findCases(`${root}test/golden`);
  const answers: Record<string, readonly Answered[]> = {};
  const expected: Record<string, readonly Answered[]> = {};
  for (const golden of cases) {
    expected[golden.name] = expectedOf(golden);
    const list: Answered[] = [];
    for (const { request } of golden.deliveries) list.push(await answerOf(`${url}/hooks`, request));
    answers[golden.name] = list;
  }
  expect(Object.keys(answers).length).toBeGreaterThan(150);
  expect(answers).toEqual(expected);
  // Of 174 bodies, hostile and failing ones among them, not a word is in the log.
  expect(log.join('')).not.toMatch(
    /Codertocat|jenny\.rosen|im_start|ignore all previous|Cannot read|no incident/,
  );
});
