import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Finding, type LocatedValue, type Path, readDocument, validate } from '../document/document.ts';
import { say } from '../finding.ts';
import { fileOf, Sender } from './sender.ts';

export interface ReadSenders {
  readonly senders: readonly Sender[];
  /** What is wrong with their files. */
  readonly diagnostics: readonly Finding[];
}

const FILE = /\.(?:ya?ml|json5?)$/;

/** The senders of a user, in the folder `senders` beside the folder of mappings. */
export async function readSenders(mappingsDir: string): Promise<ReadSenders> {
  const folder = join(dirname(mappingsDir), 'senders');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => FILE.test(name)) : [];
  const read = await Promise.all(names.toSorted().map((name) => readSender(join(folder, name))));
  return {
    senders: read.flatMap(({ senders }) => senders),
    diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
  };
}

async function readSender(file: string): Promise<ReadSenders> {
  const { document, diagnostics } = await readDocument(file);
  if (document === undefined) return { senders: [], diagnostics };
  const { value, diagnostics: found } = validate(document.root, Sender, 'sender file');
  if (value === undefined) return { senders: [], diagnostics: found };
  const sender = { ...value, name: basename(file).replace(FILE, ''), folder: dirname(file) };
  return { senders: [sender], diagnostics: findMissing(sender, document.root) };
}

/** Files that it names and that are not there. */
function findMissing(sender: Sender, root: LocatedValue): readonly Finding[] {
  const files = [
    { path: ['mapping'] as Path, name: sender.mapping },
    ...(sender.examples ?? []).map((each, index) => ({
      path: ['examples', index, 'file'],
      name: 'file' in each ? each.file : undefined,
    })),
  ];
  return files.flatMap(({ path, name }) =>
    name === undefined || existsSync(fileOf(sender, name))
      ? []
      : [
          {
            severity: 'error',
            code: 'INVALID_VALUE',
            message: say`there is no file ${name}; it is looked for from the folder of this file`,
            at: root.place(path),
          },
        ],
  );
}
