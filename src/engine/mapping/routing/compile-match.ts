import { say, type Subject } from '../../../base/finding.ts';
import type { LocatedValue } from '../../../base/document/document.ts';
import { compileCondition } from '../condition/condition.ts';
import { quote, type Reporter } from '../mapping-codes.ts';
import type { MappingSource } from '../mapping-schema.ts';
import type { CompiledMapping } from '../compiled-mapping.ts';

/** Hook names that are no mapping's: the two built-in routes and the listing of runs. */
const RESERVED_PATHS = ['wake', 'agent', 'runs'];

/** The condition of a mapping. */
export interface ConditionSubject extends Subject {
  readonly kind: 'condition';
  readonly located: LocatedValue;
  /** Of the mapping, where it has one. */
  readonly id: string;
  readonly hasTransform: boolean;
  /** The path of the list, as it is written. */
  readonly forEach: string | undefined;
}

interface MatchSource {
  readonly source: MappingSource;
  readonly located: LocatedValue;
  readonly reporter: Reporter;
}

export function compileMatch({
  source: { match = {}, forEach, id = 'own', transform },
  located,
  reporter,
}: MatchSource): CompiledMapping['match'] {
  // A blank part is a wildcard, as one that is absent.
  const source = match.source === undefined || match.source.trim() === '' ? undefined : match.source;
  const path = compilePath(match.path ?? '', reporter);
  const result = match.when === undefined ? undefined : compileCondition(located.at(['match', 'when']));
  if (result !== undefined) {
    reporter.findings.push(...result.findings);
    const hasTransform = transform !== undefined;
    const subject: ConditionSubject = {
      kind: 'condition',
      located: located.at(['match', 'when']),
      id,
      hasTransform,
      forEach: forEach?.trim(),
    };
    reporter.show(subject);
  }
  return {
    ...(path === undefined ? {} : { path, pathAt: located.place(['match', 'path']) }),
    ...(source === undefined ? {} : { source, sourceAt: located.place(['match', 'source']) }),
    ...(result?.condition === undefined ? {} : { when: result.condition }),
  };
}

/** A hook name without outer slashes; undefined for any. */
function compilePath(written: string, reporter: Reporter): string | undefined {
  const path = written.trim().replace(/^\/+|(?<!\/)\/+$/g, '');
  if (RESERVED_PATHS.includes(path)) {
    reporter.report(['match', 'path'], {
      code: 'RESERVED_PATH',
      message: say`the path ${quote(path)} is built in, so no mapping can take it`,
      facts: { reserved: RESERVED_PATHS },
    });
  }
  const odd = unexpectedSign(path);
  if (odd !== undefined) {
    reporter.report(['match', 'path'], {
      code: 'INVALID_MAPPING_PATH',
      message: say`the path ${quote(path)} contains ${quote(odd)}, which cannot be part of the path of a request`,
      facts: { path },
    });
  }
  return path === '' ? undefined : path;
}

/** What cannot be part of the path of a request: a name is compared as it is. */
const unexpectedSign = (path: string): string | undefined => /[^!$&-;=@-Z_a-z~%]|\/\//.exec(path)?.[0];
