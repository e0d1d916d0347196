/**
 * What is known of senders: one file each. Those of this package are read together, when somebody asks for one; the
 * build writes them as one file. A start asks only where a path has a secret. Those of a user stand in the folder
 * `senders` beside the folder of mappings.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { parseDocument } from '../../base/document/facts.ts';
import { readSenders, type ReadSenders } from './read-senders.ts';
import { Sender } from './sender.ts';

export { fileOf, type Registration, Sender } from './sender.ts';
export { readSenders } from './read-senders.ts';

/** The schema of a sender's file, for editors. */
export const senderJsonSchema = (): unknown => z.toJSONSchema(Sender, { target: 'draft-07', io: 'input' });

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** Written by the build. */
const BUILT = join(FOLDER, 'senders.json');

let shipped: readonly Sender[] | undefined;

/** All senders, each name of a package only where neither the user nor we have it: a token may be sent by their data. */
export function inOrder({ senders, packaged }: ReadSenders): readonly Sender[] {
  const first = [...senders, ...shippedSenders()];
  const names = new Set(first.map(({ name }) => name));
  return [...first, ...packaged.filter(({ name }) => !names.has(name))];
}

export const knownSenders = async (...of: Parameters<typeof readSenders>): Promise<readonly Sender[]> =>
  inOrder(await readSenders(...of));

/** The senders of this package, by name. */
export function shippedSenders(): readonly Sender[] {
  shipped ??= existsSync(BUILT) ? (JSON.parse(readFileSync(BUILT, 'utf8')) as readonly Sender[]) : readAll();
  return shipped;
}

function readAll(): readonly Sender[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
  return files.toSorted().map((file) => {
    const { document } = parseDocument({ file, text: readFileSync(join(FOLDER, file), 'utf8') }, 'yaml');
    return { ...Sender.parse(document?.root.value), name: basename(file, '.yaml') };
  });
}

/** The one that a person calls so, however it is written. */
export function findSender(word: string): Sender | undefined {
  const name = plain(word);
  return shippedSenders().find((each) =>
    [each.name, ...(each.names ?? [])].some((one) => plain(one) === name),
  );
}

const plain = (word: string): string => word.toLowerCase().replaceAll(/[^a-z\d]/g, '');

/** Whose credential a text is by its form, and that no sender signs with it. */
export function otherKey(secret: string): string | undefined {
  const keys = shippedSenders().flatMap(({ otherKeys = [] }) => otherKeys);
  return keys.find(({ form }) => new RegExp(form).test(secret))?.what;
}
