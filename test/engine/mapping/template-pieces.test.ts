/** The pieces of a rendered text: together they are the text, and each names the value it came from. */
import { describe, expect, test } from 'vitest';
import { OPENCLAW } from '../../../src/engine/config/openclaw/behaviours.ts';
import { compileYaml, tableOf } from '../../support/mapping-compile.ts';
import { scopeOf } from '../../support/mapping-scope.ts';

const PAYLOAD = {
  title: 'Fire \u0001:0\u0002',
  by: { name: 'Ada', 'e mail': 'a@b' },
  items: [
    { sku: 'A', tags: ['x', 'y'] },
    { sku: 'B', tags: [] },
  ],
  note: null,
};

const TEMPLATES: readonly (readonly [string, readonly (string | undefined)[]])[] = [
  ['only words', []],
  ['{{title}} by {{by.name}}', ['payload.title', 'payload.by.name']],
  ['{{payload.title}} {{headers.x-a}} {{query.q}}', ['payload.title', 'headers.x-a', 'query.q']],
  ['{{note}}{{missing.one}}', ['payload.note', 'payload.missing.one']],
  ['{{truncate (upper by.name) 2}}', ['payload.by.name']],
  ['{{default missing "none"}}', ['payload.missing']],
  ['{{by.[e mail]}} {{items[0].sku}}', ['payload.by.e mail', 'payload.items.0.sku']],
  ['{{#each items}}{{sku}},{{/each}}', ['payload.items.0.sku', 'payload.items.1.sku']],
  ['{{#each items as |one|}}{{one.sku}}{{/each}}', ['payload.items.0.sku', 'payload.items.1.sku']],
  [
    '{{#each items}}{{#each tags}}{{this}}{{../sku}}{{/each}}{{/each}}',
    ['payload.items.0.tags.0', 'payload.items.0.sku', 'payload.items.0.tags.1', 'payload.items.0.sku'],
  ],
  ['{{#with by}}{{name}} {{@root.title}}{{/with}}', ['payload.by.name', 'payload.title']],
  ['{{#each items}}{{@index}}{{/each}}', [undefined, undefined]],
];

describe.each([
  ['sluice', {}],
  ['openclaw', OPENCLAW],
] as const)('%s', (_, behaviours) => {
  test.each(TEMPLATES)('%s', (template, paths) => {
    const text = `match: {path: a}\nmessageTemplate: ${JSON.stringify(template)}\n`;
    const compiled = tableOf(compileYaml(text, {}, behaviours)).mappings[0]?.text;
    if (compiled === undefined) throw new Error('no template');
    const scope = scopeOf(PAYLOAD, { headers: { 'x-a': '1' } });
    const pieces = compiled.pieces(scope);
    expect(pieces.map((piece) => piece.text).join('')).toBe(compiled.render(scope));
    if (behaviours === OPENCLAW) return;
    expect(pieces.filter(({ expression }) => expression !== undefined).map(({ path }) => path)).toEqual(
      paths,
    );
    for (const { at, expression = '' } of pieces) {
      if (at !== undefined)
        expect(at.source.text.slice(at.start, at.end)).toContain(expression.replaceAll('"', '\\"'));
    }
  });
});
