import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Settings } from '../../../engine/config/config.ts';
import { applyPolicy, createGoldenEngine, findCases, runCase } from '../../../authoring/golden/golden.ts';
import {
  firstCase,
  hasVerifyToken,
  planSender,
  refuseTwin,
  secretFileOf,
  type Places,
  verifyTokenFileOf,
} from './add-plan.ts';
import {
  addressOf,
  type AddFlags,
  type OfSender,
  type OwnSecrets,
  type SenderSetup,
  stepsOf,
} from './add-steps.ts';
import type { Cli } from '../command-line.ts';
import { findCasesFolder, loadSettings, printFindings } from '../config-file.ts';
import { askFor, readGivenSecret } from './ask.ts';
import { readAccessToken, registerWebhook, removeWebhook, type WebhookRegistration } from './register.ts';
import { awaitKey } from './sent-key.ts';
import { planExamples, planSample } from '../authoring/sample-plan.ts';
import {
  inOrder,
  knownSenders,
  readApi,
  readSenders,
  type Sender,
  placeOf,
  placesText,
} from '../../../engine/senders/senders.ts';
import { writeSecretFile } from '../../../base/write-file.ts';
import { writeTypes } from '../authoring/types.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { openWorkbench, type OpenWorkbench } from '../authoring/workbench.ts';
import { editConfig, writePlan, type SetupPlan, type Secret } from './write-plan.ts';

/** Writes what a sender needs here, and says what to do there. What exists is never overwritten. */
export async function add(cli: Cli, name: string, flags: AddFlags): Promise<void> {
  const { terminal } = cli;
  const { settings, file, secrets } = await loadSettings(terminal, flags);
  const places: Places = {
    root: dirname(file),
    mappings: settings.hooks.mappingsDir,
    cases: findCasesFolder(terminal, flags, undefined),
  };
  refuseOddName(name);
  refuseTwin(places, name);
  const given = { flags, file, places, settings, configSecrets: secrets };
  if (flags.remove !== undefined)
    return removeWebhook(terminal, await registering(terminal, name, { ...given, target: flags.remove }));
  const registers =
    flags.register === undefined
      ? undefined
      : await registering(terminal, name, { ...given, target: flags.register });
  const asking = flags.dryRun === true ? { ...terminal, interactive: false } : terminal;
  const plan = await makePlan(asking, name, given);
  if (flags.dryRun === true) return show(terminal, plan, places);
  const written = await writePlan(terminal, plan, places);
  await editConfig(terminal, file, plan);
  await finish(cli, name, { flags, places, plan, written });
  const secret = resolve(places.root, secretFileOf(name));
  if (registers !== undefined) {
    const own = existsSync(secret) ? (await readFile(secret, 'utf8')).trim() : undefined;
    const made = await registerWebhook(terminal, { ...registers, secret: own });
    if (made !== undefined) await writeSecretFile(secret, `${made}\n`);
    offerRecovery(terminal, name, { ...registers, root: places.root, file: flags.tokenFile });
  } else {
    for (const step of plan.steps) terminal.out(step);
    if (plan.sentBy !== undefined && !existsSync(secret))
      await awaitKey(terminal, { file: secret, title: plan.sentBy });
  }
}

async function registering(
  terminal: Terminal,
  name: string,
  { target: named, ...setting }: SenderSetup & { readonly target: string | true },
): Promise<WebhookRegistration> {
  const { flags, file, settings } = setting;
  const known = await knownSenders(file, settings.hooks);
  const sender = known.find((each) => each.name === name);
  const { register, webhooks, interface: asked } = sender ?? {};
  if (!sender || !register || !webhooks || !asked)
    throw new CliError(
      `--register and --remove are not known of ${name}: its file has no "register", "webhooks" and "interface"`,
      2,
    );
  if ((flags.url ?? settings.server.publicUrl) === undefined)
    throw new CliError('the sender needs an address to call: add --url https://YOUR-ADDRESS', 2);
  const target = named === true ? undefined : named;
  const place = placeOf(asked, target);
  if (place === undefined) {
    const what = asked.places === undefined ? 'takes no target' : `needs ${placesText(asked)}`;
    const found = target === undefined ? '' : `, found ${JSON.stringify(target)}`;
    throw new CliError(`--register of ${name}: it ${what}${found}`, 2);
  }
  const url = addressOf(name, setting);
  const api = readApi(flags.api ?? asked.api);
  const isSure = flags.yes === true;
  const where = { target, place, url, api, isSure };
  const given = { title: sender.title, sender, interface: asked, register, webhooks, ...where };
  return { ...given, token: await readAccessToken(terminal, given, flags.tokenFile) };
}

