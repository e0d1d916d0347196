/**
 * Every code has a page in `docs/findings/`, whose cases are run here: what is printed, and that each edit helps.
 * `UPDATE_FINDINGS=1` writes the blocks `says` and `after` anew (never where `CI` is set); read what changed before
 * committing it. Every finding has a hint. A hint is a promise: each edit on a finding, and each line that a hint gives to
 * paste, made in a copy of its case, leaves fewer findings and no new one.
 *
 * A module joins by a file `test/findings/<module>.ts` that exports `codes` (its registry of codes) and
 * `check(folder)`, which runs the module's own entry function on a case's files and returns the findings. Pass `folder`
 * as the directory that file names are printed relative to. Then add it to `modules` in
 * `test/findings/findings.test.ts`, or, where cases start processes, give it a test file of its own as the sandbox has.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { advise } from '../../src/authoring/advice/advice.ts';
import type { Finding } from '../../src/base/document/document.ts';
import { applyEdits, formatFindings } from '../../src/base/document/facts.ts';
import {
  type FindingCase,
  type FindingPage,
  readFindingPages,
  updateCase,
  writeCase,
} from './finding-pages.ts';
import { RULES } from '../../src/authoring/advice/rules.ts';
import type { Rule } from '../../src/authoring/advice/rule.ts';
import type { Place } from '../../src/base/finding.ts';
import { NO_EDIT } from './no-edit.ts';
import { isOfConfiguration, paste, pastedIn } from './remedies.ts';
import { said } from './said.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Codes of everything that is said of a file as such. */
export const DOCUMENT_CODES = [
  'YAML_SYNTAX',
  'YAML_TAB',
  'JSON_SYNTAX',
  'DUPLICATE_KEY',
  'NON_STRING_KEY',
  'FORBIDDEN_KEY',
  'MULTIPLE_DOCUMENTS',
  'TOO_MANY_PARTS',
  'TOO_DEEP',
  'UNKNOWN_FORMAT',
  'FILE_NOT_FOUND',
  'FILE_IS_DIRECTORY',
  'FILE_UNREADABLE',
  'FILE_TOO_LARGE',
  'INVALID_UTF8',
  'UNKNOWN_KEY',
  'MISSING_KEY',
  'WRONG_TYPE',
  'INVALID_VALUE',
] as const;

export interface CheckedModule {
  readonly codes: readonly string[];
  check(folder: string): Promise<readonly Finding[]>;
}

const isCi = !['', '0', 'false'].includes(process.env['CI'] ?? '');
const isUpdate = process.env['UPDATE_FINDINGS'] === '1' && !isCi;
/** More edits than one case can need: they do not come to an end. */
const MAX_ROUNDS = 20;

/** Every rule on findings of files, as its code and its place in the list, and whether it spoke in a case. */
export const spoke: Map<string, boolean> = new Map();
for (const [code, rules] of Object.entries(RULES))
  for (const [index, rule] of rules.entries()) {
    const own = rule as Rule<never>;
    const name = `${code} ${index}`;
    if (/^[A-Z]/.test(code)) spoke.set(name, false);
    (rules as unknown as Rule<never>[])[index] = (facts, finding) => {
      const advice = own(facts, finding);
      if (advice !== undefined && spoke.has(name)) spoke.set(name, true);
      return advice;
    };
  }

/**
 * With what a hint begins: a verb that says what to do, a question, or what it is for. Another verb is added where it is
 * the right one.
 */
