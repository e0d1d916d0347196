/* What stands at a place of a mapping file, read from the text alone: while somebody types it is often no YAML. */
import { describeKey, type Known, knownPaths, presence, type TextAt } from '../console/facts.ts';

/** The path, name or operator that a place is in; empty for none. */
function wordAt(text: string, pos: number): string {
  const before = /[\w.$/-]*$/.exec(text.slice(Math.max(0, pos - 200), pos))?.[0] ?? '';
  const after = /^[\w.$/-]*/.exec(text.slice(pos, pos + 200))?.[0] ?? '';
  return before + after;
}

/** The hook name of the mapping around a place; undefined where it names none. */
export function hookNameAt(text: string, pos: number): string | undefined {
  const item = /^( *)- /gm;
  const starts = [...text.matchAll(item)];
  const least = Math.min(...starts.map(([, lead = '']) => lead.length));
  const items = starts.filter(([, lead = '']) => lead.length === least).map(({ index }) => index);
  const from = items.findLast((start) => start <= pos) ?? 0;
  const to = items.find((start) => start > pos) ?? text.length;
  return /\bpath:\s*["']?\/?([\w./-]*[\w.-])/.exec(text.slice(from, to))?.[1];
}

/** A file that the line of a place names: a transform or a schema. */
export function linkedFile(text: string, pos: number): string | undefined {
  const start = text.lastIndexOf('\n', pos - 1) + 1;
  const line = text.slice(start).split('\n', 1)[0] ?? '';
  return /(?:\b(?:module|transform|schema):\s*["']?|\$schema=)([^\s"'{}]+\.\w+)/.exec(line)?.[1];
}

/** What is known of what stands at a place. */
export function hoverText(at: TextAt, known: Known): string | undefined {
  const word = wordAt(at.text, at.pos);
  const ofKey = describeKey(at, known.vocabulary?.mapping);
  if (ofKey !== undefined) return ofKey;
  const path = knownPaths(known.samples).find(
    (each) => each.path === word || each.path === `payload.${word}`,
  );
  if (path !== undefined) return `${path.path}: ${presence(path, known.samples.length)}`;
  return known.vocabulary?.helpers.find(({ name }) => name === word)?.usage;
}