/** Says the line with which what the sender cannot deliver is asked for; the token is named by where it is. */
function offerRecovery(
  terminal: Terminal,
  name: string,
  {
    sender: { deliveries, title, permission },
    target,
    root,
    file,
  }: WebhookRegistration & { readonly root: string; readonly file: string | undefined },
): void {
  if (deliveries === undefined) return;
  const variable = `'\${${name.toUpperCase().replaceAll('-', '_')}_TOKEN}'`;
  const token = file === undefined ? variable : `{ file: '${relative(root, resolve(terminal.cwd, file))}' }`;
  const of = target === undefined ? '' : `, target: ${target}`;
  const where = file === undefined ? ', with the token in that variable' : '';
  const also = permission === undefined ? '' : ' startedBy of the path then asks with it, too.';
  terminal.out(
    `To ask ${clearLine(title)} for what it could not deliver, add this line to a mapping of the path${where}.${also}\n  recover: { token: ${token}${of} }`,
  );
}

function refuseOddName(name: string): void {
  if (/^[a-z0-9][a-z0-9_-]{0,62}$/.test(name)) return;
  throw new CliError(`a name has small letters, digits, "-" and "_", found ${JSON.stringify(name)}`, 2);
}

async function makePlan(terminal: Terminal, name: string, given: SenderSetup): Promise<SetupPlan> {
  const { flags, file, places, configSecrets: secrets } = given;
  const read = await readSenders(file, given.settings.hooks);
  const known = inOrder(read);
  const sender = known.find((each) => each.name === name);
  const isComment = flags.comment === true;
  if (isComment && sender?.comments === undefined)
    throw new CliError(`--comment is for senders with issues to comment on: github, found ${name}`, 2);
  const base = { name, known, places, secrets, as: flags.as };
  const made =
    flags.from !== undefined
      ? await planSample(terminal, { ...base, sender, samples: flags.from })
      : sender?.mapping !== undefined
        ? {
            sender,
            files: await planSender(name, sender, { places, comment: isComment }),
            notes: [],
            firstCase: firstCase(name, sender),
          }
        : sender?.examples !== undefined
          ? await planExamples(terminal, { ...base, sender })
          : undefined;
  if (made === undefined) throw noMappings(name, sender, read);
  return planOf(terminal, name, { ...given, made });
}

function noMappings(
  name: string,
  sender: Sender | undefined,
  read: Awaited<ReturnType<typeof readSenders>>,
): CliError {
  if (read.findings.length + read.packageFindings.length > 0)
    return new CliError('a file in senders/ cannot be used: "sluice check" says why', 2);
  const what =
    sender === undefined
      ? `${noSenderText(name, inOrder(read))}. For any other`
      : `how ${sender.title} proves itself is known, and not what it sends`;
  return new CliError(`${what}: save some of its payloads and run "sluice add ${name} --from FILE"`, 2);
}

/** Whether it is known what a sender sends. */
export const isReady = ({ mapping, examples }: Sender): boolean => (mapping ?? examples) !== undefined;

export const noSenderText = (name: string, senders: readonly Sender[]): string =>
  `there is no sender "${name}"; the senders are: ${senders
    .filter(isReady)
    .map((each) => each.name)
    .join(' ')}`;

async function planOf(terminal: Terminal, name: string, given: OfSender): Promise<SetupPlan> {
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
    edits: [
      ...serviceEdits(settings, flags),
      ...(token === undefined
        ? []
        : [{ path: ['channels', 'github', 'token'] as const, value: { file: token.file } }]),
    ],
    steps: stepsOf(terminal, name, { ...given, secrets }),
    ...(sender.secret?.from === 'sent' ? { sentBy: sender.title } : {}),
  };
}

