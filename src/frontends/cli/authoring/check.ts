import { printSentence, type TextEdit } from '../../../base/finding.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { byWeight, didYouMean, formatPlace, type Finding } from '../../../base/document/document.ts';
import { applyEdits, findingToJson, formatFindings } from '../../../base/document/facts.ts';
import { findInSamples, sampleFolders } from '../../../authoring/golden/golden.ts';
import type { Workbench } from '../../../authoring/workbench/workbench.ts';
import { clearControl } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { findConfigFile, type JsonFlags } from '../config-file.ts';
import { printJson } from '../json.ts';
import { readKeptRequest } from '../../../engine/hook/hook.ts';
import { withStore } from '../operating/store-tasks.ts';
import { CliError, formatOneLine } from '../terminal.ts';
import { trust } from '../setup/trust.ts';
import { benchOf } from './workbench.ts';

export interface CheckFlags extends JsonFlags {
  readonly format: 'pretty' | 'json' | 'github' | 'sarif';
  readonly json?: boolean;
  readonly strict?: boolean;
  readonly fix?: boolean;
  readonly kept?: boolean;
  readonly trust?: boolean;
  readonly explain?: string;
}

/** Finds everything that is wrong before it is deployed. Errors end with 1; with `--strict` warnings do too. */
export async function check(cli: Cli, flags: CheckFlags): Promise<void> {
  if (flags.explain !== undefined) return cli.terminal.out(pageOf(flags.explain));
  const file = findConfigFile(cli.terminal, flags);
  const format = flags.json === true ? 'json' : flags.format;
  await using bench = benchOf(cli.terminal, file, { needToken: true });
  if (flags.trust === true) await trust(cli, flags);
  const kept = flags.kept === true ? await keptSamples(cli, flags) : [];
  const check = (): Promise<CheckResult> => checkWithSamples(bench, kept);
  if (flags.fix === true) await fix(cli, check);
  const checked = await check();
  const { findings } = checked;
  // A deliberate choice is no warning to a person, so it is printed below all else.
  const isApart = format === 'pretty' && flags.strict !== true;
  const found = isApart ? findings.filter((each) => !isChoice(each)) : findings;
  const ignored = checked.ignored.map(({ finding, reason }) => ({ ...findingToJson(finding), reason }));
  if (format === 'json') printJson(cli.terminal, 'check', { findings: found.map(findingToJson), ignored });
  else {
    const text = formatFindings(found, { format, color: cli.terminal.color });
    if (text !== '') cli.terminal.out(text, { annotations: format === 'github' });
  }
  if (format === 'pretty') printNotes(cli, checked, found);
  if (findings.some(({ severity }) => severity === 'error' || flags.strict === true)) cli.setExitCode(1);
}

/** `sluice dev` serves a folder without a token, too. */
const isChoice = ({ isGeneral, code }: Finding): boolean => isGeneral === true || code === 'TOKEN_REQUIRED';

type CheckResult = Awaited<ReturnType<Workbench['check']>>;

async function checkWithSamples(
  bench: Workbench,
  kept: Parameters<typeof findInSamples>[2],
): Promise<CheckResult> {
  const checked = await bench.check();
  if (checked.generation === undefined) return checked;
  const { generation, findings, ignored, notes } = checked;
  const found = await findInSamples(sampleFolders(generation.config), generation, kept);
  return {
    ...checked,
    findings: byWeight(findings, found.findings),
    ignored: [...ignored, ...found.ignored],
    notes: [...notes, ...found.notes],
  };
}

const MAX_KEPT = 500;

/** The operator decides what the store keeps: see storage.keepRequests. */
function keptSamples(cli: Cli, flags: CheckFlags): Promise<NonNullable<Parameters<typeof findInSamples>[2]>> {
  return withStore(cli, flags, async (storage) => {
    const read = (await storage.listKeptRequests(MAX_KEPT)).map(readKeptRequest);
    const whole = read.filter(({ unread }) => unread === undefined);
    return whole.map(({ request }) => ({ request, from: `request ${request.id}` }));
  });
}

const PAGES = fileURLToPath(new URL('../../../../docs/findings/', import.meta.url));

