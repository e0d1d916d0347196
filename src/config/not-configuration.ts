import { say } from '../finding.ts';
import { basename } from 'node:path';
import {
  documentKind,
  type Finding,
  firstLine,
  type LocatedValue,
  nameOfKind,
} from '../document/document.ts';
import type { ConfigCode } from './config-codes.ts';
import type { ConfigFacts } from './finding-facts.ts';

/** A configuration that is found without being named. */
const OWN_NAME = /^sluice\.(?:yaml|json)$/;

/** A file that holds something else than a configuration. */
export function findForeign(root: LocatedValue, file: string): Finding | undefined {
  const kind = documentKind(root.value);
  if (kind === undefined || kind === 'configuration') return undefined;
  const isOwn = OWN_NAME.test(basename(file));
  // Keys of the configuration that are indented too little, or are of an older form, are findings of their own.
  if (isOwn && kind !== 'mapping file') return undefined;
  const code: ConfigCode = 'NOT_A_CONFIGURATION';
  return {
    severity: 'error',
    code,
    message: say`this is ${nameOfKind(kind)}, and a configuration is expected here`,
    at: firstLine(root),
    facts: { kind, isOwn } satisfies ConfigFacts['NOT_A_CONFIGURATION'],
  };
}

/** A finding about a file that cannot be a configuration at all; what such a file is for is another matter here. */
export function ofOtherFile(found: Finding, file: string): Finding {
  if (found.code !== 'FILE_IS_DIRECTORY' && found.code !== 'UNKNOWN_FORMAT') return found;
  const { hint: _, ...rest } = found;
  return { ...rest, facts: { file } satisfies ConfigFacts['UNKNOWN_FORMAT'] };
}
