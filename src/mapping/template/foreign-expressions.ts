/* Expressions of JavaScript and of other Handlebars dialects, one by one: calls, comparisons and `elseif`, as they are here. */
import { quoted } from '../../finding.ts';
import { withEdit, type Finding, type Place } from '../../document/document.ts';
import { wholeHint } from './foreign-call.ts';
import { hintForExpression } from './foreign-syntax.ts';
import { findHelper } from './template-helpers.ts';

/** Methods of JavaScript with the helper that does the same. */
const METHODS: Readonly<Record<string, string>> = {
  toUpperCase: 'upper',
  toLocaleUpperCase: 'upper',
  toLowerCase: 'lower',
  toLocaleLowerCase: 'lower',
  trim: 'trim',
  join: 'join',
  slice: 'truncate',
  substring: 'truncate',
  substr: 'truncate',
  toISOString: 'date',
  toLocaleDateString: 'date',
  toLocaleString: '',
  toString: '',
};

const PATH = String.raw`[A-Za-z_@][\w.@/[\]-]*`;
const METHOD = new RegExp(String.raw`^(${PATH})\??\.(\w+)\(([^()]*)\)$`);
const CALL = new RegExp(String.raw`^(JSON\.stringify|\w+)\(\s*(${PATH})\s*((?:,[^()]*)?)\)$`);
const ELSE = /^(?:else\s*-?if|elif|elsif)\s+(\S.*)$/i;

/** A time zone behind the format, without its name. */
const ZONE = /^(date\s+\S+\s+(?:"[^"]*"|'[^']*'))\s+("[A-Za-z]+(?:\/[\w/+-]+)?"|'[A-Za-z]+(?:\/[\w/+-]+)?')$/;

/** What stands between the braces, in the words of this language; undefined where nothing is known of it. */
function expressionHere(inside: string): string | undefined {
  const text = inside.trim();
  const branch = ELSE.exec(text)?.[1];
  if (branch !== undefined) {
    const inner =
      expressionHere(`#if ${branch}`) ??
      (/^[\w.@/[\]-]+$|^\(.*\)$/.test(branch) ? `#if ${branch}` : undefined);
    return inner === undefined ? undefined : `else ${inner.slice(1)}`;
  }
  const [, date, zone] = ZONE.exec(text) ?? [];
  if (date !== undefined) return `${date} tz=${zone ?? ''}`;
  const own = calledHere(text);
  if (own !== undefined) return own;
  const written = /^write \{\{(.*?)\}\}(?:…\{\{\/\w+\}\})?$/.exec(hintForExpression(text) ?? '')?.[1];
  return written === undefined || written.includes('…') ? undefined : written;
}

function calledHere(text: string): string | undefined {
  const [, path, method = '', args = ''] = METHOD.exec(text) ?? [];
  if (path !== undefined && path !== 'JSON' && Object.hasOwn(METHODS, method)) {
    const helper = METHODS[method] ?? '';
    const given: readonly string[] = args.match(/"[^"]*"|'[^']*'|[^,\s]+/g) ?? [];
    if (helper === '') return path;
    if (helper === 'truncate')
      return given[0] === '0' && /^\d+$/.test(given[1] ?? '')
        ? `truncate ${path} ${given[1] ?? ''}`
        : undefined;
    return helper === 'join' ? ['join', path, ...given].join(' ') : `${helper} ${path}`;
  }
  const [, name = '', value, more = ''] = CALL.exec(text) ?? [];
  if (value === undefined) return undefined;
  if (name === 'JSON.stringify') return `json ${value}`;
  const helper = findHelper(name);
  return (
    helper &&
    [helper.name, value, ...more.split(',').map((each) => each.trim())]
      .filter((each) => each !== '')
      .join(' ')
  );
}

/** A finding that gives the expressions anew, where the template can be used once they are written so. */
export function foreignExpressions(
  source: string,
  {
    found,
    placeOf,
    isRight,
  }: {
    readonly found: readonly Finding[];
    readonly placeOf: (start: number, end: number) => Place;
    readonly isRight: (text: string) => boolean;
  },
): Finding | undefined {
  const changed: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  for (const match of source.matchAll(/(?<!\{)\{\{(~?)([^{}]{1,300})(~?)\}\}(?!\})/g)) {
    const [whole, open = '', inside = '', close = ''] = match;
    const here = expressionHere(inside);
    if (here === undefined || here === inside.trim()) continue;
    changed.push({ start: match.index, end: match.index + whole.length, text: `{{${open}${here}${close}}}` });
  }
  const [first] = changed;
  const last = changed.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const parts = changed.map(
    ({ start, text }, index) => source.slice(changed[index - 1]?.end ?? first.start, start) + text,
  );
  const middle = parts.join('');
  const template = source.slice(0, first.start) + middle + source.slice(last.end);
  const error = found.find(({ severity }) => severity === 'error');
  if (error === undefined || !isRight(template)) return undefined;
  const whole = changed.length > 1 ? wholeHint(template) : `write ${first.text}`;
  const at = placeOf(first.start, last.end);
  const isAsWritten = at.source.text.slice(at.start, at.end) === source.slice(first.start, last.end);
  const { edit: _edit, ...rest } = error;
  const finding = {
    ...rest,
    hint: quoted(whole ?? `write ${changed.map(({ text }) => text).join(' and ')}`),
  };
  return withEdit(finding, isAsWritten ? { at, text: middle } : undefined);
}
