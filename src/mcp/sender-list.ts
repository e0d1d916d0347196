import { readFile } from 'node:fs/promises';
import { fileOf, findSender, readSenders, type Sender, shippedSenders } from '../senders/senders.ts';
import type { Answer, McpDeps } from './mcp-deps.ts';

/** The senders beside the folder of mappings. */
async function ownSenders(deps: McpDeps): Promise<readonly Sender[]> {
  const { settings } = await deps.loadConfig();
  return (await readSenders(settings.hooks.mappingsDir)).senders;
}

/** Every sender that is known, with what "sluice add" calls it. */
export async function listSenders(deps: McpDeps): Promise<Answer> {
  const known = [...(await ownSenders(deps)), ...shippedSenders()];
  return { words: known.map(({ name, title }) => `${name} (${title})`).join(', ') };
}

/** What is known of one, with an example of what it sends. */
export async function describeSender(deps: McpDeps, word: string): Promise<Answer> {
  const sender = (await ownSenders(deps)).find(({ name }) => name === word) ?? findSender(word);
  if (sender === undefined)
    return {
      words:
        'Sluice does not know that sender. Ask for a payload that it sent, or record one: "sluice record".',
      isError: true,
    };
  const { examples = [], mapping: _mapping, folder: _folder, comments: _comments, ...known } = sender;
  const [first] = examples;
  const example =
    first === undefined
      ? undefined
      : 'file' in first
        ? await readFile(fileOf(sender, first.file), 'utf8')
        : JSON.stringify(first, undefined, 1);
  return {
    words: `${JSON.stringify(known, undefined, 1)}\n"sluice add ${sender.name}" writes mapping, proof, secret and cases.`,
    ...(example === undefined ? {} : { external: example }),
  };
}
