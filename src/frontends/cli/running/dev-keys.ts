import { spawn } from 'node:child_process';
import { plural } from '../../../base/finding.ts';
import { messageOf } from '../../../base/errors.ts';
import { findCases, type GoldenCase } from '../../../authoring/golden/golden.ts';
import type { Service } from '../../../service/startup/startup.ts';
import type { Cli } from '../command-line.ts';
import { findCasesFolder } from '../config-file.ts';
import type { DevTunnel } from './dev-tunnel.ts';
import { sendRequests } from './send.ts';

/** What a line of one letter does in `dev`. */
const KEYS = {
  s: 'sends a recorded request',
  e: 'explains the last request',
  o: 'opens the console',
  t: 'tunnel on and off',
  q: 'ends',
};

export const KEYS_LINE = `Keys, each with Enter: ${Object.entries(KEYS)
  .map(([key, about]) => `${key} ${about}`)
  .join(' · ')}`;

export interface KeyContext {
  readonly service: Service;
  readonly configFile: string;
  readonly consoleLink: string | undefined;
  readonly lastRequest: () => Promise<string | undefined>;
  readonly startTunnel: () => DevTunnel;
  tunnel: DevTunnel | undefined;
  /** Whether the person has agreed to what turns may cost. */
  isCostKnown: boolean;
}

/**
 * Does what people write, until the signal fires. A letter counts with Enter: so the terminal is never in another mode
 * than it was, and is whole however the process ends.
 */
export async function followKeys(cli: Cli, context: KeyContext, signal: AbortSignal): Promise<void> {
  for (;;) {
    const line = await cli.terminal.readLine(signal);
    if (line === undefined) return;
    try {
      await press(cli, context, line.trim().toLowerCase());
    } catch (error) {
      cli.terminal.err(messageOf(error));
    }
  }
}

async function press(cli: Cli, context: KeyContext, key: string): Promise<unknown> {
  const { terminal } = cli;
  switch (key) {
    case '':
      return undefined;
    case 's':
      return sendSample(cli, context);
    case 'e': {
      const id = await context.lastRequest();
      if (id === undefined) return terminal.err('no request came yet');
      return cli.run(['explain', id, '-c', context.configFile], terminal);
    }
    case 'o':
      return openConsolePage(cli, context.consoleLink);
    case 't': {
      const { tunnel } = context;
      context.tunnel = undefined;
      await tunnel?.stop();
      if (tunnel !== undefined) return terminal.err('the tunnel is closed');
      context.tunnel = context.startTunnel();
      return context.tunnel.opened.catch((error: unknown) => {
        context.tunnel = undefined;
        throw error;
      });
    }
    case 'q':
      return process.kill(process.pid, 'SIGINT');
    default:
      return terminal.err(KEYS_LINE);
  }
}

/** Sends a case of the project, signed as its sender would; what it starts is said before. */
async function sendSample(cli: Cli, context: KeyContext): Promise<void> {
  const { service, configFile: config } = context;
  const { terminal } = cli;
  const { cases } = await findCases(findCasesFolder(terminal, { config }, undefined));
  const [first, ...others] = cases;
  if (first === undefined) {
    terminal.err('there is no recorded request: "sluice add github" brings real ones of GitHub');
    return;
  }
  const names = cases.map(({ name }) => name);
  const chosen = others.length === 0 ? first.name : await terminal.choose('Which one?', names);
  const sample = cases.find(({ name }) => name === chosen);
  if (sample === undefined) return;
  const { text, mayCost } = await startedBy(sample, service);
  terminal.err(`${sample.name}: ${text}`);
  if (mayCost && !context.isCostKnown && !(await terminal.confirm('Such a turn may cost money. Send it?')))
    return;
  context.isCostKnown ||= mayCost;
  await sendRequests(cli, sample.deliveries, { config, against: service.url, sign: true });
}

async function startedBy(
  { deliveries }: GoldenCase,
  { generation }: Service,
): Promise<{ readonly text: string; readonly mayCost: boolean }> {
  const { gateway } = generation.config.settings;
  const made = await Promise.all(deliveries.map(async ({ request }) => generation.evaluate(request)));
  const actions = made.flatMap(({ outcome }) => (outcome.kind === 'accepted' ? outcome.actions : []));
  const runners = actions.flatMap((action) =>
    action.kind === 'agent' ? [action.runner ?? gateway.runner] : [],
  );
  const wakes = actions.filter(({ kind }) => kind === 'wake').length;
  const runs = `${plural(runners.length, 'run')} by ${[...new Set(runners)].join(', ')}`;
  const parts = [
    ...(runners.length > 0 ? [`starts ${runs}`] : []),
    ...(wakes > 0 ? [`wakes the main session (${gateway.runner})`] : []),
  ];
  const performers = wakes > 0 ? [...runners, gateway.runner] : runners;
  return {
    text: parts.join(', and ') || 'starts no run',
    mayCost: performers.some((name) => gateway.runners[name]?.kind !== 'echo'),
  };
}

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };

function openConsolePage({ terminal }: Cli, link: string | undefined): void {
  if (link === undefined) return terminal.err('there is no console: console.enabled is false');
  terminal.err(link);
  const browser = spawn(OPENERS[process.platform] ?? 'xdg-open', [link], { stdio: 'ignore', detached: true });
  // Without a browser the link above has to do.
  browser.on('error', () => undefined);
  browser.unref();
}
