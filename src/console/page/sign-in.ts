/** The page of who has no cookie yet: takes the key from the link or from the field, and exchanges it. */

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
    if (answer.ok) location.replace(location.pathname);
    else if (problem !== null) problem.textContent = await answer.text();
  } catch {
    if (problem !== null) problem.textContent = 'the console does not answer; is the service running?';
  }
}

function takeFromLink(): void {
  const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  if (key === undefined) return;
  // The key does not stay in the history.
  history.replaceState(null, '', location.pathname + location.search);
  void exchange(key);
}

takeFromLink();
addEventListener('hashchange', takeFromLink);
form?.addEventListener('submit', (event) => {
  event.preventDefault();
  void exchange(field?.value.trim() ?? '');
});
