import { signal } from '@preact/signals';

/** Where the page is: `/`, `/request/<id>`, `/author`, a list such as `/runs`. */
export interface PageLocation {
  readonly path: string;
  readonly query: URLSearchParams;
}

export const place = signal<PageLocation>(read());

function read(): PageLocation {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export function goTo(address: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace === true) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  place.value = read();
}

addEventListener('popstate', () => {
  dropKey();
  place.value = read();
});

/** The key leaves the address, because a person who opens the printed link again is signed in already. */
function dropKey(): void {
  if (location.hash.startsWith('#key=')) history.replaceState(null, '', location.pathname + location.search);
}

dropKey();

/** Lets links inside the page go without loading it again. */
export function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
    return;
  const link = (event.target as Element).closest('a');
  if (link === null || link.origin !== location.origin || link.target !== '') return;
  event.preventDefault();
  goTo(link.pathname + link.search);
}
