/**
 * Shows text from outside, as text and never as markup. Characters that would make it read differently
 * (direction marks, control and zero-width characters) are drawn as a small sign with their name.
 */
import type { JSX } from 'preact';

// The command line removes the same characters, without tab and line feed.
const HIDDEN =
  /(?![\n\t]|(?<=\p{Extended_Pictographic})\ufe0f)[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u;
const EACH = new RegExp(`(${HIDDEN.source})`, 'u');
const MAX_SIGNS = 500;

export function ShownText({ text }: { readonly text: string }): JSX.Element {
  if (!HIDDEN.test(text)) return <bdi>{text}</bdi>;
  const parts = text.split(EACH, MAX_SIGNS * 2);
  const rest = text.slice(parts.join('').length);
  return (
    <bdi>
      {parts.map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          <span class="sign" title="a character that cannot be seen">
            {nameOf(part)}
          </span>
        ),
      )}
      {rest.replaceAll(new RegExp(HIDDEN.source, 'gu'), '�')}
    </bdi>
  );
}

/** Shows a text of several lines as it came; `kind` is its class. Shows nothing where it is blank. */
export function ShownBlock(props: { readonly text: string; readonly kind?: string }): JSX.Element | null {
  return props.text.trim() === '' ? null : (
    <pre class={props.kind}>
      <ShownText text={props.text} />
    </pre>
  );
}

/** Shows what went wrong, behind its code where it has one. */
export function ProblemText(props: { readonly code?: string; readonly text: string }): JSX.Element {
  return (
    <p class="problem">
      {props.code !== undefined && (
        <>
          <strong>{props.code}</strong>{' '}
        </>
      )}
      <ShownText text={props.text} />
    </p>
  );
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns the text for attributes, where no signs can be drawn. */
export function plainText(text: string, most = 200): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replaceAll(new RegExp(HIDDEN.source, 'gu'), '�');
}
