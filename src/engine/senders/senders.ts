/**
 * What is known of senders: one file each. Those of this package are read together, when somebody asks for one; the
 * build writes them as one file. A start asks only where a path has a secret. Those of a user stand in the folder
 * `senders` beside the folder of mappings.
 */
import * as z from 'zod';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, dirname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocument } from '../../base/document/facts.ts';
import { Sender, fileOf } from './sender.ts';
import {
  type Finding,
  type LocatedValue,
  type Path,
  readDocument,
  validate,
} from '../../base/document/document.ts';
import { say } from '../../base/finding.ts';

export {
  type AskedInterface,
  askInterface,
  filled,
  type Filling,
  interfaceAddress,
  InterfaceError,
  type InterfaceRequest,
  placeOf,
  placesText,
  readApi,
  refusalText,
  shownAddress,
} from './ask-interface.ts';
export { askPermission, type PermissionAnswer } from './permission.ts';
export { fileOf, type Registration, Sender, type Webhooks } from './sender.ts';

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

/** Where a sender puts the account that acted; `isSure`: as nobody else can be called. */
export function accountsOf({ account = [], accountId }: Sender, isSure = false): readonly string[] {
  if (isSure && accountId !== undefined) return [accountId];
  return typeof account === 'string' ? [account] : account;
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

/** What of `hooks` says where the senders of a user are. */
interface SenderPlaces {
  readonly mappingsDir: string;
  /** npm packages, of which nothing is read but the files in their folder `senders`. */
  readonly senders: readonly string[];
}

export interface ReadSenders {
  readonly senders: readonly Sender[];
  /** Senders of packages, which replace none of the user and none that Sluice has. */
  readonly packaged: readonly Sender[];
  /** What is wrong with the files of the user. */
  readonly findings: readonly Finding[];
  /** The same of packages. */
  readonly packageFindings: readonly Finding[];
  /** The files of the user as they were read: they belong to the generation. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

export const sendersDir = ({ mappingsDir }: Pick<SenderPlaces, 'mappingsDir'>): string =>
  join(dirname(mappingsDir), 'senders');

const FILE = /\.(?:ya?ml|json5?)$/;

/** The senders of a user: in the folder `senders` beside the folder of mappings, and in packages beside the configuration. */
export async function readSenders(
  configFile: string,
  { mappingsDir, senders: packages }: SenderPlaces,
): Promise<ReadSenders> {
  const root = dirname(resolve(configFile));
  const found = packages.map((name) => ({ name, folder: findPackage(root, name) }));
  const own = sendersDir({ mappingsDir });
  const read = await Promise.all(filesIn(own).map((file) => readSender(file, undefined)));
  const inPackages = await Promise.all(
    found.flatMap(({ folder }) =>
      folder === undefined ? [] : filesIn(folder).map((file) => readSender(file, dirname(folder) + sep)),
    ),
  );
  return {
    files: read.flatMap(({ files }) => files),
    senders: read.flatMap(({ senders }) => senders),
    packaged: inPackages.flatMap(({ senders }) => senders),
    findings: read.flatMap(({ findings }) => findings),
    packageFindings: [
      ...found.flatMap(({ name, folder }) => (folder === undefined ? [notInstalled(name)] : [])),
      ...inPackages.flatMap(({ findings }) => findings),
    ],
  };
}

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => FILE.test(name))
        .toSorted()
        .map((name) => join(folder, name))
    : [];

/** The folder of senders in a package, which is looked for as node looks for it. */
function findPackage(root: string, name: string): string | undefined {
  const folder = join(root, 'node_modules', name, 'senders');
  if (existsSync(folder)) return folder;
  return dirname(root) === root ? undefined : findPackage(dirname(root), name);
}

const notInstalled = (name: string): Finding => ({
  severity: 'error',
  code: 'INVALID_VALUE',
  message: say`hooks.senders: there is no package ${name} with a folder senders in node_modules, beside the configuration or above it`,
});

/** `within`: a package, whose senders name none but its own files. */
async function readSender(
  file: string,
  within: string | undefined,
): Promise<Omit<ReadSenders, 'packaged' | 'packageFindings'>> {
  const { document, findings } = await readDocument(file);
  if (document === undefined) return { senders: [], findings, files: [] };
  const files = [{ path: file, text: document.root.place([]).source.text }];
  const { value, findings: found } = validate(document.root, Sender, 'sender file');
  if (value === undefined) return { senders: [], findings: found, files };
  const sender = { ...value, name: basename(file).replace(FILE, ''), folder: dirname(file) };
  const missing = findMissing(sender, document.root, within);
  return { senders: within === undefined || missing.length === 0 ? [sender] : [], findings: missing, files };
}

/** Files that it names and that are not there, or not in its package. */
function findMissing(sender: Sender, root: LocatedValue, within: string = sep): readonly Finding[] {
  const files = [
    { path: ['mapping'] as Path, name: sender.mapping },
    ...(sender.examples ?? []).map((each, index) => ({
      path: ['examples', index, 'file'],
      name: 'file' in each ? each.file : undefined,
    })),
  ];
  return files.flatMap(({ path, name }) => {
    if (name === undefined) return [];
    const file = fileOf(sender, name);
    if (file.startsWith(within) && existsSync(file)) return [];
    const message = file.startsWith(within)
      ? say`there is no file ${name}; it is looked for from the folder of this file`
      : say`${name} is outside of the package`;
    return [{ severity: 'error', code: 'INVALID_VALUE', message, at: root.place(path) }];
  });
}
