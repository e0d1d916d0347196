import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Settings } from '../config/config.ts';
import { applyPolicy, createGoldenEngine, findCases, runCase } from '../golden/golden.ts';
import { firstCase, planSender, refuseTwin, secretFileOf, signsAddress, type Places } from './add-plan.ts';
import type { Cli } from './command-line.ts';
import {
  type ConfigFlags,
  findCasesFolder,
  findConfigFile,
  loadSettings,
  printFindings,
} from './config-file.ts';
import { openAsker, type Asker } from './mail-asker.ts';
import { commandLine } from './next-steps.ts';
import { shellWord } from '../advice/commands.ts';
import { planSample, type SamplePlan } from './sample-plan.ts';
import { readSenders, type Sender, shippedSenders } from '../senders/senders.ts';
import { CliError, type Terminal } from './terminal.ts';
import { openWorkbench, type Workbench } from './workbench.ts';
import { editConfig, writePlan, type Plan, type Secret } from './write-plan.ts';

export interface AddFlags extends ConfigFlags {
  readonly from?: string;
  readonly comment?: boolean;
  readonly secretFile?: string;
  readonly tokenFile?: string;
  readonly url?: string;
  readonly dryRun?: boolean;
}

/** Writes what a sender needs here, and says what to do there. What exists is never overwritten. */
export async function add(cli: Cli, name: string, flags: AddFlags): Promise<void> {
  const { terminal } = cli;
  const { settings, file } = await loadSettings(terminal, flags);
  const places: Places = {
    root: dirname(file),
    mappings: settings.hooks.mappingsDir,
    cases: findCasesFolder(terminal, flags, undefined),
  };
  refuseOddName(name);
  refuseTwin(places, name);
  const plan = await makePlan(terminal, name, { flags, places, settings });
  if (flags.dryRun === true) return show(terminal, plan, places);
  const written = await writePlan(terminal, plan, places);
  await editConfig(terminal, file, plan);
  await finish(cli, flags, { places, written });
  for (const step of plan.steps) terminal.out(step);
}

/** A name becomes the name of files and the end of an address. */
function refuseOddName(name: string): void {
  if (/^[a-z0-9][a-z0-9_-]{0,62}$/.test(name)) return;
  throw new CliError(`a name has small letters, digits, "-" and "_", found ${JSON.stringify(name)}`, 2);
}

/** Of a sender that is known, or made from a sample of what another one sends. */
async function makePlan(terminal: Terminal, name: string, given: Setting): Promise<Plan> {
  const { flags, places } = given;
  if (flags.from === undefined)
    return planKnown(terminal, name, { ...given, sender: await getSender(name, places) });
  const sample = await planSample(terminal, { name, sample: flags.from, places });
  return planOf(terminal, sample, { name, ...given });
}

/** A sender with mappings of its own: one of the user's comes before ours. */
async function getSender(name: string, { mappings }: Places): Promise<Sender> {
  const { senders, diagnostics } = await readSenders(mappings);
  const ready = [...senders, ...shippedSenders()].filter(({ mapping }) => mapping !== undefined);
  const known = ready.find((each) => each.name === name);
  if (known !== undefined) return known;
  if (diagnostics.length > 0)
    throw new CliError('a file in senders/ cannot be used: "sluice check" says why');
  throw new CliError(
    `there is no sender "${name}" with mappings; the senders are: ${ready.map((each) => each.name).join(' ')}. ` +
      `For any other, save one of its payloads and run "sluice add ${name} --from FILE"`,
    2,
  );
}

interface Setting {
  readonly flags: AddFlags;
  readonly places: Places;
  readonly settings: Settings;
}

interface OfSender extends Setting {
  readonly sender: Sender;
}

async function planKnown(terminal: Terminal, name: string, given: OfSender): Promise<Plan> {
  const { flags, places, settings, sender } = given;
  const comment = flags.comment === true;
  if (comment && sender.comments === undefined) throw nothingToComment(name);
  const ask = await openAsker(terminal, flags.dryRun !== true);
  const files = await planSender(name, sender, { places, comment });
  const secret = await secretOf(terminal, name, { ask, ...given });
  const token = comment ? await commentToken(terminal, { ask, ...given }) : undefined;
  const secrets: OwnSecrets = token === undefined ? [secret] : [secret, token];
  return {
    files,
    secrets,
    edits: [...serviceEdits(settings, flags), ...(token === undefined ? [] : channelEdits(settings, token))],
    steps: stepsOfKnown(terminal, name, { ...given, secrets }),
  };
}

function nothingToComment(name: string): CliError {
  return new CliError(`--comment is for senders with issues to comment on: github, found ${name}`, 2);
}

/** The sender's secret first, then what its channel needs. */
type OwnSecrets = readonly [Secret, ...Secret[]];

