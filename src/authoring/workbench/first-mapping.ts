/**
 * Makes first mappings from what a sender sent: its hook name, its kinds of events, and the useful fields
 * of its payload.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HookRequest } from '../../base/request.ts';
import { kindOf, type KindField, type SentSample } from './sample-facts.ts';
import { messageLines } from './sample-text.ts';

/** Limits what a first mapping may cost. */
export const FIRST_LIMITS = 'limits: { runsPerHour: 60, runsPerHourAndSession: 20 }';

const TEXTS = [
  '  instructions: |',
  '    Say in at most three lines what happened, and whether somebody has to act.',
  '  messageTemplate: |',
];
const MAX_KINDS = 6;

export interface FirstMappings {
  readonly id: string;
  readonly path: string;
  readonly samples: readonly SentSample[];
  readonly field: KindField | undefined;
  /** Kinds that a mapping is wanted for; default all. */
  readonly kinds?: readonly string[] | undefined;
  /** Lines of the first mapping alone, which apply to its path. */
  readonly ofPath?: readonly string[];
  readonly ofEach: readonly string[];
}

/** Makes one mapping for each kind of event, which matches only that kind, with a blank line between them. */
export function firstMappings({
  id,
  path,
  samples,
  field,
  kinds: wanted,
  ofPath = [],
  ofEach,
}: FirstMappings): readonly string[] {
  const known = [...new Set(field?.values)];
  const asked = known.filter((kind) => wanted?.includes(kind) !== false);
  const kinds = field === undefined ? [undefined] : asked.length === 0 ? known : asked;
  return kinds.slice(0, MAX_KINDS).flatMap((kind, index) => {
    const { payload = {} } = samples[kind === undefined ? 0 : (field?.values.indexOf(kind) ?? 0)] ?? {};
    return [
      ...(index === 0 ? [] : ['']),
      `- id: ${inYaml(kind === undefined || kinds.length === 1 ? id : `${id}-${slugOf(kind)}`)}`,
      ...(index === 0 ? ofPath : []),
      '  match:',
      `    path: ${inYaml(path)}`,
      ...(kind === undefined ? [] : [`    when: ${ruleOf(field?.path ?? '', kind)}`]),
      `  name: ${JSON.stringify(id)}`,
      ...ofEach,
      `  ${FIRST_LIMITS}`,
      ...TEXTS,
      ...messageLines(payload).map((line) => `    ${line}`),
    ];
  });
}

const slugOf = (kind: string): string =>
  kind
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

function ruleOf(path: string, kind: string): string {
  const variable = path.startsWith('headers.') ? path : `payload.${path}`;
  return `{ '===': [{ var: ${JSON.stringify(variable)} }, ${JSON.stringify(kind)}] }`;
}

const inYaml = (text: string): string =>
  /^[a-z][\w./-]*$/i.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);

/**
 * Writes a mapping for a request, of which at least the hook name is known, into a new file of the folder;
 * resolves to its name there.
 */
export async function writeNewMapping(
  { path, headers = {}, query = {}, payload = {} }: Pick<HookRequest, 'path'> & Partial<HookRequest>,
  mappingsDir: string,
): Promise<string> {
  const base = path.replaceAll(/[^\w-]+/g, '-');
  const samples = [{ headers, query, payload }];
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    const lines = firstMappings({ id, path, samples, field: kindOf(samples), ofEach: ['  deliver: false'] });
    try {
      const file = join(mappingsDir, `${id}.yaml`);
      await writeFile(file, `${lines.join('\n')}\n`, { flag: 'wx' });
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
