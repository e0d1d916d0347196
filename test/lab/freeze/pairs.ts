/**
 * Generated pairs of a mapping and a body: entries of the mappings that are shipped, with one or two seeded mistakes, each
 * with real payloads. A pair depends on its number alone, so one of ten can be made without the others.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { freezeCheck, freezeExplain } from './commands.ts';
import { inFolder, type Task } from './families.ts';
import { editMapping, seeded, type Random } from './mistakes.ts';
import type { CaseRecord } from './record.ts';

/** Mappings with mistakes; each is tried with `BODIES` requests: 5,000 pairs. */
const MAPPINGS = 1_000;
const BODIES = 5;
/** A tenth of the pairs is a family of its own, `pairs/0` to `pairs/9`. */
const PARTS = 10;
const MAX_BODY_CHARS = 12_000;

interface Delivery {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: unknown;
}

interface Material {
  readonly mappings: readonly { readonly path: string; readonly text: string }[];
  /** Requests by the name of their hook. */
  readonly requests: ReadonlyMap<string, readonly Delivery[]>;
  /** Expressions and conditions of other tools, from the cases of findings. */
  readonly foreign: readonly string[];
}

export function pairTasks(work: string): readonly Task[] {
  let material: Material | undefined;
  return Array.from({ length: MAPPINGS }, (_, index) => ({
    name: `pairs/${String(index % PARTS)}/${String(index).padStart(4, '0')}`,
    record: (record) => freezePair(record, { work, index, material: (material ??= readMaterial(work)) }),
  }));
}

const SURROUNDINGS = `hooks: { enabled: true, token: a-hook-token-0123456789 }
gateway: { runner: { kind: command, argv: [cat], cwd: agent } }
agents: { defaults: { models: [anthropic/claude-opus-4-8] } }
`;

async function freezePair(
  record: CaseRecord,
  { work, index, material }: { readonly work: string; readonly index: number; readonly material: Material },
): Promise<void> {
  const random = seeded(index);
  const base = random.pick(material.mappings);
  const text = editMapping(base.text, random, material.foreign);
  const cwd = mkdtempSync(join(work, 'case-'));
  try {
    mkdirSync(join(cwd, 'mappings'));
    mkdirSync(join(cwd, 'agent'));
    writeFileSync(join(cwd, 'sluice.yaml'), SURROUNDINGS);
    writeFileSync(join(cwd, 'mappings/m.yaml'), text);
    record.texts['mapping'] = text;
    const deliveries = Array.from({ length: BODIES }, () => pickDelivery(material, base, random));
    writeFileSync(join(cwd, 'it.request.yaml'), JSON.stringify({ deliveries }));
    await inFolder(cwd, async () => {
      const isFine = await freezeCheck(record, { cwd });
      if (isFine) await freezeExplain(record, 'it.request.yaml', { cwd });
    });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** Mostly a request that the mapping was written for, else one of another kind or of another sender. */
function pickDelivery({ requests }: Material, base: Material['mappings'][number], random: Random): Delivery {
  const own = requests.get(base.path) ?? [];
  const event = /x-github-event\s+- (\w+)/.exec(base.text)?.[1];
  const meant = own.filter(({ headers = {} }) => event === undefined || headers['x-github-event'] === event);
  const chance = random.below(10);
  const from = chance < 7 ? meant : chance < 9 ? own : [];
  const list = from.length > 0 ? from : random.pick([...requests.values()]);
  return { ...random.pick(list), path: base.path };
}

function readMaterial(work: string): Material {
  const requests = new Map<string, Delivery[]>();
  const add = (delivery: Delivery): void => {
    if (JSON.stringify(delivery).length > MAX_BODY_CHARS) return;
    const list = requests.get(delivery.path);
    if (list === undefined) requests.set(delivery.path, [delivery]);
    else list.push(delivery);
  };
  for (const delivery of goldenRequests(join(work, 'test/golden'))) add(delivery);
  for (const delivery of octokitRequests()) add(delivery);
  for (const delivery of payloadRequests(join(work, 'test/fixtures/payloads'))) add(delivery);
  return {
    mappings: readMappings(join(work, 'mappings')),
    requests,
    foreign: readForeign(join(work, 'test/findings/mapping')),
  };
}

function readMappings(folder: string): Material['mappings'] {
  const files = readdirSync(folder).filter(
    (name) => /\.(?:yaml|json)$/.test(name) && name !== 'transforms.yaml',
  );
  return files.toSorted().flatMap((name) => {
    const read = parse(readFileSync(join(folder, name), 'utf8')) as unknown;
    const list = (Array.isArray(read) ? read : ((read as { mappings?: unknown[] }).mappings ?? [read])) as {
      readonly match: { readonly path: string };
    }[];
    return list.map((mapping) => ({ path: mapping.match.path, text: stringify(mapping) }));
  });
}

function goldenRequests(folder: string): readonly Delivery[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return names
    .filter((name) => name.endsWith('.request.yaml'))
    .flatMap((name) => {
      const read = parse(readFileSync(join(folder, name), 'utf8')) as Delivery & {
        readonly deliveries?: readonly Delivery[];
      };
      return (read.deliveries ?? [read]).map(({ path, headers = {}, query = {}, body }) => ({
        path,
        headers,
        query,
        body,
      }));
    })
    .filter(({ body }) => body !== undefined);
}

function octokitRequests(): readonly Delivery[] {
  const load = createRequire(import.meta.url);
  const events = load('@octokit/webhooks-examples/api.github.com/index.json') as readonly {
    readonly name: string;
    readonly examples: readonly unknown[];
  }[];
  return events.flatMap(({ name, examples }) =>
    examples.map((body) => ({
      path: 'github',
      headers: { 'content-type': 'application/json', 'x-github-event': name },
      body,
    })),
  );
}

function payloadRequests(folder: string): readonly Delivery[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((path) =>
      readdirSync(join(folder, path))
        .toSorted()
        .map((name) => ({
          path,
          body: JSON.parse(readFileSync(join(folder, path, name), 'utf8')) as unknown,
        })),
    );
}

/** What stands in templates and conditions of the cases on other tools' syntax. */
function readForeign(folder: string): readonly string[] {
  const cases = readdirSync(folder).filter((name) =>
    /FOREIGN|SYNTAX|HELPER|NOT_A_RULE|OPERATOR|BRACES/.test(name),
  );
  const texts = cases.toSorted().flatMap((name) =>
    readdirSync(join(folder, name))
      .filter((file) => file.endsWith('.yaml') && existsSync(join(folder, name, file)))
      .map((file) => readFileSync(join(folder, name, basename(file)), 'utf8')),
  );
  const found = texts.flatMap((text) => [
    ...text.matchAll(/\{\{[^{}\n]{1,80}\}\}|\$\{\{?[^{}\n]{1,60}\}?\}/g),
  ]);
  return [...new Set(found.map(([expression]) => expression))];
}
