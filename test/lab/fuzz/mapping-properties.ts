/** Files of operators: whatever they hold is compiled or refused with findings, and what was compiled always decides. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { advise } from '../../../src/authoring/advice/advice.ts';
import type { Finding } from '../../../src/base/document/document.ts';
import { formatFindings, parseDocument } from '../../../src/base/document/facts.ts';
import { compileMappings, type CompiledMappings } from '../../../src/engine/mapping/compile.ts';
import { HookError } from '../../../src/base/errors.ts';
import { evaluationToJson } from '../../../src/engine/hook/hook.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';
import { compileList } from '../../support/mapping-compile.ts';
import { type FuzzProperty, inTime, json, payload, rule, template, texts } from './arbitraries.ts';
import { said } from '../../support/said.ts';

/** Any value under any key, mostly the right one. */
const mapping = fc.record(
  {
    id: fc.oneof(fc.constantFrom('a', 'b', 'wake', ''), texts),
    enabled: fc.oneof(fc.boolean(), json),
    match: fc.oneof(
      fc.record(
        { path: fc.constantFrom('h', 'h/*', 'a/:b', '*', '', '/h/'), when: rule, source: texts },
        { requiredKeys: [] },
      ),
      json,
    ),
    action: fc.constantFrom('agent', 'wake', 'skip', 'none'),
    name: template,
    messageTemplate: template,
    textTemplate: template,
    sessionKey: template,
    model: template,
    to: template,
    channel: fc.oneof(fc.constantFrom('last', 'slack', 'carrier-pigeon'), template),
    deliver: fc.oneof(fc.boolean(), template, json),
    trust: fc.constantFrom('external', 'trusted', 'x'),
    forEach: fc.oneof(fc.constantFrom('list', 'a.list', 'payload', '__proto__'), json),
    dedupe: fc.oneof(fc.constantFrom('body', 'none'), template, json),
    verify: fc.oneof(
      fc.record({
        scheme: fc.constantFrom('github', 'hmac', 'oidc', 'twilio', 'x'),
        secrets: fc.constant(['${S}']),
        header: texts,
      }),
      json,
    ),
    bodyFormat: fc.constantFrom('json', 'form', 'xml', 'text', 'cloudevents', 'csv'),
    method: fc.constantFrom('GET', 'POST', 'PUT'),
    challenge: fc.oneof(fc.constantFrom('slack', 'zoom', 'meta'), json),
    rate: json,
    answer: fc.oneof(
      fc.record({ status: fc.integer({ min: 100, max: 600 }), body: texts, contentType: texts }),
      json,
    ),
    allowFrom: fc.oneof(fc.constant(['127.0.0.0/8']), json),
    callbackUrl: texts,
    timeoutSeconds: json,
    nothing: json,
  },
  { requiredKeys: [] },
);

/** Mapping files as text, some of them cut, doubled or with a character changed. */
const document = fc
  .tuple(
    fc.array(mapping, { maxLength: 4 }),
    fc.constantFrom('yaml', 'json'),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.constantFrom('', ':', '-', '"', '{', '&a ', '*a', '\t', '\0', '\uFEFF', '|', '# '),
        fc.nat(12),
      ),
      {
        maxLength: 3,
      },
    ),
  )
  .map(([list, format, changes]) => {
    let written = format === 'json' ? JSON.stringify(list, null, 1) : stringify(list);
    for (const [place, inserted, removed] of changes) {
      const at = place % (written.length + 1);
      written = written.slice(0, at) + inserted + written.slice(at + removed);
    }
    return { written, format };
  });

function compileText(
  written: string,
  format: 'yaml' | 'json',
): CompiledMappings | { readonly findings: readonly Finding[] } {
  const { document: parsed, findings } = parseDocument({ file: `mappings.${format}`, text: written }, format);
  if (parsed === undefined || !Array.isArray(parsed.root.value)) return { findings };
  const entries = parsed.root.value.map((_, index) => ({
    value: parsed.root.at([index]),
    behaviours: {},
  }));
  return compileMappings(entries, { resolveReference: () => 'a secret of the operator' });
}

