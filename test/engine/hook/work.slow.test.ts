/** The work of one request is bounded, and a long evaluation lets others in between: by counts, not by clocks. */
import { describe, expect, test } from 'vitest';
import { createPauses, evaluate, runEvaluation } from '../../../src/engine/hook/evaluate.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { WorkLimits } from '../../../src/engine/mapping/mapping.ts';
import { WORK_LIMITS } from '../../../src/engine/mapping/facts.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { actionsOf, errorOf, evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';

const list = (count: number, element: JsonValue): JsonValue[] => Array.from({ length: count }, () => element);

function run(mapping: string, payload: JsonValue, limits: Partial<WorkLimits> = {}) {
  const settings = settingsWith({
    table: `[{id: m, match: {path: h}, ${mapping}}]`,
    limits: { ...WORK_LIMITS, ...limits },
  });
  return evaluateHook({ payload }, settings, { detail: 'brief' });
}

describe('a limit of the whole request', () => {
  const shared = 'x'.repeat(250_000);
  const each = 'forEach: items, messageTemplate: "{{shared}} {{item}}"';

  test.each(['x', 'ﷺ'])('stops 200 elements that repeat a text of 250 KB of %s', (unit) => {
    const text = unit.repeat(250_000 / Buffer.byteLength(unit));
    const error = errorOf(run(each, { items: list(200, 1), shared: text }).evaluation);
    expect([error.code, error.status]).toEqual(['too_much_work', 413]);
    expect(error.detail).toContain('renders more than 4194304 bytes');
    expect(error.detail).toContain('hooks.limits.renderedBytes');
    // The 17th rendering of 250 KB is over 4 MiB, and the last.
    expect(error.errors).toMatchObject([{ code: 'too_much_work', subject: { index: 16 } }]);
  });

  test('is the configured one', () => {
    const payload = { items: list(20, 1), shared };
    expect(errorOf(run(each, payload).evaluation).code).toBe('too_much_work');
    expect(actionsOf(run(each, payload, { renderedBytes: 8_000_000 }).evaluation)).toHaveLength(20);
  });

  test('counts steps over all templates', () => {
    const loop = 'forEach: items, messageTemplate: "{{#each @root.l}}{{#if this}}{{/if}}{{/each}}x"';
    const payload = { items: list(100, 1), l: list(10_000, 1) };
    const error = errorOf(run(loop, payload).evaluation);
    expect(error.detail).toBe(
      'this request takes more than 16000000 steps in all; send fewer or shorter elements, or raise hooks.limits.steps',
    );
    expect(actionsOf(run(loop, payload, { steps: 100_000_000 }).evaluation)).toHaveLength(100);
  });

  test('counts steps over the conditions of many mappings', () => {
    const rule = (id: number): string =>
      `{match: {path: h, when: {some: [{var: l}, {"===": [{var: ""}, ${id + 2}]}]}}, messageTemplate: x}`;
    const table = `[${Array.from({ length: 100 }, (_, id) => rule(id)).join(', ')}]`;
    const { evaluation, pauses } = evaluateHook(
      { payload: { l: list(100_000, 1) } },
      settingsWith({ table }),
    );
    expect(errorOf(evaluation)).toMatchObject({
      code: 'too_much_work',
      detail: expect.stringContaining('hooks.limits.steps') as string,
    });
    expect(pauses).toBeGreaterThan(20);
  });

  test('counts what is stored, also of a transform', () => {
    const settings = settingsWith({ table: '[{id: m, match: {path: h}, forEach: items, transform: t.ts}]' });
    const { evaluation, calls } = evaluateHook({ payload: { items: list(200, 1) } }, settings, {
      detail: 'brief',
      answer: () => ({ value: { message: 'x'.repeat(1_000_000) } }),
    });
    expect(errorOf(evaluation).detail).toContain('stores more than 16777216 bytes');
    // Message and prompt are stored: 2 MB for each element.
    expect(calls).toHaveLength(9);
  });
});

describe('a bound of what cannot be interrupted', () => {
  test.each([
    [
      'messageTemplate: "{{#each l}}{{#each ../l}}x{{/each}}{{/each}}"',
      'a template takes more than 4194304 steps',
    ],
    [
      'messageTemplate: "{{#each l}}{{json @root.payload}}{{/each}}"',
      'a template makes more than 1048576 characters',
    ],
  ])('%s', (mapping, detail) => {
    const error = errorOf(run(mapping, { l: list(2000, 1) }).evaluation);
    expect([error.status, error.code]).toEqual([413, 'too_much_work']);
    expect(error.detail).toContain(detail);
  });

  test('of a condition', () => {
    const when = '{"===": [{reduce: [{var: l}, {cat: [{var: accumulator}, "abcdefgh"]}, ""]}, x]}';
    const table = `[{match: {path: h, when: ${when}}, messageTemplate: x}]`;
    const { evaluation } = evaluateHook({ payload: { l: list(2000, 1) } }, settingsWith({ table }));
    expect(errorOf(evaluation)).toMatchObject({
      code: 'too_much_work',
      detail: expect.stringContaining('a condition takes more than 2000000 steps') as string,
    });
  });
});

describe('pauses', () => {
  const loop = 'forEach: items, messageTemplate: "{{#each @root.l}}{{#if this}}{{/if}}{{/each}}x"';
  const payload = (items: number): JsonValue => ({ items: list(items, 1), l: list(10_000, 1) });

  test('come in proportion to the work, the same ones every time, and change nothing', () => {
    const counts = [0, 4, 8, 16].map((items) => run(loop, payload(items)).pauses);
    expect(counts[0]).toBe(0);
    expect(counts[2]).toBeGreaterThanOrEqual(2 * counts[1]! - 1);
    expect(counts[3]).toBeGreaterThanOrEqual(2 * counts[2]! - 1);
    expect(run(loop, payload(16)).pauses).toBe(counts[3]);
    expect(actionsOf(run(loop, payload(16)).evaluation)).toHaveLength(16);
  });

  test('are none for an ordinary request', () => {
    const { pauses, evaluation } = run('messageTemplate: "{{json payload}}"', { text: 'x'.repeat(60_000) });
    expect([pauses, actionsOf(evaluation).length]).toEqual([0, 1]);
  });

  test('end one by one, so that ten long evaluations hold the event loop no longer than one', async () => {
    const pause = createPauses();
    const request = createHookRequest({ path: 'h', payload: payload(16), receivedAt });
    const settings = settingsWith({ table: `[{id: m, match: {path: h}, ${loop}}]` });
    let steps = 0;
    const driver = {
      transforms: { call: () => Promise.reject(new Error('not to be called')) },
      pause: async () => {
        await pause();
        steps += 1;
      },
    };
    const ended: unknown[] = [];
    const all = Promise.all(
      Array.from({ length: 10 }, async () => {
        const evaluation = await runEvaluation(evaluate(request, settings, { detail: 'brief' }), driver);
        ended.push(evaluation);
        return evaluation;
      }),
    );
    const perTurn: number[] = [];
    for (let turn = 0; turn < 10_000 && ended.length < 10; turn += 1) {
      const before = steps;
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      await new Promise((resolve) => void setImmediate(resolve));
      perTurn.push(steps - before);
    }
    expect(Math.max(...perTurn)).toBe(1);
    expect((await all).every(({ outcome }) => outcome.kind === 'accepted')).toBe(true);
  });
});
