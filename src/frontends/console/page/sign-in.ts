/** Starts the page: takes the key from the link or from the field, exchanges it, and opens the console. */
import { keepSession, sessionToken } from './session.ts';

const entry = document.querySelector<HTMLElement>('main.sign-in');
const form = document.querySelector<HTMLFormElement>('#sign-in');
const field = document.querySelector<HTMLInputElement>('#key');
const problem = document.querySelector<HTMLElement>('#problem');

async function exchange(key: string): Promise<void> {
  try {
    const answer = await fetch('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key }),
    });
    if (!answer.ok) return ask(await answer.text());
    const { token } = (await answer.json()) as { readonly token: string };
    keepSession(token);
    await open();
  } catch {
    ask('the console does not answer; is the service running?');
  }
}

async function open(): Promise<void> {
  entry?.remove();
  await import('./main.tsx');
}

function ask(text = ''): void {
  if (problem !== null) problem.textContent = text;
  if (entry?.hidden !== true) return;
  entry.hidden = false;
  document.title = 'Sluice console: sign in';
  field?.focus();
}

/** The key of the link must not stay in the history. */
function takeFromLink(): string | undefined {
  const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  if (key !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return key;
}

function start(): void {
  const key = takeFromLink();
  if (key !== undefined) void exchange(key);
  else if (sessionToken() !== undefined) void open();
  else void openSignedIn();
}

/** A proxy in front may have signed the user in, and then no key is needed. */
async function openSignedIn(): Promise<void> {
  const answer = await fetch('/session').catch(() => undefined);
  if (answer?.ok === true) await open();
  else ask();
}

start();
addEventListener('hashchange', () => {
  const key = takeFromLink();
  if (key !== undefined) void exchange(key);
});
form?.addEventListener('submit', (event) => {
  event.preventDefault();
  void exchange(field?.value.trim() ?? '');
});