/** What the person does at the sender, and how to try it before. */
function stepsOfKnown(
  terminal: Terminal,
  name: string,
  given: OfSender & { readonly secrets: OwnSecrets },
): readonly string[] {
  const { places, secrets, sender } = given;
  const facts = { url: addressOf(name, given), secretFile: inShell(terminal, places, secrets[0].file) };
  const steps = (sender.setup ?? []).map((line) =>
    line.replaceAll(/\{(url|secretFile)\}/g, (_, key: keyof typeof facts) => facts[key]),
  );
  return [
    '',
    `Set up ${sender.title}:`,
    ...numbered(steps),
    ...later(terminal, places, secrets),
    ...(signsAddress(sender) ? needsAddress(given) : []),
    ...trySteps(`Try it without ${sender.title}`, terminal, { ...given, name: firstCase(name, sender) }),
  ];
}

/** How to send a golden case to a service that runs here. */
function trySteps(
  head: string,
  terminal: Terminal,
  { places, flags, name }: Pick<Setting, 'places' | 'flags'> & { readonly name: string },
): readonly string[] {
  const file = inShell(terminal, places, join(places.cases, `${name}.request.yaml`));
  const ours = (command: string): string => commandLine(terminal, findConfigFile(terminal, flags), command);
  return ['', `${head}, while "${ours('dev')}" runs:`, `  ${ours(`send ${file} --sign`)}`];
}

async function planOf(
  terminal: Terminal,
  { files, scheme }: SamplePlan,
  given: Setting & { readonly name: string },
): Promise<Plan> {
  const { name, settings, flags } = given;
  const value = await sampleSecret(terminal, flags, scheme);
  const secret: Secret = { file: secretFileOf(name), value };
  return {
    files,
    secrets: [secret],
    edits: serviceEdits(settings, flags),
    steps: stepsOfSample(terminal, secret, { ...given, scheme }),
  };
}

/** What the person reads, and does at a sender that is not known. */
function stepsOfSample(
  terminal: Terminal,
  secret: Secret,
  given: Setting & Pick<SamplePlan, 'scheme'> & { readonly name: string },
): readonly string[] {
  const { name, places, scheme } = given;
  return [
    '',
    'Read the mapping: it was made from one payload. Then set up the sender:',
    `  Address: ${addressOf(name, given)}`,
    scheme === undefined
      ? `  Header: Authorization: Bearer …, with what "cat ${inShell(terminal, places, secret.file)}" prints in place of the dots.`
      : `  It signs what it sends (${scheme}): "sluice verify" judges a request.`,
    ...later(terminal, places, [secret]),
    ...trySteps('Try it', terminal, { ...given, name: `${name}/sample` }),
  ];
}

/** The given secret, or a new one where the sender does not sign; undefined where it is still to come. */
async function sampleSecret(
  terminal: Terminal,
  { secretFile }: AddFlags,
  scheme: SamplePlan['scheme'],
): Promise<string | undefined> {
  if (secretFile !== undefined) return readGiven(terminal, secretFile);
  return scheme === undefined ? randomBytes(32).toString('hex') : undefined;
}

async function secretOf(
  terminal: Terminal,
  name: string,
  { sender, ask, flags, places }: OfSender & { readonly ask: Asker },
): Promise<Secret> {
  const file = secretFileOf(name);
  if (existsSync(join(places.root, file))) return { file, value: '' };
  if (flags.secretFile !== undefined) return { file, value: await readGiven(terminal, flags.secretFile) };
  if (sender.secret?.from !== 'issued') return { file, value: randomBytes(32).toString('hex') };
  return {
    file,
    value: await askFor(terminal, ask, {
      what: sender.secret.what ?? 'a secret',
      title: sender.title,
      flags,
    }),
  };
}

async function commentToken(
  terminal: Terminal,
  { ask, flags, places, settings }: Setting & { readonly ask: Asker },
): Promise<Secret | undefined> {
  if (settings.channels['github'] !== undefined) return undefined;
  const file = secretFileOf('github-token');
  if (existsSync(join(places.root, file))) return { file, value: '' };
  if (flags.tokenFile !== undefined) return { file, value: await readGiven(terminal, flags.tokenFile) };
  const what = 'an access token with "Issues: write" and "Pull requests: write" for the repositories';
  return { file, value: await askFor(terminal, ask, { what, title: 'GitHub', flags }) };
}

/** Undefined where nobody can be asked, or the person has it not yet: senders often show it only once they know the address. */
async function askFor(
  terminal: Terminal,
  ask: Asker,
  { what, title, flags }: { readonly what: string; readonly title: string; readonly flags: AddFlags },
): Promise<string | undefined> {
  if (!terminal.interactive || flags.dryRun === true) return undefined;
  const hasIt = await terminal.confirm(`${title} issues ${what}. Do you have it here?`);
  return hasIt ? (await ask.secret('--secret-file', `Paste ${what}`)).trim() : undefined;
}

