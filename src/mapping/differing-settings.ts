/** Settings of paths that need a path, or that two mappings of a path set differently. */
import { say } from '../finding.ts';
import type { Finding, Place } from '../document/document.ts';
import type { CompiledMapping, PathSettings } from './compiled-mapping.ts';
import type { MappingFacts } from './finding-facts.ts';
import type { MappingCode } from './mapping-codes.ts';
import type { PathKey } from './path-settings-schema.ts';
import { PATH_KEYS } from './path-settings.ts';

export function findPathSettings(mappings: readonly CompiledMapping[]): readonly Finding[] {
  const first = new Map<string, CompiledMapping>();
  return mappings.flatMap((mapping) =>
    PATH_KEYS.flatMap((key): readonly Finding[] => {
      const at = mapping.settingsAt?.[key];
      const { path } = mapping.match;
      if (at === undefined) return [];
      if (path === undefined) return [withoutPath(key, at)];
      const slot = `${path} ${key}`;
      const before = first.get(slot);
      first.set(slot, before ?? mapping);
      const beforeAt = before?.settingsAt?.[key];
      if (before === undefined || beforeAt === undefined || isSame(before.settings, mapping.settings, key))
        return [];
      return [differing({ key, path, values: [before, mapping], mappings }, at, beforeAt)];
    }),
  );
}

function withoutPath(key: PathKey, at: Place): Finding {
  return {
    severity: 'error',
    code: 'PATH_SETTINGS_WITHOUT_PATH' satisfies MappingCode,
    message: say`${key} is applied before a mapping is chosen, so the mapping needs match.path`,
    at,
    facts: { key } satisfies MappingFacts['PATH_SETTINGS_WITHOUT_PATH'],
  };
}

function isSame(a: PathSettings, b: PathSettings, key: PathKey): boolean {
  return JSON.stringify(a[key]) === JSON.stringify(b[key]);
}

function differing(facts: MappingFacts['PATH_SETTINGS_DIFFER'], at: Place, before: Place): Finding {
  const { key, path, values } = facts;
  const [was, is] = values.map(({ settings }) => settings[key]);
  const isPlain = typeof is !== 'object' && typeof was !== 'object';
  return {
    severity: 'error',
    code: 'PATH_SETTINGS_DIFFER' satisfies MappingCode,
    message: say`the mappings of the path "${path}" must not differ in ${key}${isPlain ? `, found ${String(is)} and ${String(was)}` : ''}`,
    at,
    labels: [{ at: before, text: say`set here first` }],
    facts,
  };
}
