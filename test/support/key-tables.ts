/**
 * Writes the lists of mapping keys that the documentation has, from the entries of the keys; with `--check` it only says
 * whether they are as these say: the reference in `docs/mappings.md`, and what is experimental in `docs/stability.md`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import * as z from 'zod';
import { configJsonSchema } from '../../src/engine/config/config.ts';
import { MAPPING_KEYS } from '../../src/engine/mapping/mapping.ts';
import { PATH_KEYS } from '../../src/engine/mapping/facts.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Names of keys and what is filled in, which the line of an entry has as plain text. */
const NAMES = /(?<![\w`/])(?:\$?\{+[^{}]+\}+|[a-z]+[A-Z]\w*|[a-z]{2,}(?:\.[A-Za-z]{2,})+)(?![\w`])/g;
const MARK = /^Experimental: (.)/;
const DEFAULT = /[;.] [Dd]efault ((?:[^.]|\.(?=\w))+)\./;

interface Entry {
  readonly see?: string | undefined;
  readonly actions?: readonly string[] | undefined;
}

function row(key: string, about: string, { see, actions }: Entry): string {
  const plain = about.replace(MARK, (_, first: string) => first.toUpperCase());
  const [, standard = '–'] = DEFAULT.exec(plain) ?? [];
  const meaning = coded(plain.replace(DEFAULT, '.'));
  const tier = MARK.test(about) ? ' Experimental.' : '';
  const shown = /^[\w-]+[<(]/.test(standard) ? `\`${standard}\`` : coded(standard);
  const name = see === undefined ? `\`${key}\`` : `[\`${key}\`](${see})`;
  const cells = [name, shown, actions?.join(', ') ?? 'all', meaning + tier];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

const coded = (text: string): string => text.replaceAll(NAMES, (name) => `\`${name}\``);

function reference(): string {
  const rows = [...MAPPING_KEYS].flatMap(([key, { about, see, actions, schema }]) => {
    const isOfPath = PATH_KEYS.some((other) => other === key);
    const more = { see: isOfPath ? 'senders.md#settings-of-a-path' : see, actions };
    const inner = key === 'match' && schema instanceof z.ZodObject ? Object.entries(schema.shape) : [];
    const parts = inner.map(([name, part]) =>
      row(`${key}.${name}`, (part as z.ZodType).description ?? '', more),
    );
    return parts.length > 0 ? parts : [row(key, about, more)];
  });
  return ['| key | default | read by | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** The keys below a schema that call themselves experimental, as they are written. */
function marked(value: unknown, path: readonly string[] = []): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { description = '', properties = {}, ...others } = value as Record<string, unknown>;
  return [
    ...(String(description).startsWith('Experimental:') ? [path.join('.')] : []),
    ...Object.entries(properties as object).flatMap(([key, one]) => marked(one, [...path, key])),
    ...Object.values(others).flatMap((one) => marked(one, path)),
  ];
}

function experimental(): string {
  const ofMappings = [...MAPPING_KEYS].flatMap(([key, { about, schema }]) =>
    marked(
      {
        ...z.toJSONSchema(schema, { target: 'draft-07', io: 'input', unrepresentable: 'any' }),
        description: about,
      },
      [key],
    ),
  );
  const listed = (names: readonly string[]): string =>
    [...new Set(names)].map((name) => `\`${name}\``).join(', ');
  return `Experimental keys now: ${listed(marked(configJsonSchema({})))} of the configuration; ${listed(ofMappings)} of a mapping.`;
}

let isStale = false;
for (const [page, made] of [
  ['mappings', reference()],
  ['stability', experimental()],
] as const) {
  const file = `${ROOT}docs/${page}.md`;
  const old = readFileSync(file, 'utf8');
  const block = /(<!-- made from the entries of the keys: npm run schemas -->\n)[^]*?(\n<!-- end -->)/;
  const text = await format(
    old.replace(block, (_, begin: string, end: string) => `${begin}\n${made}\n${end}`),
    {
      ...(await resolveConfig(file)),
      parser: 'markdown',
    },
  );
  if (text === old) continue;
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else console.error(`docs/${page}.md is out of date; "npm run schemas" writes it`);
  isStale = true;
}
if (isStale && process.argv.includes('--check')) process.exitCode = 1;