async function readGiven(terminal: Terminal, file: string): Promise<string> {
  const text = await readFile(resolve(terminal.cwd, file), 'utf8').catch(() => {
    throw new CliError(`${file} cannot be read`, 2);
  });
  if (text.trim() === '')
    throw new CliError(`${file} is empty; it should hold the secret and nothing else`, 2);
  return text.trim();
}

function serviceEdits(settings: Settings, { url }: AddFlags): Plan['edits'] {
  if (url !== undefined && !/^https?:\/\/[^/?#\s]+\/?$/.test(url)) {
    throw new CliError(
      `--url is the beginning of the address, such as https://hooks.example.com, found ${url}`,
      2,
    );
  }
  return [
    ...(settings.hooks.enabled ? [] : [{ path: ['hooks', 'enabled'] as const, value: true }]),
    ...(url === undefined || url === settings.server.publicUrl
      ? []
      : [{ path: ['server', 'publicUrl'] as const, value: url.replace(/\/$/, '') }]),
  ];
}

function channelEdits(settings: Settings, { file }: Secret): Plan['edits'] {
  if (settings.channels['github'] !== undefined) return [];
  return [{ path: ['channels', 'github', 'token'], value: { file } }];
}

function addressOf(name: string, { flags, settings }: Setting): string {
  const origin = flags.url ?? settings.server.publicUrl ?? 'https://YOUR-ADDRESS';
  return `${origin.replace(/\/+$/, '')}${settings.hooks.path}/${name}`;
}

function needsAddress({ flags, settings }: Setting): readonly string[] {
  if ((flags.url ?? settings.server.publicUrl) !== undefined) return [];
  return [
    '',
    'Set server.publicUrl, or run this again with --url https://YOUR-ADDRESS: without it no signature can be right.',
  ];
}

/** Checks what is there now, and writes what the new cases become. */
async function finish(
  { terminal }: Cli,
  flags: AddFlags,
  { places, written }: { readonly places: Places; readonly written: readonly string[] },
): Promise<void> {
  const workbench = await openWorkbench(terminal, flags);
  try {
    const own = new Set(written);
    const findings = workbench.diagnostics.filter(
      ({ at }) => at !== undefined && own.has(resolve(places.root, at.source.file)),
    );
    printFindings(terminal, findings);
    await writeExpectations(terminal, workbench, { folder: places.cases, own });
  } finally {
    await workbench.close();
  }
}

/** Of the golden cases that were written, and says their names. */
async function writeExpectations(
  terminal: Terminal,
  { generation }: Workbench,
  { folder, own }: { readonly folder: string; readonly own: ReadonlySet<string> },
): Promise<void> {
  const engine = createGoldenEngine(generation);
  const { cases } = await findCases(folder);
  for (const each of cases.filter(({ requestFile }) => own.has(requestFile))) {
    const result = await applyPolicy(await runCase(each, engine), 'new');
    if (result.status === 'written') terminal.out(relative(terminal.cwd, each.expectedFile));
  }
}

function show(terminal: Terminal, { files, secrets, edits, steps }: Plan, { root }: Places): void {
  for (const { path, text } of files) {
    const note = existsSync(path) ? '  (exists already, would be left as it is)' : '';
    terminal.out(`--- ${relative(terminal.cwd, path)}${note}\n${text}`);
  }
  for (const { file } of secrets) terminal.out(`--- ${relative(terminal.cwd, join(root, file))}  (a secret)`);
  for (const { path, value } of edits) terminal.out(`--- ${path.join('.')}: ${JSON.stringify(value)}`);
  for (const step of steps) terminal.out(step);
  terminal.err('nothing was written (--dry-run)');
}

/** A file as a shell takes it. */
function inShell(terminal: Terminal, { root }: Places, file: string): string {
  return shellWord(relative(terminal.cwd, resolve(root, file)));
}

function numbered(steps: readonly string[]): readonly string[] {
  let number = 0;
  // What is indented is part of a file.
  return steps.map((step) => (step.startsWith(' ') ? `     ${step}` : `  ${(number += 1)}. ${step}`));
}

function later(terminal: Terminal, places: Places, secrets: readonly Secret[]): readonly string[] {
  return secrets
    .filter(({ value }) => value === undefined)
    .map(({ file }) => resolve(places.root, file))
    .flatMap((file) => [
      '',
      `Until the secret is there, nothing is let in. Write it, and nothing else, into ${relative(terminal.cwd, file)}:`,
      `  (umask 077; mkdir -p ${inShell(terminal, places, dirname(file))}; cat > ${inShell(terminal, places, file)})`,
    ]);
}
