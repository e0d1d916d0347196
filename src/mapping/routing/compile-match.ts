import { quoted, say } from '../../finding.ts';
import type { Finding, LocatedValue } from '../../document/document.ts';
import type { JsonValue } from '../../json.ts';
import { elementForm } from '../element-rules.ts';
import { compileCondition } from '../condition/condition.ts';
import { quote, type Report, type Reporter } from '../mapping-codes.ts';
import type { CompileOptions } from '../compile-options.ts';
import type { MappingSource } from '../mapping-schema.ts';
import type { CompiledMapping } from '../compiled-mapping.ts';

/** Hook names that are no mapping's: the two built-in routes and the listing of runs. */
const RESERVED_PATHS = ['wake', 'agent', 'runs'];

interface MatchSource {
  readonly source: MappingSource;
  readonly located: LocatedValue;
  readonly reporter: Reporter;
  readonly options: CompileOptions;
}

export function compileMatch({
  source: { match = {}, forEach, id = 'own', transform },
  located,
  reporter,
  options,
}: MatchSource): CompiledMapping['match'] {
  // A blank part is a wildcard, as one that is absent.
  const source = match.source === undefined || match.source.trim() === '' ? undefined : match.source;
  const path = compilePath(match.path ?? '', options.hooksPath ?? '/hooks', reporter);
  const result = match.when === undefined ? undefined : compileCondition(located.at(['match', 'when']));
  const list = forEach?.trim();
  const found = result?.diagnostics ?? [];
  reporter.diagnostics.push(
    ...(list === undefined
      ? found
      : ofElements(found, located.exact(['match', 'when']) as JsonValue, {
          id,
          list,
          hasTransform: transform !== undefined,
        })),
  );
  return {
    ...(path === undefined ? {} : { path, pathAt: located.place(['match', 'path']) }),
    ...(source === undefined ? {} : { source, sourceAt: located.place(['match', 'source']) }),
    ...(result?.condition === undefined ? {} : { when: result.condition }),
  };
}

/** A condition on `item` beside `forEach`: what is to be written is told once, whole. */
function ofElements(
  found: readonly Finding[],
  rule: JsonValue,
  { id, list, hasTransform }: { readonly id: string; readonly list: string; readonly hasTransform: boolean },
): readonly Finding[] {
  const first = found.find(({ code }) => code === 'ITEM_WITHOUT_FOR_EACH');
  const ofElement = (name: string): string | undefined => /^item(?:\.(.+))?$/.exec(name)?.slice(1)[0];
  const form = first === undefined ? undefined : elementForm(rule, { id, list, ofElement });
  if (first === undefined || form === undefined) return found;
  const { edit: _one, ...whole } = first;
  const others =
    form.file === undefined || hasTransform
      ? 'to leave out its other elements let a transform return null for them'
      : `to leave out its other elements add the line transform: ${id}.js to the mapping, and ${form.file}`;
  const hint = `for requests with such an element write ${form.when}; ${others}`;
  return found.flatMap((each) => {
    if (each === first) return [{ ...whole, hint: quoted(hint) }];
    return each.code === first.code ? [] : [each];
  });
}

/** A hook name without outer slashes; undefined for any. */
function compilePath(written: string, hooksPath: string, reporter: Reporter): string | undefined {
  const path = written.trim().replace(/^\/+|\/+$/g, '');
  if (RESERVED_PATHS.includes(path)) {
    reporter.report(['match', 'path'], {
      code: 'RESERVED_PATH',
      message: say`the path ${quote(path)} is built in, so no mapping can take it`,
      hint: say`choose another name; ${RESERVED_PATHS.map((name) => `"${name}"`).join(', ')} are reserved`,
    });
  }
  const base = hooksPath.replace(/^\/+/, '');
  if (base !== '' && path.startsWith(`${base}/`))
    reporter.report(['match', 'path'], withBase(path, base, written));
  checkSigns(path, reporter);
  return path === '' ? undefined : path;
}

function withBase(path: string, base: string, written: string): Report {
  const name = path.slice(base.length + 1);
  return {
    severity: 'warning',
    code: 'MAPPING_PATH_WITH_BASE',
    message: say`the path ${quote(path)} begins with hooks.path, so senders would have to post to ${quote(`/${base}/${path}`)}`,
    hint: say`write only the hook name: ${name}`,
    replace: { from: written.trim(), to: name },
  };
}

/** A sign that cannot be part of the path of a request. */
const ODD_SIGN = /[^!$&-;=@-Z_a-z~%]/;

/** A name is compared as it is: no wildcard, no pattern, and no sign that a URL cannot have. */
function checkSigns(path: string, reporter: Reporter): void {
  if (checkPattern(path, reporter)) return;
  checkWildcard(path, reporter);
  const odd = ODD_SIGN.exec(path)?.[0] ?? (/\/\//.test(path) ? '//' : undefined);
  if (odd !== undefined) {
    reporter.report(['match', 'path'], {
      code: 'INVALID_MAPPING_PATH',
      message: say`the path ${quote(path)} contains ${quote(odd)}, which cannot be part of the path of a request`,
      hint: say`write it as senders write it in the URL; percent escapes are compared as they are`,
    });
  }
}

function checkWildcard(path: string, reporter: Reporter): void {
  const wildcard = /(?:^|\/)(\*+|:[A-Za-z]\w*)(?=\/|$)/.exec(path)?.[1];
  if (wildcard === undefined) return;
  reporter.report(['match', 'path'], {
    severity: 'warning',
    code: 'MAPPING_PATH_WILDCARD',
    message: say`the path ${quote(path)} takes only requests to exactly this name: ${quote(wildcard)} stands for itself`,
    hint: say`write one mapping for each name; one without match.path takes every name, and {{path}} prints it`,
  });
}

/** Whether it is a regular expression. */
function checkPattern(path: string, reporter: Reporter): boolean {
  if (!/^\^|\$$|\.[*+]|\\|\(.*\|.*\)|\[.*\]/.test(path)) return false;
  const name = path
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replace(/^(?:\\?\/)?(?:hooks\\?\/)?/, '');
  const isPlain = /^[\w./-]+$/.test(name) && !name.includes('.*');
  reporter.report(['match', 'path'], {
    severity: ODD_SIGN.test(path) ? 'error' : 'warning',
    code: 'INVALID_MAPPING_PATH',
    message: say`the path ${quote(path)} is a regular expression, and a hook name is compared as it is`,
    hint: quoted(
      isPlain
        ? `write ${name}`
        : 'write one mapping for each name; one without match.path takes every name, and match.when can read {"var": "path"}',
    ),
    ...(isPlain ? { replace: { from: path, to: name } } : {}),
  });
  return true;
}
