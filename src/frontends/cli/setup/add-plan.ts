import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writtenKey } from '../../../authoring/advice/proof-headers.ts';
import { fileOf, type Sender } from '../../../engine/senders/senders.ts';
import { signsUrl, type VerifySettings } from '../../../engine/verify/verify.ts';
import { FIRST_LIMITS } from '../../../authoring/workbench/workbench.ts';
import { withSchemaLine } from '../../../base/own-package.ts';
import { CliError } from '../terminal.ts';

export interface PlannedFile {
  readonly path: string;
  readonly text: string;
}

export interface Places {
  /** The folder of the configuration: `{file: …}` in a mapping is relative to it. */
  readonly root: string;
  readonly mappings: string;
  readonly cases: string;
}

/** Returns where the secret of a sender is, relative to the configuration. */
export function secretFileOf(name: string): string {
  return `.sluice/secrets/${name}`;
}

/** Plans the mapping and golden cases of a known sender. */
export async function planSender(
  name: string,
  sender: Sender,
  { places, comment }: { readonly places: Places; readonly comment: boolean },
): Promise<readonly PlannedFile[]> {
  const shipped = await readFile(fileOf(sender, sender.mapping ?? ''), 'utf8');
  const proof = proofOf(name, sender);
  const challenge = /^  challenge:/m.test(shipped) ? [] : challengeOf(name, sender);
  const proven = insertKeys(withSchemaLine(shipped, places.mappings), undefined, [
    '# Only who knows the secret is let in; it stands in place of the hook token.',
    `verify: ${proof}`,
    ...challenge,
  ]);
  const text = limitRuns(comment ? withComments(proven, sender) : proven);
  const cases = await Promise.all(exampleFiles(sender).map((each) => planCase(name, each, places)));
  return [{ path: join(places.mappings, `${name}.yaml`), text }, ...cases.flat()];
}

const exampleFiles = (sender: Sender): readonly string[] =>
  (sender.examples ?? []).flatMap((each) => ('file' in each ? [fileOf(sender, each.file)] : []));

/** Returns the golden case of its first example, as `<group>/<name>`. */
export const firstCase = (name: string, sender: Sender): string =>
  `${name}/${basename(exampleFiles(sender)[0] ?? '', '.request.yaml')}`;

export function proofOf(name: string, { verify = { scheme: 'token' } }: Pick<Sender, 'verify'>): string {
  const keys = Object.entries(verify).map(([key, value]) => writtenKey(key, value));
  return `{ ${[...keys, `secrets: [{ file: ${secretFileOf(name)} }]`].join(', ')} }`;
}

/** Returns where the text is that the question of a sender must carry, as Meta's does. */
export const verifyTokenFileOf = (name: string): string => secretFileOf(`${name}-verify-token`);

/** Whether the question of a sender carries a text that is chosen here. */
export const hasVerifyToken = ({ challenge }: Pick<Sender, 'challenge'>): boolean =>
  typeof challenge === 'object' && 'token' in challenge;

/** Writes the line that answers the sender's question about the address. */
export function challengeOf(name: string, sender: Pick<Sender, 'challenge'>): readonly string[] {
  const { challenge } = sender;
  if (challenge === undefined) return [];
  if (typeof challenge === 'string') return [`challenge: ${challenge}`];
  const keys = Object.entries(challenge).map(([key, value]) =>
    key === 'token' ? `token: { file: ${verifyTokenFileOf(name)} }` : writtenKey(key, value),
  );
  return [`challenge: { ${keys.join(', ')} }`];
}

export const signsAddress = ({ verify }: Pick<Sender, 'verify'>): boolean =>
  verify !== undefined && signsUrl({ ...verify, secrets: [] } as unknown as VerifySettings);

const NO_COMMENTS = { to: {}, silent: [] };

/** Replies become comments where the event has an issue; elsewhere nothing is delivered. */
function withComments(
  mapping: string,
  { comments: { to: recipients, silent } = NO_COMMENTS }: Sender,
): string {
  let text = mapping;
  for (const [id, to] of Object.entries(recipients)) {
    text = insertKeys(text, id, [
      '# The reply becomes a comment there. The signature shows that GitHub wrote the number.',
      'channel: github',
      `to: '${to}'`,
      'trust: [to]',
    ]);
  }
  for (const id of silent) {
    text = insertKeys(text, id, [
      '# There is nothing to comment on: the main session gets the summary.',
      'deliver: false',
    ]);
  }
  return text;
}

function limitRuns(text: string): string {
  const blocks = text.split(/^(?=- id: )/m);
  const startsRuns = (block: string): boolean => !/^  action: (?:wake|skip|notify)\b/m.test(block);
  const ids = blocks.filter(startsRuns).flatMap((block) => /^- id: (.*)/.exec(block)?.[1] ?? []);
  // A mapping may bring its own.
  const isLimited = (id: string): boolean =>
    blocks.some((block) => block.startsWith(`- id: ${id}\n`) && /^  limits:/m.test(block));
  return ids.reduce(
    (limited, id) => (isLimited(id) ? limited : insertKeys(limited, id, [FIRST_LIMITS])),
    text,
  );
}

/** Without an id the keys go to the first mapping of the list. */
function insertKeys(text: string, id: string | undefined, keys: readonly string[]): string {
  const at = new RegExp(id === undefined ? '^- id: .*\\n' : `^- id: ${id}\\n`, 'm').exec(text);
  if (at === null) throw new Error(`the mapping ${id ?? ''} is missing from its file`);
  const end = at.index + at[0].length;
  return `${text.slice(0, end)}${keys.map((key) => `  ${key}\n`).join('')}${text.slice(end)}`;
}

async function planCase(name: string, source: string, { cases }: Places): Promise<readonly PlannedFile[]> {
  const target = join(cases, name, basename(source));
  const text = withSchemaLine(await readFile(source, 'utf8'), dirname(target));
  const bodyFile = /^bodyFile: (\S+)$/m.exec(text)?.[1];
  if (bodyFile === undefined) return [{ path: target, text }];
  const near = `payloads/${basename(bodyFile)}`;
  return [
    { path: target, text: text.replace(/^bodyFile: \S+$/m, `bodyFile: ${near}`) },
    {
      path: join(dirname(target), near),
      text: await readFile(join(dirname(source), bodyFile), 'utf8'),
    },
  ];
}

/** Refuses a mapping file that is there under another extension, because the two would match the same requests. */
export function refuseTwin({ mappings }: Places, name: string): void {
  const twin = ['.yml', '.json', '.json5'].map((end) => join(mappings, name + end)).find(existsSync);
  if (twin === undefined) return;
  throw new CliError(`${twin} exists already; nothing was written`);
}
