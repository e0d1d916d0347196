import { quoted, say } from '../../base/finding.ts';
import { resolve } from 'node:path';
import type { z } from 'zod';
import {
  findingAt,
  isSecretPath,
  kindsAt,
  type Finding,
  type LocatedValue,
  type Path,
} from '../../base/document/document.ts';
import type { ConfigFacts } from './finding-facts.ts';
import { readSecretFile } from './secret-file.ts';

const REFERENCE = /\$(\$?)\{([^}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface ResolveOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Directory that secret files are relative to. */
  readonly directory: string;
  /** False: a missing reference keeps its own text instead of being a finding. */
  readonly needSecrets: boolean;
  readonly schema: z.ZodType;
}

export interface ResolvedFile {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** Places of values whose reference is not known: other findings about them mean nothing. */
  readonly unknown: readonly Path[];
  /** Every text that came from outside the file. */
  readonly secrets: readonly string[];
  /** Absolute paths of the secret files. */
  readonly files: readonly string[];
}

/**
 * Replaces `${NAME}` and `{file: PATH}` everywhere but in `hooks.mappings`, whose texts are templates. `$${` stands
 * for a literal `${`. A text that is one reference and nothing else may stand where a number or boolean is expected.
 */
export async function resolveReferences(root: LocatedValue, options: ResolveOptions): Promise<ResolvedFile> {
  const run: ReferenceResolution = { root, options, findings: [], unknown: [], secrets: [], files: [] };
  const value = await resolveValue(run, root.value, []);
  return { value, ...run };
}

interface ReferenceResolution {
  readonly root: LocatedValue;
  readonly options: ResolveOptions;
  readonly findings: Finding[];
  readonly unknown: Path[];
  readonly secrets: string[];
  readonly files: string[];
}

async function resolveValue(run: ReferenceResolution, value: unknown, path: Path): Promise<unknown> {
  if (path.length === 2 && path[0] === 'hooks' && path[1] === 'mappings') return value;
  if (typeof value === 'string') {
    if (value.includes('${')) return resolveText(run, value, path);
    if (isSecretPath(path)) reportLiteral(run, value, path);
    return value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return Promise.all(value.map((item: unknown, index) => resolveValue(run, item, [...path, index])));
  }
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only?.[0] === 'file' && typeof only[1] === 'string') {
    return resolveFile(run, only[1], path);
  }
  const resolved: [string, unknown][] = [];
  for (const [key, item] of entries) resolved.push([key, await resolveValue(run, item, [...path, key])]);
  return Object.fromEntries(resolved.filter(([, item]) => item !== undefined));
}

