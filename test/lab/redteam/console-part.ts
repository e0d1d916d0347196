/** Who has no key at the console: guesses without end, made-up sessions, cookies, pages of other origins. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part, Row } from '../../support/parts.ts';
import { makeConsoleFolder, startConsoleService } from '../../support/console-fixture.ts';

const GUESSES = 2_000;
const AT_ONCE = 20;

export const consolePart: Part = {
  name: 'console',
  run: async () => {
    const folder = makeConsoleFolder();
    const running = await startConsoleService(folder.path);
    const key = readFileSync(join(folder.path, '.sluice/console-key'), 'utf8').trim();
    const { origin } = new URL(running.url);
    const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
      const answer = await fetch(new URL(path, running.url), init);
      return new Response(await answer.text(), answer);
    };
    const signIn = (guess: string): Promise<Response> =>
      ask('/session', { method: 'POST', headers: { origin }, body: JSON.stringify({ key: guess }) });
    try {
      const guessed = await statusesOf(GUESSES, (index) => signIn(`${key.slice(0, -4)}${index}`));
      const right = await signIn(key);
      const { token = '' } = (await right.json()) as { readonly token?: string };
      const session = { 'x-sluice-session': token };
      const isOpen = (await ask('/api/inbox', { headers: session })).status === 200;
      const [role = '', until = '', mac = ''] = token.split('.');
      const made = [
        '',
        `${role}.${until}.`,
        `${role}.zzzzzzzzz.${mac}`,
        `inspect.${until}.${mac}`,
        `${role}.${until}.${mac.slice(0, -1)}`,
        `${token}.`,
        ` ${token}x`,
      ];
      const forged = await statusesOf(made.length, (index) =>
        ask('/api/inbox', { headers: { 'x-sluice-session': made[index] ?? '' } }),
      );
      const carriers: readonly Readonly<Record<string, string>>[] = [
        { cookie: `sluice_console=${token}; x-sluice-session=${token}` },
        { authorization: `Bearer ${token}` },
      ];
      const elsewhere = await statusesOf(carriers.length + 1, (index) =>
        ask(index < carriers.length ? '/api/inbox' : `/api/inbox?x-sluice-session=${token}`, {
          headers: carriers[index] ?? {},
        }),
      );
      const foreign = await statusesOf(1, () =>
        ask('/api/save', {
          method: 'POST',
          headers: { ...session, origin: 'http://127.0.0.1:9' },
          body: '{}',
        }),
      );
      return [
        rowOf(`${GUESSES} guesses of the key from one address`, guessed, [401, 429]),
        {
          what: 'the right key after them, from the same address',
          figure: isOpen ? 'opens' : `refused (${right.status})`,
          aim: { text: 'opens', met: isOpen },
        },
        rowOf('sessions that were made up, prolonged or of another role', forged, [401]),
        rowOf('the session in a cookie, as Bearer or in the address', elsewhere, [401]),
        rowOf('a change from a page of another port, with the session', foreign, [403]),
      ];
    } finally {
      await running.stop();
      folder.remove();
    }
  },
};

async function statusesOf(
  count: number,
  ask: (index: number) => Promise<Response>,
): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < count; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, index) => ask(at + index));
    // oxlint-disable-next-line no-await-in-loop -- so many at once
    statuses.push(...(await Promise.all(some)).map(({ status }) => status));
  }
  return statuses;
}

function rowOf(what: string, statuses: readonly number[], wanted: readonly number[]): Row {
  const counts = [...new Set(statuses)].map(
    (status) => `${statuses.filter((each) => each === status).length} × ${status}`,
  );
  const met = statuses.every((status) => wanted.includes(status));
  return { what, figure: counts.join(', '), aim: { text: `only ${wanted.join(' and ')}`, met } };
}
