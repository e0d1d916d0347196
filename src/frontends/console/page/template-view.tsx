import type { JSX } from 'preact';
import type { TemplateJson } from '../../../engine/hook/facts.ts';
import type { Judgement } from '../protocol.ts';
import { pointedPath } from './payload-tree.tsx';
import { ShownText } from './shown-text.tsx';

export function Place({ at }: { readonly at: string }): JSX.Element {
  return <span class="place">{at}</span>;
}

/** Marks the value that a piece or a condition came from. */
export function point(path: string | undefined): void {
  pointedPath.value = path ?? '';
}

export function TemplateList({ judgement }: { readonly judgement: Judgement }): JSX.Element {
  return (
    <>
      {judgement.templates.map((template) => (
        <TemplateView
          key={`${template.field}${template.index ?? ''}`}
          template={template}
          advice={judgement.advice}
        />
      ))}
    </>
  );
}

function TemplateView(props: {
  readonly template: TemplateJson;
  readonly advice: Judgement['advice'];
}): JSX.Element {
  const { template, advice } = props;
  return (
    <div class="template">
      <h3>
        {template.field}
        {template.index !== undefined && <span class="quiet"> of element {template.index}</span>}{' '}
        <Place at={template.at} />
      </h3>
      <p class="rendered">
        {segmentsOf(template).map(({ text, piece }, index) => {
          if (piece === undefined) return <ShownText key={index} text={text} />;
          // The request has this in place of what was missing.
          const instead = advice.instead.find(({ missing }) => missing === piece.expression.trim());
          return <Piece key={index} piece={piece} text={text} instead={instead?.found} />;
        })}
      </p>
    </div>
  );
}

type PieceOf = TemplateJson['pieces'][number];

/** The text is cut where its pieces begin and end. */
function segmentsOf({
  text = '',
  pieces,
}: TemplateJson): readonly { readonly text: string; readonly piece?: PieceOf }[] {
  const segments: { readonly text: string; readonly piece?: PieceOf }[] = [];
  let from = 0;
  for (const piece of pieces) {
    if (piece.start > from) segments.push({ text: text.slice(from, piece.start) });
    segments.push({ text: text.slice(piece.start, piece.end), piece });
    from = piece.end;
  }
  return from < text.length ? [...segments, { text: text.slice(from) }] : segments;
}

function Piece(props: {
  readonly piece: PieceOf;
  readonly text: string;
  readonly instead: string | undefined;
}): JSX.Element {
  const { text, instead } = props;
  const { expression, path, at } = props.piece;
  const isBlank = text.trim() === '';
  const title = `{{${expression}}}${path === undefined ? '' : ` from ${path}`}  ${at}`;
  return (
    <button
      type="button"
      class={`piece${isBlank ? ' blank' : ''}${path !== undefined && pointedPath.value === path ? ' pointed' : ''}`}
      title={title}
      aria-label={isBlank ? `blank: ${expression}` : undefined}
      onMouseEnter={() => point(path)}
      onFocus={() => point(path)}
      onClick={() => point(path)}
    >
      {isBlank ? (
        `blank: ${expression}${instead === undefined ? '' : ` (the request has ${instead})`}`
      ) : (
        <ShownText text={text} />
      )}
    </button>
  );
}