/** A variable in the spelling of another tool, where a secret belongs: the text itself would be the secret. */
function reportLiteral(run: ReferenceResolution, value: string, path: Path): void {
  const [, name] =
    /^\s*(?:\$|%|\{\{\s*(?:\$?env|secrets|process\.env)?\.?|\$?env[:.]|process\.env\.|\$env:)([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\s*(?:%|\}\})?\s*$/i.exec(
      value,
    ) ?? [];
  if (name === undefined || name !== name.toUpperCase() || !name.includes('_')) return;
  report(run, path, {
    code: 'INVALID_REFERENCE',
    message: say`the variable ${name} is written as another tool has it: here the text itself would be the secret`,
    facts: { literal: name } satisfies ConfigFacts['INVALID_REFERENCE'],
  });
}

type ReferenceReport = Parameters<typeof findingAt>[1];

const report = ({ root, findings }: ReferenceResolution, path: Path, finding: ReferenceReport): void =>
  void findings.push(findingAt(root.place(path), finding));

function resolveText(run: ReferenceResolution, value: string, path: Path): unknown {
  const { text, isUnknown } = replaceVariables(run, value, path);
  if (isUnknown) run.unknown.push(path);
  const isWhole = /^\$\{[^}]*\}$/.test(value);
  if (!isWhole) return text;
  const kinds = kindsAt(run.options.schema, path);
  if (kinds.includes('a string')) return text;
  const wanted = kinds.find((kind) => kind === 'a number' || kind === 'a boolean');
  if (wanted === undefined) return text;
  // Nothing is known of it yet: the default stands in.
  if (isUnknown) return undefined;
  if (wanted === 'a number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (wanted === 'a boolean' && /^(true|false)$/.test(text)) return text === 'true';
  const name = value.slice(2, -1);
  // Such as the quotes of an env_file of Docker.
  const hasQuotes = /^(["']).*\1$/s.test(text);
  run.unknown.push(path);
  report(run, path, {
    code: 'INVALID_REFERENCE',
    message: say`${path.join('.')} must be ${wanted}, and the environment variable ${name} ${hasQuotes ? 'has quotes in its value' : 'is none'}`,
    facts: { value: { name, wanted, hasQuotes } } satisfies ConfigFacts['INVALID_REFERENCE'],
  });
  return undefined;
}

/** The text with the values of its variables; one that is unknown stays as it is written. */
function replaceVariables(
  run: ReferenceResolution,
  value: string,
  path: Path,
): { readonly text: string; readonly isUnknown: boolean } {
  let isUnknown = false;
  const text = value.replaceAll(REFERENCE, (all: string, escaped: string, name: string) => {
    if (escaped !== '') return all.slice(1);
    const found = NAME.test(name) ? run.options.env[name] : undefined;
    if (found !== undefined && found !== '') {
      run.secrets.push(found);
      return found;
    }
    isUnknown = true;
    reportVariable(run, path, name);
    return all;
  });
  return { text, isUnknown };
}

/** `${NAME:-text}` and its relatives: what a shell, Compose, Spring or a template language puts behind a name. */
const WITH_DEFAULT = /^\s*([A-Za-z_]\w*)\s*(:[-=?+]|:|\|\|?|\?\??|[=,]|-(?![A-Z_][A-Z0-9_]*$))\s*(.*)$/s;

function invalidReference(name: string, isShown: boolean): ReferenceReport {
  const [, variable, sign] = WITH_DEFAULT.exec(name) ?? [];
  // `env:NAME` has a prefix, and in `my-name` the hyphen stands for an underscore.
  const isPrefix = /^[:-]$/.test(sign ?? '') && variable !== variable?.toUpperCase();
  const withDefault = variable === undefined || sign === undefined || isPrefix ? undefined : { variable };
  const written = withDefault === undefined || isShown ? name : `${withDefault.variable}:-…`;
  return {
    code: 'INVALID_REFERENCE',
    message: say`\${${written.slice(0, 80)}} is not a valid reference, expected the name of an environment variable in the braces`,
    facts: (withDefault === undefined
      ? { written: name }
      : { withDefault }) satisfies ConfigFacts['INVALID_REFERENCE'],
  };
}

function reportVariable(run: ReferenceResolution, path: Path, name: string): void {
  if (!NAME.test(name)) {
    const isShown = !isSecretPath(path) && run.root.at(path).value === `\${${name}}`;
    report(run, path, invalidReference(name, isShown));
  } else if (run.options.needSecrets) {
    const state = run.options.env[name] === undefined ? 'not set' : 'empty';
    report(run, path, {
      code: 'MISSING_VARIABLE',
      message: say`the environment variable ${name} is ${state}`,
      facts: { name } satisfies ConfigFacts['MISSING_VARIABLE'],
    });
  }
}

function resolveFile(run: ReferenceResolution, name: string, path: Path): string {
  const file = resolve(run.options.directory, name);
  run.files.push(file);
  const read = readSecretFile(file);
  if (read.kind === 'read') {
    run.secrets.push(read.secret);
    return read.secret;
  }
  run.unknown.push(path);
  // A secret file may be absent where a configuration is only checked; one that only another user can read is a mistake.
  if (run.options.needSecrets || read.isDenied === true) {
    report(run, path, {
      severity: run.options.needSecrets ? 'error' : 'warning',
      code: 'SECRET_FILE_UNREADABLE',
      message: say`the secret file ${name} ${read.problem}`,
      hint: quoted(read.hint),
    });
  }
  return `{file: ${name}}`;
}

/** A reference as it is written outside of the configuration file, in a mapping: `${NAME}` or `{file: PATH}`. */
export type WrittenReference = string | { readonly file: string };

/** Reads references of mappings, and remembers what it read. */
export interface ReferenceReader {
  /** The text behind a reference; undefined where it is not set or no reference. */
  read(reference: WrittenReference): string | undefined;
  /**
   * What is wrong with the file that a reference names, in words that continue its name; undefined where nothing is.
   * With `rights` only a file that is there and may not be read is a problem.
   */
  fileProblem(reference: WrittenReference, which?: 'rights'): string | undefined;
  /** Every text that was read, to be kept out of logs. */
  readonly secrets: readonly string[];
  /** Absolute paths of the files that were asked for. */
  readonly files: readonly string[];
}

interface Sources extends Pick<ResolveOptions, 'env' | 'directory'> {
  /** Takes every file that is asked for. */
  readonly files: string[];
}

function findSecret(reference: WrittenReference, { env, directory, files }: Sources): string | undefined {
  if (typeof reference === 'string') {
    const [, name = ''] = /^\$\{([^}]*)\}$/.exec(reference) ?? [];
    return env[name] === '' ? undefined : env[name];
  }
  const file = resolve(directory, reference.file);
  if (!files.includes(file)) files.push(file);
  const read = readSecretFile(file);
  return read.kind === 'read' ? read.secret : undefined;
}

/** Makes the reader; files are relative to `directory`, that of the configuration. */
export function createReferenceReader(given: Omit<Sources, 'files'>): ReferenceReader {
  const secrets: string[] = [];
  const files: string[] = [];
  const known = new Map<string, string>();
  return {
    secrets,
    files,
    fileProblem: (reference, which) => {
      if (typeof reference === 'string') return undefined;
      const file = readSecretFile(resolve(given.directory, reference.file));
      if (file.kind === 'read' || (which === 'rights' && file.isDenied !== true)) return undefined;
      return `${file.problem}; ${file.hint}`;
    },
    read: (reference) => {
      // Callbacks read their address again and again.
      const name = JSON.stringify(reference);
      const found = known.get(name) ?? findSecret(reference, { ...given, files });
      if (found !== undefined && !known.has(name)) secrets.push(found);
      if (found !== undefined) known.set(name, found);
      return found;
    },
  };
}

/** How mappings read the secrets that they name. Files of secrets need not lie where a configuration is only checked. */
export function mappingReferences({ read, fileProblem }: ReferenceReader, needSecrets: boolean) {
  if (needSecrets) return { resolveReference: read, fileProblem };
  return {
    peekReference: (of: WrittenReference) => (typeof of === 'string' ? read(of) : undefined),
    fileProblem: (of: WrittenReference) => fileProblem(of, 'rights'),
  };
}
