/* What was live when requests were judged: each file once, by its hash, for as long as a decision names its generation. */
import type { KeptFile, KeptGeneration } from '../records.ts';
import { both, listed } from './dialects.ts';
import type { Store } from './store.ts';

const KEEP = 'INSERT INTO generations (id, kept_at, files) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const KEEP_FILE = 'INSERT INTO generation_files (hash, content) VALUES (?, ?) ON CONFLICT DO NOTHING';
const FORGET = `DELETE FROM generations WHERE kept_at < ? AND NOT EXISTS
  (SELECT 1 FROM decisions WHERE decisions.generation = generations.id)`;
const FORGET_FILES = both`DELETE FROM generation_files WHERE hash IN ${listed('?')}`;
/** Another service may have made one live a moment ago, and nothing has come to it yet. */
const UNNAMED_MS = 86_400_000;

/** Keeps what is live now; keeping it again changes nothing. Then forgets what no decision names any more. */
export function keepGeneration({ sql }: Store, { id, files }: KeptGeneration, nowMs: number): void {
  const names = files.map(({ folder, name, hash }) => ({ folder, name, hash }));
  sql.post(KEEP, id, nowMs, JSON.stringify(names));
  for (const { hash, content } of files) sql.post(KEEP_FILE, hash, content);
  sql.post(FORGET, nowMs - UNNAMED_MS);
  const all = sql.all<{ files: string }>('SELECT files FROM generations').flatMap((row) => filesOf(row));
  const used = new Set([...names, ...all].map(({ hash }) => hash));
  const stored = sql.all<{ hash: string }>('SELECT hash FROM generation_files');
  const gone = stored.flatMap(({ hash }) => (used.has(hash) ? [] : [hash]));
  if (gone.length > 0) sql.post(FORGET_FILES, JSON.stringify(gone));
}

const filesOf = ({ files }: { readonly files: string }): readonly Omit<KeptFile, 'content'>[] =>
  JSON.parse(files) as readonly Omit<KeptFile, 'content'>[];