const VERBS: ReadonlySet<string> = new Set(
  `add ask begin change check choose close compare compile connect convert copy correct create cut decide delete do drop
  export forward get give go guard import indent install join keep let link listen look mark make map move name nest open
  print process put quote raise read remove rename repeat replace return rewrite run save say send set shorten split start
  switch take test turn update use write`.split(/\s+/),
);
const BEGINS = /^(?:did you mean |(?:to|for) )|^["`(]?([a-z]+)(?=[ ,:]|$)/;

function beginsWithVerb(hint: string): boolean {
  const [whole, verb] = BEGINS.exec(hint) ?? [];
  return whole !== undefined && (verb === undefined || VERBS.has(verb));
}

/** Checks all cases of a module. */
export function describeModule(
  name: string,
  module: CheckedModule,
  pages: readonly FindingPage[] = readFindingPages(),
): void {
  describe(`the module ${name}`, () => {
    const cases = pages.flatMap((page) => page.cases.filter((each) => each.module === name));
    /** Codes whose edit was made. */
    const applied = new Set<string>();

    test('has a page with a case for every code', () => {
      const covered = new Set(cases.filter(({ kind }) => kind === 'says').map(({ code }) => code));
      const missing = module.codes.filter((code) => !covered.has(code));
      expect(missing, 'npm run finding -- CODE makes a page').toEqual([]);
      const known = new Set([...module.codes, ...DOCUMENT_CODES]);
      expect([...covered].filter((code) => !known.has(code))).toEqual([]);
    });

    test.each(cases.filter(({ kind }) => kind === 'says').map((each) => [each.name, each] as const))(
      '%s prints what its page says, and its edits help',
      async (_name, each) => {
        const find = finder(module, each);
        const first = await find();
        const { found } = first;
        expect(found.map(({ code }) => code)).toContain(each.code);
        expect(
          found.filter(({ hint }) => said(hint) === '').map(({ message }) => said(message)),
          'findings without a hint',
        ).toEqual([]);
        expect(
          found.map(({ hint }) => said(hint)).filter((hint) => !beginsWithVerb(hint)),
          'hints that do not begin with what to do',
        ).toEqual([]);
        // The name of nothing, printed: a hint that was put together wrongly.
        expect(
          found.filter(({ hint }) => /\bundefined\b/.test(said(hint))).map(({ hint }) => said(hint)),
        ).toEqual([]);
        const after = await mended(find, each.code, first);
        const printed = formatFindings(found).replaceAll(`${first.folder}/`, '');
        if (isUpdate) updateCase(each, printed, after);
        else {
          expect(printed).toBe(each.said);
          expect(after).toEqual(each.after);
        }
        for (const code of await makeEdits(find, first)) applied.add(code);
        expect(await followLines(find, first), 'lines that do not help where they are pasted').toEqual([]);
      },
      60_000,
    );

    test.each(cases.filter(({ kind }) => kind === 'silent').map((each) => [each.name, each] as const))(
      '%s is not found in its near miss, which is right',
      async (_name, each) => {
        const { found } = await finder(module, each)();
        // A file that is wrong elsewhere is often not looked at to its end.
        const wrong = found.filter(({ code, severity }) => code === each.code || severity === 'error');
        expect(wrong.map(({ code, message }) => `${code}: ${said(message)}`)).toEqual([]);
      },
      60_000,
    );

    test('of every code an edit was made, or a reason says why its remedy is none', () => {
      expect(module.codes.filter((code) => !applied.has(code) && !NO_EDIT.has(code))).toEqual([]);
      // A reason that no longer holds.
      expect([...NO_EDIT.keys()].filter((code) => applied.has(code))).toEqual([]);
    });
  });
}

/** Texts of files, by name. */
type Changes = ReadonlyMap<string, string>;

interface Found {
  readonly folder: string;
  readonly found: readonly Finding[];
}

/** What the module finds in the files of a case, with changed files: the same of the same, in a folder of their own. */
type Find = (changes?: Changes) => Promise<Found>;

function finder(module: CheckedModule, each: FindingCase): Find {
  const known = new Map<string, Promise<Found>>();
  const find = async (changes: Changes): Promise<Found> => {
    const above = temporaryFolder();
    // Modules know some cases by the name of their folder.
    const folder = join(above, each.name);
    writeCase(each, folder);
    for (const [file, text] of changes) writeFileSync(join(folder, file), text);
    return { folder, found: advise(await module.check(folder)) };
  };
  // The only edit of a case is made several times.
  return (changes = new Map()) => {
    const key = JSON.stringify([...changes]);
    const found = known.get(key) ?? find(changes);
    known.set(key, found);
    return found;
  };
}

/** The name of the file with a finding, within its case: some modules name it from the working directory. */
function nameOf({ source }: Place, folder: string): string {
  return existsSync(join(folder, source.file)) ? source.file : relative(folder, resolve(source.file));
}

/** The files as the edits of a code leave them, one edit after the other; nothing where its findings have none. */
async function mended(find: Find, code: string, first: Found): Promise<Changes> {
  const changes = new Map<string, string>();
  let { folder, found } = first;
  for (let round = 0; ; round += 1) {
    expect(round, `the edits of ${code} come to no end`).toBeLessThan(MAX_ROUNDS);
    const edit = found.find((finding) => finding.code === code && finding.edit !== undefined)?.edit;
    if (edit === undefined) return changes;
    changes.set(nameOf(edit.at, folder), applyEdits(edit.at.source.text, [edit]));
    // oxlint-disable-next-line no-await-in-loop -- each looks at what the one before wrote
    ({ folder, found } = await find(changes));
  }
}

/** Makes each edit alone; the codes whose edits were made. */
async function makeEdits(find: Find, { folder, found }: Found): Promise<readonly string[]> {
  const made: string[] = [];
  const before = textsOf(found);
  for (const { edit, code } of found) {
    if (edit === undefined) continue;
    made.push(code);
    const text = applyEdits(edit.at.source.text, [edit]);
    // oxlint-disable-next-line no-await-in-loop -- one copy at a time
    const left = textsOf((await find(new Map([[nameOf(edit.at, folder), text]]))).found);
    expect([code, left.length < found.length]).toEqual([code, true]);
    expect([code, left.filter((each) => !before.includes(each))]).toEqual([code, []]);
  }
  return made;
}

/** What a line leaves open, as nothing but its place has it: a variable that is to be set, a program that is to be installed. */
const OUTSIDE: ReadonlySet<string> = new Set(['MISSING_VARIABLE', 'COMMAND_NOT_FOUND', 'VERIFY_SECRET']);

/** Pastes each line that a hint gives, alone; those that leave the finding, or bring another one. */
async function followLines(find: Find, { folder, found }: Found): Promise<readonly string[]> {
  const before = textsOf(found);
  const wrong: string[] = [];
  for (const { at, edit, code, hint, message } of found) {
    if (edit !== undefined) continue;
    for (const pasted of pastedIn(said(hint))) {
      const file = isOfConfiguration(pasted) ? 'sluice.yaml' : at && nameOf(at, folder);
      const isHere = file !== undefined && existsSync(join(folder, file));
      // Of a module without a configuration nothing shows what a line does there, nor does one of code in code.
      if ((isOfConfiguration(pasted) && !isHere) || /\.[cm]?[jt]s$/.test(file ?? '')) continue;
      const source =
        file === undefined ? undefined : { file, text: readFileSync(join(folder, file), 'utf8') };
      const text = source && paste(pasted, { start: 0, end: 0, ...at, source });
      // oxlint-disable-next-line no-await-in-loop -- one copy at a time
      const left = text === undefined ? found : (await find(new Map([[file ?? '', text]]))).found;
      const own = `${code} ${said(message)}`;
      const countOf = (texts: readonly string[], text = own): number =>
        texts.filter((each) => each === text).length;
      const others = left.filter((each) => !OUTSIDE.has(each.code));
      const after = textsOf(others);
      if (countOf(after) >= countOf(before)) wrong.push(`${pasted.line} leaves ${own}`);
      wrong.push(
        ...after
          .filter((each) => countOf(after, each) > countOf(before, each))
          .map((each) => `${pasted.line} brings ${each}`),
      );
    }
  }
  return wrong;
}

/** Findings without their places, which an edit may move. */
function textsOf(found: readonly Finding[]): string[] {
  return found.map(({ code, message }) => `${code} ${said(message)}`);
}
