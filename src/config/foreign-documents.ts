import { quoted, say } from '../finding.ts';
import { basename, extname } from 'node:path';
import {
  documentKind,
  type Finding,
  type DocumentKind,
  firstLine,
  type LocatedValue,
  nameOfKind,
} from '../document/document.ts';
import type { ConfigCode } from './config-codes.ts';

/** A configuration that is found without being named. */
const OWN_NAME = /^sluice\.(?:yaml|json)$/;

const CONFIGURATION =
  '-c names the configuration, sluice.yaml; leave it out in the folder of that file, or name the file: -c PATH/sluice.yaml';

/** What each kind of file is for. */
const BELONGS: Readonly<Record<Exclude<DocumentKind, 'configuration'>, string>> = {
  'mapping file':
    'mapping files are found by the configuration: "sluice check" without -c reads all of its mappings folder',
  'request file': 'a request file is an argument of its own: sluice explain FILE',
  expectation: '"sluice test" finds expectations by itself, beside their request files',
  'package.json': 'nothing of Sluice is set in it',
};

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
    hint: quoted(
      isOwn
        ? 'mappings belong into files of their own, mappings/NAME.yaml, or below hooks.mappings; "sluice init" writes a configuration'
        : `${CONFIGURATION}; ${BELONGS[kind]}`,
    ),
  };
}

const MODULES: ReadonlySet<string> = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']);

/** A finding about a file that cannot be a configuration at all, with what was probably meant. */
export function ofOtherFile(found: Finding, file: string): Finding {
  if (found.code === 'FILE_IS_DIRECTORY') return { ...found, hint: quoted(CONFIGURATION) };
  if (found.code !== 'UNKNOWN_FORMAT') return found;
  const more = MODULES.has(extname(file).toLowerCase())
    ? '; a transform is named by a mapping, and "sluice transform run FILE" calls it'
    : '';
  return { ...found, hint: say`${CONFIGURATION}${more}` };
}