/** Prints the page of a code, without the parts that are for the tests of this project. */
function pageOf(asked: string): string {
  const code = asked.toUpperCase().replaceAll('-', '_');
  const list = readFileSync(join(PAGES, 'README.md'), 'utf8').matchAll(/^- \[(\w+)\]\(([\w-]+\.md)/gm);
  const files = new Map(Array.from(list, ([, name = '', file = '']) => [name, file]));
  const file = files.get(code);
  if (file === undefined) {
    const near = didYouMean(code, files.keys());
    const hint = near === undefined ? 'a finding begins with its code' : `did you mean ${near}?`;
    throw new CliError(`there is no finding ${formatOneLine(asked, MAX_SHOWN)}; ${hint}`, 2);
  }
  // A page of several codes is cut to what all have in common, and the part of this code.
  const parts = readFileSync(join(PAGES, file), 'utf8').split(/^(?=## [A-Z][A-Z0-9_]+$)/m);
  return parts
    .filter((part) => !/^## [A-Z][A-Z0-9_]+\n/.test(part) || part.startsWith(`## ${code}\n`))
    .join('')
    .replaceAll(/^`{3,}text says.*$/gm, 'sluice check says:\n')
    .replaceAll(/^`{3,}text silent.*$/gm, '')
    .replaceAll(/^`{3,}\w+ (\S+) after$/gm, 'sluice check --fix makes of $1:\n')
    .replaceAll(/^`{3,}\w+ (\S+).*$/gm, '$1:\n')
    .replaceAll(/^`{3,}$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function printNotes({ terminal }: Cli, checked: CheckResult, found: readonly Finding[]): void {
  const { findings, ignored, summary, conversations, proofs, notes, compiler } = checked;
  if (found.length === 0) terminal.out(`no findings: ${summary}`);
  if (ignored.length > 0) terminal.out(`left out, as the files say they are meant: ${ignored.length}`);
  for (const line of [...conversations, ...proofs, ...notes]) terminal.out(clearControl(line));
  if (compiler?.isOwn === false) terminal.out(`types of transforms were checked by ${compiler.name}`);
  for (const { message, at, hint } of findings.filter((each) => !found.includes(each))) {
    const place = at === undefined ? '' : ` (${formatPlace(at)})`;
    terminal.out(
      clearControl(`${printSentence(message)}${place}; ${hint === undefined ? '' : printSentence(hint)}`),
    );
  }
}

/** An edit that mends a finding may show the next. */
const MAX_ROUNDS = 5;

async function fix(cli: Cli, check: () => Promise<CheckResult>): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    // Each round judges what the one before wrote.
    const { findings } = await check();
    const edits = findings.flatMap(({ edit, code }) => (edit === undefined ? [] : [{ edit, code }]));
    if (edits.length === 0) return;
    for (const name of new Set(edits.map(({ edit }) => edit.at.source.file))) {
      const own = edits.filter(({ edit }) => edit.at.source.file === name);
      applyTo(
        name,
        own.map(({ edit }) => edit),
      );
      for (const { edit, code } of own)
        cli.terminal.err(`fixed ${code} at ${formatPlace(edit.at)}: ${shownText(edit)}`);
    }
  }
}

/** The edits are made unless the file is no longer what was checked. */
function applyTo(name: string, edits: readonly TextEdit[]): void {
  const path = resolve(name);
  const text = readFileSync(path, 'utf8');
  // The edits' offsets are those of the text that was checked, without a byte order mark.
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  if (text.slice(mark.length) !== edits[0]?.at.source.text)
    throw new CliError(`${name} changed while it was checked; nothing was written to it`, 3);
  writeFileSync(path, mark + applyEdits(text.slice(mark.length), edits));
}

const MAX_SHOWN = 160;

/** Hides what was written where a secret stood there and may be part of it. */
function shownText({ at: { source, start, end }, text }: TextEdit): string {
  const isSecret = source.secrets?.some((secret) => secret.start < end && start < secret.end) === true;
  return isSecret ? '…' : formatOneLine(clearControl(text), MAX_SHOWN);
}
