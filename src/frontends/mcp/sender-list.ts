import { readFile } from 'node:fs/promises';
import { fileOf, findSender, knownSenders, type Sender } from '../../engine/senders/senders.ts';
import type { Answer, McpDeps } from './mcp-deps.ts';

/** The senders that are known, those of the user first. */
async function sendersOf(deps: McpDeps): Promise<readonly Sender[]> {
  const { file, settings } = await deps.loadConfig();
  return knownSenders(file, settings.hooks);
}

/** Every sender that is known, with what "sluice add" calls it. */
export async function listSenders(deps: McpDeps): Promise<Answer> {
  return { words: (await sendersOf(deps)).map(({ name, title }) => `${name} (${title})`).join(', ') };
}

/** What is known of one, with an example of what it sends. */
export async function describeSender(deps: McpDeps, word: string): Promise<Answer> {
  const sender = (await sendersOf(deps)).find(({ name }) => name === word) ?? findSender(word);
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
