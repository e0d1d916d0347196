import type { JSX } from 'preact';

export function AuthorView(): JSX.Element {
  return <p class="empty">Author</p>;
}
