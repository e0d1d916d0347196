import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { findOnPath } from '../config/config.ts';
import type { CommandSettings, HostEnvironment } from './command-runner.ts';

/** Programs that start another one, which may well read `SLUICE_PROMPT_FILE`. */
const STARTERS =
  /^(?:sh|bash|dash|zsh|ksh|fish|node|deno|bun|tsx|python[\d.]*|ruby|perl|php|java|npx|npm|pnpm|yarn|uv|uvx|docker|podman|env|sudo|ssh|make|nice|timeout|xargs)$/;
/** A script is a small file; a program of this size is none. */
const MAX_SCRIPT_BYTES = 262_144;
const VARIABLE = 'SLUICE_PROMPT_FILE';

/** Whether nothing in the arguments says where the prompt is, with `prompt: file`. */
function namesNoPrompt({ prompt, argv }: CommandSettings): boolean {
  return prompt === 'file' && !argv.some((word) => word.includes('{prompt_file}') || word.includes(VARIABLE));
}

/** Whether such a command surely reads no prompt: an installed program that does not know our variable. */
export function readsNoPrompt(settings: CommandSettings, host: HostEnvironment): boolean {
  if (!namesNoPrompt(settings)) return false;
  const [program = '', ...rest] = settings.argv;
  // Scripts of the operator's own find the file by the variable, also those that another program is given.
  if (program.includes('/') || program.includes('{') || STARTERS.test(basename(program))) return false;
  if (rest.some((word) => /\.(?:sh|py|rb|pl|[cm]?[jt]s)$/.test(word))) return false;
  const file = findOnPath(program, settings.env['PATH'] ?? host['PATH']);
  return file !== undefined && !knowsVariable(file);
}

/** A script that cannot be read may know it. */
function knowsVariable(file: string): boolean {
  try {
    return statSync(file).size <= MAX_SCRIPT_BYTES && readFileSync(file, 'latin1').includes(VARIABLE);
  } catch {
    return true;
  }
}
