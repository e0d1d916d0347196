import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import {
  type Finding,
  type LocatedValue,
  type Path,
  readDocument,
  validate,
} from '../../base/document/document.ts';
import { say } from '../../base/finding.ts';
import { fileOf, Sender } from './sender.ts';

/** What of `hooks` says where the senders of a user are. */
interface SenderPlaces {
  readonly mappingsDir: string;
  /** npm packages, of which nothing is read but the files in their folder `senders`. */
  readonly senders: readonly string[];
}

export interface ReadSenders {
  /** Those of the user. */
  readonly senders: readonly Sender[];
  /** Those of packages, which replace none of the user and none of ours. */
  readonly packaged: readonly Sender[];
  /** What is wrong with their files. */
  readonly findings: readonly Finding[];
}

const FILE = /\.(?:ya?ml|json5?)$/;

/** The senders of a user: in the folder `senders` beside the folder of mappings, and in packages beside the configuration. */
export async function readSenders(
  configFile: string,
  { mappingsDir, senders: packages }: SenderPlaces,
): Promise<ReadSenders> {
  const root = dirname(resolve(configFile));
  const found = packages.map((name) => ({ name, folder: findPackage(root, name) }));
  const own = join(dirname(mappingsDir), 'senders');
  const read = await Promise.all(filesIn(own).map((file) => readSender(file, undefined)));
  const inPackages = await Promise.all(
    found.flatMap(({ folder }) =>
      folder === undefined ? [] : filesIn(folder).map((file) => readSender(file, dirname(folder) + sep)),
    ),
  );
  return {
    senders: read.flatMap(({ senders }) => senders),
    packaged: inPackages.flatMap(({ senders }) => senders),
    findings: [
      ...found.flatMap(({ name, folder }) => (folder === undefined ? [notInstalled(name)] : [])),
      ...[...read, ...inPackages].flatMap(({ findings }) => findings),
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
async function readSender(file: string, within: string | undefined): Promise<Omit<ReadSenders, 'packaged'>> {
  const { document, findings } = await readDocument(file);
  if (document === undefined) return { senders: [], findings };
  const { value, findings: found } = validate(document.root, Sender, 'sender file');
  if (value === undefined) return { senders: [], findings: found };
  const sender = { ...value, name: basename(file).replace(FILE, ''), folder: dirname(file) };
  const missing = findMissing(sender, document.root, within);
  return { senders: within === undefined || missing.length === 0 ? [sender] : [], findings: missing };
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