async function secretOf(
  terminal: Terminal,
  name: string,
  { made: { sender }, flags, places }: OfSender,
): Promise<Secret> {
  const file = secretFileOf(name);
  if (existsSync(join(places.root, file))) return { file, value: '' };
  if (flags.secretFile !== undefined)
    return { file, value: await readGivenSecret(terminal, flags.secretFile) };
  const { verify, title, secret: { from, what = 'its secret' } = {} } = sender;
  // Who signs and is not known shows its secret somewhere; a token is made here.
  const isIssued = from === undefined ? verify !== undefined && verify.scheme !== 'token' : from === 'issued';
  const comes = flags.register !== undefined && sender.register?.create.secret !== undefined;
  if (from === 'sent' || comes) return { file, value: undefined };
  return {
    file,
    value: isIssued ? await askIssued(terminal, title, what) : randomBytes(32).toString('hex'),
  };
}

async function commentToken(
  terminal: Terminal,
  { flags, places, settings }: SenderSetup,
): Promise<Secret | undefined> {
  if (settings.channels['github'] !== undefined) return undefined;
  const file = secretFileOf('github-token');
  if (existsSync(join(places.root, file))) return { file, value: '' };
  if (flags.tokenFile !== undefined) return { file, value: await readGivenSecret(terminal, flags.tokenFile) };
  const what = 'an access token with "Issues: write" and "Pull requests: write" for the repositories';
  return { file, value: await askIssued(terminal, 'GitHub', what) };
}

async function askIssued(terminal: Terminal, title: string, what: string): Promise<string | undefined> {
  if (!terminal.interactive) return undefined;
  const hasIt = await terminal.confirm(`${title} issues ${what}. Do you have it here?`);
  return hasIt ? askFor(terminal, '--secret-file', `Paste ${what}`, 'secret') : undefined;
}

function serviceEdits(settings: Settings, { url }: AddFlags): SetupPlan['edits'] {
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

/** Says what is wrong in the files that were written, and writes what follows from them. */
export async function finish(
  { terminal }: Cli,
  name: string,
  {
    flags,
    places,
    plan,
    written,
  }: Pick<SenderSetup, 'flags' | 'places'> & {
    readonly plan: SetupPlan;
    readonly written: readonly string[];
  },
): Promise<void> {
  await using workbench = await openWorkbench(terminal, flags);
  const own = new Set(written);
  const findings = workbench.findings.filter(
    ({ at }) => at !== undefined && own.has(resolve(places.root, at.source.file)),
  );
  printFindings(terminal, findings);
  const proving = plan.files.find(({ text }) => /^ *verify:/m.test(text));
  if (proving !== undefined && workbench.generation.table.settingsOf(name).verify === undefined)
    terminal.err(
      `no mapping of the path ${name} has "verify", so what the sender signs is answered with 401: write the lines that "sluice add ${name} --dry-run" shows into ${relative(terminal.cwd, proving.path)}`,
    );
  await writeExpectations(terminal, workbench, { folder: places.cases, own });
  await writeTypes(terminal, name, workbench.generation);
}

async function writeExpectations(
  terminal: Terminal,
  { generation }: OpenWorkbench,
  { folder, own }: { readonly folder: string; readonly own: ReadonlySet<string> },
): Promise<void> {
  const engine = createGoldenEngine(generation);
  const { cases } = await findCases(folder);
  for (const each of cases.filter(({ requestFile }) => own.has(requestFile))) {
    const result = await applyPolicy(await runCase(each, engine), 'new');
    if (result.status === 'written') terminal.out(relative(terminal.cwd, each.expectedFile));
  }
}

function show(terminal: Terminal, { files, secrets, edits, steps }: SetupPlan, { root }: Places): void {
  for (const { path, text } of files) {
    const note = existsSync(path) ? '  (exists already, would be left as it is)' : '';
    terminal.out(`--- ${relative(terminal.cwd, path)}${note}\n${text}`);
  }
  for (const { file } of secrets) terminal.out(`--- ${relative(terminal.cwd, join(root, file))}  (a secret)`);
  for (const { path, value } of edits) terminal.out(`--- ${path.join('.')}: ${JSON.stringify(value)}`);
  for (const step of steps) terminal.out(step);
  terminal.err('nothing was written (--dry-run)');
}
