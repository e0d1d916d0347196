/** Prints the notes on a request, the same that the command line prints. */
import type { JSX } from 'preact';
import type { ConsideredJson } from '../../../engine/hook/facts.ts';
import type { NoteJson } from '../../../authoring/advice/requests.ts';
import { ShownText } from './shown-text.tsx';
import { Place } from './template-view.tsx';

/** Returns the notes of a mapping that was considered, without the one that it stands behind the first match. */
export function notesOf(
  notes: readonly NoteJson[],
  { id, at }: Pick<ConsideredJson, 'id' | 'at'>,
): readonly NoteJson[] {
  return notes.filter(
    ({ code, mapping }) => code !== 'also_matched' && mapping?.id === id && mapping.at === at,
  );
}

/** Such words stand before a note whose text is only a part of the sentence. */
const LEADS: Partial<Readonly<Record<NoteJson['code'], string>>> = {
  skipped: 'skipped by',
  remedy: 'what to do:',
  rendered_empty: 'rendered empty:',
  near_name: 'the hook name',
  hook_name: 'a hook name is',
  judged_otherwise: 'when it came, it was judged otherwise:',
};

export function NoteText({ note }: { readonly note: NoteJson }): JSX.Element {
  const { code, setting, field, index, mapping, text } = note;
  const lead = LEADS[code];
  const about = setting ?? (code === 'not_held' ? mapping?.id : field);
  return (
    <>
      {lead !== undefined && `${lead} `}
      {about !== undefined && (
        <>
          <code>{about}</code>
          {index !== undefined && ` of element ${index}`}{' '}
        </>
      )}
      <ShownText text={text} />
    </>
  );
}

/** Prints notes below each other, each with its place. */
export function NoteList({ notes }: { readonly notes: readonly NoteJson[] }): JSX.Element {
  return (
    <>
      {notes.map((note) => (
        <p
          key={`${note.code} ${note.at ?? ''} ${note.index ?? ''} ${note.text}`}
          class={note.code === 'hook_name' ? 'quiet small' : 'note'}
        >
          <NoteText note={note} /> {note.at !== undefined && <Place at={note.at} />}
        </p>
      ))}
    </>
  );
}