/** A person must be able to mend what is found: it has a place in the file (or just behind its end), words, and what to do. */
function checkFindings(findings: readonly Finding[], length: number): void {
  for (const { severity, code, message: words, at, hint } of findings) {
    const message = said(words);
    ok(message.length > 5 && message.length < 2_000, `${code}: ${message}`);
    ok(
      at !== undefined && at.start >= 0 && at.start <= at.end && at.end <= length + 1,
      `${code} has no place`,
    );
    if (severity === 'error')
      ok(hint !== undefined || message.includes('expected'), `${code} has no remedy: ${message}`);
  }
  ok(formatFindings(findings).length >= findings.length);
}

const mappings: FuzzProperty = {
  name: 'mapping files',
  runs: 150,
  check(parameters) {
    const property = fc.property(document, payload, ({ written, format }, body) => {
      const compiled = inTime(() => compileText(written, format));
      checkFindings(advise(compiled.findings), written.length);
      if (!('table' in compiled) || compiled.table === undefined) return;
      const { table } = compiled;
      for (const path of ['h', 'h/x', 'a/b', 'wake'])
        checkEvaluation({ path, payload: body }, settingsWith({ table }));
    });
    fc.assert(property, parameters);
    return Promise.resolve();
  },
};

/** Evaluates twice: always an outcome, the same one, and never an error of the service's own. */
function checkEvaluation(
  content: Parameters<typeof evaluateHook>[0],
  settings: ReturnType<typeof settingsWith>,
): void {
  const { evaluation } = inTime(() => evaluateHook(content, settings));
  const { outcome } = evaluation;
  if (outcome.kind === 'rejected') {
    ok(outcome.error instanceof HookError);
    ok(outcome.error.status < 500, `${outcome.error.code}: ${outcome.error.detail}`);
  }
  const again = evaluateHook(content, settings).evaluation;
  deepEqual(JSON.stringify(evaluationToJson(again)), JSON.stringify(evaluationToJson(evaluation)));
  const brief = evaluateHook(content, settings, { detail: 'brief' }).evaluation;
  const traced = { considered: [], empty: [], templates: [], transforms: [] };
  const decided = (made: typeof evaluation) => JSON.stringify({ ...evaluationToJson(made), ...traced });
  equal(decided(brief), decided(evaluation), 'what is traced must not change what is decided');
}

const templates: FuzzProperty = {
  name: 'templates',
  runs: 300,
  check(parameters) {
    const property = fc.property(
      template,
      template,
      payload,
      fc.boolean(),
      (messageTemplate, name, body, isList) => {
        const { table, findings } = inTime(() =>
          compileList([
            { match: { path: 'h' }, messageTemplate, name, ...(isList ? { forEach: 'list' } : {}) },
          ]),
        );
        ok(table !== undefined || findings.some(({ severity }) => severity === 'error'));
        if (table !== undefined) checkEvaluation({ path: 'h', payload: body }, settingsWith({ table }));
      },
    );
    fc.assert(property, parameters);
    return Promise.resolve();
  },
};

const conditions: FuzzProperty = {
  name: 'conditions',
  runs: 300,
  check(parameters) {
    const property = fc.property(rule, payload, (when, body) => {
      const { table, findings } = inTime(() =>
        compileList([{ match: { path: 'h', when }, messageTemplate: 'x' }]),
      );
      ok(table !== undefined || findings.some(({ severity }) => severity === 'error'));
      if (table !== undefined) checkEvaluation({ path: 'h', payload: body }, settingsWith({ table }));
    });
    fc.assert(property, parameters);
    return Promise.resolve();
  },
};

export const MAPPING_PROPERTIES: readonly FuzzProperty[] = [mappings, templates, conditions];
