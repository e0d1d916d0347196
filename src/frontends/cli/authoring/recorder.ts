import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type { Settings } from '../../../engine/config/config.ts';
import { shorten } from '../../../base/finding.ts';
import { recordCase, type RecordOptions } from '../../../authoring/golden/golden.ts';
import type { SeenRequest } from '../../../service/server/server.ts';
import type { ServiceOptions } from '../../../service/startup/startup.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import type { Terminal } from '../terminal.ts';

export interface RecorderFlags {
  readonly record?: string;
  readonly mask: readonly string[];
  readonly perform?: boolean;
}

/** Writes what a service receives as cases. */
export interface Recorder {
  /** How a service runs beside the recorder. */
  readonly serviceOptions: Pick<ServiceOptions, 'recording' | 'adjust'>;
  readonly welcome: readonly string[];
  /** Writes a request. Never rejects. */
  record(seen: Pick<SeenRequest, 'request' | 'otherFormat'>, secrets: readonly string[]): Promise<void>;
  /** Removes the temporary store, where there is one. */
  close(): void;
}

/** Returns undefined where nothing is to be recorded. */
export function openRecorder(terminal: Terminal, flags: RecorderFlags): Recorder | undefined {
  const { record: dir, mask: masks, perform: performs = true } = flags;
  if (dir === undefined) return undefined;
  // A service without the store of the project performs nothing.
  const store = performs ? undefined : mkdtempSync(join(tmpdir(), 'sluice-record-'));
  const folder = relative(terminal.cwd, dir) || '.';
  return {
    serviceOptions: {
      recording: { performs },
      ...(store !== undefined && { adjust: (settings) => onlyRecording(settings, store) }),
    },
    welcome: [
      `Every request is recorded below ${folder}, whatever its hook name and the format of its body`,
      ...(performs ? [] : ['Nothing is performed, and the store is not touched; --perform changes that']),
    ],
    record: async (decision, secrets) => {
      const said = await recordOne(terminal, decision, { dir, masks, secrets }).catch(
        (error: unknown) => `not recorded: ${messageOf(error)}`,
      );
      terminal.err(`  ${said}${performs ? '' : '; nothing was performed'}`);
    },
    close: () => {
      if (store !== undefined) rmSync(store, { recursive: true, force: true });
    },
  };
}

async function recordOne(
  terminal: Terminal,
  { request, otherFormat }: Parameters<Recorder['record']>[0],
  options: RecordOptions,
): Promise<string> {
  const dir = resolve(terminal.cwd, options.dir);
  const { file, unused, leftOut } = await recordCase(request, { ...options, dir });
  const note = unused.length === 0 ? '' : `; nothing to mask at ${unused.join(', ')}`;
  const format =
    otherFormat === undefined
      ? ''
      : `; the path does not take such a body yet: a mapping of it needs bodyFormat: ${otherFormat}`;
  return clearLine(`recorded ${relative(terminal.cwd, file)}${withoutText(leftOut)}${note}${format}`);
}

const MAX_PLACES = 10;

/** Says which credentials a sample lacks; empty where it had none. */
export function withoutText(leftOut: readonly string[]): string {
  if (leftOut.length === 0) return '';
  const more = leftOut.length > MAX_PLACES ? ` and ${leftOut.length - MAX_PLACES} more` : '';
  return `, without what may be secret: ${clearLine(shorten(leftOut.slice(0, MAX_PLACES).join(', '), 500))}${more}`;
}

/** The project's store, and listeners that a running service may have, stay untouched. */
function onlyRecording(settings: Settings, store: string): Settings {
  const { metrics: _metrics, ...others } = settings;
  const { health: _health, ...server } = settings.server;
  const storage = { ...settings.storage, url: `sqlite:${join(store, 'sluice.db')}` };
  return { ...others, server, storage };
}
