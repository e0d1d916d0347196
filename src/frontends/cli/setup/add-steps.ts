/** Prints what a person reads after `sluice add`. */
import { dirname, join, relative, resolve } from 'node:path';
import { shellWord } from '../../../engine/config/facts.ts';
import { hooksAddress, type Settings } from '../../../engine/config/config.ts';
import { type Places, signsAddress, verifyTokenFileOf } from './add-plan.ts';
import { type ConfigFlags, findConfigFile } from '../config-file.ts';
import { commandLine } from '../next-steps.ts';
import type { SamplePlan } from '../authoring/sample-plan.ts';
import type { Terminal } from '../terminal.ts';
import type { Secret } from './write-plan.ts';

export interface AddFlags extends ConfigFlags {
  readonly from?: readonly string[];
  readonly as?: string;
  readonly comment?: boolean;
  readonly secretFile?: string;
  readonly tokenFile?: string;
  readonly url?: string;
  readonly dryRun?: boolean;
  /** What the webhook is made for, or true where there is nothing to choose. */
  readonly register?: string | true;
  readonly remove?: string | true;
  readonly api?: string;
  readonly yes?: boolean;
}

export interface SenderSetup {
  /** The secrets of the configuration, which no sample may hold. */
  readonly configSecrets: readonly string[];
  readonly flags: AddFlags;
  readonly file: string;
  readonly places: Places;
  readonly settings: Settings;
}

export interface OfSender extends SenderSetup {
  readonly made: SamplePlan;
}

/** The sender's secret first, then what its channel needs. */
export type OwnSecrets = readonly [Secret, ...Secret[]];

/** Writes what the person does at the sender, and how to try the mapping before. */
export function stepsOf(
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
    ...(sender.starts === undefined
      ? []
      : ['', 'Who can start what:', ...sender.starts.map((line) => `  ${line}`)]),
    '',
    `Set up ${sender.title}:`,
    ...numbered(setup),
    ...(sender.register?.move === undefined
      ? []
      : [`  Or "${commandLine(terminal, given.file, 'dev --register TARGET')}" does this for a trial.`]),
    ...(sender.secret?.from === 'sent' ? [] : later(terminal, places, secrets)),
    ...(signsAddress(sender) ? needsAddress(given) : []),
    ...trySteps(`Try it without ${sender.title}`, terminal, { ...given, name: first }),
  ];
}

const unknownSetup = ({ verify }: SamplePlan['sender']): readonly string[] => [
  'Address: {url}',
  verify === undefined || verify.scheme === 'token'
    ? 'Header: Authorization: Bearer …, with what "cat {secretFile}" prints in place of the dots.'
    : `It signs what it sends (${verify.scheme}): "sluice verify" judges a request.`,
];

function trySteps(
  head: string,
  terminal: Terminal,
  { places, flags, name }: Pick<SenderSetup, 'places' | 'flags'> & { readonly name: string },
): readonly string[] {
  const file = inShell(terminal, places, join(places.cases, `${name}.request.yaml`));
  const commandFor = (command: string): string =>
    commandLine(terminal, findConfigFile(terminal, flags), command);
  return [
    '',
    `${head}, while "${commandFor('dev')}" runs:`,
    `  ${commandFor(`send ${file} --sign`)}`,
    `  ${commandFor('requests')}`,
  ];
}

/** Returns the address of a hook, as the sender calls it. */
export function addressOf(name: string, { flags, settings }: SenderSetup): string {
  const origin = flags.url ?? settings.server.publicUrl ?? 'https://YOUR-ADDRESS';
  return `${hooksAddress(origin, settings)}/${name}`;
}

function needsAddress({ flags, settings }: SenderSetup): readonly string[] {
  if ((flags.url ?? settings.server.publicUrl) !== undefined) return [];
  return [
    '',
    'Set server.publicUrl, or run this again with --url https://YOUR-ADDRESS: without it no signature can be right.',
  ];
}

function inShell(terminal: Terminal, { root }: Places, file: string): string {
  return shellWord(relative(terminal.cwd, resolve(root, file)));
}

function numbered(steps: readonly string[]): readonly string[] {
  let number = 0;
  // An indented step is part of a file.
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
