import { say } from '../../base/finding.ts';
import type { Path } from '../../base/document/document.ts';
import type { ConfigFile } from './config-schema.ts';
import type { ConfigReporter } from './reporter.ts';
import type { AgentDefaults } from './settings.ts';

/** `agents.defaults` with every model name in full. */
export interface Models extends Pick<AgentDefaults, 'model' | 'models' | 'aliases'> {
  resolve(name: string): string;
}

/** The provider that a model is asked of: a model is named `provider/model`. */
export const providerOf = (model: string): string | undefined => /^([^/]+)\/./s.exec(model)?.[1];

/** An alias may stand for another one; longer chains than this are circles. */
const MAX_CHAIN = 10;

export function resolveModels(file: ConfigFile, reporter: ConfigReporter): Models {
  const { model, models, aliases: written } = file.agents.defaults;
  const aliases: Record<string, string> = {};
  for (const alias of Object.keys(written)) {
    const target = followAliases(alias, written);
    const path: Path = ['agents', 'defaults', 'aliases', alias];
    if (target === undefined) {
      reporter.report('ALIAS_CYCLE', path, {
        message: say`the alias "${alias.slice(0, 80)}" names no model: the aliases refer to each other in a circle`,
        hint: say`change one of these aliases so that it names a model`,
      });
    } else aliases[alias] = target;
  }
  const resolve = (name: string): string => followAliases(name, written) ?? name;
  const resolved = model === undefined ? undefined : resolve(model);
  return { model: resolved, models: models?.map(resolve), aliases, resolve };
}

/** The name at the end of a chain of aliases; undefined where it has no end. */
function followAliases(name: string, aliases: Readonly<Record<string, string>>): string | undefined {
  let current = name.trim();
  for (let step = 0; step <= MAX_CHAIN; step += 1) {
    const next = Object.hasOwn(aliases, current) ? aliases[current]?.trim() : undefined;
    if (next === undefined || next === current) return current;
    current = next;
  }
  return undefined;
}
