/** Shopify's sample order has the id 820982911946154508; as a double it is …500, as are its neighbours. */
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/base/json.ts';
import { compileMappings } from '../../../src/engine/mapping/compile.ts';
import { compileCondition } from '../../../src/engine/mapping/condition/condition.ts';
import { compileTemplate } from '../../../src/engine/mapping/template/template.ts';
import { locatedText, scopeOf } from '../../support/mapping-scope.ts';

const ID = '820982911946154508';
const payload = parseJson(
  `{"id":${ID},"ids":[${ID},1],"text":"${ID}","other":820982911946154509,"huge":1e400,"tiny":1e-400,"n":5,` +
    `"flag":true,"minus":-${ID},"same":8.20982911946154508e17}`,
);

describe('conditions compare exact numbers', () => {
  test.each([
    [`{"===": [{var: id}, ${ID}]}`, true],
    ['{"===": [{var: id}, 820982911946154509]}', false],
    ['{"===": [{var: id}, 820982911946154500]}', false],
    ['{"===": [{var: id}, {var: same}]}', true],
    ['{"!==": [{var: id}, {var: other}]}', true],
    [`{"===": [{var: id}, "${ID}"]}`, false],
    [`{"==": [{var: id}, "${ID}"]}`, true],
    [`{"==": [{var: text}, ${ID}]}`, true],
    ['{"==": [{var: id}, "820982911946154509"]}', false],
    ['{"!=": [{var: id}, "x"]}', true],
    ['{"<": [{var: id}, {var: other}]}', true],
    ['{"<": [{var: id}, 820982911946154509, 1e19]}', true],
    ['{">": [{var: id}, {var: other}]}', false],
    ['{">": [{var: huge}, 1.7e308]}', true],
    ['{">": [{var: huge}, 1e401]}', false],
    ['{">": [{var: tiny}, 0]}', true],
    ['{"<": [{var: minus}, -820982911946154507]}', true],
    [`{in: [{var: id}, [1, ${ID}]]}`, true],
    ['{in: [{var: id}, [1, 820982911946154509]]}', false],
    [`{in: [${ID}, {var: ids}]}`, true],
    ['{in: [{var: id}, {var: text}]}', true],
    ['{"===": [{max: [{var: id}, {var: other}, {var: n}]}, {var: other}]}', true],
    ['{"===": [{cat: ["c", {var: id}]}, "c820982911946154508"]}', true],
    [`{some: [{var: ids}, {"===": [{var: ""}, ${ID}]}]}`, true],
    ['{"!!": [{var: tiny}]}', true],
    ['{">": [{"+": [{var: id}, 1]}, 820982911946154000]}', true],
  ])('%s', (rule, expected) => {
    const { condition, findings } = compileCondition(locatedText(rule));
    expect(findings).toEqual([]);
    expect(condition?.matches(scopeOf(payload))).toBe(expected);
  });

  test('a trace prints the digits', () => {
    const { condition } = compileCondition(locatedText('{"===": [{var: id}, 820982911946154509]}'));
    const failed = condition?.trace(scopeOf(payload)).failed;
    expect([JSON.stringify(failed?.found), JSON.stringify(failed?.expected)]).toEqual([
      ID,
      '820982911946154509',
    ]);
    expect(failed?.expression).toContain('820982911946154509');
  });

  test('a number alone is no condition', () => {
    expect(compileCondition(locatedText(ID)).findings.map(({ code }) => code)).toEqual([
      'CONDITION_NOT_A_RULE',
    ]);
  });

  test('two mappings for neighbouring ids are both reached', () => {
    const rule = (id: string): string =>
      `{match: {path: h, when: {"===": [{var: id}, ${id}]}}, messageTemplate: x}`;
    const list = locatedText(`[${rule(ID)}, ${rule('820982911946154509')}]`);
    const entries = [0, 1].map((index) => ({ value: list.at([index]), behaviours: {} }));
    const { table, findings } = compileMappings(entries, {});
    expect(findings).toEqual([]);
    expect(table?.route({ request: { ...scopeOf(payload).request, path: 'h' } })?.order).toBe(0);
  });
});

describe('templates print the digits', () => {
  test.each([
    ['{{id}}', ID],
    ['{{payload.id}} {{huge}} {{minus}}', `${ID} 1e400 -${ID}`],
    ['{{json id}}', ID],
    ['{{json ids}}', `[${ID},1]`],
    ['{{ids}}', `[${ID},1]`],
    ['{{join ids "+"}}', `${ID}+1`],
    ['{{#each ids}}<{{this}}>{{/each}}', `<${ID}><1>`],
    ['{{#with id}}{{this}}{{/with}}', ID],
    ['{{#if tiny}}yes{{/if}}', 'yes'],
    ['{{id.text}}{{id.length}}{{id.toString}}{{#each id}}x{{/each}}', ''],
    [`{{#if (eq id ${ID})}}yes{{/if}}{{#if (eq id 820982911946154509)}}no{{/if}}`, 'yes'],
    ['{{#if (ne id other)}}yes{{/if}}', 'yes'],
    ['{{truncate id 5}} {{upper huge}} {{default id "x"}}', '8209… 1E400 820982911946154508'],
    ['{{length id}} {{lines id 1}}', `0 ${ID}`],
  ])('%s', (source, expected) => {
    const { template, findings } = compileTemplate(locatedText(JSON.stringify(source)));
    expect(findings).toEqual([]);
    expect(template?.render(scopeOf(payload))).toBe(expected);
  });

  test('inside a body nested as deep as one may be', () => {
    const deep = parseJson(`${'['.repeat(512)}${ID}${']'.repeat(512)}`);
    const { template } = compileTemplate(locatedText('"{{json payload}}"'));
    expect(template?.render(scopeOf(deep))).toContain(`[${ID}]`);
  });
});
