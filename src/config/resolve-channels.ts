import { quoted, say } from '../finding.ts';
import { CHANNEL_IDS, channelIdOf, LAST_CHANNEL } from '../action.ts';
import type { Path } from '../document/document.ts';
import type { ConfigFile } from './config-schema.ts';
import type { Reporter } from './reporter.ts';
import type { Settings } from './settings.ts';

/** `channels` by id with aliases resolved. An id that is not built in needs a plugin. */
export function resolveChannels(file: ConfigFile, reporter: Reporter): Settings['channels'] {
  const channels: Record<string, Settings['channels'][string]> = {};
  const writtenAs = new Map<string, string>();
  for (const [name, settings] of Object.entries(file.channels)) {
    const path: Path = ['channels', name];
    const id = idOf(name);
    const first = writtenAs.get(id);
    if (first !== undefined) {
      const message = `"${name}" and "${first}" are two names of the same channel`;
      reporter.report('DUPLICATE_CHANNEL', path, {
        key: true,
        message: quoted(message),
        hint: say`keep "${id}"`,
      });
      continue;
    }
    writtenAs.set(id, name);
    if (file.plugins.length === 0) reportUnknown(name, { reporter, path, key: true });
    channels[id] = settings;
  }
  return channels;
}

/** A channel's id from a name in the file; a name that no built-in channel has is reported unless plugins may bring it. */
export function resolveChannelId(
  name: string,
  options: { readonly reporter: Reporter; readonly path: Path },
): string {
  const hasPlugins = Array.isArray(options.reporter.root.at(['plugins']).value);
  if (!hasPlugins) reportUnknown(name, { ...options, key: false });
  return idOf(name);
}

function idOf(name: string): string {
  return channelIdOf(name.trim().toLowerCase());
}

function reportUnknown(
  name: string,
  { reporter, path, key }: { readonly reporter: Reporter; readonly path: Path; readonly key: boolean },
): void {
  const known: readonly string[] = CHANNEL_IDS;
  const id = idOf(name);
  if (known.includes(id) && id !== LAST_CHANNEL) return;
  reporter.report('UNKNOWN_CHANNEL', path, {
    key,
    message: say`there is no channel "${name.slice(0, 80)}", and no plugin is configured that could add it`,
    facts: { written: name, known, isFixed: true },
  });
}
