import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Settings } from '../config/config.ts';
import { applyPolicy, createGoldenEngine, findCases, runCase } from '../golden/golden.ts';
import {
  firstCase,
  hasVerifyToken,
  planSender,
  refuseTwin,
  secretFileOf,
  signsAddress,
  type Places,
  verifyTokenFileOf,
} from './add-plan.ts';
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
import { awaitKey } from './sent-key.ts';
import { planExamples, planSample, type SamplePlan } from './sample-plan.ts';
import { readSenders, type Sender, shippedSenders } from '../senders/senders.ts';
import { CliError, type Terminal } from './terminal.ts';
import { openWorkbench, type Workbench } from './workbench.ts';
import { editConfig, writePlan, type Plan, type Secret } from './write-plan.ts';

export interface AddFlags extends ConfigFlags {
  readonly from?: readonly string[];
  /** Whose payloads they are. */
  readonly as?: string;
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
  const secret = resolve(places.root, secretFileOf(name));
  if (plan.sentBy !== undefined && !existsSync(secret))
    await awaitKey(terminal, { file: secret, title: plan.sentBy });
}

/** A name becomes the name of files and the end of an address. */
function refuseOddName(name: string): void {
  if (/^[a-z0-9][a-z0-9_-]{0,62}$/.test(name)) return;
  throw new CliError(`a name has small letters, digits, "-" and "_", found ${JSON.stringify(name)}`, 2);
}

/** Of a sender that is known, or made from what it sends. */
async function makePlan(terminal: Terminal, name: string, given: Setting): Promise<Plan> {
  const { flags, places } = given;
  const ask = await openAsker(terminal, flags.dryRun !== true);
  const { senders, diagnostics } = await readSenders(places.mappings);
  // One of the user's own comes before ours.
  const known = [...senders, ...shippedSenders()];
  const sender = known.find((each) => each.name === name);
  if (flags.comment === true && sender?.comments === undefined) throw nothingToComment(name);
  if (flags.from !== undefined) {
    const options = { name, samples: flags.from, sender, known, as: flags.as, places, ask };
    return planOf(terminal, name, { ...given, ask, made: await planSample(terminal, options) });
  }
  if (sender?.mapping !== undefined) {
    const files = await planSender(name, sender, { places, comment: flags.comment === true });
    const made = { sender, files, notes: [], firstCase: firstCase(name, sender) };
    return planOf(terminal, name, { ...given, ask, made });
  }
  if (sender?.examples === undefined) throw noMappings(name, { sender, known, diagnostics });
  return planOf(terminal, name, {
    ...given,
    ask,
    made: await planExamples(terminal, { name, sender, places }),
  });
}

function noMappings(
  name: string,
  {
    sender,
    known,
    diagnostics,
  }: {
    readonly sender: Sender | undefined;
    readonly known: readonly Sender[];
    readonly diagnostics: readonly unknown[];
  },
): CliError {
  if (diagnostics.length > 0)
    return new CliError('a file in senders/ cannot be used: "sluice check" says why', 2);
  const ready = known.filter(({ mapping, examples }) => mapping !== undefined || examples !== undefined);
  const what =
    sender === undefined
      ? `there is no sender "${name}"; the senders are: ${ready.map((each) => each.name).join(' ')}. For any other`
      : `how ${sender.title} proves itself is known, and not what it sends`;
  return new CliError(`${what}: save some of its payloads and run "sluice add ${name} --from FILE"`, 2);
}

interface Setting {
  readonly flags: AddFlags;
  readonly places: Places;
  readonly settings: Settings;
}

interface OfSender extends Setting {
  readonly ask: Asker;
  readonly made: SamplePlan;
}

async function planOf(terminal: Terminal, name: string, given: OfSender): Promise<Plan> {
  const { flags, settings, made } = given;
  const { sender } = made;
  const secret = await secretOf(terminal, name, given);
  const token = flags.comment === true ? await commentToken(terminal, given) : undefined;
  const verifyToken = { file: verifyTokenFileOf(name), value: randomBytes(32).toString('hex') };
  const secrets: OwnSecrets = [
    secret,
    ...(token === undefined ? [] : [token]),
    ...(hasVerifyToken(sender) ? [verifyToken] : []),
  ];
  return {
    files: made.files,
    secrets,
    edits: [...serviceEdits(settings, flags), ...(token === undefined ? [] : channelEdits(settings, token))],
    steps: stepsOf(terminal, name, { ...given, secrets }),
    ...(sender.secret?.from === 'sent' ? { sentBy: sender.title } : {}),
  };
}

function nothingToComment(name: string): CliError {
  return new CliError(`--comment is for senders with issues to comment on: github, found ${name}`, 2);
}

/** The sender's secret first, then what its channel needs. */
type OwnSecrets = readonly [Secret, ...Secret[]];

/** What the person reads, does at the sender, and how to try it before. */
function stepsOf(
  terminal: Terminal,
  name: string,
  given: OfSender & { readonly secrets: OwnSecrets },
): readonly string[] {
  const { places, secrets, made } = given;
  const { sender, notes, firstCase: first } = made;
  const facts = {
    url: addressOf(name, given),
    secretFile: inShell(terminal, places, secrets[0].file),
    verifyTokenFile: inShell(terminal, places, verifyTokenFileOf(name)),
  };
  const setup = (sender.setup ?? unknownSetup(sender)).map((line) =>
    line.replaceAll(/\{(url|secretFile|verifyTokenFile)\}/g, (_, key: keyof typeof facts) => facts[key]),
  );
  return [
    ...(sender.mapping === undefined ? ['', 'Read the mappings: they were made from payloads.'] : []),
    ...notes,
    '',
    `Set up ${sender.title}:`,
    ...numbered(setup),
    ...(sender.secret?.from === 'sent' ? [] : later(terminal, places, secrets)),
    ...(signsAddress(sender) ? needsAddress(given) : []),
    ...trySteps(`Try it without ${sender.title}`, terminal, { ...given, name: first }),
  ];
}

/** At a sender of which no steps are known. */
const unknownSetup = ({ verify }: SamplePlan['sender']): readonly string[] => [
  'Address: {url}',
  verify === undefined || verify.scheme === 'token'
    ? 'Header: Authorization: Bearer …, with what "cat {secretFile}" prints in place of the dots.'
    : `It signs what it sends (${verify.scheme}): "sluice verify" judges a request.`,
];

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

async function secretOf(
  terminal: Terminal,
  name: string,
  { made: { sender }, ask, flags, places }: OfSender,
): Promise<Secret> {
  const file = secretFileOf(name);
  if (existsSync(join(places.root, file))) return { file, value: '' };
  if (flags.secretFile !== undefined) return { file, value: await readGiven(terminal, flags.secretFile) };
  const { verify, title, secret: { from, what = 'its secret' } = {} } = sender;
  // Who signs and is not known shows its secret somewhere; a token is made here.
  const isIssued = from === undefined ? verify !== undefined && verify.scheme !== 'token' : from === 'issued';
  if (from === 'sent') return { file, value: undefined };
  return {
    file,
    value: isIssued ? await askFor(terminal, ask, { what, title, flags }) : randomBytes(32).toString('hex'),
  };
}

async function commentToken(
  terminal: Terminal,
  { ask, flags, places, settings }: Setting & Pick<OfSender, 'ask'>,
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
