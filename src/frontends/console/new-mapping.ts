/** A mapping to begin with, made of a request: its hook name, its kind of event, and some of what it says. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kindHeaders } from '../../authoring/advice/requests.ts';
import type { HookRequest } from '../../base/request.ts';

const MAX_FIELDS = 5;
const MAX_DEPTH = 3;

/** What is known of the request: at least its hook name. */
type Known = Pick<HookRequest, 'path'> & Partial<HookRequest>;

/** Writes it into a new file of the folder; resolves to its name there. */
export async function writeNewMapping(request: Known, mappingsDir: string): Promise<string> {
  const base = request.path.replaceAll(/[^\w-]+/g, '-');
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    try {
      const file = join(mappingsDir, `${id}.yaml`);
      // oxlint-disable-next-line no-await-in-loop -- the first name that is free
      await writeFile(file, textOf(id, request), { flag: 'wx' });
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function textOf(id: string, { path, headers = {}, payload = {} }: Known): string {
  const [name = ''] = kindHeaders(headers);
  const when =
    name === '' ? '' : `, when: { '==': [{ var: headers.${name} }, ${JSON.stringify(headers[name])}] }`;
  const fields = fieldsOf(payload, '', MAX_DEPTH).slice(0, MAX_FIELDS);
  const lines = fields.map((field) => `  ${field}: {{${field}}}`);
  return [
    `id: ${JSON.stringify(id)}`,
    `match: { path: ${JSON.stringify(path)}${when} }`,
    'deliver: false',
    'messageTemplate: |',
    ...(lines.length === 0 ? ['  hello'] : lines),
    '',
  ].join('\n');
}

/** Paths of values that a template can name as they are. */
function fieldsOf(value: unknown, path: string, depth: number): readonly string[] {
  if (Array.isArray(value)) return [];
  if (typeof value !== 'object' || value === null) return path === '' ? [] : [path];
  return Object.entries(value).flatMap(([key, member]) =>
    depth > 0 && /^[a-z_][\w-]*$/i.test(key)
      ? fieldsOf(member, path === '' ? key : `${path}.${key}`, depth - 1)
      : [],
  );
}
