/** Templates whose braces hold paths alone: n8n, Zapier, JavaScript, and the sections of Mustache. */
import { noCounterpart } from './calls.ts';
import type { ForeignScope } from './scope.ts';
import { templatePath } from '../../mapping/mapping.ts';

/** `$json.body.title`, `$('Webhook').item.json.body["title"]` and `$node["Webhook"].json.body.title` of n8n. */
export function n8nTag(inside: string): string {
  const [, steps] =
    /^\$(?:json|\(\s*["'][^"']*["']\s*\)\.(?:item|first\(\)|last\(\))\.json|node\[["'][^"']*["']\]\.json)((?:\??\.\w+|\[\d+\]|\["[^"\]]*"\]|\['[^'\]]*'\])*)$/.exec(
      inside.trim(),
    ) ?? [];
  return steps === undefined ? noCounterpart(inside) : pathTag(steps);
}

/** `123__data__title` of Zapier: the number of the step, then the keys. */
export function zapierTag(inside: string): string {
  const [, keys] = /^\s*\d+__([\w .-]+?)\s*$/.exec(inside) ?? [];
  return keys === undefined ? `{{${inside}}}` : written(keys.split('__'));
}

/** `${payload.user?.name ?? 'x'}` of JavaScript; a variable of the environment stays. */
export function scriptTag(inside: string): string {
  const [, root, steps = '', otherwise] =
    /^\s*(payload|body|headers|query|item)((?:\??\.\w+|\[\d+\]|\["[^"\]]*"\]|\['[^'\]]*'\])+)\s*(?:(?:\?\?|\|\|)\s*("[^"]*"|'[^']*')\s*)?$/.exec(
      inside,
    ) ?? [];
  if (root === undefined) return /^\w+$/.test(inside) ? `\${${inside}}` : noCounterpart(inside);
  const path = pathTag(root === 'payload' || root === 'body' ? `.body${steps}` : `.${root}${steps}`);
  return otherwise === undefined ? path : `{{default ${path.slice(2, -2)} ${otherwise}}}`;
}

/** Steps such as `.a["b c"][0]`; the fields of the body stand at the root here. */
function pathTag(steps: string): string {
  const keys = [...steps.matchAll(/\.(\w+)|\[["']?([^"'\]]*)["']?\]/g)].map(
    ([, name, key]) => name ?? key ?? '',
  );
  return written(keys[0] === 'body' ? keys.slice(1) : keys);
}

function written(keys: readonly string[]): string {
  if (keys.length === 0) return '{{json payload}}';
  return `{{${templatePath(keys)}}}`;
}

/** Sections of Mustache: a list, an object or a flag, as their names and contents look. */
export function mustacheTags(source: string): (inside: string, scope: ForeignScope) => string {
  return (inside, scope) => {
    const [, sign, name = ''] = /^([#^/])\s*([\w.]+)\s*$/.exec(inside) ?? [];
    if (sign === undefined) return `{{${inside}}}`;
    if (sign === '/') return scope.close() ?? noCounterpart(inside);
    const helper = sign === '^' ? 'unless' : sectionKind(source, name);
    scope.open(`{{/${helper}}}`);
    return `{{#${helper} ${name}}}`;
  };
}

function sectionKind(source: string, name: string): 'each' | 'with' | 'if' {
  const from = source.indexOf(`{{#${name}}}`);
  const content = source.slice(from + name.length + 5, source.indexOf(`{{/${name}}}`, from));
  if (/\{\{\s*\.\s*\}\}/.test(content)) return 'each';
  if (!content.includes('{{')) return 'if';
  return name.endsWith('s') ? 'each' : 'with';
}
